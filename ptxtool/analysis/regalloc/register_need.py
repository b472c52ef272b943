"""The registers that a thread of a kernel needs, including the functions it calls.

For `ptxtool pressure` and `ptxtool occupancy`. Two counts in units of 32 bits, for the order of the text:

* `live`: the most that hold a value at once; no allocation needs fewer;
* `registers`: what the allocator needs without spilling (`assignment.py`), alignment of wide values included.

With calls, a function needs its own count or, where that is more, what is live across a call and the callee's need
after it:

    need(f) = max(own(f), max over calls c of f:  round up(across(c)) + need(callee of c))

This is attainable: around a call the values that live across it can be moved together, wide ones first, to the lowest
units, and the callee uses those after them, from an aligned one on. Predicates that live across a call are bits of one
unit. Functions that call each other count once each, in sequence: a deeper recursion puts registers on the stack.

Not counted, and named in `uncounted`: functions without a body, and calls through a register without a list of
targets. Arguments in `.param` take no registers; a compiler that reorders or inlines reaches other figures.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise

import msgspec

from ptxtool.analysis.flow.dataflow import reachable
from ptxtool.analysis.flow.pressure import pressure
from ptxtool.analysis.regalloc.assignment import Assignment, assign
from ptxtool.analysis.regalloc.physical import PREDICATES
from ptxtool.analysis.regalloc.spills import FILES
from ptxtool.base.bits import indices
from ptxtool.base.diag import PtxError
from ptxtool.base.kept import kept
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Directive, Function, Instruction, Label, Name
from ptxtool.ir.variables import round_up


@dataclass(frozen=True)
class RegisterNeed:
    """The registers of one thread, in units of 32 bits. `alone` is the allocator's count of the function by itself.

    `chain` are the functions, from caller to callee, that are active where most registers are needed; `uncounted` names
    the calls that are not in the counts, with the reason.
    """

    function: Function = field(repr=False, compare=False)
    live: int
    alone: int
    registers: int
    predicates: int
    chain: tuple[str, ...]
    uncounted: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {
            "live": self.live,
            "allocated": self.registers,
            "allocated_alone": self.alone,
            "predicates": self.predicates,
            "chain": list(self.chain),
            "uncounted": list(self.uncounted),
        }

    def __str__(self) -> str:
        through = f" in {' -> '.join(self.chain)}" if len(self.chain) > 1 else ""
        lines = [
            f"{self.live} live at once, {self.registers} allocated{through}; {self.predicates} predicates"
        ]
        return "\n".join([*lines, *(f"not counted: {reason}" for reason in self.uncounted)])


@kept
def registers_per_thread(kernel: Function) -> int:
    """The registers per thread of a launch that does not specify them.

    Those at the kernel's entry where it executes `setmaxnreg` and its launch bounds fix them. Otherwise, in
    PTXPlus: the general registers that are declared. PTX: what the allocator needs, with the functions that the kernel
    calls; where it declines (E301: vector registers), the most that are live at once in the kernel.
    """
    from ptxtool.analysis.occupancy.entry_registers import (  # `pressure` needs none
        adjusts_registers,
        entry_registers,
    )

    if kernel.registers.is_ptxplus:
        return sum(r.units for r in kernel.registers if r.kind == "general") or 1
    if adjusts_registers(kernel) and (at_entry := entry_registers(kernel)) is not None:
        return at_entry
    try:
        return max(1, register_need(kernel).registers)
    except PtxError as problem:
        if any(d.code != "E301" for d in problem.diagnostics):
            raise
        return max(1, pressure(kernel).maximum)


def register_need(function: Function) -> RegisterNeed:
    """The registers of a thread, the functions it calls included: `.live` at once, `.registers` as allocated.

    Raises `PtxError`: E202, an undeclared label; E301, a register of vector type.
    """
    return CalledFunctions(function).result()


class _FunctionNeed:
    """One function by itself: its assignment, its calls, and the units live across them."""

    def __init__(self, function: Function, aliases: Mapping[str, str]):
        self.function = function
        self.uncounted: list[str] = []
        self.calls = dict(self._calls(aliases))
        """By instruction, the functions with a body that a call may reach."""

    @cached_property
    def assignment(self) -> Assignment:
        return assign(self.function, None, PREDICATES)

    @cached_property
    def live(self) -> int:
        """The most units that hold a value at once."""
        return int(self.assignment.spills.demand("general").max(initial=0)) + self.assignment.used["head"]

    @cached_property
    def alignment(self) -> int:
        values = self.assignment.spills.values
        return int(values.width[values.file == FILES.index("general")].max(initial=1))

    def across(self, instruction: int) -> int:
        """The units of values that live through a call."""
        state, point = self.assignment.spills, 2 * instruction
        units = {"general": self.assignment.used["head"], "predicate": 0}
        for file in units:
            numbers = state.in_file(file)
            intervals = state.values.intervals.at(numbers)
            live = intervals.owner[(intervals.start <= point) & (point < intervals.end - 1)]
            units[file] += int(state.values.width[numbers[live]].sum())
        return units["general"] + (units["predicate"] > 0)

    def callees(self) -> Iterator[Function]:
        """The function of every call, each as often as it is called."""
        return chain.from_iterable(self.calls.values())

    def _calls(self, aliases: Mapping[str, str]) -> Iterator[tuple[int, list[Function]]]:
        functions = self.function.module.functions
        for i, node in enumerate(self.function.instructions):
            if node.opcode.base != "call":
                continue
            targets: list[Function] = []
            for name in self._targets(i, node):
                target = functions.get(aliases.get(name, name))
                if target is None or target.body is None:
                    self.uncounted.append(f"'{name}', which has no body here")
                else:
                    targets.append(target)
            yield i, targets

    def _targets(self, i: int, node: Instruction) -> list[str]:
        """The names of the functions that a call may reach."""
        named = [operand.text for operand in node.operands if isinstance(operand, Name)]
        if not named or self.function.registers.resolve_index(named[0], i) < 0:
            return named[:1]
        listed = self._listed(named[1]) if len(named) > 1 else None
        if listed is None:
            self.uncounted.append(f"what line {self.function.line(i)} calls through '{named[0]}'")
        return listed or []

    def _listed(self, label: str) -> list[str] | None:
        """The names of a `.calltargets` list, or of the initialiser of a table of functions."""
        for statement, following in pairwise(self.function.body or ()):
            if isinstance(statement, Label) and statement.name == label and isinstance(following, Directive):
                is_list = following.name == "calltargets"
                return [word.strip() for word in following.text.split(",")] if is_list else None
        table = self.function.module.variables.get(label)
        if table is None:
            return None
        values = [d.value for d in table.declarators if d.name == label and d.value is not None]
        return [name.text for value in values for name in names(value)]


class _Need(msgspec.Struct, frozen=True):
    """The need of a function with all it calls."""

    live: int
    registers: int
    predicates: int
    alignment: int
    chain: tuple[str, ...]


class CalledFunctions:
    """The functions that one reaches, and the need of each. Raises what `register_need` raises."""

    def __init__(self, root: Function):
        self._root = root
        aliases = dict(_aliases(root))
        self._found = {root.name: _FunctionNeed(root, aliases)}
        left = [self._found[root.name]]
        while left:
            for target in left.pop().callees():
                if target.name not in self._found:
                    self._found[target.name] = _FunctionNeed(target, aliases)
                    left.append(self._found[target.name])
        found = [*self._found]
        place = {name: k for k, name in enumerate(found)}
        calls = [[place[callee.name] for callee in one.callees()] for one in self._found.values()]
        self._names, self._place, self._reached = found, place, reachable(calls)
        self._done: dict[str, _Need] = {}
        # callees first: they reach fewer functions; of those that reach as many, recursive ones first
        self._order = sorted(
            found, key=lambda n: (self._reached[place[n]].bit_count(), not self._reaches(n, n))
        )
        for name in self._order:
            self._done[name] = self._need(name)

    def _reaches(self, caller: str, other: str) -> bool:
        return bool(self._reached[self._place[caller]] >> self._place[other] & 1)

    def assignments(self) -> dict[str, Assignment]:
        """The assignment of every function by itself, by name."""
        return {name: one.assignment for name, one in self._found.items()}

    def bases(self) -> dict[str, int]:
        """The unit at which each function's registers begin: after all that may be live across its calls.

        Functions that call each other begin at one unit, and what they call begins after all of their registers.
        """
        first = dict.fromkeys(self._found, 0)
        for name in reversed(self._order):  # callers first
            one, cycle = self._found[name], self._cycle(name)
            start = max(first[member] for member in cycle or [name])
            first |= dict.fromkeys(cycle, start)
            together = sum(self._found[member].assignment.registers for member in cycle)
            for instruction, targets in one.calls.items():
                for callee in (target for target in targets if target.name not in cycle):
                    alignment = self._done[callee.name].alignment
                    units = round_up(start + (together or one.across(instruction)), alignment)
                    first[callee.name] = max(first[callee.name], units)
        return first

    def result(self) -> RegisterNeed:
        alone = self._found[self._root.name].assignment.registers
        need = self._done[self._root.name]
        reasons = tuple(dict.fromkeys(reason for one in self._found.values() for reason in one.uncounted))
        return RegisterNeed(
            self._root, need.live, alone, need.registers, need.predicates, need.chain, reasons
        )

    def _need(self, name: str) -> _Need:
        """The need of a function; of functions that call each other, together, under the name of each."""
        cycle = self._cycle(name)
        return self._recursive(cycle) if cycle else self._plain(self._found[name])

    def _cycle(self, name: str) -> list[str]:
        """The functions that call each other with this one, itself included; [] where it never calls itself."""
        if not self._reaches(name, name):
            return []
        reached = map(self._names.__getitem__, indices(self._reached[self._place[name]]))
        return sorted(other for other in reached if self._reaches(other, name))

    def _plain(self, one: _FunctionNeed) -> _Need:
        own = one.assignment
        need = _Need(one.live, own.registers, own.predicates, one.alignment, (one.function.name,))
        for instruction, targets in one.calls.items():
            across = one.across(instruction) if targets else 0
            for target in targets:
                need = _with_callee(need, across, self._done[target.name], need.chain[:1])
        return need

    def _recursive(self, cycle: list[str]) -> _Need:
        members = [self._found[name] for name in cycle]
        widest = max(one.alignment for one in members)
        need = _Need(
            sum(one.live for one in members),
            sum(round_up(one.assignment.registers, widest) for one in members),
            max(one.assignment.predicates for one in members),
            widest,
            tuple(cycle),
        )
        below = {callee.name for one in members for callee in one.callees()} - {*cycle}
        for callee in sorted(below):
            need = _with_callee(need, need.registers, self._done[callee], tuple(cycle))
        return need


def _with_callee(need: _Need, across: int, callee: _Need, caller: tuple[str, ...]) -> _Need:
    """The need where a callee's registers come after what is live across its call."""
    registers = round_up(across, callee.alignment) + callee.registers
    return _Need(
        max(need.live, across + callee.live),
        max(need.registers, registers),
        max(need.predicates, callee.predicates),
        max(need.alignment, callee.alignment),
        (*caller, *callee.chain) if registers > need.registers else need.chain,
    )


def _aliases(function: Function) -> Iterator[tuple[str, str]]:
    """`.alias NAME, FUNCTION;`."""
    for item in function.module.items:
        if isinstance(item, Directive) and item.name == "alias":
            name, _, target = (word.strip() for word in item.text.partition(","))
            yield name, target
