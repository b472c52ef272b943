"""Small valid PTX kernels, and mutations of them by a token: what people and programs get wrong.

For tests that compare verdicts. `tokens` cuts PTX apart (comments and blanks fall between the tokens), `mutate` changes
one token of a text, or one and its neighbour; everything random comes from the `random.Random` that is passed.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ptxtool.ir.nodes import Directive, Function
from ptxtool.isa.types import TYPES
from ptxtool.parse import parse

_TOKEN = re.compile(
    r'(?:\s|//[^\n]*|/\*.*?\*/)+|(?P<string>"[^"\n]*")|(?P<number>[0-9][\w.]*)|(?P<name>[A-Za-z_$%][\w$]*)'
    r"|(?P<word>\.[A-Za-z_]\w*(?:::\w+)*)|(?P<mark>.)",
    re.DOTALL,
)
_STARTS = frozenset(";{}:")


@dataclass(frozen=True)
class Token:
    """A piece of text with its place; `kind` is one of those that `tokens` names."""

    kind: str
    text: str
    start: int
    end: int


def tokens(text: str) -> list[Token]:
    """Strings, numbers, registers, names, opcodes, types, modifiers, directives and marks, in order."""
    found: list[Token] = []
    for m in _TOKEN.finditer(text):
        kind = m.lastgroup
        if kind is None:
            continue
        before = found[-1] if found else None
        is_attached = before is not None and before.end == m.start()
        if kind == "name":
            starts = before is None or before.text in _STARTS or _guards(found)
            kind = "register" if m[0][0] == "%" else "opcode" if starts and text[m.end()] != ":" else "name"
        elif kind == "word":
            if m[0][1:] in TYPES:
                kind = "type"
            else:
                kind = "modifier" if is_attached and before and before.kind != "mark" else "directive"
        found.append(Token(kind, m[0], m.start(), m.end()))
    return found


def _guards(before: list[Token]) -> bool:
    """Whether the last tokens are the guard of an instruction."""
    return len(before) > 1 and (before[-2].text == "@" or [t.text for t in before[-3:-1]] == ["@", "!"])


@dataclass(frozen=True)
class Subject:
    """A text to mutate."""

    name: str
    text: str

    @cached_property
    def tokens(self) -> list[Token]:
        return tokens(self.text)

    @cached_property
    def of_kind(self) -> dict[str, list[Token]]:
        found: dict[str, list[Token]] = {}
        for token in self.tokens:
            found.setdefault(token.kind, []).append(token)
        return found

    @cached_property
    def words(self) -> dict[str, list[str]]:
        """The different texts of a kind."""
        return {kind: sorted({t.text for t in found}) for kind, found in self.of_kind.items()}


@dataclass(frozen=True)
class Mutation:
    """A changed text, how it was changed, and where."""

    kind: str
    subject: Subject
    text: str = field(repr=False)
    start: int
    old: str
    new: str

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.start) + 1

    def __str__(self) -> str:
        line = self.text.split("\n")[self.line - 1].strip()
        return f"{self.subject.name}:{self.line}: {self.kind} {self.old!r} -> {self.new!r}: {line}"


_Edit = tuple[int, int, str]
_Mutator = Callable[[Subject, random.Random], _Edit]
KINDS: dict[str, _Mutator] = {}


def _kind(mutator: _Mutator) -> _Mutator:
    KINDS[mutator.__name__.strip("_").replace("_", " ")] = mutator
    return mutator


def mutate(subject: Subject, kind: str, rng: random.Random) -> Mutation | None:
    """One mutation of a kind, None where the subject has nothing of the sort or it would change nothing."""
    try:
        start, end, new = KINDS[kind](subject, rng)
    except (IndexError, KeyError):
        return None
    old = subject.text[start:end]
    text = subject.text[:start] + new + subject.text[end:]
    return Mutation(kind, subject, text, start, old, new) if text != subject.text else None


def _put(token: Token, new: str) -> _Edit:
    return token.start, token.end, new


def _typo(word: str, rng: random.Random) -> str:
    """A word with a letter missing, doubled, exchanged or replaced; its first character stays."""
    if len(word) < 2:
        return word * 2
    at = rng.randrange(1, len(word))
    match rng.randrange(4):
        case 0:
            return word[:at] + word[at + 1 :]
        case 1:
            return word[:at] + word[at] + word[at:]
        case 2:
            return word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
        case _:
            return word[:at] + rng.choice("aeinorstx0123456789") + word[at + 1 :]


@_kind
def _delete(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.tokens), "")


@_kind
def _duplicate(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice(subject.tokens)
    space = "" if token.text[0] in ".,;:[](){}<>" else " "
    return _put(token, token.text + space + token.text)


@_kind
def _swap_neighbours(subject: Subject, rng: random.Random) -> _Edit:
    at = rng.randrange(len(subject.tokens) - 1)
    a, b = subject.tokens[at : at + 2]
    return a.start, b.end, f" {b.text}{subject.text[a.end : b.start] or ' '}{a.text} "


@_kind
def _replace(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice(subject.tokens)
    return _put(token, rng.choice(subject.words[token.kind]))


@_kind
def _insert(subject: Subject, rng: random.Random) -> _Edit:
    before, token = rng.choice(subject.tokens), rng.choice(subject.tokens)
    return before.start, before.start, token.text + ("" if token.kind == "mark" else " ")


@_kind
def _other_register(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["register"]), rng.choice(subject.words["register"]))


@_kind
def _undeclared_register(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice(subject.of_kind["register"])
    return _put(token, token.text + str(rng.randrange(1000, 10000)))


@_kind
def _register_for_number(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["number"]), rng.choice(subject.words["register"]))


@_kind
def _number_for_register(subject: Subject, rng: random.Random) -> _Edit:
    number = rng.choice([*subject.words["number"], "0", "1.5", "0f3F800000", "-1"])
    return _put(rng.choice(subject.of_kind["register"]), number)


@_kind
def _other_type(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["type"]), "." + rng.choice(sorted(TYPES)))


@_kind
def _other_modifier(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["modifier"]), rng.choice(subject.words["modifier"]))


@_kind
def _more_modifiers(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice([t for kind in ("opcode", "modifier", "type") for t in subject.of_kind.get(kind, [])])
    return _put(token, token.text + rng.choice(subject.words["modifier"] + subject.words["type"]))


@_kind
def _fewer_modifiers(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice([*subject.of_kind["modifier"], *subject.of_kind["type"]]), "")


@_kind
def _modifier_typo(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice([*subject.of_kind["modifier"], *subject.of_kind["type"]])
    return _put(token, _typo(token.text, rng))


@_kind
def _opcode_typo(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice(subject.of_kind["opcode"])
    return _put(token, _typo(token.text, rng))


@_kind
def _other_opcode(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["opcode"]), rng.choice(subject.words["opcode"]))


@_kind
def _other_number(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice(subject.of_kind["number"])
    others = ["0", "1", "-1", "3", "7", "33", "64", "65536", "0x1ffffffff", "1.5", "0f3F800000", "08", "1e"]
    return _put(token, rng.choice(others))


@_kind
def _drop_mark(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["mark"]), "")


@_kind
def _other_mark(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["mark"]), rng.choice(",;:[](){}<>@!+-.="))


@_kind
def _directive_typo(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice(subject.of_kind["directive"])
    return _put(token, _typo(token.text, rng))


@_kind
def _other_directive(subject: Subject, rng: random.Random) -> _Edit:
    return _put(rng.choice(subject.of_kind["directive"]), rng.choice(subject.words["directive"]))


@_kind
def _name_typo(subject: Subject, rng: random.Random) -> _Edit:
    token = rng.choice([*subject.of_kind["name"], *subject.of_kind["register"]])
    return _put(token, _typo(token.text, rng))


@_kind
def _other_name(subject: Subject, rng: random.Random) -> _Edit:
    words = [*subject.words["name"], *subject.words["register"]]
    return _put(rng.choice(subject.of_kind["name"]), rng.choice(words))


def kernels(text: str, name: str, most_lines: int) -> Iterator[Subject]:
    """The kernels of a file, each with the declarations and functions of the file, debugging sections left out."""
    module = parse(text)
    is_kernel = [isinstance(i, Function) and i.kind == "entry" and i.body is not None for i in module.items]
    for kept, (item, is_one) in enumerate(zip(module.items, is_kernel, strict=True)):
        if not is_one:
            continue
        parts = [
            text[other.start : other.end]
            for n, other in enumerate(module.items)
            if (n == kept or not is_kernel[n])
            and not (isinstance(other, Directive) and other.name == "section")
        ]
        made = "\n".join(parts) + "\n"
        if made.count("\n") <= most_lines:
            assert isinstance(item, Function)
            yield Subject(f"{name}/{item.name}", made)
