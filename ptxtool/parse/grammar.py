"""The grammar file: its terminals, its flat rules as regular expressions, and the Lark parser made of it.

`grammars/ptx.lark` is the only definition of the language. Two readers use it here:

* `terminals()` and `FlatRule` read its text. A rule that does not recurse describes a regular language, so it can be
  expanded into one regular expression over token kinds. The per-statement parser recognises directives, declarations
  and function heads with these.
* `lark_parse()` runs the LALR parser, for operands no leaf expression knows, for whole files, and for finding out
  what was expected where a statement is wrong. Building takes 70-150 ms and importing Lark 60, so both happen on first
  use, and the tables are kept in the user's cache folder (Lark checks them against a hash of grammar and versions).
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ptxtool.base.resources import resource_dir
from ptxtool.base.source import Source
from ptxtool.parse.tokens import Token

if TYPE_CHECKING:
    import lark

    from ptxtool.parse.transform import NodeBuilder

STARTS = (
    *("module", "plus_module", "item", "plus_item", "statement", "plus_statement"),
    *("function_head", "section", "branch_targets", "call_targets", "call_prototype"),
)
INITIALIZER = "initializer"  # the one rule that recurses in declarations; the kind of a token with its text
_LITERALS = ("NUMBER", "FLOAT_BITS")  # initializers of one token

_TERMINAL = re.compile(r"([A-Z_]+)(?:\.(\d+))?:[ ]*/(.+)/$")
_RULE = re.compile(r"[!?]?([a-z_]+):[ ]*(.*)$")
_ELEMENT = re.compile(r'\s*(?:(?P<name>[A-Za-z_]+)|"(?P<text>[^"]+)"|(?P<operator>[()|*+?]))')


class Terminal(NamedTuple):
    regex: str
    priority: int


@cache
def grammar_text() -> str:
    return (resource_dir("grammars") / "ptx.lark").read_text(encoding="utf-8")


@cache
def terminals() -> Mapping[str, Terminal]:
    """Every terminal of the grammar by name."""
    found = (_TERMINAL.match(line) for line in grammar_text().splitlines())
    return {m[1]: Terminal(m[3].replace(r"\/", "/"), int(m[2] or 0)) for m in found if m}


@cache
def skip() -> str:
    """What may stand between two tokens: spacing and comments, never given back."""
    return rf"(?:{terminals()['SPACING'].regex}|{terminals()['COMMENT'].regex})*+"


@cache
def _rules() -> Mapping[str, str]:
    """Every rule whose definition is one line: name -> its right-hand side."""
    found = (_RULE.match(line) for line in grammar_text().splitlines())
    return {m[1]: m[2].rstrip() for m in found if m}


def _elements(rule: str) -> Iterator[tuple[str, str]]:
    """The parts of a rule's right-hand side: ("name" | "text" | "operator", what it says)."""
    text = _rules()[rule]
    position = 0
    while position < len(text):
        match = _ELEMENT.match(text, position)
        assert match is not None, f"rule '{rule}' of the grammar is not flat: {text[position:]}"
        position = match.end()
        kind = match.lastgroup
        assert kind is not None
        yield kind, match[kind]


def _closure(rule: str) -> set[tuple[str, str]]:
    """The terminals ("name") and the quoted tokens ("text") a rule can come to."""
    found: set[tuple[str, str]] = set()
    for kind, text in _elements(rule):
        if text == INITIALIZER:
            found |= {("name", literal) for literal in _LITERALS}
        elif kind == "name" and not text.isupper():
            found |= _closure(text)
        elif kind != "operator":
            found.add((kind, text))
    return found


