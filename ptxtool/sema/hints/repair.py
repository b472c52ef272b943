"""The smallest change after which a form of the table fits an opcode: a word less, a word more, another word.

For `explain`, which reports the first change that helps. `words` are those after the first word of the opcode;
the first `fixed` of them are part of its name (`cp.async.bulk`) and stay. Where no single change helps, the form that
has most in common with the opcode is named.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

import msgspec

from ptxtool.base.phrases import nearest, series
from ptxtool.isa.forms import Form, ModifierGroup
from ptxtool.isa.types import TYPES

_LISTED = 8
_ALTERNATIVES = 4
_COMMON = ("u32", "s32", "f32", "b32", "u64", "s64", "f64", "b64", "u16", "s16", "f16", "b16")

Ask = Callable[[list[str]], bool]
"""Whether a form fits an opcode of the same base with these words."""


class Explanation(NamedTuple):
    """A message, a next step, and the part of the opcode that is to blame ("" for all of it).

    `better` is the opcode that the next step makes of it, "" where it leaves a choice.
    """

    message: str
    help: str
    word: str = ""
    better: str = ""


class Repair(msgspec.Struct, frozen=True, dict=True):
    """An opcode that fits no form, and the words that forms of it have."""

    base: str
    words: list[str]
    fits: Ask
    allowed: dict[str, None]
    fixed: int = 0

    def explanation(self) -> Explanation | None:
        """The likeliest change that helps, None if no single one does."""
        first = self.twice() or self.one_more(modifiers_only=True)
        return first or self.one_less() or self.one_more() or self.another()

    def _without(self, i: int) -> list[str]:
        return self.words[:i] + self.words[i + 1 :]

    def _text(self, words: list[str]) -> str:
        return ".".join([self.base, *words])

    @cached_property
    def _surplus(self) -> list[int]:
        """The words any one of which may go, the last first."""
        return [i for i in reversed(range(self.fixed, len(self.words))) if self.fits(self._without(i))]

    def twice(self) -> Explanation | None:
        for i in self._surplus:
            word = self.words[i]
            if word in self._without(i):
                better = self._text(self._without(i))
                return Explanation(f"'.{word}' stands twice", "remove one of them", word, better)
        return None

    def one_less(self) -> Explanation | None:
        modifiers = [i for i in self._surplus if self.words[i] not in TYPES]
        if len(modifiers) > 1:
            later, earlier = (self.words[i] for i in modifiers[:2])
            message = f"'.{earlier}' and '.{later}' exclude each other"
            return Explanation(message, "remove one of them", later)
        if not self._surplus:
            return None
        i = self._surplus[0]
        word, rest = self.words[i], self._without(i)
        if word in TYPES:
            text = self._text(rest)
            return Explanation(f"'{text}' takes no further type '.{word}'", "remove it", word, text)
        types = [n for n, w in enumerate(self.words) if w in TYPES]
        if not types:
            message = f"'{self.base}' takes no '.{word}' here"
            return Explanation(message, f"remove '.{word}'", word, self._text(rest))
        last = types[-1]
        others = [w for w in self.allowed if w in TYPES and self.fits(self._with(last, w))]
        help = f"it goes with {listed(others)}" if others else f"remove '.{word}'"
        return Explanation(f"'.{word}' does not go with '.{self.words[last]}'", help, word)

    def one_more(self, *, modifiers_only: bool = False) -> Explanation | None:
        words = self.words
        places = range(len(words), self.fixed - 1, -1)
        missing = [w for w in self.allowed if any(self.fits([*words[:i], w, *words[i:]]) for i in places)]
        types = [w for w in missing if w in TYPES]
        if not missing or (modifiers_only and types):
            return None
        text, better = self._text(words), ""
        if len(missing) == 1:
            fitting = ([*words[:i], missing[0], *words[i:]] for i in places)
            better = self._text(next(filter(self.fits, fitting)))
        if len(types) == len(missing):
            help = f"write {listed(missing, 'or')} after it"
            return Explanation(f"'{text}' lacks a type", help, better=better)
        modifiers = [w for w in missing if w not in types]
        return Explanation(f"'{text}' lacks a modifier", f"add {listed(modifiers, 'or')}", better=better)

    def another(self) -> Explanation | None:
        """Another word in place of one; of several such words a modifier that looks like another one is to blame."""
        choices = {
            i: [w for w in self.allowed if self.fits(self._with(i, w))]
            for i in reversed(range(self.fixed, len(self.words)))
        }
        helpful = [i for i, others in choices.items() if others]
        if not helpful:
            return None
        likely = [
            i for i in helpful if self.words[i] not in TYPES and nearest(self.words[i], choices[i], 0.75)
        ]
        i = (likely or helpful)[0]
        word, others = self.words[i], choices[i]
        if word in TYPES:
            rest = ".".join([self.base, *self.words[:i]])
            return Explanation(f"'{rest}' has no form with type '.{word}'", f"it has {listed(others)}", word)
        rest = ".".join([self.base, *self._without(i)])
        return Explanation(f"'{rest}' has no form with '.{word}'", f"it has {listed(others)}", word)

    def _with(self, i: int, word: str) -> list[str]:
        return [*self.words[:i], word, *self.words[i + 1 :]]


def nearest_form(words: list[str], forms: Iterable[Form]) -> str:
    """The form that lacks and has least beside the words of an opcode, as it would be written."""
    found = min(forms, key=lambda form: _distance(form, words))
    named = [_written(group, words) for group in found.groups]
    return ".".join([found.base, *filter(None, named)])


def _distance(form: Form, words: list[str]) -> int:
    there = {w for group in form.groups for a in group.alternatives for w in a.split(".")}
    there.update(form.base.split(".")[1:])
    missing = sum(not _taken(group, words) for group in form.groups if not group.optional)
    return missing + 2 * sum(word not in there for word in words)


def _taken(group: ModifierGroup, words: list[str]) -> str:
    return next((a for a in group.alternatives if all(w in words for w in a.split("."))), "")


def _written(group: ModifierGroup, words: list[str]) -> str:
    """A group as the opcode has it; what it lacks as alternatives, nothing if it may lack it."""
    taken = _taken(group, words)
    if taken or group.optional:
        return taken
    shown = "|".join(group.alternatives[:_ALTERNATIVES])
    return shown + ("|..." if len(group.alternatives) > _ALTERNATIVES else "")


def listed(words: Iterable[str], conjunction: str = "and") -> str:
    """'.a', '.b' and '.c', cut where there are many."""
    chosen = list(words)
    if len(chosen) > _LISTED:  # the common ones are shown
        chosen.sort(key=lambda w: _COMMON.index(w) if w in _COMMON else len(_COMMON))
    named = [f"'.{word}'" for word in chosen]
    if len(named) > _LISTED:
        return f"{', '.join(named[:_LISTED])}, ..."
    return series(named, conjunction)
