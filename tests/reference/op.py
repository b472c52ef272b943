"""What an operation of the reference interpreter receives: its meaning, types and modifiers.

For `reference_ops.py` and its neighbours. An operation on a packed type is one on each of its elements (`element`).
"""

from dataclasses import dataclass, replace

from ptxtool.isa.types import TYPES, Type
from reference.numbers import Format

PACKED = frozenset({"f16x2", "bf16x2", "f32x2", "u16x2", "s16x2", "u8x4", "s8x4"})


def format_of(type_: Type) -> Format:
    """The format of a floating-point type."""
    return type_.name if type_.name in ("bf16", "tf32") else type_.bits


@dataclass(frozen=True)
class Op:
    """An operation with its types. `whole` is false where the destination is half a register.

    `as_gpgpu_sim` is set where PTXPlus means what GPGPU-Sim makes of it.
    """

    sem: str
    type: Type
    stype: Type
    modifiers: frozenset[str]
    wide: bool
    ptxplus: bool
    whole: bool
    as_gpgpu_sim: bool = False

    def has(self, modifier: str) -> bool:
        return modifier in self.modifiers

    @property
    def rounding(self) -> str:
        return next((m for m in ("rz", "rm", "rp", "rna") if m in self.modifiers), "rn")

    @property
    def form(self) -> Format:
        """The format of the results, where they are floating-point numbers."""
        return format_of(self.type)

    @property
    def is_mixed(self) -> bool:
        """Whether all operands but the last are halves that become f32 first."""
        return (
            self.type.name == "f32"
            and self.stype.name in ("f16", "bf16")
            and self.sem in ("add", "sub", "fma")
        )

    @property
    def is_mixed_pair(self) -> bool:
        """Whether the first operand is a pair of halves that become the pair of f32 of the result's type."""
        return self.type.name == "f32x2" and self.stype.name in ("f16x2", "bf16x2")

    def element(self) -> "Op":
        """The operation on one element of a packed type."""
        return replace(self, type=TYPES[self.type.name[:-2]])

    @property
    def widened(self) -> Type:
        """The type of a product that is twice as wide; PTXPlus's 16-bit products fill a whole register."""
        return TYPES[f"{self.type.kind}{self.type.bits * 2}"]

    @property
    def is_wide(self) -> bool:
        if self.ptxplus and self.type.bits == 16 and not self.whole:
            return False
        fills = self.ptxplus and self.type.bits == 16 and self.sem in ("mul", "mad", "madp")
        return self.wide or self.has("wide") or (fills and not self.has("hi") and not self.as_gpgpu_sim)

    @property
    def takes_absolute(self) -> bool:
        """PTXPlus: whether `.abs` is about the first source. GPGPU-Sim looks at it in `set` alone."""
        return self.ptxplus and self.has("abs") and (self.sem == "set" or not self.as_gpgpu_sim)


_U32, _PRED = TYPES["u32"], TYPES["pred"]
_COUNTS = frozenset({"popc", "clz", "bfind", "fns"})


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
    if op.is_mixed:
        return (*(op.stype,) * (n - 1), t)
    if op.is_mixed_pair:
        return (op.stype, *(t,) * (n - 1))
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
