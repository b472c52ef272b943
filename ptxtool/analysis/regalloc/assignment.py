"""Register assignment: units of a register file for every value of a function.

For `allocate`, `compact` and the register counts of reports. The general file is counted in units of 32 bits: 64-bit
values take aligned pairs, 128-bit ones aligned quadruples, narrower ones a unit each. Predicates have a file of their
own, as have PTXPlus's address registers. In PTXPlus webs that form a register tuple (`register_tuples.py`) stay
adjacent and keep their alignment.

Where a file is too small values are spilled (`spills.py`), and the rest is allocated by linear scan (`linear_scan.py`).
Where that fails because of alignment, values are spilled until one more unit is free, and so on.

Not handled: registers of vector type (`.reg .v4 .f32 %v;`) and PTXPlus's indirect branches (E301). Registers in the
head of a `.func` keep units of their own.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import msgspec
import numpy as np

from ptxtool.analysis.flow.accesses import Interval, Intervals, Numbers
from ptxtool.analysis.flow.copies import is_copy
from ptxtool.analysis.regalloc.in_flight import in_flight_intervals
from ptxtool.analysis.regalloc.linear_scan import (
    Allocation,
    Member,
    RegisterTuple,
    Singles,
    Tuples,
    allocate_fixed,
    linear_scan,
)
from ptxtool.analysis.regalloc.live_ranges import Ranges, live_ranges
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.analysis.regalloc.register_tuples import AdjacentWebs, register_tuples
from ptxtool.analysis.regalloc.spills import FILES, SpillInputs, SpillState, ValueTable, reduce_demand
from ptxtool.base.diag import PtxError, error
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.ir.nodes import Declaration, Function, Name, Statement

_UNBOUNDED = 1 << 16
_MOST_ROUNDS = 24
"""Rounds of spilling and scanning, each with one more unit left free for alignment."""


@dataclass(frozen=True)
class Assignment:
    """The registers of a function's values.

    `unit[v]` is the first unit of value v in its file, `used` the number of units needed per file, `slot` the byte
    offset in a thread's memory of every value spilled there, `frame_bytes` their size together. Registers of the
    head are counted apart.
    """

    ranges: Ranges = field(repr=False, compare=False)
    spills: SpillState = field(repr=False)
    unit: Mapping[int, int] = field(repr=False)
    used: Mapping[str, int]
    slot: Mapping[int, int] = field(repr=False)
    frame_bytes: int

    @property
    def registers(self) -> int:
        """32-bit registers per thread of this function alone."""
        return self.used["general"] + self.used["head"]

    @property
    def predicates(self) -> int:
        return self.used["predicate"]

    @property
    def n_spilled(self) -> int:
        """Values that live in memory."""
        return len(self.slot)

    @property
    def n_rematerialised(self) -> int:
        return len(self.spills.rematerialised)

    def place(self, web: int, instruction: int) -> int:
        """The unit of a web, or of its temporary, at an instruction that names it."""
        return self.unit[self.spills.at(web, instruction)]


class TooFewRegisters(Exception):
    """No assignment with that limit."""


def assign(
    function: Function,
    max_regs: int | None = None,
    max_predicates: int | None = None,
    spill: bool = True,
    by_words: bool = False,
) -> Assignment:
    """Registers for all values of a function in files of that size, None for as many as it takes.

    `by_words`: slots are accessed 32 bits at a time.
    Raises `PtxError`: E202 on an undeclared label, E301 for a register of vector type; `TooFewRegisters` where the
    values do not fit, with `spill` because the operands of one instruction alone do not.
    """
    refuse(function)
    if max_regs is None:
        free = _known.get(
            function, None, lambda: _Assigner(live_ranges(function), False).best(None, None, False)
        )
        if max_predicates is None or free.predicates <= max_predicates:
            return free
    return _Assigner(live_ranges(function), by_words).best(max_regs, max_predicates, spill)


_known: IdentityCache[Assignment] = IdentityCache(3)
"""Without bounds, of the last functions: a caller counts the registers of one, then compacts it."""


def refuse(function: Function) -> None:
    """E301 for registers without physical registers, and for branches whose targets the text does not name."""
    for _, declaration in function.other_statements:
        if isinstance(declaration, Declaration) and declaration.space == "reg" and declaration.vector > 1:
            help = "declare its elements as registers and write {%a, %b} where it is used"
            raise _refusal(function, declaration, "registers of vector type have no physical register", help)
    for i in function.at_bases("tex", "tld4", "brx"):
        node = function.instructions[i]
        if node.opcode.base != "brx" and (offset := _typed_offset(function, i)):
            what = f"'{offset}' is an offset, and no depth, by its declared type alone"
            help = "write the offset as a vector or a literal"
            raise _refusal(function, node, f"{what}, which physical registers have not", help)
        if node.opcode.base == "brx" and function.registers.is_ptxplus:
            what = f"'{node.opcode.text}' jumps to an address that the text does not name"
            why = "the registers that are read there are unknown"
            raise _refusal(function, node, f"{what}: {why}", "branch to labels instead")


def _refusal(function: Function, node: Statement, what: str, help: str) -> PtxError:
    return error("E301", what, function.source, node.start, node.end, help)


def _typed_offset(function: Function, index: int) -> str:
    """The scalar operand of a texture instruction that is an integer register, "" if there is none.

    ptxas takes such an operand for a depth where it is declared `.b32` or `.f32`.
    """
    if function.registers.is_ptxplus:
        return ""
    operands = function.instructions[index].operands
    last = operands[-1] if len(operands) == 3 else None
    register = function.registers.resolve(last.text, index) if isinstance(last, Name) else None
    return register.name if register is not None and register.type in ("s32", "u32") else ""


class _Assigner:
    def __init__(self, ranges: Ranges, by_words: bool):
        self.ranges, self._by_words = ranges, by_words
        self.registers = ranges.function.registers
        self.head = len(self.registers.head)
        self.tuples = register_tuples(ranges)
        self.in_flight = in_flight_intervals(ranges)
        self._copies = tuple(copies_of(ranges))
        self._is_tight = False  # whether alignment has cost a unit so far

    def best(self, max_regs: int | None, max_predicates: int | None, spill: bool) -> Assignment:
        """The assignment with fewer insertions: with temporaries that live at several instructions, and without.

        The first is as good as the second unless alignment has cost a unit.
        """
        found: list[Assignment] = []
        for may_join in (True, False) if spill else (True,):
            with suppress(TooFewRegisters):
                found.append(self._run(max_regs, max_predicates, spill, may_join))
            if found and not (self._is_tight and found[0].spills.n_insertions):
                break
        if not found:
            raise TooFewRegisters
        return min(found, key=lambda assignment: assignment.spills.n_insertions)

    def _run(
        self, max_regs: int | None, max_predicates: int | None, spill: bool, may_join: bool
    ) -> Assignment:
        """Registers for all values; with `may_join` a temporary may live at more than one instruction."""
        head_units = sum(self.registers[k].units for k in range(self.head))
        limits = {
            "general": _UNBOUNDED if max_regs is None else max_regs - head_units,
            "predicate": _UNBOUNDED if max_predicates is None else max_predicates,
            "address": _UNBOUNDED,
        }
        state = SpillState(self.ranges.n_points, values_of(self.ranges, self.in_flight))
        unit: dict[int, int] = {}
        used = {"head": head_units}
        for file in ("predicate", "address", "general"):  # spilled predicates become general values
            may_spill = spill and file != "address"
            found = self._allocate(state, file, limits[file], may_spill, may_join)
            unit.update(found.unit)
            used[file] = found.n_units
        slot, frame = _slots(state)
        return Assignment(self.ranges, state, unit, used, slot, frame)

    @cached_property
    def _spill_inputs(self) -> SpillInputs:
        """Unspillable are webs in register tuples, which would be loaded and stored as a whole, those in flight, and
        those with a value at entry."""
        unspillable = self.ranges.at_entry.union(self.tuples, self.in_flight)
        from ptxtool.analysis.regalloc.spill_inputs import (
            spill_inputs,  # where all values fit, nothing is weighed
        )

        return spill_inputs(self.ranges, unspillable, self._by_words)

    def _allocate(
        self, state: SpillState, file: str, limit: int, may_spill: bool, may_join: bool
    ) -> Allocation:
        """Units of one file for its values, spilling where there are too few. Raises `TooFewRegisters`."""
        if limit < 0:
            raise TooFewRegisters
        if not len(state.in_file(file)):
            return Allocation({}, 0, ())
        demand = state.demand(file)
        for target in range(limit, limit - (_MOST_ROUNDS if may_spill else 1), -1):
            if demand.max(initial=0) > target:
                if not may_spill:
                    break
                if not reduce_demand(state, file, demand, target, self._spill_inputs, may_join):
                    break
            least = int(demand.max(initial=0))
            tuples = self._tuples(state, file)
            found = linear_scan(tuples, state.n_points, min(limit, 2 * least + 8), self._copies, least)
            if found.unallocated or found.n_units > least:
                found = self._as_named(tuples, state.n_points, found, limit)
            if not found.unallocated:
                return found
            self._is_tight = True
        raise TooFewRegisters

    def _as_named(self, tuples: Tuples, n_points: int, found: Allocation, limit: int) -> Allocation:
        """The units that the registers' names mean, if they are allowed and fewer than those of an allocation."""
        named: list[RegisterTuple] = []
        for one in tuples:
            web = one.members[0].web
            place = units_of(self.registers[self.ranges.register[web]]) if web < len(self.ranges) else None
            if place is None or (one.fixed >= 0 and place.first != one.fixed):
                return found
            named.append(msgspec.structs.replace(one, fixed=place.first - one.members[0].offset))
        n_units = max((one.fixed + one.size for one in named), default=0)
        most = limit if found.unallocated else found.n_units - 1
        if n_units > most or any(one.fixed < 0 for one in named):
            return found
        kept = allocate_fixed(named, n_points, n_units)
        return found if kept.unallocated else kept

    def _tuples(self, state: SpillState, file: str) -> Tuples:
        """What is to be allocated in a file: single webs, temporaries, and webs that stay adjacent."""
        singles = _singles(state, state.in_file(file))
        if not self.registers.is_ptxplus:
            return singles
        tuples: list[RegisterTuple] = []
        done: set[int] = set()
        for single in singles:
            web = single.members[0].web
            adjacent = self.tuples.get(web)
            if adjacent is None:
                if web in self.ranges.at_entry:
                    fixed, avoid = self._at_entry(web, file)
                    single = msgspec.structs.replace(single, fixed=fixed, avoid=avoid)
                tuples.append(single)
            elif id(adjacent) not in done:
                done.add(id(adjacent))
                tuples.append(self._tuple(state, adjacent, file))
        return tuples

    def _tuple(self, state: SpillState, adjacent: AdjacentWebs, file: str) -> RegisterTuple:
        low = min(adjacent.numbers.values())
        members: list[Member] = []
        fixed, avoid = -1, 0
        for single in _singles(state, np.array(sorted(adjacent.numbers))):
            (member,) = single.members
            offset = adjacent.numbers[member.web] - low
            members.append(msgspec.structs.replace(member, offset=offset))
            unit, mask = self._at_entry(member.web, file)
            if unit >= 0:
                fixed = unit - offset
            avoid |= mask >> offset
        size = max(m.offset + m.width for m in members)
        return RegisterTuple(tuple(members), size, adjacent.alignment, low % adjacent.alignment, fixed, avoid)

    def _at_entry(self, web: int, file: str) -> tuple[int, int]:
        """PTXPlus: the unit where a value must be when the kernel starts, -1 for any, and those where it must not be.

        `$r0` holds the thread id then, every other register zero.
        """
        if web not in self.ranges.at_entry or file != "general":
            return -1, 0
        is_thread_id = self.registers[self.ranges.register[web]].name == "$r0"
        return (0, 0) if is_thread_id and self.ranges.function.kind == "entry" else (-1, 1)


