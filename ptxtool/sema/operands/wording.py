"""What does not fit, in words: problems of operands, each with a code and a next step.

For `fit.py` and its neighbours; a message follows the operand's text: `'%f1'` + "is a '.f32' register, ...".
"""

from collections.abc import Iterable
from typing import NamedTuple

from ptxtool.base.phrases import series
from ptxtool.isa.operands import SLOTS, Fit, OperandSpec
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from ptxtool.sema.operands.shapes import OperandShape, description
from ptxtool.sema.operands.type_fit import FLOATS, INTEGERS

_DOUBLE = {
    "u8": "u16", "s8": "s16", "u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64", "u64": "b128", "s64": "b128",
}  # fmt: skip


class Problem(NamedTuple):
    """Why an operand does not fit: a code, what follows the operand in the message, and a next step.

    Where the message stands for itself, `word` is what it points at. What the next step leaves no choice about:
    `around` are two texts to write around the operand, `opcode` is the opcode to write in place of the whole one.
    """

    code: str
    message: str
    help: str = ""
    word: str = ""
    around: tuple[str, ...] = ()
    opcode: str = ""


class OperandPlace(NamedTuple):
    """Where an operand stands: the opcode as written, the form that was chosen, and the operand's column in it.

    `is_64_bit` if the file says that addresses have 64 bits.
    """

    opcode: str
    match: Match
    spec: OperandSpec
    is_64_bit: bool = False

    @property
    def is_written(self) -> bool:
        return self.spec.role in ("w", "rw", "p")

    def type_of(self, fit: Fit) -> str:
        """The type that a value alternative means here, "" where its slot has none."""
        name = self.match.slot(fit.type) if fit.type in SLOTS else fit.type
        return _DOUBLE.get(name, name) if fit.doubled else name


def wrong_kind(place: OperandPlace, found: OperandShape, wanted: str) -> Problem:
    """Something of another kind stands there."""
    message = f"is {description(found)}, '{place.opcode}' takes {wanted} here"
    help = "name a label of this function" if wanted == "a label" else _kind_help(place, found)
    return Problem("E206", message, help or f"write {wanted}")


def _kind_help(place: OperandPlace, found: OperandShape) -> str:
    space = f".{found.type.partition('::')[0]}" if found.kind == "variable" else ""
    if place.is_written and found.type == "param::in":
        return "parameters cannot be written: copy it into a register"
    if place.is_written and found.kind in ("memory", "variable"):
        return f"write to a register, and 'st{space}' stores that"
    if found.kind == "sink" and not place.is_written:
        return "'_' drops results, it has no value"
    if found.kind == "variable":
        return f"'ld{space}' reads its value into a register first, 'mov' its address"
    return _KIND_HELP.get(found.kind, "")


_KIND_HELP = {
    "special": "copy it into a register with 'mov' first",
    "sink": "only vectors, pairs and some atomic instructions have results that can be dropped",
    "constant": "'mov' puts it into a register first",
    "memory": "'ld' puts it into a register first",
    "minus": "'neg' negates it first",
    "negated": "'not' negates it first",
    "selected": "'mov.b32 {%lo, %hi}, %r' takes a register apart",
    "label": "labels are for branches alone",
    "function": "'mov' puts its address into a register first",
    "sum": "'add' puts it into a register first",
}


def wrong_type(
    place: OperandPlace, found: OperandShape, name: str, trouble: str, *, relaxed: bool, holds: bool = False
) -> Problem:
    """A register of another type or width than `name`; `holds` if it is an element of a vector."""
    have, want = TYPES[found.type], TYPES[name]
    message = f"{'holds' if holds else 'is'} {description(found)}, '{place.opcode}' takes '.{name}' here"
    if "pred" in (found.type, name) and place.is_written:
        example = ": '.reg .pred %p<8>;' declares some" if name == "pred" else ""
        help = f"name a '.{name}' register{example}"
    elif "pred" in (found.type, name):
        help = (
            "'setp' makes a predicate of a value" if name == "pred" else "'selp' makes a value of a predicate"
        )
    elif trouble == "width":
        fits = f"it has {have.bits} bits, {want.bits} {'or more ' if relaxed else ''}fit"
        help = f"{fits}; " + ("name another register" if place.is_written else "'cvt' converts")
    elif want.bits in (16, 32, 64):
        typed = name in INTEGERS or name in FLOATS or name in ("f16", "f16x2")
        fits = f"'.{name}' and '.b{want.bits}'" if typed else f"'.b{want.bits}'"
        help = f"registers of {fits} fit; 'mov.b{want.bits}' copies the bits, 'cvt' converts"
    else:
        help = "'cvt' converts"
    return Problem("E207", message, help)


def wrong_constant(place: OperandPlace, found: OperandShape, name: str) -> Problem:
    """A constant of a kind that the type does not take."""
    if name in FLOATS:
        digits, letter = (8, "f") if name == "f32" else (16, "d")
        help = f"write a fraction ('1.0'), or its bits: '0{letter}' and {digits} hexadecimal digits"
    elif name in INTEGERS or name == "pred":
        help = "write a whole number"
    elif name in ("b8", "b16", "b32", "b64", "b128"):
        help = "write a whole number, or the bits of a value of that width ('0f3f800000')"
    else:
        help = f"there are no constants of '.{name}': 'mov' puts its bits into a register first"
    return Problem("E207", f"is {description(found)}, '{place.opcode}' takes '.{name}' here", help)


def wanted(place: OperandPlace, fit: Fit) -> str:
    """What fits, in words: "a '.u32' register or a constant"."""
    match fit.kind:
        case "value":
            return _value_wanted(place, fit)
        case "imm":
            return f"an integer constant {range_of(fit)}".rstrip()
        case kind:
            return _WANTED.get(kind, kind)


_WANTED = {
    "pack": "a vector that fills it",
    "address": "the address of a variable",
    "texture": "a texture or surface with its coordinates in brackets",
    "tensor": "a tensor map with its coordinates in brackets",
    "bare": "an address",
    "handle": "a texture, sampler or surface in brackets",
    "special": "a special register",
    "_": "'_'",
    **dict.fromkeys(("vsel", "vsel2", "vsel4", "vmask2", "vmask4"), "a 32-bit register"),
}


def _value_wanted(place: OperandPlace, fit: Fit) -> str:
    name = f"'.{place.type_of(fit)}'"
    if fit.length and (fit.length.fixed or place.match.n):
        return f"a vector of {fit.length.of(place.match.n)} {name} registers"
    if fit.paired:
        return f"a pair '%r|%p' of a {name} register and a predicate"
    takes_constant = place.spec.role == "r" and not fit.register_only
    register = "predicate register" if name == "'.pred'" else f"{name} register"
    return f"a {register}" + (" or a constant" if takes_constant else "")


def range_of(fit: Fit) -> str:
    """The bounds of a constant in words, "" if there are none."""
    if fit.choices:
        return f"out of {', '.join(map(str, fit.choices))}"
    if fit.low is not None and fit.high is not None:
        step = f" that {fit.step} divides" if fit.step > 1 else ""
        return f"from {fit.low} to {fit.high}{step}"
    return ""


def either(wanted: Iterable[str]) -> str:
    """Alternatives, some of which may be alternatives themselves, as one list."""
    return series(dict.fromkeys(word for each in wanted for word in each.split(" or ")))


def count(n: int) -> str:
    """How many registers, in words."""
    return "one register" if n == 1 else f"a vector of {n}"
