"""Modules that are loaded on a machine: their kernels with parameter layouts, their variables by name and address.

    machine = ptxsim.Machine("tesla-c2050")
    module = machine.load(text)
    module.write("scale", np.float32(2))
    machine.run(module.kernels["k"], grid, block, parameters=struct.pack("<QI", address, n))

Variables have their initial values once, when the module is loaded. Those in global memory and those in constant memory
have an address in global memory: writing a constant there changes what `ld.const` reads.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ptxsim.base.program import CONST, GLOBAL
from ptxsim.lowering.variable_layout import GLOBAL_BASE, OPAQUE, ModuleBase, parameters_of
from ptxsim.memory_image.device import Device
from ptxsim.memory_image.heap import Heap, bytes_of
from ptxsim.memory_image.texture_objects import TextureObject, class_of, fits
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse

NO_KERNEL = "\n.visible .entry ptxsim_no_kernel()\n{\n\tret;\n}\n"
"""Follows the text of a module without kernels: variables are laid out for a kernel."""


@dataclass(frozen=True)
class KernelParameter:
    """A parameter: its place among the bytes of all of them (`offset`, `n_bytes`, `align`) and its element type."""

    name: str
    offset: int
    n_bytes: int
    align: int
    type: str


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel of a loaded module, for `Machine.launch` and `Machine.run`."""

    name: str
    function: Function = field(repr=False)
    module: "LoadedModule" = field(repr=False)
    parameters: tuple[KernelParameter, ...]
    parameter_bytes: int
    """Of all parameters together, rounded up to a multiple of 4."""

    @classmethod
    def of(cls, name: str, function: Function, module: "LoadedModule") -> "LoadedKernel":
        """A kernel with the layout of its parameters."""
        laid_out, n_bytes = parameters_of(function)
        parameters = tuple(KernelParameter(p.name, p.offset, p.size, p.align, p.type) for p in laid_out)
        return cls(name, function, module, parameters, n_bytes)


class LoadedModule:
    """A module on a machine. `Machine.load` returns it."""

    def __init__(
        self, name: str, module: Module, device: Device, heap: Heap, like: "LoadedModule | None" = None
    ):
        loaded = device.add_like(module, like.origin, like.constants_start) if like else device.add(module)
        self.name = name
        self.module = module
        self.origin: ModuleBase = loaded.origin
        self.constants_start: int = loaded.constants_start
        """Where its variables, constants and code begin, each in its space, and its constants in global memory."""
        self.kernels: Mapping[str, LoadedKernel] = MappingProxyType(
            {name: LoadedKernel.of(name, function, self) for name, function in module.kernels.items()}
        )
        starts = {GLOBAL: 0, CONST: loaded.constants_start}
        self.symbols: Mapping[str, tuple[int, int]] = MappingProxyType(
            {s.name: (starts[s.space] + s.address, s.size) for s in loaded.symbols if s.space in starts}
        )
        """Address and bytes of every variable in global and constant memory, by name."""
        self.textures: dict[str, TextureObject] = like.textures if like else {}
        """What `bind` has bound, by name."""
        self._opaque = {symbol.name: symbol.type for symbol in loaded.symbols if symbol.type in OPAQUE}
        self._device = device
        self._heap = heap

    def is_on(self, device: Device) -> bool:
        """Whether the module is loaded on this device."""
        return device is self._device

    def read(self, name: str, n_bytes: int | None = None, offset: int = 0) -> bytes:
        """A copy of bytes of a variable, from `offset` to its end by default. Raises E401."""
        return bytes(self._part(name, offset, n_bytes).tobytes())

    def write(self, name: str, data: Any, offset: int = 0) -> None:
        """Write the bytes of a buffer (bytes, a number of numpy, a C-contiguous array) to a variable. Raises E401."""
        values = bytes_of(data)
        self._part(name, offset, len(values))[:] = values

    def bind(self, name: str, value: TextureObject | None) -> None:
        """Bind a texture, sampler or surface to a variable, for the launches from now on; None: none any more.

        Raises E401 for an unknown variable and for an object of another kind.
        """
        if name not in self._opaque:
            there = f"there are {', '.join(self._opaque)}" if self._opaque else "the module has none"
            help = did_you_mean(name, self._opaque, there)
            raise error("E401", f"no texture, sampler or surface named '{name}' in '{self.name}'", help=help)
        if value is None:
            self.textures.pop(name, None)
            return
        if not fits(self._opaque[name], value):
            what = f"{type(value).__name__} for '.{self._opaque[name]} {name}'"
            raise error("E401", what, help=f"give a {class_of(self._opaque[name])}")
        self.textures[name] = value

    def _part(self, name: str, offset: int, n_bytes: int | None) -> Any:
        """Bytes of a variable in place."""
        if name not in self.symbols:
            there = f"there are {', '.join(self.symbols)}" if self.symbols else "the module has none"
            help = did_you_mean(name, self.symbols, there)
            raise error("E401", f"no module variable named '{name}' in '{self.name}'", help=help)
        address, size = self.symbols[name]
        n_bytes = size - offset if n_bytes is None else n_bytes
        if offset < 0 or n_bytes < 0 or offset + n_bytes > size:
            what = f"{n_bytes} bytes from byte {offset} of variable '{name}', which has {size}"
            raise error("E401", what, help="stay within the variable")
        start = address + offset - GLOBAL_BASE
        return self._heap.memory[start : start + n_bytes]

    def __repr__(self) -> str:
        return f"<LoadedModule {self.name}: {len(self.kernels)} kernels, {len(self.symbols)} variables>"


def _check_whole(module: Module) -> None:
    """Raise E401 for a variable that another module defines."""
    for declaration in module.storage():
        if "extern" in declaration.linkage and declaration.space.partition("[")[0] in ("global", "const"):
            for declarator in declaration.declarators:
                what = f"variable '{declarator.name}' is defined in another module"
                place = module.source, declaration.start, declaration.end
                raise error("E401", what, *place, "modules are not linked: compile without -rdc=true")


def load_module(
    module: Module | str | bytes, name: str, device: Device, heap: Heap, like: LoadedModule | None = None
) -> LoadedModule:
    """Load a module, or the text of one; `like`: with the variables of a module that is loaded.

    Raises what parsing raises; E401 for something else, for a module with variables of another one, and for one whose
    variables are not those of `like`; E402 and E206.
    """
    if isinstance(module, str | bytes):
        module = parse(module, name or "module.ptx")
    if not isinstance(module, Module):
        help = "give a text or a parsed module"
        raise error("E401", f"module is of type {type(module).__name__}", help=help)
    _check_whole(module)
    name = name or module.source.name
    if not module.kernels:
        module = parse(module.source.text + NO_KERNEL, name)
    found = LoadedModule(name, module, device, heap, like)
    if like is not None and found.symbols != like.symbols:
        help = "keep all variables of the module, in their order"
        raise error("E401", f"'{name}' has other variables than '{like.name}'", help=help)
    return found
