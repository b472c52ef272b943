"""Which registers an instruction writes, surely overwrites, reads: the only place that decides it.

For liveness, first use, the scoreboard and everything else that asks. The roles come from the instruction table;
this file adds what no table row can say:

* a guarded write is a def and no kill: lanes whose guard is false keep the old value;
* `$r1.lo`, `$r1.hi` and `%v.x` write a part: a def and no kill;
* the registers inside an address are read, also those of a store, and where memory is the destination of `mov`;
* `s[$ofs1+=4]` reads and writes `$ofs1`, wherever in the instruction it stands;
* `{a, b}`, `p|q`, `$p0/$r1`, `(result)` write each of their registers;
* PTXPlus's zero register is never read, its sinks are never written: they are only in `touched`;
* PTXPlus prints some 64-bit results with a plain register instead of a pair (`cvt.ff64.s32 $r0, $r2`): a def of
  that register, no kill, and nothing of its neighbour, as no reader could rely on either;
* an opcode outside the table is assumed to read all its operands and to write the first, surely nothing.

Not handled: the carry flag of `add.cc` and its like, which is no declared register. `callp` and `retp` share the
caller's registers: the control flow graph knows that, not this file.

Reference: PTX ISA, chapter 9; the traps of PTXPlus: GPGPU-Sim's manual, section "PTXPlus".
"""

from typing import NamedTuple

import msgspec

from ptxtool.ir.nodes import (
    Apply,
    Binary,
    Cast,
    Conditional,
    Dual,
    Function,
    Group,
    Instruction,
    Memory,
    Name,
    Operand,
    Unary,
    Vector,
)
from ptxtool.isa.table import Match, Table, table

_PAIR_TYPES = frozenset({"bb64", "ff64", "bb128"})


class DefUse(msgspec.Struct, frozen=True, gc=False):
    """What one instruction does to registers, as register indices without repetition.

    `kills` are the defs that overwrite the whole register in every lane. `touched` are all registers named, zero
    and sinks included, in operand order (destination first), the guard last.
    """

    defs: tuple[int, ...]
    kills: tuple[int, ...]
    uses: tuple[int, ...]
    touched: tuple[int, ...]


class _Access(NamedTuple):
    """The names in one operand: those written (and whether wholly), those read, all in order."""

    writes: tuple[tuple[str, bool], ...]
    reads: tuple[str, ...]
    named: tuple[str, ...]


class _Reader:
    """Collects the names of one operand."""

    def __init__(self) -> None:
        self.writes: list[tuple[str, bool]] = []
        self.reads: list[str] = []
        self.named: list[str] = []

    def result(self) -> _Access:
        return _Access(tuple(self.writes), tuple(self.reads), tuple(self.named))

    def read(self, operand: Operand | None) -> None:
        if isinstance(operand, Name):
            self.reads.append(operand.text)
            self.named.append(operand.text)
        elif isinstance(operand, Memory):
            if operand.post_increment and isinstance(operand.base, Name):
                self.writes.append((operand.base.text, not operand.base.part))
            self.read(operand.base)
            self.read(operand.offset)
            for item in operand.coordinates:
                self.read(item)
        elif isinstance(operand, (Vector, Group)):
            for item in operand.items:
                self.read(item)
        elif isinstance(operand, (Unary, Cast)):
            self.read(operand.operand)
        elif isinstance(operand, Binary):
            self.read(operand.left)
            self.read(operand.right)
        elif isinstance(operand, Dual):
            self.read(operand.first)
            self.read(operand.second)
        elif isinstance(operand, Conditional):
            self.read(operand.condition)
            self.read(operand.then)
            self.read(operand.otherwise)
        elif isinstance(operand, Apply):
            for group in operand.arguments:
                self.read(group)

    def write(self, operand: Operand, whole: bool) -> None:
        if isinstance(operand, Name):
            self.writes.append((operand.text, whole and not operand.part))
            self.named.append(operand.text)
        elif isinstance(operand, (Vector, Group)):
            for item in operand.items:
                self.write(item, whole)
        elif isinstance(operand, Dual):
            self.write(operand.first, whole)
            self.write(operand.second, whole)
        else:  # memory: its registers are an address
            self.read(operand)


def _roles(instruction: Instruction, match: Match | None, ptxplus: bool) -> tuple[str, ...]:
    """A role per operand: "r", "w" (wholly), "d" (written, perhaps in part), "x" (both), "l" (a label)."""
    operands = instruction.operands
    if match is None:
        return ("x",) + ("r",) * (len(operands) - 1) if operands else ()
    if "call" in match.form.effects:  # the table cannot see the difference of `f, (x)` and `(x), f`
        return tuple(
            "w" if i == 0 and len(operands) > 1 and isinstance(o, Group) else "r"
            for i, o in enumerate(operands)
        )
    roles: list[str] = []
    for i, operand in enumerate(operands):
        spec = match.form.operands[i].role if i < len(match.form.operands) else "r"
        if spec in ("w", "p"):
            is_pair_without_braces = ptxplus and match.type in _PAIR_TYPES and isinstance(operand, Name)
            roles.append("d" if is_pair_without_braces else "w")
        else:
            roles.append({"rw": "x", "l": "l"}.get(spec, "r"))
    return tuple(roles)


def _access(operand: Operand, role: str) -> _Access:
    reader = _Reader()
    if role in ("r", "x"):
        reader.read(operand)
    if role in ("w", "d", "x"):
        reader.write(operand, whole=role == "w")
    return reader.result()


def def_use(function: Function) -> tuple[DefUse, ...]:
    """The registers every instruction of a function writes and reads, in the order of `function.instructions`."""
    registers = function.registers
    ptxplus = registers.is_ptxplus
    special = registers.special_bits
    resolve = registers.resolve_index
    opcodes: Table = table()
    # equal operand texts share one node, so the names in an operand are found once per node and role
    accesses: dict[tuple[int, str], _Access] = {}
    result: list[DefUse] = []
    for position, instruction in enumerate(function.instructions):
        match = opcodes.match(instruction.opcode.text, len(instruction.operands), ptxplus)
        defs: dict[int, bool] = {}  # index -> wholly; dicts keep order and drop repetitions
        uses: dict[int, None] = {}
        touched: dict[int, None] = {}
        for operand, role in zip(instruction.operands, _roles(instruction, match, ptxplus), strict=True):
            if role == "l":
                continue
            access = accesses.get((id(operand), role))
            if access is None:
                access = accesses[id(operand), role] = _access(operand, role)
            for name in access.named:
                index = resolve(name, position)
                if index >= 0:
                    touched[index] = None
            for name in access.reads:
                index = resolve(name, position)
                if index >= 0 and not special >> index & 1:
                    uses[index] = None
            for name, whole in access.writes:
                index = resolve(name, position)
                if index >= 0 and not special >> index & 1:
                    defs[index] = whole or defs.get(index, False)
        if instruction.guard is not None:
            index = resolve(instruction.guard.name, position)
            if index >= 0:
                touched[index] = None
                if not special >> index & 1:
                    uses[index] = None
            kills: tuple[int, ...] = ()
        else:
            kills = tuple(i for i, whole in defs.items() if whole)
        result.append(DefUse(tuple(defs), kills, tuple(uses), tuple(touched)))
    return tuple(result)
