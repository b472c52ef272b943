"""The words before a declared name and after a function's parameters: which exist, and their order.

The grammar takes them in any order, because what is wrong with `.reg .b3 %r` or `.maxntid 1,2,3,4` is better said by
name than by what a parser expected. `check_declared` and `check_tuning` raise E101; the builders call them for every
declaration, parameter and head directive, whichever lexer made the tokens.

Not checked here: what needs more than the declaration (which space a variable may live in, which values of
directives make sense).

Reference: PTX ISA, sections 5.4 (variables), 7.1 (function declarations), 11.4 (performance-tuning directives).
"""

from collections.abc import Sequence
from typing import NamedTuple

from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.isa.foreign import DIRECTIVES_ELSEWHERE, TYPES_ELSEWHERE
from ptxtool.isa.literals import literal
from ptxtool.isa.targets import is_newer_text
from ptxtool.isa.types import TYPES
from ptxtool.parse.tokens import Token

_SCALARS = (
    *("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "b8", "b16", "b32", "b64", "b128"),
    *("f16", "f16x2", "f32", "f64", "pred", "texref", "samplerref", "surfref"),
)
_PTXPLUS = ("bb64", "ff64", "bb128")
DECLARABLE = frozenset(f".{name}" for name in (*_SCALARS, *_PTXPLUS))
"""The types a variable or register can have; the others are instruction types."""
_VECTORS = frozenset({".v2", ".v4"})


class Tuning(NamedTuple):
    """How many numbers a directive of a function's head takes, and which heads take it."""

    least: int
    most: int
    heads: tuple[str, ...]


_ENTRY, _FUNCTION = ("entry",), ("func", "callprototype")
TUNING: dict[str, Tuning] = {
    ".maxnreg": Tuning(1, 1, _ENTRY),
    ".maxntid": Tuning(1, 3, _ENTRY),
    ".reqntid": Tuning(1, 3, _ENTRY),
    ".minnctapersm": Tuning(1, 1, _ENTRY),
    ".maxnctapersm": Tuning(1, 1, _ENTRY),
    ".explicitcluster": Tuning(0, 0, _ENTRY),
    ".reqnctapercluster": Tuning(1, 3, _ENTRY),
    ".maxclusterrank": Tuning(1, 1, _ENTRY),
    ".blocksareclusters": Tuning(0, 0, _ENTRY),
    ".noreturn": Tuning(0, 0, _FUNCTION),
    ".abi_preserve": Tuning(1, 1, _FUNCTION),
    ".abi_preserve_control": Tuning(1, 1, _FUNCTION),
}
"""The directives between a function's parameters and its body."""

_ORDER = "the order is: state space, '.align', '.v2' or '.v4', type, name"
_PARAMETER_ORDER = "the order is: '.param', '.align', type, '.ptr' with its space and alignment, name"
# how far a declaration has come
_BEFORE, _VECTOR, _TYPE, _POINTER, _POINTED = range(5)


def is_type(word: str) -> bool:
    """Whether a dotted word is a type of registers and variables."""
    return word in DECLARABLE and word not in _VECTORS


def check_declared(
    tokens: Sequence[Token], source: Source, following: Token | None, *, parameter: bool
) -> None:
    """Check the words of one declaration. Raises `PtxError`; `following` is the token after them."""
    done, space, type_word = _BEFORE, "", ""
    for token in tokens:
        text = token.text
        match token.kind:
            case "SPACE" if done == _BEFORE:
                if space:
                    help = f"remove '{space}' or '{text}'"
                    raise syntax_error(f"'{text}' is a second state space", token, source, help)
                space = text
            case "SPACE" if done == _POINTER:
                done = _POINTED
            case "ALIGN" if done == _BEFORE or (parameter and done >= _TYPE):
                done = max(done, _POINTED) if done >= _TYPE else done
            case "ATTRIBUTE" if done == _BEFORE:
                pass
            case "POINTER" if parameter and done == _TYPE:
                done = _POINTER
            case "DOTTED" if text in _VECTORS and done == _BEFORE:
                done = _VECTOR
            case "DOTTED" if text not in _VECTORS and done <= _VECTOR:
                if text not in DECLARABLE and not is_newer_text(source.text):
                    raise _no_type(token, source)
                done, type_word = _TYPE, text
            case _:
                after = f" after the type '{type_word}'" if type_word else " here"
                order = _PARAMETER_ORDER if parameter else _ORDER
                raise syntax_error(f"unexpected '{text}'{after}", token, source, order)
    at = following or tokens[-1]
    if done < _TYPE:
        word = at.text if f".{at.text}" in DECLARABLE else ""
        help = f"did you mean '.{word}'?" if word else "write the type before the name, such as '.u32'"
        raise syntax_error(f"'{space or tokens[0].text}' declaration without a type", at, source, help)
    if not space:
        help = "write '.param' before the type" if parameter else "write one, such as '.reg' or '.global'"
        raise syntax_error("declaration without a state space", tokens[0], source, help)


def check_tuning(token: Token, numbers: Sequence[Token], head: str, source: Source) -> None:
    """Check a directive of a head by its name and its numbers. Raises `PtxError`."""
    known = TUNING.get(token.text)
    if known is None and is_newer_text(source.text):
        return
    if known is None:
        common = "'.maxntid', '.reqntid', '.minnctapersm', '.maxnreg' and their like"
        meant = DIRECTIVES_ELSEWHERE.get(token.text, "")
        help = did_you_mean(token.text, TUNING, f"a head takes {common}", meant=meant)
        raise syntax_error(f"unknown directive '{token.text}'", token, source, help)
    if head not in known.heads:
        help = f"it belongs to a '.{known.heads[0]}'; remove it here"
        raise syntax_error(f"'{token.text}' at a '.{head}'", token, source, help)
    if not known.least <= len(numbers) <= known.most:
        wanted = (
            "no number" if known.most == 0 else "one number" if known.most == 1 else "one to three numbers"
        )
        raise syntax_error(
            f"'{token.text}' takes {wanted}, not {len(numbers)}", token, source, "add or remove numbers"
        )
    for number in numbers:
        if literal(number.text).kind != "int":
            help = "write a whole number from 1 on"
            raise syntax_error(f"'{token.text}' takes whole numbers", number, source, help)


def _no_type(token: Token, source: Source) -> PtxError:
    known = TYPES.get(token.text[1:])
    if known is not None and known.bits and known.bits % 8 == 0:
        help = f"instructions keep such values in '.b{known.bits}'"
    elif token.text[1:] in TYPES_ELSEWHERE:
        help = f"did you mean '.{TYPES_ELSEWHERE[token.text[1:]]}'?"
    elif token.text[1:2] == "v" and token.text[2:].isdecimal():
        help = "vectors are '.v2' and '.v4'"
    else:
        help = did_you_mean(token.text, DECLARABLE, "variables have types such as '.u32', '.f64', '.b8'")
    return syntax_error(f"'{token.text}' is no type of a variable", token, source, help)


def syntax_error(message: str, token: Token, source: Source, help: str) -> PtxError:
    """E101 at a token."""
    return error("E101", message, source, token.start, token.end, help)
