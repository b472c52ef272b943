"""Which registers an instruction writes, surely overwrites, reads: the only place that decides it.

For liveness, first use, the scoreboard. The roles come from the instruction table;
this file adds what no table row can express:

* a guarded write is a def and no kill: lanes whose guard is false keep the old value;
* `$r1.lo`, `$r1.hi` and `%v.x` write a part: a def and no kill (not so the selectors of video instructions, `%r1.b0`);
* the registers inside an address are read, also those of a store, and where memory is the destination of `mov`;
* `s[$ofs1+=4]` reads and writes `$ofs1`, wherever in the instruction it stands;
* `{a, b}`, `p|q`, `$p0/$r1`, `(result)` write each of their registers;
* PTXPlus's zero register is never read, its sinks are never written: they are only in `touched`;
* PTXPlus's values of 64 bits live in two adjacent 32-bit registers, of 128 bits in four; where the text names
  the first alone (`cvt.ff64.s32 $r0, $r2`, `st.global.bb64 [$r1], $r4`), the declared ones after it take part;
* an opcode outside the table is assumed to read all its operands and to write the first, surely nothing.

Not handled: the carry flag of `add.cc` and its like, which is no declared register. `callp` and `retp` share the
caller's registers: the control flow graph knows that, not this file.

Reference: PTX ISA, chapter 9; the traps of PTXPlus: GPGPU-Sim's manual, section "PTXPlus".
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import msgspec

from ptxtool.base.bits import indices
from ptxtool.ir import nodes
from ptxtool.ir.names import operand_parts
from ptxtool.ir.symbols import RegisterTable
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES

_NUMBER = re.compile(r"(\d+)$")
_WIDE = frozenset(name for name, type_ in TYPES.items() if type_.bits > 32)
_WORD_OPERANDS = {"shl": [2], "shr": [2], "bfe": [2, 3], "bfi": [3, 4], "popc": [0], "clz": [0], "bfind": [0]}
"""Operands of 32 bits whatever the instruction's type."""


class DefUse(msgspec.Struct, frozen=True, gc=False):
    """What one instruction does to registers, as register indices without repetition.

    `kills` are the defs that overwrite the whole register in every lane. `touched` are all registers named, zero
    and sinks included, in operand order (destination first), the guard last.
    """

    defs: tuple[int, ...]
    kills: tuple[int, ...]
    uses: tuple[int, ...]
    touched: tuple[int, ...]


class Access(NamedTuple):
    """The names in one operand: those written (and whether wholly), those read, all in order."""

    writes: tuple[tuple[str, bool], ...]
    reads: tuple[str, ...]
    named: tuple[str, ...]


def one_word(name: nodes.Name) -> tuple[str, ...]:
    """A name that stands for itself."""
    return (name.text,)


class _NameCollector:
    """Collects the names of one operand."""

    def __init__(self, words: Callable[[nodes.Name], tuple[str, ...]]) -> None:
        self.writes: list[tuple[str, bool]] = []
        self.reads: list[str] = []
        self.named: list[str] = []
        self._words = words  # the registers that a name stands for

    def result(self) -> Access:
        return Access(tuple(self.writes), tuple(self.reads), tuple(self.named))

    def read(self, operand: nodes.Operand) -> None:
        if isinstance(operand, nodes.Name):
            words = self._words(operand)
            self.reads += words
            self.named += words
            return
        # inside braces and addresses every word is named
        if not isinstance(operand, nodes.Unary | nodes.Cast):
            self._words = one_word
        base = operand.base if isinstance(operand, nodes.Memory) and operand.post_increment else None
        if isinstance(base, nodes.Name):
            self.writes.append((base.text, not base.part))
        for part in operand_parts(operand):
            self.read(part)

    def write(self, operand: nodes.Operand, whole: bool) -> None:
        if isinstance(operand, nodes.Name):
            words = self._words(operand)
            # `%r1.b0` in a video instruction: the rest of %r1 comes from another operand
            partial = bool(operand.part) and not operand.part[1:].isdecimal()
            self.writes += ((word, whole and not partial) for word in words)
            self.named += words
        elif isinstance(operand, nodes.Vector | nodes.Group | nodes.Dual):
            if not isinstance(operand, nodes.Dual):
                self._words = one_word
            for part in operand_parts(operand):
                self.write(part, whole)
        else:  # memory: its registers are an address
            self.read(operand)


