"""Memory of the reference interpreter: state spaces, module variables, parameters.

For `reference.py`. A `Space` is a set of byte ranges at simulated addresses; an access outside all of them, or at an
address that is no multiple of its size, raises `Fault`. Buffers of the caller are used where they are, so stores reach
them at once. Global memory lies in the low 4 GiB, where PTXPlus's 32-bit pointers reach it; the upper part holds the
windows through which generic addresses reach the other spaces.

PTXPlus: a CTA's shared memory starts with 16 bytes of launch information and the kernel's parameters from 0x10 on.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from ptxsim.memory_image.texture_objects import Sampler
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import (
    Apply,
    Binary,
    Declaration,
    Declarator,
    Directive,
    Function,
    Immediate,
    Module,
    Name,
    Operand,
    Vector,
)
from ptxtool.isa.literals import literal
from ptxtool.isa.types import TYPES, Type
from reference.constants import constant_bits
from reference.numbers import Raw

Bytes = NDArray[np.uint8]
GLOBAL_BASE = 0x100000
GLOBAL_END = 0xC0000000
CODE_STEP = 0x100
"""How far the addresses of functions are apart; no memory lies there."""
WINDOWS = {"param": 0xC0000000, "const": 0xD0000000, "local": 0xE0000000, "shared": 0xF0000000, "global": 0}
"""Where a space starts in the generic address space."""
WINDOW_BYTES = 0x10000000
CTA_BYTES = 1 << 24  # of the shared window: what each CTA of a cluster has
FIRST_OF_PAIRS = 32
"""Where CTAs work in pairs, addresses have a form whose bit 24 tells the CTAs of a pair apart: that of rank 0."""
PTXPLUS_HEADER_BYTES = 16
PTXPLUS_LOCAL_BYTES = 16384  # the text does not say how much a thread has; the hardware's limit


OPAQUE_KINDS = {"texref": "Texture", "samplerref": "Sampler", "surfref": "Surface"}
"""Types of variables that are no memory, and the classes of what they stand for."""
_FIRST_HANDLE = 0x7000_0000_0000_0000


def rank_named(address: int, own: int) -> int:
    """The rank of the CTA of an address in the shared space."""
    part = address // CTA_BYTES
    return part - FIRST_OF_PAIRS if part >= FIRST_OF_PAIRS else part - 1 if part else own


class Fault(Exception):
    """A bad access by the active lane number `position`."""

    def __init__(self, code: str, address: int, n_bytes: int, position: int):
        super().__init__(code)
        self.code = code
        self.address = address
        self.n_bytes = n_bytes
        self.position = position


class Space:
    """Byte ranges at ascending addresses."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.regions: list[Bytes] = []

    def add(self, start: int, data: Bytes) -> None:
        """Add a range; `data` is a flat array of bytes that is used in place."""
        assert not self.starts or start >= self.starts[-1] + len(self.regions[-1])
        self.starts.append(start)
        self.regions.append(data)

    def end(self) -> int:
        return self.starts[-1] + len(self.regions[-1]) if self.starts else 0

    def _find(self, address: int, n_bytes: int, position: int) -> tuple[Bytes, int]:
        if address % n_bytes:
            raise Fault("E405", address, n_bytes, position)
        k = bisect_right(self.starts, address) - 1
        if k < 0 or address + n_bytes > self.starts[k] + len(self.regions[k]):
            raise Fault("E404", address, n_bytes, position)
        return self.regions[k], address - self.starts[k]

    def _view(self, addresses: Raw, n_bytes: int) -> tuple[Any, Any] | None:
        """One typed view and element numbers, where all addresses are good and in one range."""
        low, high = int(addresses.min()), int(addresses.max())
        k = bisect_right(self.starts, low) - 1
        if k < 0 or high + n_bytes > self.starts[k] + len(self.regions[k]):
            return None
        start, region = self.starts[k], self.regions[k]
        if start % n_bytes or (addresses % np.uint64(n_bytes)).any():
            return None
        view = region[: len(region) // n_bytes * n_bytes].view(f"u{n_bytes}")
        return view, ((addresses - np.uint64(start)) // np.uint64(n_bytes)).astype(np.intp)

    def load(self, addresses: Raw, n_bytes: int) -> Raw:
        """Little-endian values of 1, 2, 4 or 8 bytes."""
        found = self._view(addresses, n_bytes)
        if found is not None:
            return found[0][found[1]].astype(np.uint64)
        values = [self.load_one(address, n_bytes, k) for k, address in enumerate(addresses.tolist())]
        return np.array(values, np.uint64)

    def store(self, addresses: Raw, n_bytes: int, values: Raw) -> None:
        """Store; where lanes meet, the highest wins. A fault stores nothing."""
        found = self._view(addresses, n_bytes)
        if found is not None:
            found[0][found[1]] = values.astype(f"u{n_bytes}")
            return
        for k, address in enumerate(addresses.tolist()):
            self._find(address, n_bytes, k)
        for k, (address, value) in enumerate(zip(addresses.tolist(), values.tolist(), strict=True)):
            self.store_one(address, n_bytes, value, k)

    def load_one(self, address: int, n_bytes: int, position: int = 0) -> int:
        region, offset = self._find(address, n_bytes, position)
        return int.from_bytes(region[offset : offset + n_bytes].tobytes(), "little")

    def store_one(self, address: int, n_bytes: int, value: int, position: int = 0) -> None:
        region, offset = self._find(address, n_bytes, position)
        data = (value & ((1 << 8 * n_bytes) - 1)).to_bytes(n_bytes, "little")
        region[offset : offset + n_bytes] = np.frombuffer(data, np.uint8)


def space_of_generic(address: int) -> str:
    """The space that a generic address means."""
    return next(
        name for name, start in WINDOWS.items() if start <= address < start + WINDOW_BYTES or not start
    )


def align(offset: int, to: int) -> int:
    return -(-offset // to) * to


def type_of(declaration: Declaration) -> Type:
    return TYPES.get(declaration.type, TYPES["b8"])


def size_of(declaration: Declaration, declarator: Declarator) -> int:
    """Bytes of a variable; an initialiser gives an extent that is left open."""
    count = declaration.vector * type_of(declaration).bytes
    for k, extent in enumerate(declarator.dimensions):
        if extent is None and k == 0 and isinstance(declarator.value, Vector):
            extent = len(declarator.value.items)
        count *= 0 if extent is None else extent
    return count


def alignment_of(declaration: Declaration) -> int:
    if declaration.align and "ptr" not in declaration.qualifiers:  # a pointer's `.align` is that of the data
        return declaration.align
    return type_of(declaration).bytes * declaration.vector


@dataclass
class Symbol:
    """A variable: its space and its address there."""

    space: str
    address: int
    n_bytes: int


class Image:
    """What a kernel finds in memory: module variables, arguments, and the layout of shared and local memory."""

    def __init__(
        self,
        kernel: Function,
        arguments: Sequence[Any],
        constants: Mapping[str, Any],
        dynamic_shared: int,
        textures: Mapping[str, Any] | None = None,
        as_gpgpu_sim: bool = False,
    ):
        self.as_gpgpu_sim = as_gpgpu_sim and kernel.module.is_ptxplus
        self.opaques: dict[int, Any] = {}
        self.textures = textures or {}
        self.kernel = kernel
        self.module: Module = kernel.module
        self.is_ptxplus = self.module.is_ptxplus
        self.has_pairs = "cta_group::2" in self.module.source.text
        self.globals, self.const = Space(), Space()
        self.symbols: dict[str, Symbol] = {}
        self._next = GLOBAL_BASE
        self._buffers: dict[tuple[int, int], int] = {}
        self.parameters = self._parameters(arguments)
        self.shared_bytes = PTXPLUS_HEADER_BYTES + align(len(self.parameters), 4) if self.is_ptxplus else 0
        self.local_bytes = 0
        self._declare_all(constants)
        if self.is_ptxplus:
            self.local_bytes = max(self.local_bytes, PTXPLUS_LOCAL_BYTES)
        if self.is_ptxplus:  # what a launch adds begins at a multiple of 16
            self.shared_bytes = align(self.shared_bytes, 16)
        self.dynamic_shared_bytes = dynamic_shared
        self.shared_bytes += dynamic_shared
        self.reserved_shared = align(self.shared_bytes, 16)

    def parameter_space(self) -> Space:
        space = Space()
        space.add(0, np.frombuffer(self.parameters, np.uint8).copy())
        return space

    def shared_space(self, ctaid: Sequence[int], block: Sequence[int], grid: Sequence[int]) -> Space:
        """Fresh shared memory of a CTA."""
        system = "%reserved_smem" in self.module.source.text
        data = np.zeros(self.reserved_shared + 1024 if system else self.shared_bytes, np.uint8)
        if self.is_ptxplus:  # GPGPU-Sim leaves the header zero
            words = [0, *block, grid[0], grid[1], ctaid[0], ctaid[1]]
            words = [0] * 8 if self.as_gpgpu_sim else words
            data[:PTXPLUS_HEADER_BYTES] = np.array([w & 0xFFFF for w in words], np.uint16).view(np.uint8)
            parameters = np.frombuffer(self.parameters, np.uint8)
            data[PTXPLUS_HEADER_BYTES : PTXPLUS_HEADER_BYTES + len(parameters)] = parameters
        space = Space()
        space.add(0, data)
        return space

    def local_space(self) -> Space:
        space = Space()
        space.add(0, np.zeros(self.local_bytes, np.uint8))
        return space

    # ---- parameters

    def _parameters(self, arguments: Sequence[Any]) -> bytes:
        wanted = self.kernel.parameters
        if len(wanted) != len(arguments):
            raise error(
                "E401",
                f"kernel '{self.kernel.name}' takes {len(wanted)} arguments, {len(arguments)} given",
                self.kernel.source,
                self.kernel.start,
                self.kernel.body_start,
            )
        data = bytearray()
        for parameter, argument in zip(wanted, arguments, strict=True):
            declarator = parameter.declarators[0]
            offset = align(len(data), alignment_of(parameter))
            data += bytes(offset - len(data)) + self._encode(parameter, declarator, argument)
            self.symbols[declarator.name] = Symbol("param", offset, len(data) - offset)
        return bytes(data)

    def _encode(self, parameter: Declaration, declarator: Declarator, argument: Any) -> bytes:
        n_bytes = size_of(parameter, declarator)
        kind = type_of(parameter)

        def wrong(why: str) -> PtxError:
            text = f"parameter '.{parameter.type} {declarator.name}' {why}"
            return error("E401", text, self.kernel.source, parameter.start, parameter.end)

        if type(argument).__name__ in OPAQUE_KINDS.values():
            return self._opaque(argument).to_bytes(8, "little")
        if type(argument).__name__ == "TensorMap":
            return bytes(argument.encode(self._buffer(argument.array, wrong)))
        if isinstance(argument, np.ndarray) and argument.ndim:
            if declarator.dimensions:
                if argument.nbytes != n_bytes:
                    raise wrong(f"takes {n_bytes} bytes by value, not {argument.nbytes}")
                copied = kind.bytes if self.as_gpgpu_sim else n_bytes
                return np.ascontiguousarray(argument).tobytes()[:copied].ljust(n_bytes, b"\0")
            if kind.is_float or n_bytes not in (4, 8):
                raise wrong("is no pointer and cannot take a buffer")
            return self._buffer(argument, wrong).to_bytes(n_bytes, "little")
        if declarator.dimensions:
            raise wrong(f"takes {n_bytes} bytes by value, not a scalar")
        if isinstance(argument, np.generic):
            if argument.dtype.kind not in "iufb" or argument.nbytes != n_bytes:
                raise wrong(f"takes {n_bytes} bytes, not a {argument.dtype}")
            return argument.tobytes()
        if kind.is_float and isinstance(argument, int | float):
            return np.array(argument, f"f{n_bytes}").tobytes()
        if not isinstance(argument, int):
            raise wrong(f"cannot take '{argument}'")
        if not -(1 << (8 * n_bytes - 1)) <= argument < 1 << 8 * n_bytes:
            raise wrong(f"cannot take {argument}, which needs more than {n_bytes} bytes")
        return (argument & ((1 << 8 * n_bytes) - 1)).to_bytes(n_bytes, "little")

    def _opaque(self, value: Any) -> int:
        """A handle of a texture, sampler or surface."""
        handle = _FIRST_HANDLE + len(self.opaques)
        self.opaques[handle] = value
        return handle

    def _sampler(self, declarator: Declarator) -> Any:
        """A sampler as its variable is initialised."""
        items = declarator.value.items if isinstance(declarator.value, Vector) else ()
        texts = {_text(k): _text(v) for k, v in ((i.left, i.right) for i in items if isinstance(i, Binary))}
        modes = [texts.get(f"addr_mode_{k}", "clamp_to_edge") for k in range(3)]
        names: Any = [
            m.removesuffix("_ogl").removesuffix("_to_edge").removeprefix("clamp_to_") for m in modes
        ]
        forced = texts.get("force_unnormalized_coords", "0") not in ("0", "false")
        return Sampler(names, "linear" if texts.get("filter_mode") == "linear" else "point", forced)

    def _buffer(self, array: np.ndarray, wrong: Any) -> int:
        if not array.flags.c_contiguous or not array.flags.writeable:
            raise wrong("takes a writable C-contiguous array")
        where = (array.__array_interface__["data"][0], array.nbytes)
        if where not in self._buffers:
            self._buffers[where] = self._place(array.reshape(-1).view(np.uint8))
        return self._buffers[where]

    def _place(self, data: Bytes, alignment: int = 256) -> int:
        """Global memory at the next free address, a gap of 256 bytes before it."""
        address = align(self._next + 256, max(alignment, 256))
        self._next = address + len(data)
        if self._next > GLOBAL_END:
            raise error(
                "E402", f"the launch needs {self._next} bytes of global memory; at most {GLOBAL_END} fit"
            )
        self.globals.add(address, data)
        return address

    # ---- variables

    def _declare_all(self, constants: Mapping[str, Any]) -> None:
        for head in self.kernel.directives:  # decuda: `.entry k .tex .u64 name`
            if head.name == "tex":
                name = head.text.split()[-1]
                self.symbols[name] = Symbol("opaque", self._opaque(self.textures.get(name)), 8)
        body = self.kernel.body or ()
        declarations = [*self.module.declarations(), *(s for s in body if isinstance(s, Declaration))]
        declarations += self._declare_functions()
        initialised: list[tuple[Declaration, Declarator, Bytes]] = []
        for is_extern in (False, True):  # dynamic shared memory lies after the static
            for declaration in declarations:
                if ("extern" in declaration.linkage) == is_extern:
                    for declarator in declaration.declarators:
                        data = self._declare(declaration, declarator)
                        if data is not None and declarator.value is not None:
                            initialised.append((declaration, declarator, data))
        for directive in self.module.items:
            if isinstance(directive, Directive) and directive.name == "constptr":
                name, base, offset = (part.strip() for part in directive.text.split(","))
                if base in self.symbols:
                    n_bytes = self.symbols[name].n_bytes if name in self.symbols else 0
                    address = self.symbols[base].address + int(literal(offset).payload)
                    self.symbols[name] = Symbol("const", address, n_bytes)
        for declaration, declarator, data in initialised:
            self._initialise(declaration, declarator, data)
        for name, array in constants.items():
            self._fill(name, np.ascontiguousarray(array))

    def _declare_functions(self) -> Iterator[Declaration]:
        """Addresses of functions; what their bodies declare outside of frames, named after them."""
        functions = [f for f in self.module.functions.values() if f.kind == "func"]
        for k, function in enumerate(functions, 1):
            self.symbols[function.name] = Symbol("code", CODE_STEP * k, 0)
            for item in function.body or ():
                if isinstance(item, Declaration) and item.space not in ("reg", "param", "local"):
                    named = [structs.replace(d, name=f"{function.name}::{d.name}") for d in item.declarators]
                    yield structs.replace(item, declarators=tuple(named))

    def allocate(self, n_bytes: int) -> int:
        """A block of the heap; 0 where there is no room."""
        if n_bytes > GLOBAL_END - self._next - 512:
            return 0
        return self._place(np.zeros(n_bytes, np.uint8))

    def _declare(self, declaration: Declaration, declarator: Declarator) -> Bytes | None:
        space = declaration.space.partition("[")[0]
        name, n_bytes, alignment = (
            declarator.name,
            size_of(declaration, declarator),
            alignment_of(declaration),
        )
        data = np.zeros(n_bytes, np.uint8)
        if name in self.symbols:
            return None
        if declaration.type in OPAQUE_KINDS or space == "tex":
            value = self.textures.get(name)
            if value is None and declaration.type == "samplerref":
                value = self._sampler(declarator)
            self.symbols[name] = Symbol("opaque", self._opaque(value), 8)
            return None
        if space == "global":
            self.symbols[name] = Symbol("global", self._place(data, alignment), n_bytes)
            return data
        if space in ("const", "sstarr"):
            address = align(self.const.end(), max(alignment, 256)) if self.const.starts else 0
            self.const.add(address, data)
            self.symbols[name] = Symbol("const", address, n_bytes)
            return data
        if space == "shared":
            self.shared_bytes = align(self.shared_bytes, alignment)
            self.symbols[name] = Symbol("shared", self.shared_bytes, n_bytes)
            self.shared_bytes += n_bytes
        elif space == "local":
            self.local_bytes = align(self.local_bytes, alignment)
            self.symbols[name] = Symbol("local", self.local_bytes, n_bytes)
            self.local_bytes += n_bytes
        return None

    def _initialise(self, declaration: Declaration, declarator: Declarator, data: Bytes) -> None:
        kind = type_of(declaration)
        assert declarator.value is not None
        shape = [extent or 0 for extent in declarator.dimensions]
        if declaration.vector > 1:
            shape.append(declaration.vector)
        for n, value in _elements(declarator.value, shape):
            packed = self.constant(value, kind).to_bytes(kind.bytes, "little")
            data[n * kind.bytes : (n + 1) * kind.bytes] = np.frombuffer(packed, np.uint8)

    def _fill(self, name: str, array: np.ndarray) -> None:
        symbol = self.symbols.get(name)
        if symbol is None or symbol.space not in ("global", "const"):
            raise error("E401", f"no module variable '{name}' to fill", self.module.source)
        data = array.reshape(-1).view(np.uint8)
        if len(data) > symbol.n_bytes:
            raise error("E401", f"'{name}' has {symbol.n_bytes} bytes; {len(data)} given", self.module.source)
        space = self.globals if symbol.space == "global" else self.const
        for k, byte in enumerate(data.tolist()):
            space.store_one(symbol.address + k, 1, byte)

    def constant(self, operand: Operand, kind: Type) -> int:
        """The bits of a constant expression in a type. Raises `KeyError` with the name that is no constant."""
        return constant_bits(operand, kind, self._worth)

    def _worth(self, operand: Operand) -> int:
        """The address that a name, or `generic` of one, stands for."""
        if isinstance(operand, Apply):
            (item,) = operand.arguments[0].items
            if operand.function == "generic" and isinstance(item, Name):
                symbol = self.symbols[item.text]
                return symbol.address + WINDOWS[symbol.space]
            if operand.function.startswith("0x"):
                mask = int(operand.function, 16)
                return (self._worth(item) & mask) // (mask & -mask)
        if isinstance(operand, Name):
            return 32 if operand.text == "WARP_SZ" else self.symbols[operand.text].address
        raise KeyError(str(operand))


def _text(operand: Operand) -> str:
    return operand.text if isinstance(operand, Name | Immediate) else ""


def _elements(value: Operand, shape: Sequence[int]) -> Iterator[tuple[int, Operand]]:
    """(number, value) of what an initialiser lists; a list begins where its row does."""
    if not isinstance(value, Vector):
        yield 0, value
        return
    row = math.prod(shape[1:])
    for k, item in enumerate(value.items):
        for n, leaf in _elements(item, shape[1:]):
            yield k * row + n, leaf
