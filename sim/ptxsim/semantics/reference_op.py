"""What an operation of the reference interpreter is told: its meaning, types and modifiers.

For `reference_ops.py` and its neighbours. Packed types and bfloat16 are not handled (`supports` says so).
"""

from dataclasses import dataclass

from ptxtool.isa.types import TYPES, Type

UNSUPPORTED_TYPES = frozenset(
    {"bf16", "bf16x2", "f16x2", "u16x2", "s16x2", "tf32", "b128", "e4m3x2", "e5m2x2"}
)


@dataclass(frozen=True)
class Op:
    """An operation with its types. `whole` is false where the destination is half a register."""

    sem: str
    type: Type
    stype: Type
    modifiers: frozenset[str]
    wide: bool
    ptxplus: bool
    whole: bool

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    @property
    def rounding(self) -> str:
        return next((m for m in ("rz", "rm", "rp") if m in self.modifiers), "rn")

    @property
    def widened(self) -> Type:
        """The type of a product that is twice as wide; PTXPlus's 16-bit products fill a whole register."""
        return TYPES[f"{self.type.kind}{self.type.bits * 2}"]

    @property
    def is_wide(self) -> bool:
        fills = self.ptxplus and self.type.bits == 16 and self.whole and self.sem in ("mul", "mad", "madp")
        return self.wide or self.has("wide") or (fills and not self.has("hi"))


_U32, _PRED = TYPES["u32"], TYPES["pred"]
_COUNTS = frozenset({"popc", "clz", "bfind", "fns"})


def supports(op: Op) -> bool:
    """Whether the types of an operation are among those handled here."""
    return op.type.name not in UNSUPPORTED_TYPES and op.stype.name not in UNSUPPORTED_TYPES


def operand_types(op: Op, n: int) -> tuple[Type, ...]:
    """The types in which the n source operands are read."""
    t = op.type
    special: dict[str, tuple[Type, ...]] = {
        "cvt": (op.stype,),
        "setp": (t, t, _PRED),
        "set": (op.stype, op.stype, _PRED),
        "selp": (t, t, _PRED),
        "slct": (t, t, op.stype),
        "shl": (t, _U32),
        "shr": (t, _U32),
        "bfe": (t, _U32, _U32),
        "bfi": (t, t, _U32, _U32),
        "addp": (t, t, _PRED),
        "madp": (t, t, op.widened if op.is_wide and op.type.bits < 64 else t, _PRED),
        "dp4a": (_U32, _U32, _U32),
        "dp2a": (_U32, _U32, _U32),
        "fns": (_U32, _U32, _U32),
    }
    if op.sem in special:
        return special[op.sem][:n]
    if op.sem == "mad" and op.is_wide:
        return (t, t, op.widened)[:n]
    return (t,) * n


def result_type(op: Op) -> Type:
    """The type of the result."""
    if op.sem in ("mul", "mad", "madp") and op.is_wide:
        return op.widened
    if op.sem in _COUNTS:
        return _U32
    if op.sem in ("dp4a", "dp2a"):
        return TYPES["s32"] if "s" in (op.type.kind, op.stype.kind) else _U32
    return op.type
