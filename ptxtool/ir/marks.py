"""Marks in a kernel: where a warp acquires or releases what it shares with other warps.

A mark is a `.pragma` among the statements of a body, and takes effect before the instruction that follows. At a release
mark a warp releases its lock on the shared registers of its pair, or has finished with the shared scratchpad of its
CTA. Between an acquire mark and its release mark a warp holds a set of extended registers from a pool. For the passes
that place marks and for the simulator, which obeys them; other tools ignore them as unknown pragmas.
"""

from collections.abc import Iterator
from typing import NamedTuple

from ptxtool.base.phrases import nearest
from ptxtool.ir.nodes import Directive, Function, Instruction, Label

REGISTERS, SCRATCHPAD = "release_registers", "release_scratchpad"
RELEASES = (REGISTERS, SCRATCHPAD)
ACQUIRE_EXTENDED, RELEASE_EXTENDED = "acquire-extended-registers", "release-extended-registers"
EXTENDED = (ACQUIRE_EXTENDED, RELEASE_EXTENDED)
MARKS = RELEASES + EXTENDED


class Mark(NamedTuple):
    """A mark: its word, and the instruction that it stands before (the number of instructions at the end of the body).

    With `before_label` a label stands between the two: the mark is for a warp that falls through, not for one that
    jumps to the label.
    """

    word: str
    instruction: int
    before_label: bool
    statement: Directive


def mark_words(statement: object, among: tuple[str, ...] = RELEASES) -> tuple[str, ...]:
    """The words of a statement that are marks of some kinds."""
    if not isinstance(statement, Directive) or statement.name != "pragma":
        return ()
    words = (word.strip().strip('"') for word in statement.text.split(","))
    return tuple(word for word in words if word in among)


def misspelt(statement: Directive) -> str:
    """A word of a `.pragma` that was probably meant to be a mark, "" where there is none."""
    words = (word.strip().strip('"') for word in statement.text.split(","))
    return next((word for word in words if word not in MARKS and nearest(word, MARKS, 0.8)), "")


def marks(function: Function, among: tuple[str, ...] = RELEASES) -> Iterator[Mark]:
    """The marks of some kinds in a body, in the order of the text."""
    n = 0
    waiting: list[tuple[str, Directive]] = []
    for statement in function.body or ():
        if isinstance(statement, Directive):
            waiting += ((word, statement) for word in mark_words(statement, among))
        elif isinstance(statement, Instruction | Label):
            yield from (Mark(word, n, isinstance(statement, Label), at) for word, at in waiting)
            waiting = []
            n += isinstance(statement, Instruction)
    yield from (Mark(word, n, False, at) for word, at in waiting)


def release_marks(function: Function) -> Iterator[Mark]:
    """The release marks of a body, in the order of the text."""
    return marks(function)