def roles(instruction: nodes.Instruction, match: Match | None) -> tuple[str, ...]:
    """A role per operand: "r", "w" (written wholly), "x" (read and perhaps written), "l" (a label)."""
    operands = instruction.operands
    if match is None:
        return ("x",) + ("r",) * (len(operands) - 1) if operands else ()
    if "call" in match.form.effects:  # the table cannot see the difference of `f, (x)` and `(x), f`
        return tuple(
            "w" if i == 0 and len(operands) > 1 and isinstance(o, nodes.Group) else "r"
            for i, o in enumerate(operands)
        )
    if forms := _forms_by_address(instruction.opcode.text, len(operands)):
        address = next((i for i, o in enumerate(operands) if isinstance(o, nodes.Memory)), -1)
        match = forms.get(address, match)
    return _roles_of(match, len(operands))


@cache
def _forms_by_address(opcode_text: str, n_operands: int) -> dict[int, Match]:
    """Where forms with as many operands differ in which one is the address: each by its place, otherwise nothing.

    `mbarrier.try_wait.phase_type::primary` has four operands with a report or with a time limit.
    """
    found: dict[int, Match] = {}
    for match in table().matches(opcode_text, n_operands, ptxplus=False):
        place = next((i for i, spec in enumerate(match.operands) if spec.role == "m"), -1)
        found.setdefault(place, match)
    return found if len(found) > 1 else {}


def _roles_of(match: Match, n: int) -> tuple[str, ...]:
    specs = match.operands
    names = {"w": "w", "p": "w", "rw": "x", "l": "l"}
    return tuple(names.get(specs[i].role, "r") if i < len(specs) else "r" for i in range(n))


@cache
def is_wide(opcode_text: str, n_operands: int) -> bool:
    """PTXPlus: whether some value of an instruction has more than 32 bits, which several registers hold."""
    match = table().match(opcode_text, n_operands, ptxplus=True)
    return match is not None and not _WIDE.isdisjoint((match.type, match.stype))


