"""What was probably meant where the grammar refuses a token: the usual slips, each with its message and next step.

For `diagnose`, which knows the place and the tokens that would have been right there. The order matters: a bracket that
is not closed explains a missing comma, a word without its dot explains the name after it.
"""

import re
from functools import cache
from typing import NamedTuple

from ptxtool.isa.foreign import TYPES_ELSEWHERE
from ptxtool.isa.types import TYPES
from ptxtool.parse.grammar import terminals

_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_TERMINAL = {")": "RPAR", "]": "RSQB", "}": "RBRACE", ">": "MORETHAN"}
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"?|[\w$%.]+|[()\[\]{}]|(?<=\w)<(?=\d)|>|[^\w\s]", re.DOTALL
)
_LAST_WORD = re.compile(r"(?<![\w$%.])[\w$%.]++\Z")
_OPERAND = re.compile(r"[\w$%\[({\"-]")
_INSTRUCTION = re.compile(r"[a-z]\w*\.[a-z]|(?:ret|exit|bra)\b")


_TYPESET = {
    **dict.fromkeys("“”„«»", '"'),
    **dict.fromkeys("‘’", "'"),
    **dict.fromkeys("–—−", "-"),
    **dict.fromkeys("\u00a0\u2009\u3000\u200b", " "),
    **dict(zip("，；：（）［］", ",;:()[]", strict=True)),
    "×": "*",
}
"""Characters of word processors and web pages, and what they stand for."""


class Hint(NamedTuple):
    """A message ("" to say what was expected), a next step, where, and the bracket that is to blame (-1 for none).

    `insert` is what is missing after the token before, where nothing else can be meant.
    """

    message: str
    help: str
    start: int
    end: int
    opened: int = -1
    insert: str = ""


class Slip(NamedTuple):
    """A refused token: its statement's start, the end of the token before it, its own place and text."""

    text: str
    start: int
    previous: int
    place: int
    word: str
    expected: frozenset[str]

    def hint(self, help: str, message: str = "", opened: int = -1, insert: str = "") -> Hint:
        return Hint(message, help, self.place, self.place + len(self.word), opened, insert)

    @property
    def is_call(self) -> bool:
        return re.compile(r"call\b").match(self.text, self.start) is not None

    @property
    def before(self) -> str:
        """The character before the token, blanks and comments left out."""
        return self.text[self.previous - 1 : self.previous] if self.previous > self.start else ""


def hint(slip: Slip) -> Hint:
    """The likeliest explanation."""
    for kind in (_bracket, _without_dot, _foreign, _number, _operand, _separator):
        if (found := kind(slip)) is not None:
            return found
    if slip.word == ";":
        return slip.hint("the statement ends too early: write what is expected before the ';'")
    return slip.hint(f"remove '{slip.word}', or write what is expected before it")


def _bracket(slip: Slip) -> Hint | None:
    """Brackets that are not closed, or close nothing."""
    opened: list[int] = []
    for token in _TOKEN.finditer(slip.text, slip.start, slip.place):
        if token[0] in _CLOSING:
            opened.append(token.start())
        elif opened and token[0] == _CLOSING[slip.text[opened[-1]]]:
            opened.pop()
    closing = _CLOSING[slip.text[opened[-1]]] if opened else ""
    word = slip.word
    is_expected = bool(closing) and _TERMINAL[closing] in slip.expected
    if is_expected and (word == ";" or word in _TERMINAL or closing == ">"):
        help = f"close the '{slip.text[opened[-1]]}'"
        return slip.hint(help, f"missing '{closing}' before '{word}'", opened[-1])
    if closing == "]" and slip.expected.isdisjoint({"RSQB", "SEMICOLON"}) and slip.before == "+":
        return slip.hint("an offset is a constant: 'add' puts the sum of two registers into one")
    if closing == "}" and word in ("[", ";", "]") and slip.before == ",":
        help = "write '}' in place of the ',' before it"
        return slip.hint(help, f"missing '}}' before '{word}'", opened[-1])
    if closing == "]" and slip.text[slip.start] != "." and (word in "*/" or slip.before == ","):
        return slip.hint("an address is a register or variable and a constant offset: '[%rd1+4]'")
    if word == "," and closing == "]" and slip.text[slip.start] == ".":
        return slip.hint("write every dimension in brackets of its own: '[16][16]'")
    if word in _TERMINAL and word != closing:
        opening = next(o for o, c in _CLOSING.items() if c == word)
        help = f"remove it, or add the '{opening}' it should close"
        return slip.hint(help, f"this '{word}' closes nothing")
    return None


