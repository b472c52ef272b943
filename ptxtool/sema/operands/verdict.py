"""What is wrong with an instruction: its operands' shapes against the form of the table that fits them best.

For `instructions.py`, which remembers verdicts by opcode and shapes. Beside the misfits a verdict names the simplest
repair where there is one: two operands that stand in each other's place, or another type after the opcode.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from ptxtool.ir.nodes import Operand
from ptxtool.isa.table import Match, table
from ptxtool.isa.types import TYPES
from ptxtool.parse.operands import number_of
from ptxtool.sema.operands.fit import NEARNESS, problem
from ptxtool.sema.operands.shapes import UNDECLARED, OperandShape
from ptxtool.sema.operands.wording import OperandPlace, Problem

_Problems = tuple[tuple[int, Problem], ...]
_TRIED = ("u32", "s32", "b32", "f32", "u64", "s64", "b64", "f64", "u16", "s16", "b16", "f16")


class Verdict(NamedTuple):
    """What there is to say about an instruction: no form of it, or operands by number that do not fit.

    Without either it has undeclared names, or names (`follows`: of what is called, of lists of targets) to look up.
    `swapped` are two operands that would fit in each other's place, `better` is an opcode that all operands would fit.
    """

    has_form: bool
    problems: _Problems
    follows: bool = False
    swapped: tuple[int, int] | None = None
    better: str = ""


class WrittenInstruction(NamedTuple):
    """An instruction as it stands in the text; `is_64_bit` if the file says that addresses have 64 bits."""

    text: str
    operands: Sequence[Operand]
    shapes: Sequence[OperandShape]
    is_64_bit: bool

    def judge(self) -> Verdict | None:
        """What is wrong under the form that fits best, None if nothing is."""
        matches = table().matches(self.text, len(self.shapes), False)
        if not matches:
            return Verdict(False, ())
        problems = min(map(self._problems, matches), key=_distance)
        follows = any(spec.role == "s" for match in matches for spec in match.operands)
        if not problems and not follows and not any(map(_is_undeclared, self.shapes)):
            return None
        return Verdict(True, problems, follows, self._swapped(matches, problems), self._better(problems))

    def _problems(self, match: Match) -> _Problems:
        found: list[tuple[int, Problem]] = []
        for k, (spec, one) in enumerate(zip(match.operands, self.shapes, strict=False)):
            place = OperandPlace(self.text, match, spec, self.is_64_bit)
            trouble = problem(place, one, number_of(self.operands[k]))
            if trouble is not None:
                found.append((k, trouble))
        return tuple(found)

    def _swapped(self, matches: Iterable[Match], problems: _Problems) -> tuple[int, int] | None:
        """The two operands that do not fit, if each fits in the other's place."""
        if len(problems) != 2 or not any(trouble.code == "E206" for _, trouble in problems):
            return None
        (i, _), (j, _) = problems
        shapes, operands = list(self.shapes), list(self.operands)
        shapes[i], shapes[j] = shapes[j], shapes[i]
        operands[i], operands[j] = operands[j], operands[i]
        exchanged = self._replace(operands=operands, shapes=shapes)
        return (i, j) if not all(map(exchanged._problems, matches)) else None

    def _better(self, problems: _Problems) -> str:
        """The opcode with another type that several misfits ask for, "" where none suits all operands."""
        words = self.text.split(".")
        types = [n for n, word in enumerate(words) if word in TYPES]
        if len(problems) < 2 or len(types) != 1 or any(trouble.code != "E207" for _, trouble in problems):
            return ""
        at = types[0]
        for other in sorted(_TRIED, key=lambda t: (t[0] != words[at][0], _TRIED.index(t))):
            candidate = ".".join([*words[:at], other, *words[at + 1 :]])
            matches = table().matches(candidate, len(self.shapes), False)
            if not all(map(self._replace(text=candidate)._problems, matches)):
                return candidate
        return ""


@cache
def takes_bounded(text: str, n_operands: int) -> bool:
    """Whether the value of a constant decides: some operand of the opcode has bounds."""
    return any(
        fit.low is not None or fit.high is not None or fit.choices or fit.is_fraction
        for match in table().matches(text, n_operands, False)
        for spec in match.operands
        for fit in spec.fits
    )


def _is_undeclared(found: OperandShape) -> bool:
    return found is UNDECLARED or any(_is_undeclared(i) for i in found.items)


def _distance(problems: _Problems) -> tuple[int, int]:
    """How far a form is from what was written: the number of misfits, then their kind."""
    return len(problems), -sum(NEARNESS.index(trouble.code) for _, trouble in problems)
