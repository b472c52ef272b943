"""The shared variables that an instruction may access, and the offsets in them.

For the order of shared variables and for release marks of the scratchpad. Registers hold addresses, so this is a
dataflow problem over the variables that a register's value may be computed from. Its value is a map from variables to
offsets, None where the offset is unknown; "" stands for numbers, which are addresses counted from 0. One map per
register for the whole function (union over its definitions, in any order):

    mov, cvta, cvt         the map of the source; the name of a variable is {name: 0}, a literal {"": n}
    add, sub               sums: variable + number is the variable; number + number a number
    selp, slct, min, max   the union of the sources
    others                 as add, without offsets
    loads                  {"": None}, or all variables if an address of one is stored or passed anywhere

As in CUDA, an address computed from a variable's stays in that variable. An access through an address that may be a
number may reach any variable, if it names shared memory; without a state space (generic) a number is no address of
shared memory, as those come from `cvta` or from a variable's name. Asynchronous copies, barriers in memory, matrix
descriptors and calls may reach any variable at any time, and so do the instructions that wait for them.

PTXPlus names shared memory by number, `s[$ofs1+0x4c]`, in any operand: the number is known where the register is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ptxtool.analysis.sharing.shared_layout import SharedLayout, shared_declarations, shared_layout
from ptxtool.ir import nodes
from ptxtool.ir.defuse import DefUse, roles
from ptxtool.ir.names import memory_in, names
from ptxtool.ir.nodes import Function, Instruction, Memory, Name, Operand
from ptxtool.isa.literals import integer
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES

Value = Mapping[str, int | None]
"""What a value may be computed from: variable -> offset in it, "" -> a number."""

_NUMBER: Value = {"": None}
_EQUAL = frozenset({"mov", "cvta", "cvt"})
_CHOOSING = frozenset({"selp", "slct", "min", "max"})
_ADDRESS_TYPES = frozenset(f"{kind}{bits}" for kind in "usb" for bits in (32, 64))
_PLAIN = frozenset({"ld", "ldu", "st", "atom", "red"})
"""Accesses whose width is that of their type."""
_ANYWHERE = frozenset({"cp", "mbarrier", "wgmma", "tcgen05", "call", "multimem", "tensormap"})
_AT_ANY_TIME = frozenset({"async", "bulk"})
_OTHER_SPACES = frozenset({"global", "local", "param", "const"})
_TEXTURES = frozenset({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"})


@dataclass(frozen=True)
class SharedAccess:
    """One possible access: the variable ("" for an absolute address), None for any of them; the offset and the number
    of bytes, None where unknown."""

    variable: str | None
    offset: int | None = None
    size: int | None = None


def shared_accesses(kernel: Function) -> tuple[tuple[SharedAccess, ...], ...]:
    """Per instruction, the shared variables that it may access; () if it surely accesses none."""
    return _AddressAnalysis(kernel).accesses()


def place(layout: SharedLayout, access: SharedAccess) -> tuple[int, int | None]:
    """The bytes that an access may reach: the first, and the end, None where it is unbounded."""
    variable = layout.variable(access.variable) if access.variable else None
    if access.offset is not None and access.size is not None and (variable or access.variable == ""):
        low = access.offset + (variable.offset if variable else 0)
        return low, low + access.size
    if variable is not None and variable.size:
        return variable.offset, variable.end
    return (variable.offset if variable else 0), None


def may_reach(layout: SharedLayout, access: SharedAccess, boundary: int) -> bool:
    """Whether an access may go to bytes from a boundary on."""
    _, end = place(layout, access)
    return end is None or end > boundary or not layout.exact


def touches_shared_scratchpad(kernel: Function, boundary: int) -> tuple[bool, ...]:
    """Per instruction, whether it may access bytes from the boundary on."""
    layout = shared_layout(kernel)
    return tuple(any(may_reach(layout, one, boundary) for one in found) for found in shared_accesses(kernel))


class _AddressAnalysis:
    def __init__(self, kernel: Function):
        self.kernel = kernel
        self.registers = kernel.registers
        self.ptxplus = kernel.module.is_ptxplus
        self.variables = {d.name for _, d, _ in shared_declarations(kernel)}
        self.matches: list[Match | None] = [
            table().match(node.opcode.text, len(node.operands), self.ptxplus) for node in kernel.instructions
        ]
        self.def_uses: tuple[DefUse, ...] = kernel.def_uses
        defined = {k for one in self.def_uses for k in one.defs}
        self.values: list[dict[str, int | None]] = [
            {} if k in defined else {"": None} for k in range(len(kernel.registers))
        ]
        self.escaped = False

    def accesses(self) -> tuple[tuple[SharedAccess, ...], ...]:
        self._solve()
        return tuple(
            tuple(dict.fromkeys(self._accesses(i, node))) for i, node in enumerate(self.kernel.instructions)
        )

    # ---- what registers are computed from

    def _solve(self) -> None:
        declared = [d for declaration in self.kernel.module.declarations() for d in declaration.declarators]
        values = [d.value for d in declared if d.value is not None]
        self.escaped = any(name.text in self.variables for value in values for name in names(value))
        changed = True
        while changed:
            changed = False
            for i, node in enumerate(self.kernel.instructions):
                if not self.escaped and self._escapes(i, node):
                    self.escaped = changed = True
                defs = self.def_uses[i].defs
                if defs:
                    value = self._result(i, node)
                    for k in defs:
                        if not self.registers[k].is_predicate:
                            changed |= _widen(self.values[k], value)

    def _result(self, i: int, node: Instruction) -> Value:
        match, base = self.matches[i], node.opcode.base
        if match is None:
            return self._anything()
        effects = match.form.effects
        if "load" in effects or "atomic" in effects or base == "call":
            return self._anything() if self.escaped else _NUMBER
        kinds = roles(node, match)
        sources = [
            self._value(operand, i)
            for operand, role in zip(node.operands, kinds, strict=True)
            if role != "l" and role != "w" and not self._is_predicate(operand, i)
        ]
        if base == "cvta" and "shared" in node.opcode.modifiers and "to" not in node.opcode.modifiers:
            return self._anything() if "" in sources[0] else sources[0]
        exact = self._is_exact(node, match)
        if base in _EQUAL and sources:
            return sources[0] if exact else dict.fromkeys(sources[0])
        if base in _CHOOSING:
            value: dict[str, int | None] = {}
            for one in sources:
                _widen(value, one)
            return value
        if base in ("add", "sub") and len(sources) == 2 and exact:
            return _sum(sources[0], sources[1], -1 if base == "sub" else 1)
        if not sources:
            return _NUMBER
        total = sources[0]
        for one in sources[1:]:
            total = _sum(total, one, None)
        return dict.fromkeys(total)

    def _is_exact(self, node: Instruction, match: Match) -> bool:
        """Whether `mov`, `add` and the like compute an address exactly: whole registers, no flags."""
        whole = all(not o.part for o in node.operands if isinstance(o, Name))
        steps = any(memory.post_increment for memory in _memories(node))
        return whole and not steps and {match.type, match.stype or match.type} <= _ADDRESS_TYPES

    def _anything(self) -> Value:
        return {"": None, **dict.fromkeys(sorted(self.variables))}

    def _is_predicate(self, operand: Operand, i: int) -> bool:
        inner = operand.operand if isinstance(operand, nodes.Unary) else operand
        register = self.registers.resolve(inner.text, i) if isinstance(inner, Name) else None
        return register is not None and register.is_predicate

    def _value(self, operand: Operand | None, i: int) -> Value:
        """What an operand may be computed from."""
        match operand:
            case Name(text=text, part=part):
                k = self.registers.resolve_index(text, i)
                if k >= 0:
                    if self.registers[k].is_zero:
                        return {"": 0}
                    return dict.fromkeys(self.values[k]) if part else self.values[k]
                return {text: 0} if text in self.variables else _NUMBER
            case nodes.Immediate(text=text):
                return {"": self._number(text)}
            case nodes.Unary(operator="-", operand=inner):
                return _sum({"": 0}, self._value(inner, i), -1)
            case nodes.Binary(operator="+" | "-" as sign, left=left, right=right):
                return _sum(self._value(left, i), self._value(right, i), 1 if sign == "+" else -1)
            case nodes.Group(items=(inner,)):
                return self._value(inner, i)
            case nodes.Vector(items=items):
                value: dict[str, int | None] = {}
                for item in items:
                    _widen(value, self._value(item, i))
                return dict.fromkeys(value)
            case Memory():  # PTXPlus: the content of memory; PTX: an address, of `mov` and the like
                return self._anything() if self.escaped else _NUMBER
            case None:
                return {"": 0}
        found = {n.text for n in names(operand)} & self.variables
        return dict.fromkeys(sorted(found)) or _NUMBER

    def _number(self, text: str) -> int | None:
        try:
            number = integer(text)
        except ValueError:
            return None
        wraps = self.ptxplus and number >= 1 << 31
        return number - (1 << 32) if wraps else number

    def _escapes(self, i: int, node: Instruction) -> bool:
        """Whether an address of a variable is stored or passed to a function, where it is not followed."""
        match = self.matches[i]
        effects = match.form.effects if match else ("store",)
        if node.opcode.base == "call":
            return bool(self.variables)
        if not {"store", "atomic"} & set(effects):
            return False
        return any(
            any(self._value(operand, i)) for operand in node.operands if not isinstance(operand, Memory)
        )

    # ---- accesses

    def _accesses(self, i: int, node: Instruction) -> Iterator[SharedAccess]:
        match, base = self.matches[i], node.opcode.base
        if self.ptxplus:
            for memory in _memories(node):
                named = memory.symbol == "s" or (memory.symbol == "" and "shared" in node.opcode.modifiers)
                if named or memory.symbol in self.variables:
                    yield from self._through(memory, i, is_named=True, size=self._width(match))
            return
        modifiers = node.opcode.modifiers
        if base in _ANYWHERE or not _AT_ANY_TIME.isdisjoint(modifiers):
            yield SharedAccess(None)
            return
        if match is None:
            if _memories(node):
                yield SharedAccess(None)
            return
        if base in _TEXTURES or not {"load", "store", "atomic"} & set(match.form.effects):
            return
        is_named = any(m.partition("::")[0] == "shared" for m in modifiers)
        if not is_named and not _OTHER_SPACES.isdisjoint(m.partition("::")[0] for m in modifiers):
            return
        size = self._width(match) if base in _PLAIN else None
        for memory in _memories(node):
            yield from self._through(memory, i, is_named, size)

    def _through(self, memory: Memory, i: int, is_named: bool, size: int | None) -> Iterator[SharedAccess]:
        """The accesses through an address; `is_named` if it surely is one of shared memory."""
        base: Value = {memory.symbol: 0} if memory.symbol in self.variables else {"": 0}
        address = _sum(_sum(base, self._value(memory.base, i), 1), self._value(memory.offset, i), 1)
        for variable, offset in address.items():
            if variable:
                yield SharedAccess(variable, offset, size)
            elif is_named:
                yield SharedAccess(None) if offset is None else SharedAccess("", offset, size)
        if not address and is_named:  # an address that nothing defines
            yield SharedAccess(None)

    def _width(self, match: Match | None) -> int | None:
        type_ = TYPES.get(match.type) if match else None
        return None if type_ is None or match is None else type_.bytes * max(1, match.n)


def _memories(node: Instruction) -> list[Memory]:
    return [memory for operand in node.operands if (memory := memory_in(operand)) is not None]


def _sum(a: Value, b: Value, sign: int | None) -> dict[str, int | None]:
    """a + b, a - b, or with None any result of both: a variable and a number is the variable."""

    def total(x: int | None, y: int | None) -> int | None:
        return None if x is None or y is None or sign is None else x + sign * y

    found: dict[str, int | None] = {}
    for one, x in a.items():
        for other, y in b.items():
            if not other:
                _widen(found, {one: total(x, y)})
            elif not one:
                _widen(found, {other: total(x, y) if sign == 1 else None})
            else:  # a distance between two variables is a number, and added to one of them the other
                _widen(found, {one: None, other: None, "": None})
    return found


def _widen(value: dict[str, int | None], by: Value) -> bool:
    """Join a value into another; True if that changed it. An offset changes once, to unknown."""
    changed = False
    for name, offset in by.items():
        if name not in value:
            value[name] = offset
            changed = True
        elif value[name] is not None and value[name] != offset:
            value[name] = None
            changed = True
    return changed
