"""What a literal's text means: integers in four bases, floating point by value or by bits.

PTX: decimal, `0x` hexadecimal, leading-0 octal and `0b` binary integers, each with an optional `U`; `0f` and 8 hex
digits is an f32 by its bits, `0d` and 16 an f64, decimal fractions are f64 (PTX ISA, "Constants"). PTXPlus writes
floating-point immediates as plain hexadecimal integers: the bits of the value in the instruction's type.
"""

import struct
from functools import lru_cache

import msgspec

from ptxtool.isa.types import Type


class Literal(msgspec.Struct, frozen=True):
    """A literal: `kind` is "int", "f32" (written as `0f...`) or "f64" (`0d...` or a decimal fraction).

    `payload` is the integer itself (with its sign, not masked), or the bits of the floating-point value.
    """

    kind: str
    payload: int

    @property
    def value(self) -> int | float:
        """The number meant: an int, or the float of the bits."""
        if self.kind == "f32":
            return float(struct.unpack("<f", self.payload.to_bytes(4, "little"))[0])
        if self.kind == "f64":
            return float(struct.unpack("<d", self.payload.to_bytes(8, "little"))[0])
        return self.payload

    def bits(self, type: Type) -> int:
        """The bits a register of this type holds: integers wrap to the width, and are raw bits for a float type.

        A floating-point literal is converted to the width of a float type (round to nearest even; overflow gives
        infinity), an f64 also to that of `.b32`; otherwise an integer or untyped type takes its own bits.
        """
        mask = (1 << type.bits) - 1
        if self.kind == "int":
            return self.payload & mask
        if self.kind == "f64" or type.is_float:
            is_own_width = type.bits == (32 if self.kind == "f32" else 64)
            return self.payload if is_own_width else float_bits(float(self.value), type)
        return self.payload & mask


def float_bits(value: float, type: Type) -> int:
    """The bits of a number in a type: rounded to a float type's width or to 32 bits, otherwise those of an f64."""
    if type.bits == 32 or (type.is_float and type.bits == 16):
        return _float_bits(value, {16: "<e", 32: "<f"}[type.bits])
    return _float_bits(value, "<d") & ((1 << type.bits) - 1)


def _float_bits(value: float, layout: str) -> int:
    try:
        return int.from_bytes(struct.pack(layout, value), "little")
    except OverflowError:
        infinity = float("inf") if value > 0 else float("-inf")
        return int.from_bytes(struct.pack(layout, infinity), "little")


@lru_cache(maxsize=65536)
def literal(text: str) -> Literal:
    """Read the text of an `Immediate`. Raises `ValueError` where it is none (`089`, `0b2`, ...)."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    negative = text.startswith("-")
    lead = digits[:2].lower()
    if lead == "0f" and len(digits) == 10:
        return Literal("f32", int(digits[2:], 16) ^ (negative << 31))
    if lead == "0d" and len(digits) == 18:
        return Literal("f64", int(digits[2:], 16) ^ (negative << 63))
    if lead != "0x" and ("." in digits or "e" in digits.lower()):
        return Literal("f64", _float_bits(-float(digits) if negative else float(digits), "<d"))
    digits = digits.removesuffix("U")
    if lead == "0x":
        magnitude = int(digits[2:], 16)
    elif lead == "0b":
        magnitude = int(digits[2:], 2)
    elif len(digits) > 1 and digits.startswith("0"):
        magnitude = int(digits, 8)
    else:
        magnitude = int(digits, 10)
    return Literal("int", -magnitude if negative else magnitude)


def integer(text: str) -> int:
    """The value of an integer literal. Raises `ValueError` for any other text."""
    found = literal(text)
    if found.kind != "int":
        raise ValueError(f"'{text}' is no integer")
    return found.payload
