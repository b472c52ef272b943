"""Re-prove that a kernel computes the same after a pass changed its registers: symbolic checking of an assignment.

For allocation and compaction: `check_assignment(before, after, origins)`, where `origins` names the instruction that
each new one was, or -1. A *value* is what an old register holds; a *place* is a register of the new text or a spill
slot. The analysis runs over both texts at once and finds, for every program point, which places hold which values.

The lattice, per program point: sets of facts (place p, value v), "on every path to this point p holds v".

    top     all facts: the point has not been reached yet
    meet    intersection, where a predecessor that no definition of v reaches holds v everywhere
    bottom  no facts: nothing is known to hold anything

A new text is accepted if, at the greatest fixed point, every instruction that read value v and reads place q now has
the fact (q, v). The transfer functions, for value v and places p, q:

    a kept instruction that writes v, to p      drops all facts of v and of places that overlap p; adds (p, v)
    an inserted move, spill or reload, q to p   drops all facts of places that overlap p; adds (p, w) for all (q, w)
    a dropped copy, of v to w                   drops all facts of w; adds (q, w) for all (q, v)
    a constant definition written again, to p   drops all facts of places that overlap p; adds (p, v)
    an inserted move of halves, q and r to p    drops all facts of places that overlap p; adds (p, v) for (q, low of v)
                                                and (r, high of v); the other way around likewise

Places that hold the same values form an *equivalence class*, a set of values that changes with all of them.
A caller can name places of the new text where registers lose their values: all facts of these places are dropped.
Registers whose names mean the same units (`ptxtool.analysis.regalloc.physical`) overlap.

    align.py    the statements of both texts side by side; nothing else may have changed
    meaning.py  from kept, dropped and inserted instructions to steps; `plain.py`: for plain instructions in bulk
    steps.py    steps
    places.py   registers, spill slots, and their overlaps
    thread_slots.py  slots in shared memory; `private_slots.py`: those that the old text has already
    guarded_runs.py  guarded instructions as branches, where the old text has slots
    obligations.py  backwards, what every read needs: accepts nearly every right text
    flow.py     forwards, the transfer functions and the fixed point: decides about the others, and explains
    flight.py   registers that an asynchronous instruction still uses

Values that no definition reaches may be read from anywhere. PTXPlus starts with the thread id in `$r0`; its other
registers count as undefined there. Unreachable code is compared, not followed. The carry flag needs no care: what may
be inserted or dropped neither reads nor writes it.

Not proved, and so refused although right: a value in parts of several places, or part of a place; copies other than
`mov`; constants found equal by computing.

Reference: C. Fallin, "Cranelift, part 4: a new register allocator" (regalloc2's checker), 2022; S. Rideau, X. Leroy,
"Validating register allocation and spilling", 2010.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from ptxtool.analysis.flow.liveness import result_registers
from ptxtool.base.diag import Diagnostic, by_place
from ptxtool.cfg.blocks import Cfg, Flow, connect, control_flow
from ptxtool.ir.names import diagnostic_at
from ptxtool.ir.nodes import Function, Module
from ptxtool.validate.assignment.align import NONE, Alignment, align, label_items
from ptxtool.validate.assignment.flight import FlightCheck
from ptxtool.validate.assignment.flow import Boundary, Checker, LiveValues, Violation
from ptxtool.validate.assignment.guarded_runs import GuardedRuns
from ptxtool.validate.assignment.meaning import NO_ACCESSES, StepReader
from ptxtool.validate.assignment.obligations import Obligations
from ptxtool.validate.assignment.private_slots import SlotAccess
from ptxtool.validate.assignment.thread_slots import ThreadSlots, slots_of_threads
from ptxtool.validate.functions import compare_functions, words, wrong

NOTHING: Mapping[str, int] = MappingProxyType({})
Losses = Mapping[int, int]
NO_LOSS: Losses = MappingProxyType({})
NO_LOSSES: Mapping[str, Losses] = MappingProxyType({})
MOST = 8
"""The most problems of one function that are reported."""


_FORMS = ("", " as a word", " (low half)", " (high half)")


def check_assignment(
    before: Module,
    after: Module,
    origins: Mapping[str, Sequence[int]],
    demoted: Mapping[str, int] = NOTHING,
    dynamic_shared: Mapping[str, int] = NOTHING,
    losses: Mapping[str, Losses] = NO_LOSSES,
    encoded: bool = False,
) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for all that does not hold; () if everything does.

    `origins[f][j]` is the index in `before`'s function f of what instruction j of `after`'s f was, -1 for one that was
    inserted. Functions that are not named must be unchanged, up to blanks. Kernels in `demoted` may keep registers in
    shared memory, for CTAs of at most so many threads, and may declare that bound. `dynamic_shared` are the bytes of
    shared memory that these have from their launches, for PTXPlus. `losses[f]` has instructions of `after`'s function f
    before which the registers from a unit on lose their values. `encoded`: as in `align.py`.
    """

    def compare(old: Function, new: Function) -> Iterable[Diagnostic]:
        bound = demoted.get(old.name, 0)
        head, new_head = words(old, old.start, old.body_start), words(new, new.start, new.body_start)
        if new_head != head and not (bound and new_head == [*head, ".maxntid", str(bound)]):
            return [wrong(f"the head of '{new.name}' changed", after.source, new)]
        if old.name in origins:
            slots: ThreadSlots | str | None = None
            if bound:
                more = dynamic_shared.get(old.name, 0)
                slots = slots_of_threads(old, new, origins[old.name], bound, more)
            if isinstance(slots, str):
                return [wrong(slots, after.source, new)]
            lost = losses.get(old.name, NO_LOSS)
            return prove(old, new, origins[old.name], slots, losses=lost, encoded=encoded)
        if words(old, old.start, old.end) == words(new, new.start, new.end):
            return ()
        what = f"'{new.name}' changed, and no origins are claimed for it"
        return [Diagnostic("E303", what, after.source, new.start, new.end)]

    return compare_functions(before, after, compare)


