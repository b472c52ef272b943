"""Fundamental types: width in bits and kind (PTX ISA, fundamental types; PTXPlus pairs: GPGPU-Sim's dialect)."""

from typing import Literal

import msgspec

ArithmeticClass = Literal["int", "fp32", "fp64"]
"""How the units of a machine tell types apart."""


class Type(msgspec.Struct, frozen=True):
    """`kind` is "u", "s", "f", "b" (untyped bits) or "pred"; `bits` is the width of one value."""

    name: str
    kind: str
    bits: int

    @property
    def bytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_signed(self) -> bool:
        return self.kind == "s"


_ROWS = (
    *((kind, bits, f"{kind}{bits}") for kind in "usb" for bits in (8, 16, 32, 64)),
    ("b", 1, "b1"),
    ("b", 128, "b128"),
    ("pred", 1, "pred"),
    ("f", 16, "f16 bf16"),
    ("f", 32, "f32 tf32 f16x2 bf16x2"),
    ("f", 64, "f64 f32x2"),
    ("u", 32, "u16x2 u8x4"),
    ("s", 32, "s16x2 s8x4"),
    # alternative and sub-byte types: operands of conversions and matrix instructions, in registers of bits
    ("b", 2, "u2 s2"),
    ("b", 4, "e2m1 u4 s4"),
    ("b", 8, "e4m3 e5m2 e2m3 e3m2 ue8m0 ue4m3 e2m1x2"),
    ("b", 16, "e4m3x2 e5m2x2 e2m3x2 e3m2x2 ue8m0x2 ue5m3x2 s2f6x2 e2m1x4"),
    ("b", 32, "e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1p4x4 ue8m0x4"),
    # PTXPlus: 64 and 128 bits in two and four adjacent 32-bit registers
    ("b", 64, "bb64"),
    ("f", 64, "ff64"),
    ("b", 128, "bb128"),
)

TYPES = {name: Type(name, kind, bits) for kind, bits, names in _ROWS for name in names.split()}
"""Every type by name, without the dot."""


def arithmetic_class(type_name: str) -> ArithmeticClass:
    """The class of a type in the latencies of GPU files; halves count among the integers, as do all other types."""
    type_ = TYPES.get(type_name)
    if type_ is None or not type_.is_float or type_.bits < 32 or type_.name in ("f16x2", "bf16x2"):
        return "int"
    return "fp64" if type_.name in ("f64", "ff64") else "fp32"