class FlatRule:
    """A flat rule of the grammar as two regular expressions: one cuts text into tokens, one recognises their order.

    The second runs over one letter per token, so it is small, and lexing stays apart from parsing as it is in Lark:
    where several terminals of the rule match, the one of highest priority is the token. A literal stands for the
    initializer rule, and whatever the expression `initializer` matches, which becomes a token of that kind.
    """

    def __init__(self, rule: str, initializer: str = ""):
        found = _closure(rule)
        texts = sorted(text for kind, text in found if kind == "text")
        names = [text for kind, text in found if kind == "name"]
        by_priority = sorted(names, key=lambda n: (-terminals()[n].priority, n))
        choices = [f"(?P<{INITIALIZER}>{initializer})"] if initializer else []
        choices += [f"(?P<{n}>{terminals()[n].regex})" for n in by_priority]
        choices += [f"(?P<TEXT>{'|'.join(re.escape(t) for t in texts)})"] if texts else []
        self._lexer = re.compile(f"{skip()}(?:{'|'.join(choices)})")
        self._letters = {k: chr(ord("A") + i) for i, k in enumerate([INITIALIZER, *by_priority, *texts])}
        self._order = re.compile(self._expand(rule))
        self._one_semicolon = ";" in texts and not rule.startswith("function")
        first = next(text for _, text in _elements(rule))
        self._keyword = first if first.isupper() else ""  # it begins the rule and stands nowhere else in it

    def _expand(self, rule: str) -> str:
        """The rule over letters; `[`, `(` and the like are letters too, so nothing needs escaping."""
        parts: list[str] = []
        for kind, text in _elements(rule):
            if kind == "operator":
                parts.append("(?:" if text == "(" else text)
            elif text == INITIALIZER:
                parts.append(f"[{''.join(map(self._letter, (INITIALIZER, *_LITERALS)))}]")
            elif kind == "text" or text.isupper():
                parts.append(self._letter(text))
            else:
                parts.append(f"(?:{self._expand(text)})")
        return "".join(parts)

    def _letter(self, kind: str) -> str:
        return re.escape(self._letters[kind])

    def match(self, text: str, start: int) -> list[Token] | None:
        """The tokens of the longest stretch from `start` that follows the rule; None where there is none."""
        tokens: list[Token] = []
        letters = ""
        lex = self._lexer.match
        while found := lex(text, start):
            kind = found.lastgroup
            assert kind is not None
            if kind == self._keyword and tokens:
                break
            first, start = found.span(kind)
            word = text[first:start]
            tokens.append(Token(kind, word, first, start))
            letters += self._letters[word if kind == "TEXT" else kind]
            if word == ";" and (self._one_semicolon or not self._order.fullmatch(letters)):
                break
        followed = self._order.match(letters)
        return tokens[: followed.end()] if followed else None


def text_regex(rule: str) -> str:
    """A flat rule as one expression over text, which never gives back what it took: for long stretches."""
    parts: list[str] = []
    for kind, text in _elements(rule):
        if kind == "operator":
            parts.append({"(": "(?:", "*": "*+", "+": "++", "?": "?+"}.get(text, text))
        elif kind == "text" or text.isupper():
            token = re.escape(text) if kind == "text" else terminals()[text].regex
            parts.append(f"(?:{skip()}(?:{token}))")
        else:
            parts.append(f"(?:{text_regex(text)})")
    return "".join(parts)


def is_ptx(source: Source, start: int) -> bool:
    """Whether a file says that it is PTX: it begins with a `.version`, and without the `+` of PTXPlus."""
    t = terminals()
    first = rf"{skip()}{t['VERSION'].regex}{skip()}(?:{t['NUMBER'].regex})?{skip()}({t['PLUS'].regex})?"
    match = re.compile(first).match(source.text, start)
    return match is not None and match[1] is None


def lark_parse(source: Source, rule: str, start: int, end: int) -> Any:
    """What the builder makes of `rule` (one of `STARTS`) over a stretch of a source.

    Raises `lark.UnexpectedInput` where the stretch does not follow the rule.
    """
    import lark

    parser, builder = _lark_parser()
    builder.source = source
    return parser.parse(lark.TextSlice(source.text, start, end), start=rule)


@cache
def _lark_parser() -> "tuple[lark.Lark, NodeBuilder]":
    """The LALR parser of the whole grammar, and the builder it calls as it reduces."""
    import lark

    from ptxtool.parse.transform import NodeBuilder

    builder = NodeBuilder()
    options: dict[str, Any] = {"parser": "lalr", "start": list(STARTS), "maybe_placeholders": False}
    return lark.Lark(grammar_text(), cache=_cache_file() or False, transformer=builder, **options), builder


def _cache_file() -> str | None:
    """Where Lark keeps the parser tables (it checks them itself); None where nothing can be kept."""
    from platformdirs import user_cache_path

    try:
        return str(user_cache_path("ptxtool", ensure_exists=True) / "grammar.lark-tables")
    except OSError:
        return None
