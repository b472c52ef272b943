"""Whether an operand fits its place, and why not.

For `instructions.py`. A place is an operand column of the table under a match (which gives its types); an operand is an
`OperandShape`. What fits a type is in `type_fit.py`, addresses are in `fit_memory.py`. Where several alternatives fit a
place the message is about the one that is nearest to the operand.

Not checked: limits that come from values at run time, and which modifiers a target has.
"""

import re

from msgspec.structs import replace

from ptxtool.isa.operands import SLOTS, Fit
from ptxtool.isa.types import TYPES
from ptxtool.sema.operands import fit_memory, type_fit, wording
from ptxtool.sema.operands.shapes import UNDECLARED, OperandShape, description
from ptxtool.sema.operands.type_fit import BITS, INTEGERS, constant_fits, joined_type, register_mismatch
from ptxtool.sema.operands.wording import OperandPlace, Problem, wanted, wrong_kind

_SELECTORS = {
    "vsel": (re.compile(r"b[0-3]|h[01]"), "'.b0' to '.b3', '.h0' and '.h1'"),
    "vsel2": (re.compile(r"h[0-3]{2}"), "'.h' and two of the digits 0 to 3"),
    "vsel4": (re.compile(r"b[0-7]{4}"), "'.b' and four of the digits 0 to 7"),
    "vmask2": (re.compile(r"h(?:0|1|10)"), "'.h0', '.h1' and '.h10'"),
    "vmask4": (re.compile(r"b(?=.)3?2?1?0?"), "'.b' and some of the digits 3210 in this order"),
}
"""What may follow the dot of a video operand, by class, and in words."""

_NO_FUNCTION = frozenset({"nop", "redux"})  # `nanosleep` and `redux`

NEARNESS = ("E206", "E207", "E210", "E209", "E208")
"""Codes from the farthest miss to the nearest."""


def problem(place: OperandPlace, found: OperandShape, value: int | float | None) -> Problem | None:
    """Why an operand does not fit its place, None if it does; `value` is that of an integer constant."""
    spec = place.spec
    is_undeclared_base = found.kind == "memory" and found.items[0] is UNDECLARED and not found.type
    if found.kind == "undeclared" or is_undeclared_base:
        return None
    if spec.role == "l":
        return None if found.kind == "label" else wrong_kind(place, found, "a label")
    if spec.role == "m" and all(f.kind not in ("texture", "tensor", "handle", "bare") for f in spec.fits):
        return fit_memory.memory_problem(place, found)
    problems: list[Problem] = []
    for fit in spec.fits:
        trouble = _fit_problem(place, fit, found, value)
        if trouble is None:
            return None
        problems.append(trouble)
    if not problems:
        return None
    best = max(problems, key=lambda p: NEARNESS.index(p.code))
    if len(problems) > 1 and best.code == "E206":
        return wrong_kind(place, found, wording.either(wanted(place, fit) for fit in spec.fits))
    return best


def _fit_problem(
    place: OperandPlace, fit: Fit, found: OperandShape, value: int | float | None
) -> Problem | None:
    if fit.minus and found.kind == "minus":
        found = found.items[0]
    match fit.kind:
        case "value":
            return _value_problem(place, fit, found) or _fraction_problem(place, fit, value)
        case "imm":
            return _immediate_problem(place, fit, found, value)
        case "pack":
            return _pack_problem(place, fit, found)
        case "address":
            return fit_memory.address_problem(place, fit, found)
        case "special":
            return _special_problem(place, fit, found)
        case "texture" | "tensor" | "handle":
            return fit_memory.coordinates_problem(place, fit, found)
        case "bare":
            return fit_memory.bare_address_problem(place, found)
        case "vsel" | "vsel2" | "vsel4" | "vmask2" | "vmask4":
            return _video_problem(place, fit, found)
        case "_":
            return None if found.kind == "sink" else wrong_kind(place, found, "'_'")
        case _:
            return None


def _value_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    """A register, constant or vector of a type."""
    match found.kind:
        case "pair":
            return _pair_problem(place, fit, found)
        case "negated" if fit.negatable:
            return _value_problem(place, fit, found.items[0])
        case "negated":
            message = f"is negated, '{place.opcode}' takes no '!' here"
            return Problem("E206", message, "'not' negates it first")
        case "vector":
            return _vector_problem(place, fit, found)
    if fit.paired:
        return wrong_kind(place, found, wanted(place, fit))
    if found.length > 1:
        if fit.length is not None and found.length == fit.length.of(place.match.n):
            return _element_problem(place, fit, found)
        n = fit.length.of(place.match.n) if fit.length else 1
        message = f"is a vector of {found.length}, '{place.opcode}' takes {wording.count(n)} here"
        return Problem("E210", message, "name one of its elements: '.x', '.y', '.z' or '.w'")
    if fit.length is not None and (fit.length.fixed or place.match.n):
        return wrong_kind(place, found, wanted(place, fit))
    return _element_problem(place, fit, found)


