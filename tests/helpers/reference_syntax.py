"""The manual's syntax of every instruction, read from the reference beside the checkout, as concrete instructions.

For the test that the instruction table is complete. A file has lines like `add{.rnd}{.sat}.f32 d, a, b;` and says
what a word stands for: `.rnd = { .rn, .rz };`, in the same section (they end at a line of dashes), a later or an
earlier one. An operand in braces that goes with a modifier (a cache policy, a mask) stands where the modifier does.
"""

import itertools
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_DEFINITION = re.compile(r"((?:[.:]*[\w:-]+\s*=\s*)+)\{([^}]*)\}[^\n;]*;?")
_RULE = re.compile(r"^-{5,}$", re.MULTILINE)
_MISPRINTS = {"}. ": "}.", ", addr_mode": ", .addr_mode", "m8n84": "m8n8k4"}
# words whose meaning a file forgets to give
_FORGOTTEN = {
    ".level::cache_hint": ("L2::cache_hint",),
    ".type": ("f16", "f16x2", "bf16", "bf16x2"),  # of `fma.rnd.oob{.relu}.type`
}
# optional operands that stand exactly where a modifier of one of these names does
_COMES_WITH = {
    "cache-policy": {"L2::cache_hint"},
    "ctaMask": {"multicast::cluster"},
    "byteMask": {"cp_mask"},
    "im2colInfo": {"im2col", "im2col::w", "im2col::w::128"},
}


@dataclass(frozen=True)
class Text:
    """A concrete opcode with the operands of the syntax line, and what was chosen: modifiers and operands."""

    opcode: str
    operands: tuple[str, ...]
    choices: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One line of syntax: the parts of the opcode and the operands, each as the texts it may be ("": left out).

    An operand followed by `?` stands where its modifier does.
    """

    text: str
    parts: tuple[tuple[str, ...], ...]
    operands: tuple[tuple[str, ...], ...]

    @property
    def axes(self) -> tuple[tuple[str, ...], ...]:
        return self.parts + self.operands

    def texts(self, limit: int) -> list[Text]:
        """All instructions of the line, or `limit` of those in which every pair of choices meets."""
        n = 1
        for axis in self.axes:
            n *= len(axis)
        picks = itertools.product(*self.axes) if n <= limit else _pairs(self.axes, self._random(), limit)
        return [self._made(pick) for pick in picks]

    def texts_with(self, choice: str, n: int) -> Iterator[Text]:
        """Instructions drawn from those in which a choice was made, short ones rather than long ones."""
        rng = self._random()
        for i, axis in enumerate(self.axes):
            for chosen in (word for word in axis if _name(axis, word) == choice):
                for _ in range(n):
                    pick = [rng.choice((a[0], rng.choice(a))) for a in self.axes]
                    pick[i] = chosen
                    yield self._made(tuple(pick))

    def _random(self) -> random.Random:
        return random.Random(self.text)

    def _made(self, pick: tuple[str, ...]) -> Text:
        opcode = ".".join(filter(None, pick[: len(self.parts)]))
        words = set(opcode.split("."))
        operands = [
            o.rstrip("?")
            for o in pick[len(self.parts) :]
            if o and not (o.endswith("?") and _COMES_WITH[o[:-1]].isdisjoint(words))
        ]
        choices = [_name(a, word) for a, word in zip(self.axes, pick, strict=True) if len(a) > 1]
        return Text(opcode, tuple(operands), tuple(choices))


def _name(axis: tuple[str, ...], chosen: str) -> str:
    return chosen or "no " + "|".join(axis[1:])


def _pairs(axes: Sequence[tuple[str, ...]], rng: random.Random, limit: int) -> list[tuple[str, ...]]:
    picks: dict[tuple[str, ...], None] = {}
    for i, j in itertools.combinations(range(len(axes)), 2):
        if len(axes[i]) > 1 or len(axes[j]) > 1:
            for a, b in itertools.product(axes[i], axes[j]):
                pick = [rng.choice(axis) for axis in axes]
                pick[i], pick[j] = a, b
                picks[tuple(pick)] = None
    found = list(picks)
    rng.shuffle(found)
    return found[:limit]


def lines(path: Path) -> Iterator[Line]:
    """Every line of syntax of a file, once."""
    text = re.sub(r"//[^\n]*|\*+|^defaults to.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for misprint, meant in _MISPRINTS.items():
        text = text.replace(misprint, meant)
    sections = _RULE.split(text)
    meanings = [_meanings(section) for section in sections]
    seen: set[Line] = set()
    for i, section in enumerate(sections):
        order = (_FORGOTTEN, *meanings[:i], *reversed(meanings[i:]))
        nearest = {name: words for found in order for name, words in found.items()}
        for statement in _DEFINITION.sub("", section).split(";"):
            made = " ".join(statement.split())
            if made:
                line = _line(made, nearest)
                if line not in seen:
                    seen.add(line)
                    yield line


def _meanings(section: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for names, values in _DEFINITION.findall(section):
        words = tuple(w.strip() for w in re.split(r"[,\n]", values) if w.strip())
        for name in names.split("="):
            if name.strip():
                found[name.strip()] = words
    return found


def _line(text: str, meanings: dict[str, tuple[str, ...]]) -> Line:
    opcode, _, rest = text.partition(" ")
    parts = []
    for optional, plain in re.findall(r"\{\.([^}]*)\}|\.?([^.{}]+)", opcode):
        found = tuple(_expanded(optional or plain, meanings, is_opcode=not parts))
        parts.append(("", *found) if optional else found)
    operands = [
        ((f"{o}?",) if o in _COMES_WITH else ("", o)) if is_optional else (o,)
        for o, is_optional in _operands(rest)
    ]
    return Line(text, tuple(parts), tuple(operands))


def _expanded(word: str, meanings: dict[str, tuple[str, ...]], *, is_opcode: bool = False) -> Iterator[str]:
    """The texts that a word of the syntax stands for, itself if it stands for nothing else."""
    meaning = meanings.get(word if is_opcode else f".{word}")
    if meaning is not None and f".{word}" not in meaning:
        for alternative in meaning:
            if alternative == "none":
                yield ""
                continue
            pieces = [list(_expanded(w, meanings)) for w in alternative.removeprefix(".").split(".")]
            yield from (".".join(p) for p in itertools.product(*pieces))
        return
    tails = [meanings.get(f"::{w}", (f"::{w}",)) for w in word.split("::")[1:]]
    yield from (word.split("::")[0] + "".join(t) for t in itertools.product(*tails))


def _operands(text: str) -> Iterator[tuple[str, bool]]:
    """The operands with whether they are optional: `{, x}` is, `{-}a{.asel}` is `a`."""
    text = re.sub(r"\{-\}|\{\.\w+\}|\s*\.dsel|\s", "", text.replace("{!}", "!"))
    text = re.sub(r"\{(\|\w)\}", r"\1", text.replace("[a,{b,}c]", "[a,c]"))
    while text:
        is_optional = text.startswith("{,")
        text = text.removeprefix("{,").removeprefix(",")
        depth = end = 0
        while (
            end < len(text) and (depth or text[end] != ",") and not (depth == 0 and text[end] in "{}" and end)
        ):
            depth += (text[end] in "([{") - (text[end] in ")]}")
            end += 1
        if text[:end]:
            yield text[:end], is_optional
        text = text[end:]
        if is_optional:
            text = text.removeprefix("}")
