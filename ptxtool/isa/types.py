"""Fundamental types: width in bits and kind (PTX ISA, fundamental types; PTXPlus pairs: GPGPU-Sim's dialect)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
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


def _types() -> dict[str, Type]:
    table = {f"{k}{n}": Type(f"{k}{n}", k, n) for k in "usb" for n in (8, 16, 32, 64)}
    table |= {f"f{n}": Type(f"f{n}", "f", n) for n in (16, 32, 64)}
    table |= {
        "pred": Type("pred", "pred", 1),
        "b1": Type("b1", "b", 1),
        "b128": Type("b128", "b", 128),
        "bf16": Type("bf16", "f", 16),
        "tf32": Type("tf32", "f", 32),
        "f16x2": Type("f16x2", "f", 32),
        "bf16x2": Type("bf16x2", "f", 32),
        "u16x2": Type("u16x2", "u", 32),
        "s16x2": Type("s16x2", "s", 32),
        "f32x2": Type("f32x2", "f", 64),
        # alternative and sub-byte types: operands of conversions and matrix instructions, in registers of bits
        **{name: Type(name, "b", 8) for name in ("e4m3", "e5m2", "e2m3", "e3m2", "ue8m0", "ue4m3")},
        **{name: Type(name, "b", 4) for name in ("e2m1", "u4", "s4")},
        **{name: Type(name, "b", 2) for name in ("u2", "s2")},
        **{f"{name}x2": Type(f"{name}x2", "b", 16) for name in ("e4m3", "e5m2", "e2m3", "e3m2", "ue8m0")},
        **{f"{name}x4": Type(f"{name}x4", "b", 32) for name in ("e4m3", "e5m2", "e2m3", "e3m2")},
        "e2m1x2": Type("e2m1x2", "b", 8),
        "e2m1x4": Type("e2m1x4", "b", 16),
        # PTXPlus: 64 and 128 bits in two and four adjacent 32-bit registers
        "bb64": Type("bb64", "b", 64),
        "ff64": Type("ff64", "f", 64),
        "bb128": Type("bb128", "b", 128),
    }
    return table


TYPES: dict[str, Type] = _types()
"""Every type by name, without the dot."""