def prove(
    before: Function,
    after: Function,
    origins: Sequence[int],
    slots: ThreadSlots | None = None,
    accesses: Mapping[int, SlotAccess] = NO_ACCESSES,
    losses: Losses = NO_LOSS,
    encoded: bool = False,
) -> list[Diagnostic]:
    """E303 diagnostics for one function, whose new text may have slots of threads, and the old text these accesses.

    `losses`: by instruction of the new text, the unit from which on registers lose their values before it.
    """
    aligned = align(before, after, origins, encoded)
    if aligned.problem is not None:
        return [aligned.problem]
    if not aligned.items:
        return []
    reader = StepReader(before, after, slots, accesses, aligned.names)
    branches: Mapping[int, int] = {}
    if accesses:
        runs = GuardedRuns(before, after, aligned, frozenset(control_flow(before)))
        aligned, branches = Alignment(runs.items, runs.labels), runs.branches
        reader.guards = runs.guards
    steps = reader.steps(aligned.items)
    boundary = _boundary(before, after, reader)
    if reader.problems:
        return by_place(reader.problems)[:MOST]
    cfg = _graph(before, after, aligned, branches)
    constants = frozenset(reader.constants.values())
    overlaps = reader.places.overlaps()
    problems: list[Diagnostic] = []
    if losses or not Obligations(cfg, steps, constants, boundary, overlaps, reader.n_values).is_right():
        values = LiveValues(cfg, aligned.items, steps, reader.value_uses(), constants, boundary)
        lost = {
            item: reader.places.registers_from(losses[j])
            for item, (_, j) in enumerate(aligned.items)
            if j in losses
        }
        violations = Checker(values, overlaps, reader.n_values, lost).run()
        problems = [_diagnostic(after, reader, aligned.items, one) for one in violations[:MOST]]
    return problems or [*FlightCheck(reader, cfg, aligned.items, steps, overlaps).run()][:MOST]


def _boundary(before: Function, after: Function, reader: StepReader) -> Boundary:
    """The registers in the function's head, and PTXPlus's thread id."""

    def numbers(names: Iterator[str]) -> list[tuple[int, int]]:
        found = [(before.registers.resolve_index(n, 0), after.registers.resolve_index(n, 0)) for n in names]
        return [(value, reader.places.register(place)) for value, place in found if value >= 0 and place >= 0]

    at_start = numbers(d.name for p in before.params if p.space == "reg" for d in p.declarators)
    if before.registers.is_ptxplus and before.kind == "entry":
        at_start += numbers(iter(("$r0",)))
    results = (before.registers[k].name for k in result_registers(before))
    return Boundary(tuple(at_start), tuple(numbers(results)))


def _graph(before: Function, after: Function, aligned: Alignment, branches: Mapping[int, int]) -> Cfg:
    """The control flow of the items, calls of PTXPlus followed. `branches` go around runs of guarded items."""
    old_flows, new_flows = control_flow(before), control_flow(after)
    flows = {item: Flow(targets=(end,)) for item, end in branches.items()}
    lists: dict[tuple[int, int], tuple[int, ...]] = {}  # by identity: branches with one list keep one
    for item, i, j in [(n, i, j) for n, (i, j) in enumerate(aligned.items) if i in old_flows]:
        if j == NONE:
            continue
        old, new = old_flows[i], new_flows[j]
        calls = None
        if old.calls is not None and new.calls is not None:
            (calls,) = label_items(((old.calls,), (new.calls,)), aligned.labels)
        key = id(old.targets), id(new.targets)
        if key not in lists:
            lists[key] = label_items((old.targets, new.targets), aligned.labels)
        targets = lists[key]
        flows[item] = replace(old, targets=targets, calls=calls)
    starts = (*aligned.labels.values(), *branches.values())
    return connect(before, len(aligned.items), flows, starts, {}, interprocedural=True)


def _diagnostic(
    after: Function, reader: StepReader, items: Sequence[tuple[int, int]], found: Violation
) -> Diagnostic:
    item, value, place, held, places = found
    n = reader.n_values

    def value_name(v: int) -> str:
        return f"'{reader.value_name(v % n)}'" + _FORMS[v // n]

    name = reader.places.name(place)
    what = f"'{name}' does not hold {value_name(value)} here on every path"
    inside = ", ".join(value_name(v) for v in sorted(held)) or "nothing certain"
    there = ", ".join(f"'{reader.places.name(p)}'" for p in places) or "nowhere for certain"
    help = f"it holds {inside}; {value_name(value)} is {'in ' if places else ''}{there}"
    # at the end of a function, which reads its results, the last item may be one that was dropped
    j = next((j for _, j in reversed(items[: item + 1]) if j != NONE), NONE)
    if j == NONE:
        return wrong(what, after.source, after, help)
    return diagnostic_at("E303", what, after.source, after.instructions[j], name, help)