def _pair_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    first, second = found.items
    if place.spec.role != "p":
        return wrong_kind(place, found, wanted(place, fit))
    if second.kind not in ("sink", "undeclared") and (second.kind, second.type) != ("register", "pred"):
        return Problem("E207", f"has {description(second)} after the bar", "the second result is a predicate")
    if first.kind == "sink" and (place.type_of(fit) == "pred" or fit.paired):
        return None
    return _value_problem(place, replace(fit, paired=False), first)


def _element_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    """A register, or a constant, against a type."""
    name = place.type_of(fit)
    if found.kind == "undeclared" or not name:
        return None
    if found.kind == "register":
        trouble = register_mismatch(found.type, name, fit.relaxed)
        if found.type == "f16x2" and name in INTEGERS and fit.type not in SLOTS:
            trouble = "type"  # as an integer it passes for the instruction's own type alone
        if fit.exact and found.type != name:
            trouble = trouble or "type"
        return wording.wrong_type(place, found, name, trouble, relaxed=fit.relaxed) if trouble else None
    if place.is_written:
        if found.kind == "constant":
            message = f"is a constant, '{place.opcode}' cannot write to it"
            return Problem("E206", message, "the first operand is the destination")
        if found.kind == "special":
            return Problem("E206", "cannot be written", "special registers are read only")
        return wrong_kind(place, found, wanted(place, fit))
    if found.kind == "sum" and fit_memory.is_displaced(found) and _takes_sum(fit, name):
        base = found.items[
            0
        ]  # of a register of another width ptxas takes a sum too, but which one is not said
        trouble = register_mismatch(base.type, name, relaxed=True) if base.kind == "register" else ""
        return wording.wrong_type(place, base, name, trouble, relaxed=True) if trouble else None
    if found.kind == "function" and _takes_function(place, fit, name):
        return None
    if found.kind == "constant" and not fit.register_only:
        return None if constant_fits(found.type, name) else wording.wrong_constant(place, found, name)
    return wrong_kind(place, found, wanted(place, fit))


def _takes_sum(fit: Fit, name: str) -> bool:
    """Whether ptxas computes the sum of an address and a constant in such a place."""
    is_integer = name in INTEGERS or name in BITS
    return is_integer and (fit.type in SLOTS or TYPES[name].bits == 32)


def _takes_function(place: OperandPlace, fit: Fit, name: str) -> bool:
    """Whether ptxas takes a function's name, for its address, in such a place: for the instruction's own type."""
    return fit.type in SLOTS and name not in ("bf16", "bf16x2") and place.match.form.sem not in _NO_FUNCTION


def _vector_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    if fit.length is None:
        return wrong_kind(place, found, wanted(place, fit))
    n = fit.length.of(place.match.n)
    if len(found.items) != n:
        elements = "1 element" if len(found.items) == 1 else f"{len(found.items)} elements"
        help = f"name {wording.count(n)}"
        if place.opcode.startswith(("ld.", "st.")) and len(found.items) in (2, 4):
            help += f", or write '.v{len(found.items)}'"
        return Problem("E210", f"has {elements}, '{place.opcode}' takes {wording.count(n)} here", help)
    if fit.register_only and any(item.kind == "constant" for item in found.items):
        return Problem("E206", "holds a constant", "'mov' puts it into a register first")
    return _elements_problem(place, found, place.type_of(fit), relaxed=fit.relaxed)


