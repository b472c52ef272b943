"""From items to steps: the values and places of kept instructions, the meaning of dropped and inserted ones.

For the check of register assignment. Kept instructions are compared operand by operand; roles are those of
`ptxtool.ir.defuse`. An instruction may be dropped if it is a plain copy of a register or a constant definition. An
inserted one means what its own text means, whatever the pass inserted it for:

    mov.b32 %r1, %r2;                              a copy                   mov.u32 $r1, $r2;
    st.local.b64 [__ptxtool_spill+8], %rd1;        a spill, a reload        (and `ld.local`)
    st.shared.b32 [%r8+512], %r1;                  the same of a demoted register (`thread_slots.py`)
    mov.b64 {%r1, %r2}, %rd1;                      the halves of a register, and back
    selp.b32 %r1, 1, 0, %p2;                       a predicate as a word    mov.u32 $r1, $p2;
    setp.ne.b32 %p2, %r1, 0;                       and back                 mov.pred $p2, $r1;
    mov.u32 %r1, %tid.x;                           a constant definition of the original, written again

Anything else that was dropped or inserted is a problem, and so is an inserted instruction under a guard unless it is a
spill or reload. Accesses to slots of the old text count as dropped copies, in the new text as spills and reloads.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from itertools import count
from types import MappingProxyType

from ptxtool.analysis.flow.constant_definitions import constant_definitions
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.defuse import DefUse, OperandAccesses
from ptxtool.ir.nodes import Function, Immediate, Instruction, Memory, Name, Operand, Vector
from ptxtool.ir.symbols import PTXPLUS_ZERO, Register
from ptxtool.isa.types import TYPES
from ptxtool.validate.assignment.align import NONE, same_label, same_operation, same_shape
from ptxtool.validate.assignment.guarded_runs import Guard
from ptxtool.validate.assignment.places import PlaceTable, Slot, slot_of, spill_variables
from ptxtool.validate.assignment.plain import plain_pairs
from ptxtool.validate.assignment.private_slots import SlotAccess
from ptxtool.validate.assignment.steps import (
    Convert,
    Equal,
    Halves,
    Kept,
    Known,
    Move,
    Recompute,
    Step,
    StepGuard,
)
from ptxtool.validate.assignment.thread_slots import ThreadSlots
from ptxtool.validate.functions import wrong

NO_ACCESSES: Mapping[int, SlotAccess] = MappingProxyType({})
NEITHER = (-1, -1)
"""Stands for the value and the place of an operand that is no register."""
_GuardRead = tuple[StepGuard, tuple[int, int]]
"""A guard, and its register before and after."""
_NONE_ALIKE: frozenset[int] = frozenset()  # a set, even an empty one, takes 216 bytes
_WORD = frozenset({"b32", "u32", "s32"})


class StepReader:
    """Finds the steps of one function; collects `problems`."""

    def __init__(
        self,
        before: Function,
        after: Function,
        demoted: ThreadSlots | None = None,
        accesses: Mapping[int, SlotAccess] = NO_ACCESSES,
        names: Mapping[str, str] | None = None,
    ) -> None:
        """Slots of the new text are `demoted`; `accesses` are those of the old text, which are values as well. `names`
        are those of labels, as in `Alignment`.

        With `accesses`, the steps of guarded instructions are those of the lanes in which the guard is true.
        """
        self.before, self.after, self._demoted, self._accesses = before, after, demoted, accesses
        self._names = names
        self._old, self._new = OperandAccesses(before), OperandAccesses(after)
        self.def_uses = before.def_uses
        self.places = PlaceTable(after)
        self.problems: list[Diagnostic] = []
        self.constants = constant_definitions(before, self.def_uses)
        self._resolve_old, self._resolve_new = before.registers.resolve_index, after.registers.resolve_index
        self._is_ptxplus = before.registers.is_ptxplus
        self._same_class: dict[tuple[int, int], bool] = {}  # of PTX, by the declarators
        self._spills = spill_variables(before, after)
        # by identity and width, -1 for none: the places of addresses, and of names with one meaning everywhere
        self._slots: dict[tuple[int, int], int] = {}
        slots = dict.fromkeys(access.slot for access in accesses.values())
        self.slot_values = dict(zip(slots, count(len(before.registers)), strict=False))
        self.n_values = len(before.registers) + len(slots)
        self.guards: Mapping[int, tuple[Guard | None, Guard | None]] = {}
        """Per item that is a branch around a run: the guards of the run, before and after."""
        self._spilled: dict[tuple[int, int], int] = {}
        self._guard_reads: dict[_GuardRead, _GuardRead] = {}  # one for all instructions under a guard
        self._groups: dict[tuple[object, ...], list[frozenset[int]]] = {}  # of `_alike`, by its keys

    def steps(self, items: Sequence[tuple[int, int]]) -> list[Step]:
        """The steps of items."""
        found: list[Step | None] = [None] * len(items)
        nodes, constants = self.before.instructions, self.constants
        pairs = plain_pairs(self.before, self.after, items, self.places.register, self._names)
        for item, writes, reads in pairs:
            i, j = items[item]
            if nodes[i].guard is None and len(writes) <= 1 and i not in constants:  # nearly all
                found[item] = Kept(reads, writes)
            else:
                found[item] = self._kept_step(i, j, [*reads], dict.fromkeys(writes, True))
        for item, guards in self.guards.items():
            found[item] = self._branch(*guards, items[item + 1][1])
        return [step or self._step(i, j) for step, (i, j) in zip(found, items, strict=True)]

    def _branch(self, old: Guard | None, new: Guard | None, j: int) -> Kept:
        """The branch around a run reads the guard, where both texts name one."""
        if old is None or new is None:
            return Kept((), ())
        if not self._is_same_class(old.register, new.register):
            return self.complain(j, f"the guard of '{self.after.text(j)}' is no such register as before")
        return Kept(((old.register, self.places.register(new.register)),), ())

    def _step(self, i: int, j: int) -> Step:
        if i == NONE:
            return self._inserted(j)
        return self._dropped(i) if j == NONE else self._kept(i, j)

    def complain(self, j: int, what: str, help: str = "") -> Kept:
        self.problems.append(wrong(what, self.after.source, self.after.instructions[j], help))
        return Kept((), ())

    # ---- kept

    def _kept(self, i: int, j: int) -> Step:
        old, new = self.before.instructions[i], self.after.instructions[j]
        if not same_operation(old, new, self._names is not None):
            what = f"'{self.after.text(j)}' is another operation than '{self.before.text(i)}'"
            return self.complain(j, what)
        reads: list[tuple[int, int]] = []
        writes: dict[tuple[int, int], bool] = {}
        if not self._operands(i, j, reads, writes):
            what = f"'{self.after.text(j)}' differs from '{self.before.text(i)}' in more than registers"
            return self.complain(j, what)
        return self._kept_step(i, j, reads, writes)

    def _kept_step(
        self, i: int, j: int, reads: list[tuple[int, int]], writes: dict[tuple[int, int], bool]
    ) -> Step:
        """The step of an instruction whose operands have these reads and writes (with whether wholly)."""
        old, new = self.before.instructions[i], self.after.instructions[j]
        guard, merges = None, False
        if old.guard is not None and new.guard is not None:
            pair = self._numbers(old.guard.name, new.guard.name, i, j)
            if pair is None:
                return self.complain(j, f"the guard of '{self.after.text(j)}' is no such register as before")
            if pair[0] >= 0:
                guard = StepGuard(pair[1], new.guard.negated, new.guard.condition)
                guard, pair = self._guard_reads.setdefault((guard, pair), (guard, pair))
                reads.append(pair)
            merges = not all(writes.values())
            if self._accesses:
                guard = None
            else:
                writes = dict.fromkeys(writes, False)
        if len(writes) > 1:
            self._apart(j, [place for _, place in writes])
        results = tuple(writes)
        partial = tuple([one for one in results if not writes[one]])
        alike = self._alike(i) if i in self.constants else _NONE_ALIKE
        return Kept(tuple(reads), results, results if partial == results else partial, alike, guard, merges)

    def _operands(
        self, i: int, j: int, reads: list[tuple[int, int]], writes: dict[tuple[int, int], bool]
    ) -> bool:
        """Collect the pairs that the operands read and write; False where more than registers differs."""
        old, new = self.before.instructions[i], self.after.instructions[j]
        sides = old.operands, new.operands, self._old.of(i, old), self._new.of(j, new)
        for a, b, was, now in zip(*sides, strict=True):
            if was is None or now is None:
                if not same_label(a, b, self._names):
                    return False
                continue
            if not same_shape(a, b) or len(was.reads) != len(now.reads) or len(was.writes) != len(now.writes):
                return False
            for x, y in zip(was.reads, now.reads, strict=True):
                pair = self._numbers(x, y, i, j)
                if pair is None:
                    return False
                if pair[0] >= 0:
                    reads.append(pair)
            for (x, wholly), (y, _) in zip(was.writes, now.writes, strict=True):
                pair = self._numbers(x, y, i, j)
                if pair is None:
                    return False
                if pair[0] >= 0:
                    writes[pair] = wholly or writes.get(pair, False)
        return True

    def _numbers(self, old: str, new: str, i: int, j: int) -> tuple[int, int] | None:
        """The value and the place that two names mean; `NEITHER` if they are no registers but the same name, or the
        same zero register or sink; None if one cannot stand for the other."""
        x, y = self._resolve_old(old, i), self._resolve_new(new, j)
        if x < 0 or y < 0:
            # of a pair that the text names by its first register, the second may be undeclared
            same = old == new or (self._is_ptxplus and _is_general(old) and _is_general(new))
            return NEITHER if x < 0 and y < 0 and same else None
        if not self._is_same_class(x, y):
            return None
        if self._is_ptxplus and self.before.registers[x].role:
            return NEITHER
        return x, self.places.register(y)

    def _is_same_class(self, x: int, y: int) -> bool:
        """Whether one register can stand for another. Of PTX, those of one declarator are alike."""
        before, after = self.before.registers, self.after.registers
        if self._is_ptxplus:
            return _same_class(before[x], after[y])
        key = before.declarator_of(x), after.declarator_of(y)
        if key not in self._same_class:
            self._same_class[key] = _same_class(before[x], after[y])
        return self._same_class[key]

    def _apart(self, j: int, places: list[int]) -> None:
        """Results of one instruction must not share bits."""
        for n, place in enumerate(places):
            for other in places[:n]:
                if place == other or self.places.overlap(place, other):
                    names = f"'{self.places.name(other)}' and '{self.places.name(place)}'"
                    self.complain(j, f"{names}, results of one instruction, share a register")

    # ---- dropped

    def _dropped(self, i: int) -> Step:
        if i in self._accesses:
            return self._slot_access(self._accesses[i])
        copy = self._copy(self.before, i)
        if copy is not None:
            return Equal(*copy)
        if i in self.constants:
            return Known(self.constants[i])
        what = f"'{self.before.text(i)}' is missing, and it is neither a copy of a register nor a constant"
        self.problems.append(wrong(what, self.before.source, self.before.instructions[i]))
        return Kept((), ())

    def _slot_access(self, access: SlotAccess) -> Equal:
        """A load or store of the old text: the register equals the slot, or the slot the register."""
        value = self.slot_values[access.slot]
        if access.is_load:
            return Equal(access.register, value)
        overlapping = (
            other
            for slot, other in self.slot_values.items()
            if other != value and (slot.variable, slot.offset) == (access.slot.variable, access.slot.offset)
        )
        return Equal(value, access.register, tuple(overlapping))

    def value_uses(self) -> Sequence[DefUse]:
        """The values that each instruction of the old text reads and writes, slots included."""
        if not self._accesses:
            return self.def_uses
        found = [*self.def_uses]
        for i, access in self._accesses.items():
            guard = self.before.instructions[i].guard
            guards = () if guard is None else (self._resolve_old(guard.name, i),)
            source, to = self.slot_values[access.slot], access.register
            if not access.is_load:
                source, to = to, source
            found[i] = DefUse((to,), () if guard else (to,), (source, *guards), ())
        return found

    def value_name(self, value: int) -> str:
        """The name of a value in diagnostics."""
        if value < len(self.before.registers):
            return self.before.registers[value].name
        slot = next(s for s, number in self.slot_values.items() if number == value)
        return f"[{slot.variable}+{slot.offset}]"

    def _copy(self, function: Function, i: int) -> tuple[int, int] | None:
        """The registers of a plain copy, destination first; None for any other instruction."""
        node = function.instructions[i]
        if node.guard is not None or node.opcode.base != "mov" or len(node.operands) != 2:
            return None
        modifiers = [m for m in node.opcode.modifiers if m != "half"]
        to, source = (self._register(function, o, i) for o in node.operands)
        if to is None or source is None or len(modifiers) != 1:
            return None
        type_ = TYPES.get(modifiers[0])
        same = type_ is not None and to.bits == source.bits == type_.bits and to.vector == source.vector == 1
        same = same and to.is_predicate == source.is_predicate == (modifiers[0] == "pred")
        return (to.index, source.index) if same else None

    @staticmethod
    def _register(function: Function, operand: Operand, i: int) -> Register | None:
        """The register that a plain operand is; None for parts, for zero and sinks, and for all else."""
        if not isinstance(operand, Name) or operand.part:
            return None
        found = function.registers.resolve(operand.text, i)
        return None if found is None or found.role else found

    # ---- inserted

    def _inserted(self, j: int) -> Step:
        node = self.after.instructions[j]
        if self._demoted is not None and j < self._demoted.entry:
            return Recompute(self.places.register(self.after.def_uses[j].defs[0]), ())
        spill = self._spill(node, j)
        if node.guard is not None:
            place = self.after.registers.resolve_index(node.guard.name, j)
            if place < 0 or not isinstance(spill, Move):
                return self.complain(j, f"the inserted '{self.after.text(j)}' has a guard")
            if self._accesses:
                return spill
            guard = StepGuard(self.places.register(place), node.guard.negated, node.guard.condition)
            return Move(spill.to, spill.source, guard)
        if spill is not None:
            return spill
        copy = self._copy(self.after, j)
        if copy is not None:
            return Move(self.places.register(copy[0]), self.places.register(copy[1]))
        if step := self._predicate(node, j) or self._halves(node, j) or self._constant(node, j):
            return step
        what = f"the inserted '{self.after.text(j)}' is no copy, spill, reload or constant of the original"
        return self.complain(j, what)

    def _spill(self, node: Instruction, j: int) -> Step | None:
        if len(node.operands) != 2:
            return None
        kind, space, bits = _slot_access(node.opcode.text)
        if not bits:
            return None
        address, value = node.operands if kind == "st" else reversed(node.operands)
        slot = self._slots.get((id(address), bits))  # equal operand texts share a node
        if slot is None:
            found = (
                slot_of(address, bits, self._spills)
                if space == "local"
                else self._thread_slot(address, bits, j)
            )
            slot = self._slots[id(address), bits] = -1 if found is None else self.places.slot(found)
        register = self._spilled.get((id(value), bits))
        if register is None:
            register = self._spillable(value, bits, j)
        if slot < 0 or register < 0:
            return None
        return Move(slot, register) if kind == "st" else Move(register, slot)

    def _thread_slot(self, address: Operand, bits: int, j: int) -> Slot | None:
        base = address.base if isinstance(address, Memory) else None
        if self._demoted is None or not isinstance(base, Name) or base.part:
            return None
        return self._demoted.slot(address, bits, self._resolve_new(base.text, j))

    def _spillable(self, value: Operand, bits: int, j: int) -> int:
        """The place of a plain register of that width, no predicate, in an instruction of the new text; -1 if none."""
        if type(value) is not Name or value.part:
            return -1
        index = self._resolve_new(value.text, j)
        register = self.after.registers[index] if index >= 0 else None
        fits = (
            register is not None and not register.role and not register.is_predicate and register.bits == bits
        )
        place = self.places.register(index) if fits else -1
        if self.after.registers.everywhere[value.text]:
            self._spilled[id(value), bits] = place
        return place

    def _predicate(self, node: Instruction, j: int) -> Step | None:
        """A predicate saved in a word or restored from one; PTXPlus's has four flags, which `mov` carries."""
        words = node.opcode.text.split(".")
        registers = [self._register(self.after, o, j) for o in node.operands]
        literals = [o.text if isinstance(o, Immediate) else "" for o in node.operands]
        if self._is_ptxplus:
            saves = words == ["mov", "u32"] and len(registers) == 2
            restores = words == ["mov", "pred"] and len(registers) == 2
        else:
            has_word = words[-1] in _WORD
            saves = has_word and words[:-1] == ["selp"] and literals == ["", "1", "0", ""]
            restores = has_word and words[:-1] == ["setp", "ne"] and literals == ["", "", "0"]
        if not saves and not restores:
            return None
        to, source = registers[0], registers[-1 if saves else 1]
        if to is None or source is None:
            return None
        word, predicate = (to, source) if saves else (source, to)
        if word.is_predicate or word.bits != 32 or word.vector != 1 or not predicate.is_predicate:
            return None
        return Convert(self.places.register(to.index), self.places.register(source.index), saves)

    def _halves(self, node: Instruction, j: int) -> Step | None:
        """A register of 64 bits from two of 32, or these from it."""
        if node.opcode.text != "mov.b64" or len(node.operands) != 2:
            return None
        is_whole = isinstance(node.operands[1], Vector)
        whole, parts = node.operands if is_whole else reversed(node.operands)
        if not isinstance(parts, Vector) or len(parts.items) != 2:
            return None
        places = [
            self._spillable(operand, bits, j)
            for operand, bits in zip((*parts.items, whole), (32, 32, 64), strict=True)
        ]
        low, high, register = places
        return None if -1 in places or low == high else Halves(low, high, register, is_whole)

    @cached_property
    def _definitions(self) -> dict[tuple[object, ...], list[int]]:
        """The constant definitions by opcode and sources; those from registers by opcode and number of operands."""
        found: dict[tuple[object, ...], list[int]] = {}
        for i in self.constants:
            found.setdefault(self._key(i), []).append(i)
        return found

    def _key(self, i: int) -> tuple[object, ...]:
        node = self.before.instructions[i]
        sources = (len(node.operands),) if self.def_uses[i].uses else node.operands[1:]
        return node.opcode.text, *sources

    def _alike(self, i: int) -> frozenset[int]:
        """The registers of a constant definition and of all others that read the same."""
        own = self.constants[i]
        if self.def_uses[i].uses:
            return frozenset((own,))
        registers, key = self.before.registers, self._key(i)
        groups = self._groups.setdefault(key, [])
        found = next((group for group in groups if own in group), None)
        if found is None:
            alike = (self.constants[other] for other in self._definitions[key])
            found = frozenset(v for v in alike if _same_class(registers[own], registers[v]))
            groups.append(found)
        return found

    def _constant(self, node: Instruction, j: int) -> Step | None:
        """A constant definition of the original written again: of all registers that have one like it."""
        to = self._register(self.after, node.operands[0], j) if node.operands else None
        if to is None:
            return None
        values: list[tuple[int, tuple[tuple[int, int], ...]]] = []
        keys: tuple[tuple[object, ...], ...] = (
            (node.opcode.text, *node.operands[1:]),
            (node.opcode.text, len(node.operands)),
        )
        for i in (i for key in keys for i in self._definitions.get(key, ())):
            value = self.constants[i]
            reads: list[tuple[int, int]] = []
            if _same_class(self.before.registers[value], to) and self._operands(i, j, reads, {}):
                values.append((value, tuple(reads)))
        return Recompute(self.places.register(to.index), tuple(values)) if values else None


@cache
def _slot_access(opcode_text: str) -> tuple[str, str, int]:
    """Of `ld.local.b32`, `st.shared.b64` and their like the words and the width in bits; a width of 0 of others."""
    words = opcode_text.split(".")
    plain = len(words) == 3 and words[0] in ("ld", "st") and words[1] in ("local", "shared")
    type_ = TYPES.get(words[2]) if plain else None
    return words[0], words[1] if plain else "", type_.bits if type_ else 0


def _is_general(name: str) -> bool:
    return name.startswith("$r") and name != PTXPLUS_ZERO


def _same_class(old: Register, new: Register) -> bool:
    if old.role or new.role:
        return old.role == new.role and old.name == new.name
    if old.is_predicate != new.is_predicate or old.bits != new.bits or old.vector != new.vector:
        return False
    return old.kind == new.kind
