"""One open text: what it was read as, what is reported of it, and what is known of its functions.

After an edit only what changed is parsed and checked again (`parse/incremental.py`, `module_checks.py`). Where that
is more than `MOST_AT_ONCE` instructions, `diagnostics(wait=True)` gives what was reported before, at its new place, and
says so: the caller asks again when the keyboard rests. Names, live registers and pressure are found when they are asked
for, and kept as long as they stay the same.
"""

from bisect import bisect_right
from typing import NamedTuple

from ptxtool.analysis.flow.pressure import Pressure, pressure
from ptxtool.base.diag import Diagnostic, PtxError, by_place
from ptxtool.base.source import Source
from ptxtool.ir.nodes import Function, Instruction, Item, Module, Statement
from ptxtool.lsp.module_checks import ModuleChecks, outer_texts
from ptxtool.lsp.names import Occurrence, occurrences
from ptxtool.lsp.positions import Positions
from ptxtool.parse.broken import SyntaxErrors
from ptxtool.parse.incremental import moved_diagnostics, read, reread
from ptxtool.sema.recovered import check_recovered

MOST_AT_ONCE = 6000
"""Instructions that are checked between a keystroke and its diagnostics: a twentieth of a second."""
MOST_KEPT = 256
"""Functions whose live registers are kept."""


class Reported(NamedTuple):
    """Diagnostics in the order of the text; not `final` where some are from before the last edit."""

    diagnostics: tuple[Diagnostic, ...]
    final: bool


class Document:
    """A text under edit. `name` is what diagnostics call it."""

    def __init__(self, name: str, text: str):
        self.parsed = read(Source(name, text))
        self.positions = Positions(text)
        self._checks = ModuleChecks()
        self._meaning: tuple[Diagnostic, ...] = ()  # the last that were found, at their places in this text
        self._is_current = False
        self._names: dict[int, tuple[Occurrence, ...]] = {}
        self._pressures: dict[tuple[str, int], Pressure | None] = {}

    @property
    def text(self) -> str:
        return self.parsed.source.text

    @property
    def module(self) -> Module | None:
        """What could be read; without broken statements, None where more is broken than these."""
        return self.parsed.module

    def change(self, text: str) -> None:
        """Make it another text, most often one keystroke away."""
        before = self.parsed
        if text == before.source.text:
            return
        self.parsed = reread(before, Source(before.source.name, text))
        self.positions = Positions(text)
        self._meaning = moved_diagnostics(self._meaning, before.source.text, self.parsed.source)
        self._is_current = False
        self._names.clear()
        if len(self._pressures) > MOST_KEPT:
            self._pressures.clear()

    def diagnostics(self, wait: bool = False) -> Reported:
        """Everything that `ptxtool check` reports; with `wait` at once, even if much has to be checked."""
        module = self.module
        if not self._is_current and module is not None:
            if wait and self._checks.n_unknown(module) > MOST_AT_ONCE:
                return Reported(self._with_syntax(), False)
            problem = self.parsed.problem
            if isinstance(problem, SyntaxErrors):
                self._meaning = check_recovered(problem, self._checks.check)
            else:
                self._meaning = self._checks.check(module)
        elif module is None:
            self._meaning = ()
        self._is_current = True
        return Reported(self._with_syntax(), True)

    def _with_syntax(self) -> tuple[Diagnostic, ...]:
        return tuple(by_place((*self.parsed.errors, *self._meaning))) if self.parsed.errors else self._meaning

    # ---- places

    def item_at(self, offset: int) -> Item | None:
        """The directive, variable or function at an offset."""
        items = self.module.items if self.module else ()
        at = bisect_right(items, offset, key=lambda item: item.start) - 1
        return items[at] if at >= 0 and offset <= items[at].end else None

    def function_at(self, offset: int) -> Function | None:
        """The function at an offset, its head included."""
        item = self.item_at(offset)
        return item if isinstance(item, Function) else None

    def statement_at(self, offset: int) -> Statement | None:
        """The statement of a body at an offset."""
        function = self.function_at(offset)
        body = function.body or () if function else ()
        at = bisect_right(body, offset, key=lambda s: s.start) - 1
        return body[at] if at >= 0 and offset <= body[at].end else None

    def occurrences(self, function: Function) -> tuple[Occurrence, ...]:
        """The names of a function, found once for each version of the text."""
        if function.start not in self._names:
            self._names[function.start] = occurrences(function)
        return self._names[function.start]

    def pressure(self, function: Function) -> Pressure | None:
        """The live registers of a function; None where it has an error that leaves them unknown.

        Kept while the function and everything outside of bodies stay the same: its offsets may be those of an earlier
        text, its numbers of instructions and registers are not.
        """
        if function.body is None or self.module is None:
            return None
        key = function.source.text[function.start : function.end], self._heads
        if key not in self._pressures:
            try:
                self._pressures[key] = pressure(function)
            except PtxError:
                self._pressures[key] = None
        return self._pressures[key]

    @property
    def _heads(self) -> int:
        """A number that is the same as long as the text outside of bodies is."""
        return hash(outer_texts(self.module)) if self.module else 0


def instruction_number(function: Function, node: Instruction) -> int:
    """The number of an instruction in its function."""
    return bisect_right(function.instructions, node.start, key=lambda i: i.start) - 1
