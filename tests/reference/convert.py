"""`cvt` of the reference interpreter.

Written from the PTX ISA manual ("cvt") and the description of PTXPlus. PTXPlus prints the roundings of float-to-integer
and float-to-integral-float conversions without their `i` (`.rz` for truncation, `.rm` for floor, `.rp` for ceiling,
nothing for nearest). They have the meaning the hardware gave them; to GPGPU-Sim they mean nothing, and it truncates.
"""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from reference.numbers import (
    CANONICAL_NAN,
    FLOATS,
    Raw,
    by_lane,
    floats,
    flush,
    is_infinite,
    is_nan,
    largest,
    mask_of,
    raw_floats,
    real,
    round_real,
    sign_of,
    signed,
    to_signed,
)
from reference.op import Op, format_of
from reference.ops import finish_float

_TO_WHOLE: dict[str, Callable[[float], int]] = {
    "rn": round,  # Python rounds halves to even
    "rz": math.trunc,
    "rm": math.floor,
    "rp": math.ceil,
}


def _whole_mode(op: Op) -> str:
    """The rounding to a whole number that is asked for, "" for none."""
    found = next((m[:2] for m in ("rni", "rzi", "rmi", "rpi") if op.has(m)), "")
    if not found and op.as_gpgpu_sim:
        return "" if op.type.is_float else "rz"
    if not found and op.ptxplus:
        found = next((m for m in ("rn", "rz", "rm", "rp") if op.has(m)), "")
    return found


def convert(op: Op, a: Raw) -> Raw:
    """The raw result of `cvt.<op.type>.<op.stype>`."""
    if op.stype.is_float:
        values = floats(a, format_of(op.stype))
        if (op.has("ftz") or (op.ptxplus and not op.type.is_float)) and op.stype.bits == 32:
            values = flush(values)
        return _float_to_float(op, values) if op.type.is_float else _float_to_whole(op, values)
    if op.type.is_float:
        return _whole_to_float(op, a)
    return _whole_to_whole(op, a)


def _limits(op: Op) -> tuple[int, int]:
    bits = op.type.bits
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if op.type.is_signed else (0, (1 << bits) - 1)


def _whole_to_whole(op: Op, a: Raw) -> Raw:
    bits = op.stype.bits
    low, high = _limits(op)

    def lane(x: int) -> int:
        x = to_signed(x, bits) if op.stype.is_signed else x
        return max(low, min(high, x)) if op.has("sat") else x

    return by_lane(lane, a) & mask_of(op.type.bits)


def _whole_to_float(op: Op, a: Raw) -> Raw:
    bits = op.type.bits
    if op.rounding == "rn" and bits != 16:
        numbers = signed(a, op.stype.bits) if op.stype.is_signed else a
        return finish_float(op, numbers.astype(FLOATS[bits]))

    def lane(x: int) -> int:
        x = to_signed(x, op.stype.bits) if op.stype.is_signed else x
        return round_real(Fraction(x), op.form, op.rounding)

    return finish_float(op, floats(by_lane(lane, a), op.form))


def _float_to_whole(op: Op, values: np.ndarray) -> Raw:
    low, high = _limits(op)
    to_whole = _TO_WHOLE[_whole_mode(op) or "rn"]
    # NaN gives 0, or where 64 bits are involved the smallest number (PTX ISA, "cvt")
    is_long = op.type.bits == 64 or op.stype.bits == 64
    nan = 1 << (op.type.bits - 1) if is_long and not op.ptxplus else 0
    results = [
        nan
        if math.isnan(x)
        else (high if x > 0 else low)
        if math.isinf(x)
        else max(low, min(high, to_whole(x)))
        for x in values.astype(np.float64).tolist()
    ]
    return np.array([r & 0xFFFFFFFFFFFFFFFF for r in results], np.uint64) & mask_of(op.type.bits)


def _float_to_float(op: Op, values: np.ndarray) -> Raw:
    to, of = op.form, format_of(op.stype)
    whole = _whole_mode(op) if op.type.bits == op.stype.bits else ""
    if whole:
        values = {"rn": np.rint, "rz": np.trunc, "rm": np.floor, "rp": np.ceil}[whole](values)
    if to == of:
        return finish_float(op, values)
    if to != "bf16" and not op.has("satfinite") and (op.type.bits > op.stype.bits or op.rounding == "rn"):
        return finish_float(op, values.astype(FLOATS[to]))

    def lane(x: int) -> int:
        sign = sign_of(to) if x & sign_of(of) else 0
        if is_nan(x, of):
            return CANONICAL_NAN[to]
        if is_infinite(x, of):
            result = largest(to) + 1
        else:
            result = round_real(abs(real(x, of)), to, _MIRRORED[op.rounding] if sign else op.rounding)
        return sign | (min(result, largest(to)) if op.has("satfinite") else result)

    return finish_float(op, floats(by_lane(lane, raw_floats(values, of)), to))


_MIRRORED = {"rn": "rn", "rz": "rz", "rm": "rp", "rp": "rm"}
"""How the size of a negative number is rounded."""
