"""Operands of the reference interpreter: how a warp reads and writes each of them.

For `reference.py`. An instruction is decoded once: every operand becomes a function of the executing warp (a
*reader* gives raw lanes, a *writer* takes them), so that names are resolved, and what is unsupported is refused, before
anything runs. A warp's registers are rows of 32 raw lanes; a vector register has a row per element.

PTXPlus: `$rN.lo/.hi` are halves, `{$r4,$r5}` and a plain `$r4` in a 64-bit type are a pair of registers, `$r124`
reads as zero, `$o127` and `_` take what is written and lose it; any operand may be memory. `as_gpgpu_sim` makes `$r124`
and `$o127` registers like any other, and a plain `$r4` one register in every type.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ptxtool.ir.nodes import Dual, Function, Immediate, Memory, Name, Operand, Unary, Vector
from ptxtool.ir.symbols import Register
from ptxtool.isa.special import PART_ALIASES, special
from ptxtool.isa.types import TYPES, Type
from reference.memory import CTA_BYTES, FIRST_OF_PAIRS, WINDOWS, Fault, Image, space_of_generic
from reference.numbers import LANES, Raw, full, mask_of, raw_integers, signed
from reference.ops import Bools, negate

Warp = Any  # reference.Warp, which holds what is decoded here
Reader = Callable[[Warp], Raw]
Writer = Callable[[Warp, Raw, Bools], None]

_PARTS = {"x": 0, "y": 1, "z": 2, "w": 3, "r": 0, "g": 1, "b": 2, "a": 3}
_SPACE_LETTERS = {"s": "shared", "g": "global", "l": "local", "c": "const"}
U32, U64 = TYPES["u32"], TYPES["u64"]


class Unsupported(Exception):
    """What cannot be simulated, in words."""


class Operands:
    """Makes readers and writers for the operands of one kernel."""

    def __init__(self, kernel: Function, image: Image):
        self.as_gpgpu_sim = image.as_gpgpu_sim
        self.kernel = kernel
        self.image = image
        self.is_ptxplus = kernel.module.is_ptxplus
        self.table = kernel.registers
        self.rows: dict[int, int] = {}  # register index -> first row
        self.n_rows = 0
        self.implicit: dict[str, int] = {}  # PTXPlus: names that no declaration has
        for register in self.table:
            self.rows[register.index] = self.n_rows
            self.n_rows += 2 if register.type == "b128" else register.vector

    # ---- registers

    def register(self, name: str, position: int) -> Register | None:
        return self.table.resolve(name, position)

    def row(self, name: Name, position: int) -> int | None:
        """The row a name means, None where it is no register."""
        register = self.register(name.text, position)
        if register is not None:
            row = self.rows[register.index]
            part = PART_ALIASES.get(name.part, name.part)
            if register.vector > 1:
                if part not in _PARTS or _PARTS[part] >= register.vector:
                    raise Unsupported(f"vector register '{name.text}' as a whole")
                row += _PARTS[part]
            elif register.type == "b128" and part in ("x", "y"):  # as `halves` names them
                row += _PARTS[part]
            return row
        if self.is_ptxplus and name.text.startswith("$"):
            if name.text not in self.implicit:
                self.implicit[name.text] = self.n_rows
                self.n_rows += 1
            return self.implicit[name.text]
        return None

    def _half(self, name: Name) -> int | None:
        return {"lo": 0, "hi": 16}.get(name.part)

    def neighbour(self, name: Name, position: int) -> int | None:
        """PTXPlus: the row of `$r(N+1)` where a plain `$rN` stands for a pair."""
        if (
            not self.is_ptxplus
            or self.as_gpgpu_sim
            or not name.text.startswith("$r")
            or not name.text[2:].isdecimal()
            or name.part
        ):
            return None
        register = self.register(f"$r{int(name.text[2:]) + 1}", position)
        return self.rows[register.index] if register is not None and not register.role else None

    def is_predicate(self, name: Name, position: int) -> bool:
        register = self.register(name.text, position)
        return register is not None and register.is_predicate

    # ---- reading

    def read(self, operand: Operand, type_: Type, position: int) -> Reader:
        """A reader of an operand in a type; bits above the type's width come out as zero."""
        if isinstance(operand, Unary):
            inner = self.read(operand.operand, type_, position)
            if operand.operator == "-":
                return lambda warp: negate(type_, inner(warp))
            if operand.operator == "+":
                return inner
            mask = mask_of(type_.bits)
            return lambda warp: ~inner(warp) & mask
        if isinstance(operand, Vector):
            return self._read_vector(operand, type_, position)
        if isinstance(operand, Memory):
            loads = self.load(operand, "", type_, 1, position)
            return lambda warp: loads(warp)[0]
        if isinstance(operand, Name):
            return self._read_name(operand, type_, position)
        if isinstance(operand, Immediate) and type_.kind == "pred":
            value = int(self.image.constant(operand, U32))
            return self._constant(int(value == 0) if self.is_ptxplus else value & 1)
        try:
            return self._constant(self.image.constant(operand, type_))
        except (KeyError, ValueError):
            raise Unsupported(f"operand '{operand}'") from None

    @staticmethod
    def _constant(value: int) -> Reader:
        raw = full(value)
        raw.flags.writeable = False
        return lambda warp: raw

    def _read_name(self, name: Name, type_: Type, position: int) -> Reader:
        row = self.row(name, position)
        if row is None:
            return self._read_other(name, type_)
        if name.text == "$r124" and self.is_ptxplus and not self.as_gpgpu_sim:
            return self._constant(0)
        half = self._half(name)
        mask = mask_of(min(type_.bits, 16) if half is not None else type_.bits)
        if half is not None:
            shift = np.uint64(half)
            return lambda warp: warp.registers[row] >> shift & mask
        if type_.kind == "pred":
            mask = np.uint64(15 if self.is_ptxplus else 1)
        if type_.bits == 64 and self.is_ptxplus:
            upper = self.neighbour(name, position)
            if upper is not None:
                return lambda warp: warp.registers[row] | warp.registers[upper] << np.uint64(32)
        return lambda warp: warp.registers[row] & mask

    def _read_other(self, name: Name, type_: Type) -> Reader:
        known = special(name.text)
        mask = mask_of(type_.bits)
        if known is not None:
            key = name.text.removeprefix("%")
            part = PART_ALIASES.get(name.part, name.part)
            if part:
                key += f".{part}"
            if not known.has_part(name.part) or not (known.parts or key in SPECIALS):
                raise Unsupported(f"special register '{name.text}'")
            if key.partition(".")[0] not in SPECIALS:
                raise Unsupported(f"special register '{name.text}'")
            return lambda warp: warp.special(key) & mask
        symbol = self.image.symbols.get(name.text)
        if symbol is None:
            raise Unsupported(f"'{name.text}', which is no register, variable or known special register")
        if symbol.space == "shared" and self.image.has_pairs and type_.bits >= 32:
            first = np.uint64(FIRST_OF_PAIRS)
            return lambda warp: (
                (warp.special("cluster_ctarank") + first) * np.uint64(CTA_BYTES) + np.uint64(symbol.address)
            )
        return self._constant(symbol.address & int(mask))

    def _read_vector(self, vector: Vector, type_: Type, position: int) -> Reader:
        each = self.element(type_, len(vector.items))
        readers = [self.read(item, each, position) for item in vector.items]

        def reader(warp: Warp) -> Raw:
            result = np.zeros(LANES, np.uint64)
            for k, read in enumerate(readers):
                result |= read(warp) << np.uint64(k * each.bits)
            return result

        return reader

    def element(self, type_: Type, n: int) -> Type:
        """The untyped n-th part of a type."""
        found = TYPES.get(f"b{type_.bits // max(n, 1)}")
        if found is None or type_.bits > 64:
            raise Unsupported(f"'.{type_.name}' in {n} parts")
        return found

    def halves(self, operand: Operand, position: int) -> tuple[Operand, ...]:
        """A 128-bit operand as two of 64 bits."""
        if isinstance(operand, Vector):
            items = operand.items
            return items if len(items) == 2 else (Vector(items[:2]), Vector(items[2:]))
        if not isinstance(operand, Name):
            raise Unsupported(f"operand '{operand}'")
        if operand.text == "_":
            return (operand, operand)
        register = self.register(operand.text, position)
        if register is None or register.type != "b128":
            raise Unsupported(f"operand '{operand.text}'")
        return (Name(operand.text, "x"), Name(operand.text, "y"))

    def truth(self, operand: Operand, position: int) -> Callable[[Warp], Bools]:
        """A reader of a predicate as truth values; in PTXPlus the zero flag means false."""
        if isinstance(operand, Unary) and operand.operator == "!":
            inner = self.truth(operand.operand, position)
            return lambda warp: ~inner(warp)
        read = self.read(operand, TYPES["pred"], position)
        is_ptxplus = self.is_ptxplus
        return lambda warp: (read(warp) & np.uint64(1) != 0) ^ is_ptxplus

    # ---- writing

    def write(self, operand: Operand, type_: Type, position: int) -> Writer:
        """A writer of results of a type."""
        if isinstance(operand, Memory):
            return self._write_memory(operand, type_, position)
        if isinstance(operand, Vector):
            each = self.element(type_, len(operand.items))
            writers = [self.write(item, each, position) for item in operand.items]
            shifts = [np.uint64(k * each.bits) for k in range(len(writers))]
            mask = mask_of(each.bits)

            def write_all(warp: Warp, raw: Raw, lanes: Bools) -> None:
                for writer, shift in zip(writers, shifts, strict=True):
                    writer(warp, raw >> shift & mask, lanes)

            return write_all
        if not isinstance(operand, Name):
            raise Unsupported(f"destination '{operand}'")
        return self._write_name(operand, type_, position)

    def _write_name(self, name: Name, type_: Type, position: int) -> Writer:
        register = self.register(name.text, position)
        is_sink = name.text in ("$r124", "$o127") and self.is_ptxplus and not self.as_gpgpu_sim
        if name.text == "_" or is_sink:
            return lambda warp, raw, lanes: None
        row = self.row(name, position)
        if row is None:
            raise Unsupported(f"destination '{name.text}', which is no register")
        half = self._half(name)
        if half is not None:
            keep, shift = np.uint64(0xFFFF << (16 - half)), np.uint64(half)

            def write_half(warp: Warp, raw: Raw, lanes: Bools) -> None:
                if type_.is_signed and type_.bits < 16:
                    raw = raw_integers(signed(raw, type_.bits), 16)
                merged = warp.registers[row] & keep | (raw & np.uint64(0xFFFF)) << shift
                warp.registers[row, lanes] = merged[lanes]

            return write_half
        bits = self._container(register)
        upper = self.neighbour(name, position) if type_.bits == 64 and bits == 32 else None
        if upper is not None:

            def write_pair(warp: Warp, raw: Raw, lanes: Bools) -> None:
                warp.registers[row, lanes] = (raw & mask_of(32))[lanes]
                warp.registers[upper, lanes] = (raw >> np.uint64(32))[lanes]

            return write_pair
        extend = type_.is_signed and type_.bits < bits
        mask = mask_of(bits)

        def write(warp: Warp, raw: Raw, lanes: Bools) -> None:
            value = raw_integers(signed(raw, type_.bits), bits) if extend else raw & mask
            warp.registers[row, lanes] = value[lanes]

        return write

    def _container(self, register: Register | None) -> int:
        if register is None or register.is_predicate:
            return 32 if register is None else 4
        known = TYPES.get(register.type)
        if known is not None and known.name == "b128":
            return 64
        if known is None or known.bits > 64:
            raise Unsupported(f"register '{register.name}' of type '.{register.type}'")
        return known.bits

    def write_truth(self, operand: Operand, position: int) -> Callable[[Warp, Bools, Bools], None]:
        """A writer of truth values to a predicate."""
        writer = self.write(operand, TYPES["pred"], position)
        is_ptxplus = self.is_ptxplus
        return lambda warp, truth, lanes: writer(warp, (truth ^ is_ptxplus).astype(np.uint64), lanes)

    def write_pair(self, operand: Operand, i: int) -> tuple[Callable[..., None], Callable[..., None]]:
        """Writers of truth values to `p` or `p|q`."""
        if isinstance(operand, Dual):
            return self.write_truth(operand.first, i), self.write_truth(operand.second, i)
        return self.write_truth(operand, i), lambda warp, truth, lanes: None

    # ---- memory operands

    def space(self, memory: Memory, named: str) -> str:
        """The space an operand is in: `named` by the opcode, or by the operand itself; "" is generic."""
        if self.is_ptxplus and memory.symbol:
            letter = memory.symbol[0]
            if memory.symbol not in ("s", "g") and letter not in "lc":
                raise Unsupported(f"memory operand '{memory.symbol}[...]'")
            return _SPACE_LETTERS[letter]
        if named:
            return named
        base = memory.base
        if isinstance(base, Name) and base.text in self.image.symbols and self.row(base, 0) is None:
            return self.image.symbols[base.text].space  # a variable's own name
        return ""

    def address(self, memory: Memory, space: str, position: int) -> Reader:
        """A reader of byte addresses within the space."""
        width = U32 if self.is_ptxplus or self._is_narrow(memory.base, position) else U64
        parts: list[Reader] = []
        symbol = memory.symbol
        if symbol and not (self.is_ptxplus and symbol in ("s", "g")):
            found = self.image.symbols.get(symbol)
            if found is not None:
                parts.append(self._constant(found.address))
            elif symbol[0] != "l" or not self.is_ptxplus:
                raise Unsupported(f"memory '{symbol}', which is not declared")
        for operand in (memory.base, memory.offset):
            if operand is None or (
                memory.post_increment and operand is memory.offset and operand is not memory.base
            ):
                continue
            parts.append(self.read(operand, width, position))
        if memory.coordinates:
            raise Unsupported("texture coordinates")
        mask = mask_of(width.bits)

        def address(warp: Warp) -> Raw:
            total = np.zeros(LANES, np.uint64)
            for part in parts:
                total = total + part(warp)
            return total & mask

        return address

    def _is_narrow(self, base: Operand | None, position: int) -> bool:
        """Whether an address is computed in 32 bits: its base is a 32-bit register."""
        register = self.register(base.text, position) if isinstance(base, Name) else None
        return register is not None and register.bits <= 32

    def load(
        self, memory: Memory, named: str, type_: Type, n: int, position: int
    ) -> Callable[[Warp], list[Raw]]:
        """A reader of n consecutive elements; lanes that do not execute give zeros."""
        space = self.space(memory, named)
        address = self.address(memory, space, position)
        n_bytes = type_.bytes

        def load(warp: Warp) -> list[Raw]:
            lanes = np.flatnonzero(warp.executing)
            start = address(warp)
            check_alignment(start[lanes], n * n_bytes)
            results: list[Raw] = []
            for k in range(n):
                values = np.zeros(LANES, np.uint64)
                values[lanes] = access(warp, space, (start + np.uint64(k * n_bytes))[lanes], lanes, n_bytes)
                results.append(values)
            return results

        return load

    def store(self, memory: Memory, named: str, type_: Type, n: int, position: int) -> Callable[..., None]:
        """A writer of n consecutive elements."""
        space = self.space(memory, named)
        if space in ("const", "param"):
            raise Unsupported(f"a store to '.{space}' memory")
        address = self.address(memory, space, position)
        n_bytes = type_.bytes

        def store(warp: Warp, values: list[Raw], executing: Bools) -> None:
            lanes = np.flatnonzero(executing)
            start = address(warp)
            check_alignment(start[lanes], n * n_bytes)
            for k in range(n):
                where = (start + np.uint64(k * n_bytes))[lanes]
                access(warp, space, where, lanes, n_bytes, values[k][lanes])

        return store

    def _write_memory(self, memory: Memory, type_: Type, position: int) -> Writer:
        store = self.store(memory, "", type_, 1, position)
        return lambda warp, raw, lanes: store(warp, [raw], lanes)


