"""Re-prove that a kernel computes what it did, whatever a pass did to its registers: symbolic register assignment.

For allocation and compaction: `check_assignment(before, after, origins)`, where `origins` names the instruction that
each new one was, or -1. Along all paths it is followed which place (a register of the new text, a spill slot) holds the
value of which old register; wherever an instruction read register v and reads place q now, q must hold v on every path.
Places are physical: registers whose names mean the same units (`ptxtool.analysis.regalloc.physical`) overwrite each
other.

    align.py    statements side by side; nothing else may have changed
    meaning.py  what a kept, dropped or inserted instruction means: its step
    plain.py    the same of plain instructions, all at once
    steps.py    steps, values and places
    slots.py    spill slots
    flow.py     the fixed point
    flight.py   registers that an asynchronous instruction still uses

What no definition reaches may be read from anywhere. PTXPlus starts with the thread id in `$r0`; its other registers
count as undefined there. Code that nothing reaches is compared, not followed. The carry flag needs no care: what may be
inserted or dropped neither reads nor writes it.

Refused although right: a value in parts of several places, or part of a place; copies other than `mov`; constants found
equal by computing.

Reference: C. Fallin, "Cranelift, part 4: a new register allocator" (regalloc2's checker), 2022; S. Rideau, X. Leroy,
"Validating register allocation and spilling", 2010.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ptxtool.analysis.flow.liveness import result_registers
from ptxtool.base.diag import Diagnostic, by_place
from ptxtool.cfg.blocks import Cfg, Flow, connect, control_flow
from ptxtool.ir.names import span_of_word
from ptxtool.ir.nodes import Function, Item, Module
from ptxtool.validate.assignment.align import NONE, Alignment, align, label_items
from ptxtool.validate.assignment.flight import touched_in_flight
from ptxtool.validate.assignment.flow import Boundary, Values, Walk, Wrong
from ptxtool.validate.assignment.meaning import Reader

MOST = 8
"""So many problems of one function are told."""


def check_assignment(
    before: Module, after: Module, origins: Mapping[str, Sequence[int]]
) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for all that does not hold; () if everything does.

    `origins[f][j]` is the index in `before`'s function f of what instruction j of `after`'s f was, -1 for one that was
    inserted. Functions that are not named must stand as they were, up to blanks.
    """
    if len(before.items) != len(after.items):
        return (Diagnostic("E303", f"{len(before.items)} items became {len(after.items)}", after.source),)
    problems: list[Diagnostic] = []
    for old, new in zip(before.items, after.items, strict=True):
        if (
            isinstance(old, Function)
            and isinstance(new, Function)
            and old.body is not None
            and new.body is not None
        ):
            if _words(before, old.start, old.body_start) != _words(after, new.start, new.body_start):
                what = f"the head of '{new.name}' changed"
                problems.append(Diagnostic("E303", what, after.source, new.start, new.body_start))
            elif old.name in origins:
                problems += _function(old, new, origins[old.name])
            elif _item(before, old) != _item(after, new):
                what = f"'{new.name}' changed, and no origins are claimed for it"
                problems.append(Diagnostic("E303", what, after.source, new.start, new.end))
        elif _item(before, old) != _item(after, new):
            what = "text outside functions changed"
            problems.append(Diagnostic("E303", what, after.source, new.start, new.end))
    return tuple(problems)


def _words(module: Module, start: int, end: int) -> list[str]:
    return module.source.text[start:end].split()


def _item(module: Module, item: Item) -> list[str]:
    return _words(module, item.start, item.end)


def _function(before: Function, after: Function, origins: Sequence[int]) -> list[Diagnostic]:
    aligned = align(before, after, origins)
    if aligned.problems:
        return aligned.problems[:MOST]
    if not aligned.items:
        return []
    reader = Reader(before, after)
    steps = reader.steps(aligned.items)
    boundary = _boundary(before, after, reader)
    if reader.problems:
        return by_place(reader.problems)[:MOST]
    cfg = _graph(before, after, aligned)
    constants = frozenset(reader.constants.values())
    values = Values(cfg, aligned.items, steps, reader.def_uses, constants, boundary)
    n_values = len(before.registers)
    sharing = reader.places.sharing()
    wrong = Walk(cfg, steps, values, sharing, n_values, constants, boundary).run()
    problems = [_told(before, after, reader, aligned.items, one) for one in wrong[:MOST]]
    return problems or [*touched_in_flight(reader, cfg, aligned.items, steps, sharing)][:MOST]


def _boundary(before: Function, after: Function, reader: Reader) -> Boundary:
    """Registers in the function's head, and PTXPlus's thread id."""

    def numbers(names: Iterator[str]) -> list[tuple[int, int]]:
        found = [(before.registers.resolve_index(n, 0), after.registers.resolve_index(n, 0)) for n in names]
        return [(value, reader.places.register(place)) for value, place in found if value >= 0 and place >= 0]

    at_start = numbers(d.name for p in before.params if p.space == "reg" for d in p.declarators)
    if before.registers.is_ptxplus and before.kind == "entry":
        at_start += numbers(iter(("$r0",)))
    results = (before.registers[k].name for k in result_registers(before))
    return Boundary(at_start, numbers(results))


def _graph(before: Function, after: Function, aligned: Alignment) -> Cfg:
    """The control flow of the items, calls of PTXPlus followed."""
    old_flows, new_flows = control_flow(before), control_flow(after)
    flows: dict[int, Flow] = {}
    for item, i, j in [(n, i, j) for n, (i, j) in enumerate(aligned.items) if i in old_flows]:
        if j == NONE:
            continue
        old, new = old_flows[i], new_flows[j]
        calls = None
        if old.calls is not None and new.calls is not None:
            (calls,) = label_items(((old.calls,), (new.calls,)), aligned.labels)
        flows[item] = replace(
            old, targets=label_items((old.targets, new.targets), aligned.labels), calls=calls
        )
    return connect(before, len(aligned.items), flows, aligned.labels.values(), {}, interprocedural=True)


def _told(
    before: Function, after: Function, reader: Reader, items: Sequence[tuple[int, int]], wrong: Wrong
) -> Diagnostic:
    item, value, place, held, places = wrong
    n = len(before.registers)

    def value_name(v: int) -> str:
        return f"'{before.registers[v % n].name}'" + (" as a word" if v >= n else "")

    name = reader.places.name(place)
    what = f"'{name}' does not hold {value_name(value)} here on every path"
    inside = ", ".join(value_name(v) for v in sorted(held)) or "nothing certain"
    there = ", ".join(f"'{reader.places.name(p)}'" for p in places) or "nowhere for certain"
    help = f"it holds {inside}; {value_name(value)} is {'in ' if places else ''}{there}"
    # at the end of a function, which reads its results, the last item may be one that was dropped
    j = next((j for _, j in reversed(items[: item + 1]) if j != NONE), NONE)
    if j == NONE:
        return Diagnostic("E303", what, after.source, after.start, after.body_start, help)
    node = after.instructions[j]
    start, end = span_of_word(after.source.text, node.start, node.end, name)
    return Diagnostic("E303", what, after.source, start, end, help)
