"""Conversions of small floating-point formats: `.tf32`, pairs of halves, 4 to 8-bit types, scale factors.

Everything goes through f64, which holds all of these exactly. The first source becomes the upper element. Stochastic
rounding adds random bits below the last place and drops what is there then: for each element of two 13 (f16) or 16 bits
(bf16) of its half of `rbits`, for each of four a byte of `rbits` (guess: the manual names two for two elements).

Reference: PTX ISA, "cvt"; OCP, "Microscaling Formats (MX) Specification", 2023 (`ue8m0`: powers of two).
"""

from collections.abc import Sequence

from ptxsim.execute.small_floats import FINITE, IEEE, ONE_NAN, STOCHASTIC
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.instructions.floating import MODES, float_source, relu, to_double
from ptxsim.lowering.instructions.packed import split
from ptxsim.lowering.rows import AND_TABLE, WORD, Operation, unsupported
from ptxtool.ir.nodes import Vector
from ptxtool.isa.types import TYPES, Type

# mantissa bits, exponent bits, what the highest codes are, bits of an element
_FORMATS = {
    "f16": (10, 5, IEEE, 16),
    "bf16": (7, 8, IEEE, 16),
    "tf32": (10, 8, IEEE, 32),
    "e5m2": (2, 5, IEEE, 8),
    "e4m3": (3, 4, ONE_NAN, 8),
    "e3m2": (2, 3, FINITE, 8),
    "e2m3": (3, 2, FINITE, 8),
    "e2m1": (1, 2, FINITE, 4),
}
_RANDOM_BITS = {"f16": 13, "bf16": 16}
_F32 = TYPES["f32"]


def _format(name: str) -> int:
    mantissa, exponent, kind, _ = _FORMATS[name]
    return mantissa | exponent << 4 | kind << 11


def to_format(
    b: UopBuilder,
    double: int,
    name: str,
    mode: int,
    satfinite: bool = False,
    noise: tuple[int, int] = (-1, 0),
) -> int:
    """The row of an f64 in a format; `noise` is a row of random bits and their number."""
    row, n = noise
    code = _format(name) | mode << 8 | satfinite << 13 | n << 14
    return b.compute("d2x", double, b.constant(0) if n == 0 else row, e=code)


def _element(name: str) -> str:
    return name[:-2] if name.endswith(("x2", "x4")) else name


def _sources(b: UopBuilder, op: Operation) -> list[int]:
    """The elements as f64, the lowest first."""
    first = op.operands[1]
    if op.stype.name in ("f32",):
        operands = first.items if isinstance(first, Vector) else op.operands[1 : 2 if _is_single(op) else 3]
        return [to_double(b, b.value(o, _F32), _F32) for o in reversed(operands)]
    if op.stype.name in ("f16x2", "bf16x2"):
        half = TYPES[_element(op.stype.name)]
        return [to_double(b, row, half) for row in split(b, float_source(b, op, 1, op.stype), op.stype)]
    name = _element(op.stype.name)
    bits = _FORMATS[name][3]
    word = b.source(op, 1, op.stype)
    parts = [word, b.compute("shr_u32", word, b.constant(bits))]
    return [b.compute("x2d", part, e=_format(name)) for part in parts]


def _is_single(op: Operation) -> bool:
    return op.type.name == _element(op.type.name)


def _noise(b: UopBuilder, op: Operation, k: int, name: str) -> tuple[int, int]:
    """The random bits of element k, and their number."""
    if not op.has("rs"):
        return -1, 0
    rbits = b.source(op, len(op.operands) - 1, WORD)
    n = _RANDOM_BITS.get(name, 8)
    if name in _RANDOM_BITS:
        first = 16 * k
    elif name == "e2m1":  # the upper bytes of the halves are for the first two operands
        first = (0, 16, 8, 24)[k]
    else:
        first = 8 * k
    shifted = b.compute("shr_u32", rbits, b.constant(first))
    return b.compute("and_u32", shifted, b.constant((1 << n) - 1)), n


@rule("cvt_tf32", "cvt_pack", "cvt_small")
def _cvt_small(b: UopBuilder, op: Operation) -> None:
    name = _element(op.type.name)
    mode = STOCHASTIC if op.has("rs") else MODES[op.match.one_of("rn", "rz", "rna")]
    bits = _FORMATS[name][3]
    word = -1
    for k, double in enumerate(_sources(b, op)):
        value = relu(b, double) if op.has("relu") else double
        row = to_format(b, value, name, mode, op.has("satfinite"), _noise(b, op, k, name))
        if name == "tf32":
            row = b.compute("shl_u32", row, b.constant(13))
        elif k:
            row = b.compute("or_u32", word, b.compute("shl_u32", row, b.constant(k * bits)))
        word = row
    _write(b, op, word, TYPES[f"b{max(8, op.type.bits)}"])


def _write(b: UopBuilder, op: Operation, row: int, type_: Type) -> None:
    b.destination(op, 0, type_).write("mov_u32", row)


# ---- ue8m0: a biased exponent, 255 for NaN


@rule("cvt_scale")
def _cvt_scale(b: UopBuilder, op: Operation) -> None:
    if op.stype.name == "ue8m0x2":
        word = b.source(op, 1, op.stype)
        parts = [b.compute("zext8_u32", word), b.compute("shr_u32", word, b.constant(8))]
        low, high = (_power(b, part) for part in parts)
        _write(b, op, b.compute("merge_high_u32", low, high), WORD)
        return
    if op.stype.name == "bf16x2":
        halves: Sequence[int] = split(b, b.source(op, 1, op.stype), op.stype)
        singles = [b.compute("shl_u32", half, b.constant(16)) for half in halves]
    elif op.stype.name == "f32":
        singles = [b.source(op, k, _F32) for k in (2, 1)]
    else:
        unsupported(f"'.ue8m0x2' of '.{op.stype.name}'")
    low, high = (_exponent(b, op, row) for row in singles)
    value = b.compute("or_u32", low, b.compute("shl_u32", high, b.constant(8)))
    _write(b, op, value, TYPES["b16"])


def _exponent(b: UopBuilder, op: Operation, single: int) -> int:
    """The exponent of the power of two below (`.rz`) or above (`.rp`) the size of an f32."""
    size = b.compute("and_u32", single, b.constant(0x7FFFFFFF))
    exponent = b.compute("shr_u32", size, b.constant(23))
    infinity = b.constant(0x7F800000)
    if op.has("rp"):
        rest = b.compute("and_u32", size, b.constant(0x7FFFFF))
        inexact = b.compute("lt_u32", b.constant(0), rest)
        above = b.compute("lt_u32", b.constant(0x00400000), size)  # 2**-127, the smallest power
        finite = b.compute("lt_u32", size, infinity)
        up = b.combine(AND_TABLE, finite, b.combine(AND_TABLE, inexact, above))
        exponent = b.compute("add_u32", exponent, b.compute("sel_u32", b.constant(1), b.constant(0), up))
    if op.has("satfinite"):
        is_number = b.compute("le_u32", size, infinity)
        limited = b.compute("min_u32", exponent, b.constant(0xFE))
        exponent = b.compute("sel_u32", limited, exponent, is_number)
    return exponent


def _power(b: UopBuilder, code: int) -> int:
    """The bf16 of an exponent; that of 0 is subnormal."""
    value = b.compute("shl_u32", code, b.constant(7))
    value = b.compute("sel_u32", b.constant(0x0040), value, b.compute("eq_u32", code, b.constant(0)))
    return b.compute("sel_u32", b.constant(0x7FFF), value, b.compute("eq_u32", code, b.constant(0xFF)))
