"""Which registers and constants fit a type, and what a vector's elements have in common.

For `fit.py` and its neighbours. The rules, as ptxas has them:

* a register fits a type of its own width if either is untyped bits (`.b32`), or both are integers, or they are equal;
  `.f16x2` registers also pass as 32-bit integers; packed and alternative floating-point types live in `.bN` registers;
* where a place is relaxed (`~T`: loads, stores, conversions), wider registers fit too;
* integer constants of any size fit integers, bits and predicates, floating-point ones fit floating point, and
  untyped bits of their own width; packed types take no constants;
* the elements of a vector agree in width, and in type where none of them is untyped.

Reference: PTX ISA, sections 9.2 (type information), 9.4 (type conversion, operand size exceeding instruction-type
size), 4.5 (constants), 6.4 (vectors as operands); the rest was asked of ptxas 13.0.
"""

from functools import cache

from ptxtool.isa.types import TYPES
from ptxtool.sema.operands.shapes import OperandShape

BITS = frozenset({"b1", "b8", "b16", "b32", "b64", "b128"})
INTEGERS = frozenset({"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"})
FLOATS = frozenset({"f32", "f64"})
CLASH_OF_WIDTHS, CLASH_OF_TYPES = "?width", "?type"


@cache
def register_mismatch(declared: str, wanted: str, relaxed: bool) -> str:
    """Why a register does not fit a type: "type", "width", or "" if it does."""
    have, want = TYPES.get(declared), TYPES.get(wanted)
    if have is None or want is None:
        return ""
    if "pred" in (declared, wanted):
        return "" if declared == wanted else "type"
    if have.bits != want.bits and not (relaxed and have.bits > want.bits):
        similar = declared in BITS or wanted in BITS or (declared in INTEGERS and wanted in INTEGERS)
        return "width" if similar or have.kind == want.kind else "type"
    if declared in BITS or wanted in BITS:
        return ""
    if wanted in INTEGERS:
        return "" if declared in INTEGERS or declared == "f16x2" else "type"
    if wanted in ("u16x2", "s16x2", "u8x4", "s8x4", "f16x2"):
        return "" if declared == "f16x2" else "type"
    return "" if declared == wanted and (wanted == "f16" or wanted in FLOATS) else "type"


@cache
def constant_fits(kind: str, wanted: str) -> bool:
    """Whether a constant ("int", "f32" or "f64") fits a type."""
    if wanted in FLOATS:
        return kind != "int"
    if kind == "int":
        return wanted == "pred" or wanted in BITS or wanted in INTEGERS
    return wanted == {"f32": "b32", "f64": "b64"}[kind]


def joined_type(vector: OperandShape) -> str:
    """What the elements of a vector have in common: a type, or "constant int", "constant f32", "constant f64".

    "" if there are no elements but sinks; `CLASH_OF_WIDTHS` or `CLASH_OF_TYPES` if they have nothing in common.
    """
    joined = ""
    for item in vector.items:
        if item.kind in ("register", "special"):
            other = item.type
        elif item.kind == "constant":
            other = f"constant {item.type}"
        else:
            continue
        joined = _join(joined, other) if joined else other
    return joined


@cache
def _join(a: str, b: str) -> str:
    if a == b or a.startswith("?"):
        return a
    if b.startswith("constant"):
        a, b = b, a
    if a.startswith("constant"):
        if b.startswith("constant"):
            return "constant f64" if "constant int" not in (a, b) else CLASH_OF_TYPES
        fits = b in BITS or b in (INTEGERS if a == "constant int" else FLOATS)
        return b if fits else CLASH_OF_TYPES
    if "pred" in (a, b):  # ptxas lets it pass
        return b if a == "pred" else a
    if TYPES[a].bits != TYPES[b].bits:
        return CLASH_OF_WIDTHS
    if a in BITS or b in BITS:
        return a if a in BITS else b
    return a if a in INTEGERS and b in INTEGERS else CLASH_OF_TYPES
