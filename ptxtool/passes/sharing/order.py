"""Another order for the instructions of a stretch: their texts trade places, what stands between them stays.

Line information goes with the instructions: where the stretch has `.loc` inside, these are put anew, one wherever it
changes from one instruction to the next, and behind the last so that it holds for what follows as before.
"""

from collections.abc import Iterator, Sequence

from ptxtool.ir.edit import TextEdit
from ptxtool.ir.locations import is_location, locations
from ptxtool.ir.nodes import Directive, Function
from ptxtool.passes.lines import deletion, line_behind, line_for


def permute(kernel: Function, stretch: range, order: Sequence[int]) -> Iterator[TextEdit]:
    """The edits that give the places of a stretch to its instructions in another order."""
    source, nodes = kernel.source, kernel.instructions
    inside = list(_inside(kernel, stretch))
    for location in inside:
        yield deletion(source, location.start, location.end)
    held = [_text(kernel, location) for location in locations(kernel)] if inside else [""] * stretch.stop
    current = held[stretch.start]
    for place, moved in zip(stretch, order, strict=True):
        there, here = nodes[place], nodes[moved]
        text = source.text[here.start : here.end]
        if held[moved] != current:
            text = line_for(source, there.start, held[moved], alone=True) + text
            current = held[moved]
        if place == stretch[-1] and held[place] != current:
            text += line_behind(source, there.start, held[place])
        if text != source.text[there.start : there.end]:
            yield TextEdit(there.start, there.end, text)


def _inside(kernel: Function, stretch: range) -> Iterator[Directive]:
    """The `.loc` between the instructions of a stretch."""
    start, end = kernel.instructions[stretch.start].start, kernel.instructions[stretch[-1]].start
    for statement in kernel.body or ():
        if isinstance(statement, Directive) and is_location(statement) and start < statement.start < end:
            yield statement


def _text(kernel: Function, location: Directive | None) -> str:
    return "" if location is None else kernel.source.text[location.start : location.end]