def check_alignment(addresses: Raw, n_bytes: int) -> None:
    wrong = np.flatnonzero(addresses % np.uint64(n_bytes))
    if wrong.size:
        raise Fault("E405", int(addresses[wrong[0]]), n_bytes, int(wrong[0]))


def access(
    warp: Warp, space: str, addresses: Raw, lanes: NDArray[np.intp], n_bytes: int, values: Raw | None = None
) -> Raw:
    """Load from (or, given values, store to) a space, for the lanes given; "" is the generic space."""
    if not addresses.size:
        return addresses
    result = np.zeros(addresses.size, np.uint64)
    if not space:
        names = [space_of_generic(a) for a in addresses.tolist()]
        for name in sorted(set(names)):
            chosen = np.array([n == name for n in names])
            part = addresses[chosen] - np.uint64(WINDOWS[name])
            try:
                given = None if values is None else values[chosen]
                result[chosen] = access(warp, name, part, lanes[chosen], n_bytes, given)
            except Fault as fault:
                fault.position = int(np.flatnonzero(chosen)[fault.position])
                fault.address += WINDOWS[name]
                raise
        return result
    if space != "local":
        memory = warp.space(space)
        if values is None:
            return memory.load(addresses, n_bytes)
        memory.store(addresses, n_bytes, values)
        return result
    for k, (address, lane) in enumerate(zip(addresses.tolist(), lanes.tolist(), strict=True)):
        memory = warp.local(lane)
        if values is None:
            result[k] = memory.load_one(address, n_bytes, k)
        else:
            memory.store_one(address, n_bytes, int(values[k]), k)
    return result


SPECIALS = frozenset(
    [
        *(
            "tid",
            "ntid",
            "ctaid",
            "nctaid",
            *(
                "clusterid",
                "nclusterid",
                "cluster_ctaid",
                "cluster_nctaid",
                "cluster_ctarank",
                "cluster_nctarank",
            ),
            "is_explicit_cluster",
            "laneid",
            "warpid",
            "nwarpid",
            "smid",
            "nsmid",
            "gridid",
            "current_graph_exec",
            "WARP_SZ",
        ),
        *("clock", "clock_hi", "clock64", "halfclock", "globaltimer", "globaltimer_lo", "globaltimer_hi"),
        *("lanemask_eq", "lanemask_le", "lanemask_lt", "lanemask_ge", "lanemask_gt"),
        *("total_smem_size", "dynamic_smem_size", "aggr_smem_size"),
        *(f"reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0", "1")),
    ]
)