def _without_dot(slip: Slip) -> Hint | None:
    """`ld.global u32`, `.reg u32 a`, `reg .u32 a`."""
    last = _LAST_WORD.search(slip.text, slip.start, slip.previous)
    first = re.compile(r"\w+").match(slip.text, slip.start)
    for found in (last, first):
        if found is not None and found[0] in plain_words():
            message = f"'{found[0]}' without its dot"
            return Hint(message, f"did you mean '.{found[0]}'?", *found.span())
    if last is not None and last[0] in TYPES_ELSEWHERE and slip.text[slip.start] == ".":
        return Hint(f"'{last[0]}' is no type", f"did you mean '.{TYPES_ELSEWHERE[last[0]]}'?", *last.span())
    if slip.word in plain_words() and slip.expected & {"DOTTED", "SPACE", "IDENTIFIER"}:
        return slip.hint(f"did you mean '.{slip.word}'?", f"'{slip.word}' without its dot")
    return None


def _number(slip: Slip) -> Hint | None:
    """Digits that are no number."""
    word = slip.word
    if not word[0].isdigit() or re.fullmatch(terminals()["NUMBER"].regex, word):
        return None
    lower = word.lower()
    digits = word[2:]
    if re.fullmatch(r"0[fd]\w*", lower) and not re.search(r"[^0-9a-f]", lower[2:]):
        n = 8 if lower[1] == "f" else 16
        help = f"'{word[:2]}' takes {n} hexadecimal digits, here are {len(digits)}"
    elif re.fullmatch(r"0[xb]u?", lower):
        help = f"write digits after '{word[:2]}'"
    elif lower.startswith("0b"):
        help = "binary digits are 0 and 1"
    elif re.fullmatch(r"[0-9]*+\.?+[0-9]*+(?:e[0-9]++)?+[fl]+", lower):
        help = f"constants have no such suffix: write '{lower.rstrip('fl')}'"
    elif re.fullmatch(r"0[0-9]+", word):
        help = f"a whole number that begins with 0 is octal: write '{word.lstrip('0')}'"
    elif re.fullmatch(r"[0-9a-f]+", lower):
        help = f"write '0x{word}' for a hexadecimal number"
    else:
        help = "write 0x1f, 0b101, 1.5, 0f and 8 hexadecimal digits, or 0d and 16"
    return slip.hint(help, f"'{word}' is no number")


def _foreign(slip: Slip) -> Hint | None:
    """What belongs to other languages, or to another place."""
    text, place, word = slip.text, slip.place, slip.word
    if not word.isascii():
        meant = _TYPESET.get(word)
        otherwise = "only comments and strings may hold letters outside ASCII"
        help = f"did you mean '{meant}'?" if meant else otherwise
        return slip.hint(help, f"'{word}' is no ASCII character")
    if word == "/" and re.compile(r"[$%]\w").match(text, place + 1):
        return slip.hint("two destinations with '/' are PTXPlus ('.version 1.4+'); PTX writes 'p|q'")
    if word.isidentifier() and re.search(r"\.entry\s+\w+\s*\Z", text[slip.start : place][-200:]):
        return slip.hint("a kernel has a name and nothing else before its parameters: '.entry name(...)'")
    if word.isidentifier() and "TUNING" in slip.expected:
        return slip.hint("write '{' before the body", f"missing '{{' before '{word}'")
    if word == '"':
        return slip.hint("strings belong to directives such as '.file' and '.pragma'; remove the '\"'")
    if word == "(" and text[: slip.previous].endswith(".entry"):
        return slip.hint("the kernel's name comes first; a kernel returns nothing, a '.func' may")
    if text.startswith("+=", place):
        return slip.hint("this belongs to PTXPlus, whose files begin with '.version 1.4+'")
    if word == ";" and place == slip.start:
        return slip.hint("remove it: there is no statement before it")
    if word == "." and re.compile(r"\.[%$]").match(text, place):
        return slip.hint("a guard stands before its instruction: '@%p1 bra DONE;'")
    is_head = re.compile(r"[^;{]*\.(?:entry|func)\b").match(text, slip.start) is not None
    if word == "(" and text[slip.start] == "." and not is_head:
        return slip.hint("a function begins with '.entry' or '.func'")
    if word == "=" and "RPAR" in slip.expected:
        return slip.hint("a parameter has no initial value: the launch or the call gives it one")
    if word == "[" and ("RPAR" in slip.expected or slip.is_call):
        return slip.hint("a call takes registers, constants and '.param' variables: 'ld' reads memory first")
    if slip.before == "~":
        return slip.hint("'~' is for constants; 'not.b32' inverts a register")
    if word in "/#":
        return slip.hint("comments are '// to the end of the line' or '/* ... */'")
    if word == "&":
        return slip.hint("the name of a variable is its address: remove the '&'")
    if word == "'":
        return slip.hint("there are no character constants: write the number")
    if text[place - 1 : place] == "@":
        return slip.hint("a guard is '@' and a predicate register, such as '@%p1'")
    if place == slip.start and word[0] in "%$" and re.compile(r"[%$]\w+\s+[a-z]").match(text, place):
        return slip.hint(f"a guard begins with '@': '@{word} ...'")
    if place == slip.start and word[0] in "%$":
        return slip.hint("a statement begins with an instruction; '%r1 = %r2' is 'mov.u32 %r1, %r2'")
    if word == "@":
        return slip.hint("a guard stands before its instruction: '@%p1 bra DONE;'")
    return None


