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
from ptxsim.lowering.rows import WORD, Operation, unsupported
from ptxtool.ir.nodes import Vector
from ptxtool.isa.types import TYPES, Type

FORMATS = {
    # mantissa bits, exponent bits, what the highest codes are
    "f16": (10, 5, IEEE),
    "bf16": (7, 8, IEEE),
    "tf32": (10, 8, IEEE),
    "e5m2": (2, 5, IEEE),
    "e4m3": (3, 4, ONE_NAN),
    "e3m2": (2, 3, FINITE),
    "e2m3": (3, 2, FINITE),
    "e2m1": (1, 2, FINITE),
}
_RANDOM_BITS = {"f16": 13, "bf16": 16}
_F32 = TYPES["f32"]


def _format(name: str) -> int:
    mantissa, exponent, kind = FORMATS[name]
    return mantissa | exponent << 4 | kind << 11


def to_format(
    builder: UopBuilder,
    double: int,
    name: str,
    mode: int,
    satfinite: bool = False,
    noise: tuple[int, int] = (-1, 0),
) -> int:
    """The row of an f64 in a format; `noise` is a row of random bits and their number."""
    row, n = noise
    code = _format(name) | mode << 8 | satfinite << 13 | n << 14
    return builder.compute("d2x", double, builder.constant(0) if n == 0 else row, e=code)


def _element(name: str) -> str:
    return name[:-2] if name.endswith(("x2", "x4")) else name


def _sources(builder: UopBuilder, op: Operation) -> list[int]:
    """The elements as f64, the lowest first."""
    first = op.operands[1]
    if op.stype.name == "f32":
        operands = first.items if isinstance(first, Vector) else op.operands[1 : 2 if _is_single(op) else 3]
        return [to_double(builder, builder.value(o, _F32), _F32) for o in reversed(operands)]
    if op.stype.name in ("f16x2", "bf16x2"):
        half = TYPES[_element(op.stype.name)]
        return [
            to_double(builder, row, half)
            for row in split(builder, float_source(builder, op, 1, op.stype), op.stype)
        ]
    name = _element(op.stype.name)
    word = builder.source(op, 1, op.stype)
    parts = [word, builder.compute("shr_u32", word, builder.constant(TYPES[name].bits))]
    return [builder.compute("x2d", part, e=_format(name)) for part in parts]


def _is_single(op: Operation) -> bool:
    return op.type.name == _element(op.type.name)


def _noise(builder: UopBuilder, op: Operation, k: int, name: str) -> tuple[int, int]:
    """The random bits of element k, and their number."""
    if not op.has("rs"):
        return -1, 0
    rbits = builder.source(op, len(op.operands) - 1, WORD)
    n = _RANDOM_BITS.get(name, 8)
    if name in _RANDOM_BITS:
        first = 16 * k
    elif name == "e2m1":  # the upper bytes of the halves are for the first two operands
        first = (0, 16, 8, 24)[k]
    else:
        first = 8 * k
    shifted = builder.compute("shr_u32", rbits, builder.constant(first))
    return builder.compute("and_u32", shifted, builder.constant((1 << n) - 1)), n


@rule("cvt_tf32", "cvt_pack", "cvt_small")
def _cvt_small(builder: UopBuilder, op: Operation) -> None:
    name = _element(op.type.name)
    mode = STOCHASTIC if op.has("rs") else MODES[op.match.one_of("rn", "rz", "rna")]
    bits = TYPES[name].bits
    word = -1
    for k, double in enumerate(_sources(builder, op)):
        value = relu(builder, double) if op.has("relu") else double
        row = to_format(builder, value, name, mode, op.has("satfinite"), _noise(builder, op, k, name))
        if name == "tf32":
            row = builder.compute("shl_u32", row, builder.constant(13))
        elif k:
            row = builder.compute("or_u32", word, builder.compute("shl_u32", row, builder.constant(k * bits)))
        word = row
    _write(builder, op, word, TYPES[f"b{max(8, op.type.bits)}"])


def _write(builder: UopBuilder, op: Operation, row: int, type_: Type) -> None:
    builder.destination(op, 0, type_).write("mov_u32", row)


# ---- ue8m0: a biased exponent, 255 for NaN


@rule("cvt_scale")
def _cvt_scale(builder: UopBuilder, op: Operation) -> None:
    if op.stype.name == "ue8m0x2":
        word = builder.source(op, 1, op.stype)
        parts = [builder.compute("zext8_u32", word), builder.compute("shr_u32", word, builder.constant(8))]
        low, high = (_power(builder, part) for part in parts)
        _write(builder, op, builder.compute("merge_high_u32", low, high), WORD)
        return
    if op.stype.name == "bf16x2":
        halves: Sequence[int] = split(builder, builder.source(op, 1, op.stype), op.stype)
        singles = [builder.compute("shl_u32", half, builder.constant(16)) for half in halves]
    elif op.stype.name == "f32":
        singles = [builder.source(op, k, _F32) for k in (2, 1)]
    else:
        unsupported(f"'.ue8m0x2' of '.{op.stype.name}'")
    low, high = (_exponent(builder, op, row) for row in singles)
    value = builder.compute("or_u32", low, builder.compute("shl_u32", high, builder.constant(8)))
    _write(builder, op, value, TYPES["b16"])


def _exponent(builder: UopBuilder, op: Operation, single: int) -> int:
    """The exponent of the power of two below (`.rz`) or above (`.rp`) the size of an f32."""
    size = builder.compute("and_u32", single, builder.constant(0x7FFFFFFF))
    exponent = builder.compute("shr_u32", size, builder.constant(23))
    infinity = builder.constant(0x7F800000)
    if op.has("rp"):
        rest = builder.compute("and_u32", size, builder.constant(0x7FFFFF))
        inexact = builder.compute("lt_u32", builder.constant(0), rest)
        above = builder.compute("lt_u32", builder.constant(0x00400000), size)  # 2**-127, the smallest power
        finite = builder.compute("lt_u32", size, infinity)
        up = builder.combine("and", finite, builder.combine("and", inexact, above))
        exponent = builder.compute(
            "add_u32", exponent, builder.compute("sel_u32", builder.constant(1), builder.constant(0), up)
        )
    if op.has("satfinite"):
        is_number = builder.compute("le_u32", size, infinity)
        limited = builder.compute("min_u32", exponent, builder.constant(0xFE))
        exponent = builder.compute("sel_u32", limited, exponent, is_number)
    return exponent


def _power(builder: UopBuilder, code: int) -> int:
    """The bf16 of an exponent; that of 0 is subnormal."""
    value = builder.compute("shl_u32", code, builder.constant(7))
    value = builder.compute(
        "sel_u32", builder.constant(0x0040), value, builder.compute("eq_u32", code, builder.constant(0))
    )
    return builder.compute(
        "sel_u32", builder.constant(0x7FFF), value, builder.compute("eq_u32", code, builder.constant(0xFF))
    )