def _elements_problem(
    place: OperandPlace, found: OperandShape, name: str, *, relaxed: bool
) -> Problem | None:
    """The elements of a vector, all against one type ("" for any)."""
    if any(item.kind == "undeclared" for item in found.items):
        return None
    if all(item.kind == "sink" for item in found.items):
        return Problem("E206", "holds nothing but '_'", "name a register for one of its elements")
    for item in found.items:
        if item.kind == "sink" and not place.is_written:
            return Problem("E206", "reads '_'", "'_' drops results, it has no value")
        if item.kind == "constant" and place.is_written:
            return Problem("E206", "holds a constant, which cannot be written", "name a register")
        if item.kind not in ("register", "constant", "special", "sink", "function"):
            help = "elements of vectors are registers or constants"
            return Problem("E206", f"holds {description(item)}", help)
    joined = joined_type(found)
    if joined in (type_fit.CLASH_OF_WIDTHS, type_fit.CLASH_OF_TYPES):
        what = "widths" if joined == type_fit.CLASH_OF_WIDTHS else "types"
        help = f"make all of them '.{name}'" if name else "name registers of one width and type"
        return Problem("E207", f"has elements of different {what}", help)
    if not joined or not name:
        return None
    if joined.startswith("constant"):
        fits = constant_fits(joined.split()[1], name)
        return None if fits else wording.wrong_constant(place, found.items[0], name)
    trouble = register_mismatch(joined, name, relaxed)
    if joined in INTEGERS and name in ("f16", "f32", "f64") and TYPES[joined].bits == TYPES[name].bits:
        trouble = ""  # in vectors ptxas takes integers for bits
    if not trouble:
        return None
    culprit = next(i for i in found.items if i.type == joined)
    return wording.wrong_type(place, culprit, name, trouble, relaxed=relaxed, holds=True)


def _fraction_problem(place: OperandPlace, fit: Fit, value: int | float | None) -> Problem | None:
    """A fraction of a whole: above 0 and at most 1."""
    if not fit.is_fraction or value is None or 0 < value <= 1:
        return None
    return Problem(
        "E209", "is out of range", f"'{place.opcode}' takes a constant above 0.0 and at most 1.0 here"
    )


def _immediate_problem(
    place: OperandPlace, fit: Fit, found: OperandShape, value: int | float | None
) -> Problem | None:
    if (found.kind, found.type) != ("constant", "int"):
        return wrong_kind(place, found, wanted(place, fit))
    if value is None:
        return None
    too_low = fit.low is not None and value < fit.low
    too_high = fit.high is not None and value > fit.high
    if too_low or too_high or (fit.choices and value not in fit.choices) or value % fit.step:
        if fit.choices:
            choices = wording.either(map(str, fit.choices))
            return Problem("E209", f"is not {choices}", f"'{place.opcode}' takes {choices} here")
        help = f"'{place.opcode}' takes a constant {wording.range_of(fit)} here"
        return Problem("E209", "is out of range", help)
    return None


def _pack_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    """`mov.b64 %rd, {%r1, %r2}`: elements that fill the type."""
    bits = TYPES[place.match.type].bits
    if found.kind == "register" and found.length > 1:
        have = TYPES[found.type].bits * found.length
    elif found.kind == "vector":
        if trouble := _elements_problem(place, found, "", relaxed=False):
            return trouble
        joined = joined_type(found)
        if joined == "pred":
            return Problem("E207", "holds predicates", "'selp' makes a value of a predicate")
        if joined not in TYPES:
            return None
        have = TYPES[joined].bits * len(found.items)
    else:
        return wrong_kind(place, found, wanted(place, fit))
    if have == bits:
        return None
    message = f"has {have} bits together, '{place.opcode}' takes {bits}"
    return Problem("E207", message, "name elements that fill it")


def _special_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    """A special register in `mov` (of its own type; some also as `.u16`), and in `cvt`, whose operand is relaxed."""
    if found.kind != "special":
        return wrong_kind(place, found, wanted(place, fit))
    if found.length > 1 and place.match.n != found.length:
        message = f"is a vector of {found.length}, '{place.opcode}' takes {wording.count(max(1, place.match.n))} here"
        return Problem("E210", message, "name one of its elements: '.x', '.y' or '.z'")
    name = place.match.stype or place.match.type
    trouble = register_mismatch(found.type, name, bool(place.match.stype))
    if not trouble or (found.items and name in ("u16", "s16", "b16")):
        return None
    help = f"write '.{found.type}' in its place" + ("" if trouble == "type" else ", and convert with 'cvt'")
    message = f"is a special register of '.{found.type}', '{place.opcode}' takes '.{name}' here"
    return Problem("E207", message, help)


def _video_problem(place: OperandPlace, fit: Fit, found: OperandShape) -> Problem | None:
    if found.kind == "selected":
        if not _SELECTORS[fit.kind][0].fullmatch(found.type):
            message = f"has the selector '.{found.type}', which '{place.opcode}' does not have here"
            return Problem("E206", message, f"{_SELECTORS[fit.kind][1]} are selectors here")
        found = found.items[0]
    if (found.kind, found.type) == ("constant", "int") and fit.kind == "vsel" and not place.is_written:
        return None
    if found.kind == "register" and found.length == 1:
        trouble = register_mismatch(found.type, "u32", relaxed=False)
        return wording.wrong_type(place, found, "u32", trouble, relaxed=False) if trouble else None
    return wrong_kind(place, found, wanted(place, fit))