def _operand(slip: Slip) -> Hint | None:
    """An operand, a modifier or an instruction is missing."""
    word, before, head = slip.word, slip.before, slip.text[slip.start : slip.previous].strip()
    if word == ".":
        return slip.hint("write a type or modifier after the '.', or remove it")
    if word.startswith(".."):
        return slip.hint("one dot is enough, or a modifier is missing between the two")
    if before == "<" and "NUMBER" in slip.expected:
        return slip.hint("write how many registers there are: '%r<8>' is %r0 to %r7")
    if "IDENTIFIER" in slip.expected and word in "[<=,":
        return slip.hint("write '.b32 name' or the like", f"missing name before '{word}'")
    if word == "]" and before == "[":
        return slip.hint("write the number of elements: only the first dimension can do without")
    if "NUMBER" in slip.expected and not slip.expected & {"NAME", "DOTTED", "PLUS"}:
        return slip.hint("write a whole number here")
    if "OPCODE" in slip.expected and word == ";":
        return slip.hint("write the instruction that the guard is for: '@%p1 bra DONE;'")
    if word in (")", "]", "}") and before == ",":
        return slip.hint("write another one, or remove the ',' before it")
    if word[0] == "." and {"COMMA", "RPAR"} <= slip.expected:
        return slip.hint("separate parameters by ','", f"missing ',' before '{word}'")
    if word == "," and before == ",":
        return slip.hint("write an operand between the two ',', or remove one of them")
    if word == ";" and before == ",":
        return slip.hint("write another operand, or remove the ',' before it")
    if word == "," and "OPCODE" not in slip.expected and re.fullmatch(r"[a-z][\w.:]*", head):
        return slip.hint("no ',' stands between an instruction and its first operand: remove it")
    return None


def _separator(slip: Slip) -> Hint | None:
    """A comma or semicolon is missing on the same line."""
    if "SEMICOLON" not in slip.expected:
        if "COMMA" in slip.expected and _OPERAND.match(slip.word):
            return slip.hint("separate them by ','", f"missing ',' before '{slip.word}'", insert=",")
        return None
    if slip.word == "=":
        return slip.hint("there are no assignments: separate operands by ','")
    word = slip.word
    if "COMMA" not in slip.expected or not _OPERAND.match(word):
        return slip.hint("is a ';' missing before it?")
    if _INSTRUCTION.match(word):
        return slip.hint("end the statement before it", f"missing ';' before '{word}'", insert=";")
    message = f"missing ',' before '{word}'"
    if word == "(" and slip.is_call:
        return slip.hint("write 'call f, (arguments);'", message)
    return slip.hint("separate operands by ','; a statement ends with ';'", message, insert=",")


@cache
def plain_words() -> frozenset[str]:
    """Words that want a dot: types and state spaces."""
    return frozenset(TYPES) | {d[1:] for d in directives()}


@cache
def directives() -> tuple[str, ...]:
    """Every directive the grammar has a keyword for."""
    found: list[str] = []
    for name, terminal in terminals().items():
        match = re.match(r"\\\.(?:\(\?:)?([a-z_|]+)", terminal.regex)
        if match and name != "SECTION_DATA":
            found += [f".{word}" for word in match[1].split("|") if word]
    return tuple(found)
