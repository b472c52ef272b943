"""A Pygments lexer for PTX and PTXPlus: for `pygmentize`, Sphinx, notebooks, and the terminal output of ptxtool itself.

Opcodes, types and special registers are those of `ptxtool.isa`: there is no second list. One regular expression cuts
the text; what a word is follows from where it stands. Only what begins a statement is read as an opcode: a variable may
be called `min`; an opcode that the table does not know stays a plain name. A dotted word by itself is a type or a
directive. Any text is lexed, and its tokens join to it.

The alias is `ptxplus`. Pygments 2.16 and later have a lexer of their own under `ptx`, which knows neither PTXPlus nor
modifiers; for the file names `*.ptx` and `*.ptxplus`, and in guessing, this one is preferred.

Not recognised: labels as operands of other instructions than branches.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text, Whitespace

from ptxtool.isa.special import special
from ptxtool.isa.table import table
from ptxtool.isa.types import TYPES

TokenKind = Any
"""A kind of token; Pygments has no static types."""
Token = tuple[int, TokenKind, str]

_TOKEN = re.compile(
    r"""(?P<blank>\s+)
      | (?P<line>//[^\n]*)
      | (?P<comment>/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z))
      | (?P<dwarf>@@DWARF[^\n]*)
      | (?P<string>"[^"\n]*"?)
      | (?P<float>0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|[0-9]+(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+))
      | (?P<hex>0[xX][0-9a-fA-F]+U?\b)
      | (?P<bin>0[bB][01]+U?\b)
      | (?P<int>[0-9]+U?\b)
      | (?P<dotted>\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)
      | (?P<word>[A-Za-z_$%][A-Za-z0-9_$]*(?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)
      | (?P<operator>@|\+=|<<|>>|[<>=!]=|&&|\|\||[-+*/%&|^~!<>=])
      | (?P<punctuation>[][(){},:;?])
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_PLAIN = {
    "blank": Whitespace,
    "line": Comment.Single,
    "comment": Comment.Multiline,
    "dwarf": Comment.Preproc,
    "string": String.Double,
    "float": Number.Float,
    "hex": Number.Hex,
    "bin": Number.Bin,
    "int": Number.Integer,
    "operator": Operator,
    "punctuation": Punctuation,
    "other": Text,
}
_UNSEEN = frozenset({"blank", "line", "comment", "dwarf"})
_VECTORS = frozenset({"v2", "v4", "v8"})
_PLUS_REGISTER = re.compile(r"\$[a-z]+[0-9]+")
_COLON = re.compile(r"\s*:(?!:)")
_CALL = re.compile(r"\s*\(")
_GAP = re.compile(r"[\s;]|\Z")
_FIRST_STATEMENT = re.compile(r"\ufeff?(?:\s|//[^\n]*|/\*.*?\*/)*\.version[ \t]+[0-9]+\.[0-9]", re.DOTALL)

_START, _DECLARED, _FUNCTION, _GUARD, _OPERANDS, _TARGETS = range(6)
"""Where a word stands: where a statement may begin, after a dotted word, after `.entry` or `.func`, after `@`, in
the operands of an instruction, in those of a branch."""


class PtxLexer(Lexer):  # type: ignore[misc]
    """GPU assembly: PTX, and PTXPlus of GPGPU-Sim."""

    name = "PTX and PTXPlus"
    aliases: ClassVar[list[str]] = ["ptxplus", "ptx"]
    filenames: ClassVar[list[str]] = ["*.ptx", "*.ptxplus"]
    mimetypes: ClassVar[list[str]] = ["text/x-ptx", "text/x-ptxplus"]
    url = "https://docs.nvidia.com/cuda/parallel-thread-execution/"
    priority = 0.1  # above Pygments' own for *.ptx

    def get_tokens_unprocessed(self, text: str) -> Iterator[Token]:
        """The tokens of a text with their offsets; whatever the text, they join to it."""
        place = _START
        for match in _TOKEN.finditer(text):
            kind, value, start = match.lastgroup or "other", match[0], match.start()
            if kind == "word":
                tokens, place = _word(text, start, value, place)
                yield from tokens
                continue
            if kind == "dotted":
                yield start, _dotted(value, Keyword.Reserved), value
                if place < _OPERANDS:
                    place = _FUNCTION if value in (".entry", ".func") else _DECLARED
                continue
            yield start, _PLAIN[kind], value
            if kind in _UNSEEN:
                continue
            if value == ";":
                place = _START
            elif value == "@" and place < _OPERANDS:
                place = _GUARD
            elif place in (_DECLARED, _GUARD) and value != "!":
                place = _START

    @staticmethod
    def analyse_text(text: str) -> float:
        """1.0 for a module: `.version` is its first statement."""
        return 1.0 if _FIRST_STATEMENT.match(text) else 0.0


def _word(text: str, start: int, value: str, place: int) -> tuple[Iterator[Token], int]:
    """The tokens of a word, perhaps with dotted parts, and the place after it."""
    base = value.partition(".")[0]
    end = start + len(value)
    if place >= _OPERANDS:
        return _operand(start, value, Name.Label if place == _TARGETS else Name), place
    if place in (_START, _GUARD) and base == value and _COLON.match(text, end):
        return iter([(start, Name.Label, value)]), _START
    if place == _GUARD:
        return _operand(start, value, Name), _START
    is_opcode = base in _opcodes() and _GAP.match(text, end) if base == value else base[0] not in "%$"
    if place == _START and is_opcode:
        return _opcode(start, value), _TARGETS if base in _branches() else _OPERANDS
    if base == value and (place == _FUNCTION or _CALL.match(text, end)):
        return iter([(start, Name.Function, value)]), _START
    return _operand(start, value, Name), _START


def _opcode(start: int, value: str) -> Iterator[Token]:
    """An opcode, plain where the table does not know it, and its modifiers."""
    base, *modifiers = re.split(r"(?=\.)", value)
    yield start, Keyword if base in _opcodes() else Name, base
    start += len(base)
    for modifier in modifiers:
        yield start, _dotted(modifier, Keyword.Pseudo), modifier
        start += len(modifier)


def _operand(start: int, value: str, otherwise: TokenKind) -> Iterator[Token]:
    """A name in an operand, perhaps with a part: `%r1`, `%tid.x`, `$r1.lo`, a guard's `$p0.ne`."""
    name, dot, part = value.partition(".")
    if special(name) is not None:
        yield start, Name.Variable.Magic if name[0] == "%" else Name.Constant, value
        return
    is_register = name[0] == "%" or _PLUS_REGISTER.fullmatch(name)
    yield start, Name.Variable if is_register else otherwise, name
    if dot:
        yield start + len(name), Keyword.Pseudo, dot + part


def _dotted(word: str, otherwise: TokenKind) -> TokenKind:
    return Keyword.Type if word[1:] in TYPES or word[1:] in _VECTORS else otherwise


@cache
def _opcodes() -> frozenset[str]:
    """The first words of all opcodes."""
    return frozenset(key.partition(".")[0] for key in table().forms)


@cache
def _branches() -> frozenset[str]:
    """The first words of those that take labels."""
    forms = (form for forms in table().forms.values() for form in forms)
    return frozenset(
        form.base.partition(".")[0] for form in forms if any(o.role == "l" for o in form.operands)
    )
