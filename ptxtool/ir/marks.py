"""Release marks: where a warp has finished with what its CTA shares with a partner.

A mark is a `.pragma` among the statements of a body. A warp that comes to it releases its lock on the shared
registers of its pair, or has finished with the shared scratchpad of its CTA, before it issues the instruction that
follows. For the passes that place marks and for the simulator, which obeys them; other tools ignore them as unknown
pragmas.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ptxtool.base.phrases import nearest
from ptxtool.ir.nodes import Directive, Function, Instruction, Label

REGISTERS, SCRATCHPAD = "release_registers", "release_scratchpad"
RELEASES = (REGISTERS, SCRATCHPAD)


class Mark(NamedTuple):
    """A release mark: what it gives back, and the instruction that it stands before (the number of instructions at the
    end of the body).

    With `before_label` a label stands between the two: the mark is for a warp that falls through, not for one that
    jumps to the label.
    """

    release: str
    instruction: int
    before_label: bool
    statement: Directive


def releases(statement: object) -> tuple[str, ...]:
    """What a statement gives back, if it is a release mark: of `RELEASES`."""
    if not isinstance(statement, Directive) or statement.name != "pragma":
        return ()
    words = (word.strip().strip('"') for word in statement.text.split(","))
    return tuple(word for word in words if word in RELEASES)


def misspelt(statement: Directive) -> str:
    """A word of a `.pragma` that was probably meant to be a release mark, "" where there is none."""
    words = (word.strip().strip('"') for word in statement.text.split(","))
    return next((word for word in words if word not in RELEASES and nearest(word, RELEASES, 0.8)), "")


def release_marks(function: Function) -> Iterator[Mark]:
    """The release marks of a body, in the order of the text."""
    n = 0
    waiting: list[tuple[str, Directive]] = []
    for statement in function.body or ():
        if isinstance(statement, Directive):
            waiting += ((what, statement) for what in releases(statement))
        elif isinstance(statement, Instruction | Label):
            yield from (Mark(what, n, isinstance(statement, Label), at) for what, at in waiting)
            waiting = []
            n += isinstance(statement, Instruction)
    yield from (Mark(what, n, False, at) for what, at in waiting)
