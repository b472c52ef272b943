"""`check_module` for a text that is edited: functions that did not change are not checked again.

What is reported of a function depends on its own text and on everything outside of bodies (`function_problems`): both
together are the key of what is kept. Places move with the function, or with the head or declaration that they point
into. A function is always checked again where a diagnostic has the number of a line in its words, or where whether it
is called decides (`head_problems`).
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ptxtool.base.collector import paused_collector
from ptxtool.base.diag import Diagnostic, Fix
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse.incremental import names_line
from ptxtool.sema.module import function_problems, in_order, module_problems
from ptxtool.sema.variables import is_narrow


@dataclass(frozen=True)
class _Outline:
    """Where the items of a module begin, and where what may be pointed at from elsewhere ends."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, module: Module) -> "_Outline":
        text = module.source.text
        starts = tuple(item.start for item in module.items)
        ends = tuple(
            item.body_start if isinstance(item, Function) and item.body is not None else item.end
            for item in module.items
        )
        return cls(starts, ends, tuple(text[a:b] for a, b in zip(starts, ends, strict=True)))

    def moved(self, offset: int, to: "_Outline") -> int | None:
        """An offset of a head or a declaration in another module of the same outline."""
        k = bisect_right(self.starts, offset) - 1
        return offset - self.starts[k] + to.starts[k] if k >= 0 and offset <= self.ends[k] else None


def outer_texts(module: Module) -> tuple[str, ...]:
    """The heads, declarations and directives of a module as they are written: what is seen in every body."""
    return _Outline.of(module).texts


@dataclass(frozen=True)
class _Known:
    """What was reported of a function, where it began, and the outline of its module."""

    found: tuple[Diagnostic, ...]
    start: int
    end: int
    outline: _Outline


class ModuleChecks:
    """Checks the versions of one text one after the other; remembers what it reported of each function."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, int], _Known] = {}
        self._texts: tuple[str, ...] = ()

    def check(self, module: Module) -> tuple[Diagnostic, ...]:
        """The same as `check_module(module)`."""
        with paused_collector():
            outline = _Outline.of(module)
            known = self._known if outline.texts == self._texts else {}
            self._known, self._texts = {}, outline.texts
            found = [*module_problems(module)]
            seen: dict[tuple[str, str], int] = {}
            for item in module.items:
                if isinstance(item, Function):
                    found += self._of_function(item, known, outline, seen)
        return in_order(found)

    def n_unknown(self, module: Module) -> int:
        """How many instructions the functions have that `check` would have to look at."""
        if _Outline.of(module).texts != self._texts:
            return sum(len(i.instructions) for i in module.items if isinstance(i, Function))
        texts = {text for _, text, _ in self._known}
        return sum(
            len(item.instructions)
            for item in module.items
            if isinstance(item, Function) and module.source.text[item.start : item.end] not in texts
        )

    def _of_function(
        self,
        item: Function,
        known: dict[tuple[str, str, int], _Known],
        outline: _Outline,
        seen: dict[tuple[str, str], int],
    ) -> Sequence[Diagnostic]:
        text = item.source.text[item.start : item.end]
        n = seen[item.name, text] = seen.get((item.name, text), -1) + 1  # the same function, written twice
        key = item.name, text, n
        found = _moved(known[key], item, outline) if key in known else None
        if found is None:
            found = tuple(function_problems(item))
        if not any(map(names_line, found)) and not _depends_on_calls(item):
            self._known[key] = _Known(found, item.start, item.end, outline)
        return found


def _depends_on_calls(item: Function) -> bool:
    return not item.linkage and any(map(is_narrow, (*item.returns, *item.params)))


def _moved(known: _Known, item: Function, outline: _Outline) -> tuple[Diagnostic, ...] | None:
    """What was reported of a function, where it stands now; None where a place cannot be found."""
    source = item.source
    try:
        return tuple(
            replace(
                one,
                source=source,
                start=_at(one.start, known, item, outline),
                end=_at(one.end, known, item, outline),
                note=one.note
                and replace(
                    one.note,
                    source=source,
                    start=_at(one.note.start, known, item, outline),
                    end=_at(one.note.end, known, item, outline),
                ),
                fix=one.fix
                and Fix(
                    _at(one.fix.start, known, item, outline),
                    _at(one.fix.end, known, item, outline),
                    one.fix.text,
                ),
            )
            for one in known.found
        )
    except LookupError:
        return None


def _at(offset: int, known: _Known, item: Function, outline: _Outline) -> int:
    if known.start <= offset <= known.end:
        return offset - known.start + item.start
    moved = known.outline.moved(offset, outline)
    if moved is None:
        raise LookupError(offset)
    return moved