def _words(match: Match, base: str, i: int, role: str) -> int:
    """32-bit words of operand i in PTXPlus."""
    if i in _WORD_OPERANDS.get(base, ()):
        return 1
    has_first_type = role == "w" or not match.stype or (base == "slct" and i < 3)
    type_ = TYPES.get(match.type if has_first_type else match.stype)
    return 1 if type_ is None else max(1, type_.bits // 32)


def _adjacent(registers: RegisterTable, position: int, n: int) -> Callable[[nodes.Name], tuple[str, ...]]:
    """For values of n words: the registers that a plain `$rN` stands for. Undeclared ones are left out later."""

    def words(name: nodes.Name) -> tuple[str, ...]:
        digits = name.text.removeprefix("$r")
        register = registers.resolve(name.text, position)
        if name.part or not digits.isdecimal() or register is None or register.bits != 32 or register.role:
            return (name.text,)
        return tuple(f"$r{int(digits) + k}" for k in range(n))

    return words


_NOTHING = Access((), (), ())


def _access(operand: nodes.Operand, role: str, words: Callable[[nodes.Name], tuple[str, ...]]) -> Access:
    kind = type(operand)
    if kind is nodes.Immediate:
        return _NOTHING
    if kind is nodes.Name and words is one_word and not operand.part:  # type: ignore[union-attr]
        names = (operand.text,)  # type: ignore[union-attr]
        if role == "r":
            return Access((), names, names)
        if role == "w":
            return Access(((names[0], True),), (), names)
    # what `_NameCollector` would find, sooner: nearly all vectors, pairs and addresses are like this
    if isinstance(operand, nodes.Vector) or (isinstance(operand, nodes.Dual) and words is one_word):
        items = operand.items if isinstance(operand, nodes.Vector) else (operand.first, operand.second)
        inside = tuple([item.text for item in items if isinstance(item, nodes.Name) and not item.part])
        if len(inside) == len(items) and role == "r":
            return Access((), inside, inside)
        if len(inside) == len(items) and role == "w":
            return Access(tuple([(name, True) for name in inside]), (), inside)
    if isinstance(operand, nodes.Memory) and is_plain_address(operand):
        base = operand.base
        if base is None:
            return _NOTHING
        if isinstance(base, nodes.Name) and role in ("r", "w"):
            return Access((), (base.text,), (base.text,))
    collector = _NameCollector(words)
    if role in ("r", "x"):
        collector.read(operand)
    if role in ("w", "x"):
        collector.write(operand, whole=role == "w")
    return collector.result()


def is_plain_address(address: nodes.Memory) -> bool:
    """Whether an address names nothing but its base, and keeps it."""
    is_constant = address.offset is None or type(address.offset) is nodes.Immediate
    return is_constant and not address.post_increment and not address.coordinates


def accessed(operand: nodes.Operand, role: str) -> Access:
    """The names in a PTX operand, under one of the roles that `roles` gives."""
    return _access(operand, role, one_word)


def adjacent_words(function: nodes.Function, index: int) -> Iterator[tuple[tuple[str, ...], bool]]:
    """PTXPlus: the registers that an operand of an instruction wants side by side, and whether it writes them.

    These stand in braces with consecutive numbers (`{$r4,$r5}`), or are named by their first (`cvt.ff64.s32 $r0, $r2`).
    """
    node = function.instructions[index]
    match = table().match(node.opcode.text, len(node.operands), ptxplus=True)
    wide = is_wide(node.opcode.text, len(node.operands))
    for i, (operand, role) in enumerate(zip(node.operands, roles(node, match), strict=True)):
        inside = operand.operand if isinstance(operand, nodes.Unary) else operand
        names: tuple[str, ...] = ()
        if isinstance(inside, nodes.Vector):
            names = tuple(
                item.text for item in inside.items if isinstance(item, nodes.Name) and item.text != "_"
            )
        elif isinstance(inside, nodes.Name) and wide and match is not None and role != "l":
            n = _words(match, node.opcode.base, i, role)
            names = _adjacent(function.registers, index, n)(inside) if n > 1 else ()
        numbers = [int(digits[1]) for name in names if (digits := _NUMBER.search(name))]
        if len(numbers) == len(names) > 1 and all(b == a + 1 for a, b in pairwise(numbers)):
            yield names, role in ("w", "x")


class OperandAccesses:
    """What the operands of a function's instructions name."""

    def __init__(self, function: nodes.Function):
        self._registers = function.registers
        self._is_ptxplus = function.registers.is_ptxplus
        # equal operand texts share one node, so the names in an operand are found once per node and role
        self._known: dict[tuple[int, str, int], Access] = {}
        # match, roles and whether some value is wide, once per opcode; not the roles of calls and of two forms
        self._forms: dict[tuple[str, int], tuple[Match | None, tuple[str, ...] | None, bool]] = {}

    def of(self, position: int, instruction: nodes.Instruction) -> list[Access | None]:
        """Per operand its names, None for a label; the guard is not among them."""
        operands, known = instruction.operands, self._known
        key = instruction.opcode.text, len(operands)
        form = self._forms.get(key)
        if form is None:
            match = table().match(*key, self._is_ptxplus)
            same = match is None or not ("call" in match.form.effects or _forms_by_address(*key))
            wide = self._is_ptxplus and is_wide(*key)
            form = self._forms[key] = match, roles(instruction, match) if same else None, wide
        match, kinds, wide = form
        found: list[Access | None] = []
        for i, (operand, role) in enumerate(zip(operands, kinds or roles(instruction, match), strict=True)):
            if role == "l":
                found.append(None)
                continue
            n = _words(match, instruction.opcode.base, i, role) if wide and match is not None else 1
            access = known.get((id(operand), role, n))
            if access is None:
                words = one_word if n == 1 else _adjacent(self._registers, position, n)
                access = known[id(operand), role, n] = _access(operand, role, words)
            found.append(access)
        return found


def accesses(function: nodes.Function) -> Iterator[list[Access | None]]:
    """Per instruction, in order, what each of its operands names, None for a label; the guard is not among them."""
    operands = OperandAccesses(function)
    return (operands.of(i, instruction) for i, instruction in enumerate(function.instructions))


def def_use(function: nodes.Function) -> tuple[DefUse, ...]:
    """The registers every instruction of a function writes and reads, in the order of `function.instructions`."""
    return _PlainDefUse(function).run()


def def_use_of(function: nodes.Function, operands: Iterable[list[Access | None]]) -> tuple[DefUse, ...]:
    """The same from what `accesses` has found."""
    registers = function.registers
    found = enumerate(zip(function.instructions, operands, strict=True))
    return tuple([_sets(registers, i, instruction, accesses) for i, (instruction, accesses) in found])


def _sets(
    registers: RegisterTable, position: int, instruction: nodes.Instruction, found: list[Access | None]
) -> DefUse:
    """The sets of one instruction, from what its operands name."""
    special = registers.special_bits
    resolve = registers.resolve_index
    defs: dict[int, bool] = {}  # index -> wholly; dicts keep order and drop repetitions
    uses: dict[int, None] = {}
    touched: dict[int, None] = {}
    for access in found:
        if access is None:
            continue
        writes, reads, named = access
        for name in named:
            index = resolve(name, position)
            if index >= 0:
                touched[index] = None
        for name in reads:
            index = resolve(name, position)
            if index >= 0 and not special >> index & 1:
                uses[index] = None
        for name, whole in writes:
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
    return DefUse(tuple(defs), kills, tuple(uses), tuple(touched))


NOT_PLAIN = (1, -1)
"""In place of a slice of operands, from `plain_sources`."""


class _PlainDefUse:
    """`def_use`, three times as fast as `accesses` and `def_use_of` (measured on Triton's largest kernel).

    A *plain* instruction writes all of its first operand, or nothing, and reads the others, and its names mean the same
    at every instruction: then its sets are those of its operands one after the other, and nothing is made in between.
    What PTXPlus writes to memory is an operand like those that are read. The others are left to `_sets`.
    """

    def __init__(self, function: nodes.Function):
        self._function = function
        self._operands = OperandAccesses(function)
        self._everywhere = function.registers.everywhere
        self._special = frozenset(indices(function.registers.special_bits))
        self._sources: dict[tuple[str, int], tuple[int, int]] = {}  # by opcode and number of operands
        # the registers of other operands than names, by identity: equal operand texts share one node
        self._read: dict[int, tuple[int, ...]] = {}
        self._written: dict[int, tuple[int, ...]] = {}

    def run(self) -> tuple[DefUse, ...]:
        everywhere, known, special = self._everywhere, self._read, self._special
        is_ptxplus = self._function.registers.is_ptxplus
        result: list[DefUse] = []
        for position, node in enumerate(self._function.instructions):
            operands, guard = node.operands, node.guard
            key = node.opcode.text, len(operands)
            form = self._sources.get(key)
            if form is None:
                form = self._sources[key] = plain_sources(*key, is_ptxplus)
            first, last = form
            if first and last >= 0 and type(operands[0]) is nodes.Memory:
                first = 0
            defs: tuple[int, ...] | None = ()
            if first:
                target = operands[0] if last >= 0 else None
                if type(target) is nodes.Name and not target.part:
                    defs = everywhere[target.text]
                else:
                    defs = None if target is None else self._target(target)
            uses: tuple[int, ...] = ()
            found = defs
            for operand in operands[first:last]:
                if type(operand) is nodes.Name:
                    found = everywhere[operand.text]
                else:
                    found = known.get(id(operand))
                    if found is None:
                        found = self._source(operand)
                if found is None:
                    break
                uses += found
            if found is not None and guard is not None:
                found = everywhere[guard.name]
                uses += found or ()
            if defs is None or found is None:
                result.append(
                    _sets(self._function.registers, position, node, self._operands.of(position, node))
                )
                continue
            touched = defs + uses
            if len(touched) > 1 and len({*touched}) < len(touched):
                defs, uses, touched = (tuple(dict.fromkeys(each)) for each in (defs, uses, touched))
            if special and not special.isdisjoint(touched):
                defs, uses = (tuple([k for k in each if k not in special]) for each in (defs, uses))
            result.append(DefUse(defs, defs if guard is None else (), uses, touched))
        return tuple(result)

    def _target(self, operand: nodes.Operand) -> tuple[int, ...] | None:
        """The registers that an operand writes, None if not all of them wholly or at this place only."""
        found = self._written.get(id(operand))
        if found is None:
            writes, reads, _ = accessed(operand, "w")
            is_plain = not reads and all(whole for _, whole in writes)
            found = self._all_everywhere(name for name, _ in writes) if is_plain else None
            if found is not None:
                self._written[id(operand)] = found
        return found

    def _source(self, operand: nodes.Operand) -> tuple[int, ...] | None:
        """The registers that an operand reads, None if they depend on the place."""
        base = operand.base if type(operand) is nodes.Memory else None
        if type(operand) is nodes.Immediate:
            found: tuple[int, ...] | None = ()
        elif type(base) is nodes.Name and is_plain_address(operand):  # type: ignore[arg-type]
            found = self._everywhere[base.text]
        else:
            access = accessed(operand, "r")
            found = None if access.writes else self._all_everywhere(access.reads)
        if found is not None:
            self._read[id(operand)] = found
        return found

    def _all_everywhere(self, names: Iterable[str]) -> tuple[int, ...] | None:
        found: tuple[int, ...] = ()
        for name in names:
            register = self._everywhere[name]
            if register is None:
                return None
            found += register
        return found


@cache
def plain_sources(opcode_text: str, n_operands: int, is_ptxplus: bool) -> tuple[int, int]:
    """The slice of an instruction's operands that it only reads, from 1 on if it writes the first and no other.

    (0, 0) for branches; `NOT_PLAIN` where opcodes or operands say more than that: `roles` and `accessed` tell.
    """
    match = table().match(opcode_text, n_operands, is_ptxplus)
    if match is None or "call" in match.form.effects or _forms_by_address(opcode_text, n_operands):
        return NOT_PLAIN
    if is_ptxplus and is_wide(opcode_text, n_operands):
        return NOT_PLAIN
    kinds = "".join(_roles_of(match, n_operands))
    if kinds == "l":
        return 0, 0
    first = int(kinds.startswith("w"))
    return (first, n_operands) if kinds.count("r") == n_operands - first else NOT_PLAIN
