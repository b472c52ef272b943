"""The grammar file: its terminals, its flat rules as regular expressions, and the Lark parser made of it.

`grammars/ptx.lark` is the only definition of the language. Two readers use it here:

* `terminals()` and `rule_regex()` read its text. A rule that does not recurse describes a regular language, so it can
  be expanded into one regular expression: tokens become atomic groups (a lexer never gives characters back), and
  spacing or comments may stand between any two. The per-statement parser recognises statements with these.
* `lark_parser()` builds the LALR parser, for operands no leaf expression knows, for whole files, and for finding out what
  was expected where a statement is wrong. Building takes 70-150 ms and importing Lark 60, so both happen on first use,
  and the tables are kept in the user's cache folder (Lark checks them against a hash of grammar and versions).
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ptxtool.base.resources import resource_dir

if TYPE_CHECKING:
    from lark import Lark

STARTS = ("module", "item", "statement", "function_head", "operand")
NEVER = r"(?!)"

_TERMINAL = re.compile(r"([A-Z_]+)(?:\.\d+)?:[ ]*/(.+)/$")
_RULE = re.compile(r"[!?]?([a-z_]+):[ ]*(.*)$")
_ELEMENT = re.compile(r'\s*(?:(?P<name>[A-Za-z_]+)|"(?P<text>[^"]+)"|(?P<operator>[()|*+?]))')


@cache
def grammar_text() -> str:
    return (resource_dir("grammars") / "ptx.lark").read_text(encoding="utf-8")


@cache
def terminals() -> Mapping[str, str]:
    """Every terminal of the grammar: name -> regular expression."""
    found = (_TERMINAL.match(line) for line in grammar_text().splitlines())
    return {m[1]: m[2].replace(r"\/", "/") for m in found if m}


@cache
def _rules() -> Mapping[str, str]:
    """Every rule whose definition is one line: name -> its right-hand side."""
    found = (_RULE.match(line) for line in grammar_text().splitlines())
    return {m[1]: m[2] for m in found if m}


@cache
def skip() -> str:
    """What may stand between two tokens: spacing and comments, never given back."""
    return rf"(?:{terminals()['SPACING']}|{terminals()['COMMENT']})*+"


@cache
def _rule_regex(rule: str, operand: str) -> str:
    parts: list[str] = []
    position = 0
    text = _rules()[rule]
    while position < len(text.rstrip()):
        match = _ELEMENT.match(text, position)
        assert match, f"rule '{rule}' of the grammar is not flat: {text[position:]}"
        position = match.end()
        name, literal, operator = match.group("name", "text", "operator")
        if operator is not None:
            parts.append("(?:" if operator == "(" else operator)
        elif literal is not None:
            parts.append(f"(?:{skip()}{re.escape(literal)})")
        elif name == "operand":
            parts.append(f"(?:{skip()}{operand})")
        elif name.isupper():
            parts.append(f"(?:{skip()}(?>{terminals()[name]}))")
        else:
            parts.append(f"(?:{_rule_regex(name, operand)})")
    return "".join(parts)


def rule_regex(rule: str, operand: str = NEVER) -> str:
    """A rule of the grammar as a regular expression; `operand` stands for the one rule that recurses.

    The expression begins with `skip()` and its last token ends the match.
    """
    return _rule_regex(rule, operand)


@cache
def lark_parser() -> "Lark":
    """The LALR parser of the whole grammar, building operand and statement nodes as it reduces."""
    import lark

    from ptxtool.parse.transform import Builder

    options = {"parser": "lalr", "start": list(STARTS), "maybe_placeholders": False, "transformer": Builder()}
    return lark.Lark(grammar_text(), cache=_cache_file() or False, **options)


def _cache_file() -> str | None:
    """Where Lark keeps the parser tables, which it checks against grammar and versions; None where nothing can be kept."""
    from platformdirs import user_cache_path

    try:
        return str(user_cache_path("ptxtool", ensure_exists=True) / "grammar.lark-tables")
    except OSError:
        return None