def values_of(ranges: Ranges, in_flight: Mapping[int, tuple[Interval, ...]]) -> ValueTable:
    """Every web as a value, live while it is in flight; registers of the head stand apart."""
    registers = ranges.function.registers
    head = len(registers.head)
    known, of_web = np.unique(np.array(ranges.register, np.int64), return_inverse=True)
    file, width = np.zeros(len(known), np.int8), np.zeros(len(known), np.int64)
    done = 0
    for alike in registers.by_declarator(known.tolist()):  # zero and sinks hold no values
        register = registers[alike[0]]
        kind = "predicate" if register.is_predicate else register.kind
        kind = "head" if alike[0] < head else kind if kind in FILES else "general"
        here = slice(done, done + len(alike))
        file[here], width[here] = FILES.index(kind), 0 if kind == "head" else register.units or 1
        done += len(alike)
    intervals = ranges.intervals
    if in_flight:
        intervals = Intervals.of([in_flight.get(web, some) for web, some in enumerate(intervals)])
    return ValueTable(file[of_web], width[of_web], intervals)


def _slots(state: SpillState) -> tuple[dict[int, int], int]:
    """Byte offsets in a thread's memory: values whose live ranges do not meet share them."""
    tuples = _singles(state, np.array(sorted(state.in_slot), np.int64))
    if not tuples:
        return {}, 0
    found = linear_scan(tuples, state.n_points, 2 * int(tuples.widths.sum()))
    return {n: 4 * unit for n, unit in found.unit.items()}, 4 * found.n_units


def _singles(state: SpillState, numbers: Numbers) -> Singles:
    values = state.values
    return Singles(numbers, values.width[numbers], values.intervals.at(numbers))


def copies_of(ranges: Ranges) -> Iterator[tuple[int, int]]:
    """The webs on both sides of every copy."""
    for i in ranges.function.at_bases("mov"):
        step = ranges.def_uses[i]
        if len(step.defs) == len(step.uses) == 1 and is_copy(ranges.function, i):
            yield ranges.writes[i][0], ranges.reads[i][0]
