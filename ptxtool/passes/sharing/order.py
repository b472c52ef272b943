"""Another order for the instructions of a scheduling region: their texts trade places, the text between them stays.

Line information moves with the instructions: a region's `.loc` are deleted and inserted again, one wherever the line
changes from one instruction to the next, and one after the last so that the following code keeps its line.
"""

from collections.abc import Iterator, Sequence

from ptxtool.ir.edit import TextEdit
from ptxtool.ir.locations import is_location, locations
from ptxtool.ir.nodes import Directive, Function
from ptxtool.passes.lines import deletion, line_after, line_for


def permute(kernel: Function, region: range, order: Sequence[int]) -> Iterator[TextEdit]:
    """The edits that put the instructions of a region in another order."""
    source, nodes = kernel.source, kernel.instructions
    inside = list(_inside(kernel, region))
    for location in inside:
        yield deletion(source, location.start, location.end)
    held = [_text(kernel, location) for location in locations(kernel)] if inside else [""] * region.stop
    current = held[region.start]
    for place, moved in zip(region, order, strict=True):
        there, here = nodes[place], nodes[moved]
        text = source.text[here.start : here.end]
        if held[moved] != current:
            text = line_for(source, there.start, held[moved], alone=True) + text
            current = held[moved]
        if place == region[-1] and held[place] != current:
            text += line_after(source, there.start, held[place])
        if text != source.text[there.start : there.end]:
            yield TextEdit(there.start, there.end, text)


def _inside(kernel: Function, region: range) -> Iterator[Directive]:
    """The `.loc` between the instructions of a region."""
    start, end = kernel.instructions[region.start].start, kernel.instructions[region[-1]].start
    for statement in kernel.body or ():
        if isinstance(statement, Directive) and is_location(statement) and start < statement.start < end:
            yield statement


def _text(kernel: Function, location: Directive | None) -> str:
    return "" if location is None else kernel.source.text[location.start : location.end]
