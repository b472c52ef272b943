"""Where statements begin and end: the regular expressions of the per-statement parser.

All are composed of the grammar's terminals. `next_statement` matches one statement with the text before it, or the
beginning of a statement that needs more than one expression. Each match begins where the last one ended and some
alternative always matches, so no character is skipped. Repetitions are possessive and bounded: no text takes more than
linear time.
"""

import re
from functools import cache

from ptxtool.parse.grammar import FlatRule, skip, terminals, text_regex

BODY_RULES = ("declaration", "loc", "pragma", "branch_targets", "call_targets", "call_prototype")
"""The rules of statements that begin with a dot, in a function's body."""
MODULE_RULES = (
    *("declaration", "function_head", "file", "pragma", "section"),
    *("version", "target", "address_size", "alias", "constptr"),
)
"""The same outside functions."""
LABELLED = ("branch_targets", "call_targets", "call_prototype")
"""The rules of statements that a label must stand before."""
UNENDED = ("loc", "file", "target")
"""The rules of lists without a semicolon at their end."""


# the groups of `next_statement`; the last that matched is the kind (plain numbers: an enum halves the speed)
GUARD, OPCODE = 1, 2
OPERANDS = 3  # a whole instruction without strings or comments
LABEL = 4
LOC = 5  # a whole `.loc` of three numbers
DOT = 6  # the beginning of another directive, a declaration or a function
OPEN, CLOSE = 7, 8
END = 9  # of the file
OTHER = 10  # something the other groups do not know, perhaps an error


def _regexes() -> dict[str, str]:
    return {name: terminal.regex for name, terminal in terminals().items()}


@cache
def next_statement() -> "re.Pattern[str]":
    t = {name: f"(?>{regex})" for name, regex in _regexes().items()}
    blank, space = f"(?:{t['SPACING']})?+", t["SPACING"]
    some = r"[^;\"/@:#]{0,2000}+"
    return re.compile(
        rf"{skip()}(?:"
        rf"(@{blank}{t['NOT']}?+{blank}{t['NAME']})?+{blank}"
        rf"({t['OPCODE']}(?:{space}{t['DOTTED']})*+)"
        rf"{blank}({some}(?:/(?![/*]){some}){{0,8}}+);"
        rf"|({t['LABEL']})"
        rf"|({t['LOC']}(?:{space}{t['NUMBER']}){{3}})(?=[ \t\r]*(?:\n|//))(?!{skip()},)"
        r"|(\.)|(\{)|(\})|(\Z)|(.))",
        re.DOTALL,
    )


@cache
def guard_parts() -> "re.Pattern[str]":
    """A guard's text: its negation and its name."""
    t = _regexes()
    blank = f"(?:{t['SPACING']})?"
    return re.compile(rf"@{blank}({t['NOT']})?{blank}({t['NAME']})")


@cache
def end_at(closing: str) -> "re.Pattern[str]":
    """A statement to its semicolon, or a debug section to its brace; neither ends in a string or comment."""
    t = _regexes()
    return re.compile(rf"(?:[^{closing}\"/#]++|{t['STRING']}|{t['COMMENT']}|[\"/#])*+{closing}")


@cache
def head_end() -> "re.Pattern[str]":
    """A function's head to its body or semicolon, without either; a pragma in it ends with a semicolon too."""
    t = _regexes()
    pragma = rf"{t['PRAGMA']}[^;\"]*+(?:{t['STRING']}[^;\"]*+)*+;"
    return re.compile(rf"(?:[^;\"/{{.#]++|{pragma}|{t['STRING']}|{t['COMMENT']}|[\"/.#])*+(?=[;{{])")


@cache
def next_character(choices: str) -> "re.Pattern[str]":
    """One of these characters, after spacing and comments."""
    return re.compile(rf"{skip()}([{choices}])")


@cache
def section() -> "re.Pattern[str]":
    """A whole debug section."""
    return re.compile(text_regex("section"))


@cache
def keywords() -> "re.Pattern[str]":
    """The word that says which rule a statement with a dot follows: a group per rule."""
    t = _regexes()
    linkage = f"(?:{t['LINKAGE']}{skip()})?+"
    rules = {rule: t[rule.upper()] for rule in (*MODULE_RULES, *BODY_RULES) if rule.upper() in t}
    rules |= {
        "declaration": f"{linkage}(?:{t['SPACE']}|{t['ALIGN']}|{t['ATTRIBUTE']})",
        "function_head": f"{linkage}(?:{t['ENTRY']}|{t['FUNC']})",
    }
    return re.compile("|".join(f"(?P<{rule}>{regex})" for rule, regex in rules.items()))


@cache
def linkage() -> "re.Pattern[str]":
    """The word `.visible` and the like, which stands before declarations and functions."""
    return re.compile(_regexes()["LINKAGE"])


@cache
def registers() -> "re.Pattern[str]":
    """A plain declaration of registers, `.reg .b32 %r<5>;`: type, name, count."""
    t = _regexes()
    return re.compile(
        rf"\.reg{t['SPACING']}({t['DOTTED']}){t['SPACING']}([%$][\w$]+)(?:<([1-9][0-9]*)>)?;", re.ASCII
    )


@cache
def flat_rule(rule: str) -> FlatRule:
    """The shape of a rule; a declaration's initializer may be a list of literals."""
    if not rule.endswith("declaration"):
        return FlatRule(rule)
    t, blank = _regexes(), f"(?:{_regexes()['SPACING']})?+"
    literal = rf"{blank}(?:{t['MINUS']}?+{blank}(?:{t['NUMBER']})|{t['FLOAT_BITS']}){blank}"
    return FlatRule(rule, initializer=rf"\{{{literal}(?:,{literal})*+\}}")
