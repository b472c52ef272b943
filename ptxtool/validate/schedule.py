"""Re-prove a new order of instructions: each scheduling region has the same ones, with the same dependences.

A scheduling region is a run of instructions inside a basic block with no other statement but `.loc` between them.
Outside instructions and `.loc` nothing has changed; each region has the same instructions, by their texts and the
`.loc` that hold for them (equal ones keep their order). For every resource that instructions read and write
(`ptxtool.analysis.flow.dependence`) the writes are in the same order as before, and every read follows the same write:
so all values, accesses and barriers are the same.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ptxtool.analysis.flow.dependence import Effect, Resource, effects, scheduling_regions
from ptxtool.base.diag import Diagnostic
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.ir.locations import is_location, locations
from ptxtool.ir.nodes import Function, Instruction, Module


def check_schedule(before: Module, after: Module) -> tuple[Diagnostic, ...]:
    """E303 diagnostics, placed in `after`, for instructions that changed, left their region or passed another."""
    bodies, others = _bodies(before), _bodies(after)
    if len(bodies) != len(others) or _without_instructions(before) != _without_instructions(after):
        return (Diagnostic("E303", "something besides the order of instructions changed", after.source),)
    pairs = zip(bodies, others, strict=True)
    return tuple(problem for old, new in pairs for problem in _compare(old, new))


def _bodies(module: Module) -> list[Function]:
    return [item for item in module.items if isinstance(item, Function) and item.body is not None]


def _without_instructions(module: Module) -> list[str]:
    """The words of a module's text with the same word for every instruction, and none for `.loc`."""
    edits = [
        TextEdit(s.start, s.end, " " if is_location(s) else " ; ")
        for f in _bodies(module)
        for s in f.body or ()
        if type(s) is Instruction or is_location(s)
    ]
    return splice(module.source.text, edits).split()


def _compare(old: Function, new: Function) -> Iterator[Diagnostic]:
    of_old, of_new = effects(old), effects(new)
    texts_old, texts_new = _texts(old), _texts(new)
    regions, others = list(scheduling_regions(old)), list(scheduling_regions(new))
    if len(regions) != len(others):
        message = f"{len(others)} scheduling regions instead of {len(regions)} in '{new.name}'"
        yield Diagnostic("E303", message, new.source, new.start, new.body_start)
        return
    for region, other in zip(regions, others, strict=True):

        def complain(what: str, at: range = other) -> Diagnostic:
            first, last = new.instructions[at.start], new.instructions[at.stop - 1]
            return Diagnostic("E303", f"{what} in '{new.name}'", new.source, first.start, last.end)

        names = _numbered([texts_old[i] for i in region])
        renamed = _numbered([texts_new[i] for i in other])
        if region != other or sorted(names) != sorted(renamed):
            yield complain("the instructions of a scheduling region are not the same ones")
            continue
        if names == renamed:
            continue
        history = _history(names, [of_old[i] for i in region])
        changed = _history(renamed, [of_new[i] for i in other])
        for resource in sorted(history, key=lambda resource: (isinstance(resource, str), resource)):
            if history[resource] != changed.get(resource):
                what = resource if isinstance(resource, str) else old.registers[resource].name
                yield complain(f"accesses to '{what}' have passed each other")
                break


def _texts(function: Function) -> list[str]:
    """Per instruction, its text and its line information."""
    return [
        function.text(i) if location is None else f"{function.text(i)} .loc {location.text}"
        for i, location in enumerate(locations(function))
    ]


def _numbered(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Texts, each with how often it has occurred before."""
    seen: dict[str, int] = defaultdict(int)
    found: list[tuple[str, int]] = []
    for text in texts:
        found.append((text, seen[text]))
        seen[text] += 1
    return found


Event = tuple[tuple[str, int] | None, frozenset[tuple[str, int]]]


def _history(names: Sequence[tuple[str, int]], done: Sequence[Effect]) -> dict[Resource, list[Event]]:
    """Per resource, its writes in order, each with those that read it until the next one; first what was there."""
    found: dict[Resource, list[tuple[tuple[str, int] | None, set[tuple[str, int]]]]]
    found = defaultdict(lambda: [(None, set())])
    for name, effect in zip(names, done, strict=True):
        for resource in effect.reads:
            found[resource][-1][1].add(name)
        for resource in effect.writes:
            found[resource].append((name, set()))
    return {
        resource: [(write, frozenset(reads)) for write, reads in events] for resource, events in found.items()
    }
