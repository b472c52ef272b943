"""Video instructions of the reference interpreter, in Python's integers.

For `reference_steps.py`. `vadd` and its kin take a byte, half or word of each source and put their result through
saturation, a merge or a second operation; `vadd2`, `vadd4` and their kin do two or four at once.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (video instructions).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ptxtool.ir.nodes import Instruction, Name, Operand, Unary
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES, Type
from reference.decode import Operands, Warp
from reference.numbers import by_lane, to_signed
from reference.op import Op

SCALAR = ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset", "vmad")
SEVERAL = tuple(
    f"v{name}{n}" for name in ("add", "sub", "avrg", "absdiff", "min", "max", "set") for n in (2, 4)
)
_U32 = TYPES["u32"]


def _average(x: int, y: int) -> int:
    return (x + y + 1) >> 1 if x + y >= 0 else (x + y) >> 1


_PRIMARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "absdiff": lambda x, y: abs(x - y),
    "min": min,
    "max": max,
    "avrg": _average,
}
_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
}


@dataclass(frozen=True)
class Video:
    """A video instruction: what it computes with, by lane."""

    op: Op
    match: Match
    selectors: tuple[str, ...]  # of the operands, the destination first
    minus: tuple[bool, ...]

    @property
    def source_types(self) -> tuple[Type, Type]:
        if self.op.sem.startswith("vset"):
            return self.op.type, self.op.stype
        return self.op.stype, TYPES[self.match.utype]

    @property
    def result(self) -> Type:
        return _U32 if self.op.sem.startswith("vset") else self.op.type

    def primary(self, x: int, y: int) -> int:
        name = self.op.sem.removeprefix("v").rstrip("24")
        if name == "set":
            return int(_RELATIONS[self.match.one_of(*_RELATIONS)](x, y))
        if name in ("shl", "shr"):
            y = y & 31 if self.op.has("wrap") else min(y, 32)
            return x << y if name == "shl" else x >> y
        return _PRIMARY[name](x, y)

    def limited(self, value: int, bits: int, signed: bool) -> int:
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
        return max(low, min(high, value)) if self.op.has("sat") else value

    # ---- one value

    def scalar(self, a: int, b: int, c: int = 0) -> int:
        types = self.source_types
        x = _pick(a, self.selectors[1], types[0].is_signed)
        y = _pick(b, self.selectors[2], types[1].is_signed)
        if self.op.sem == "vmad":
            return self._multiply_add(x, y, c)
        width, place = _field(self.selectors[0])
        value = self.limited(self.primary(x, y), width, self.result.is_signed)
        if width < 32:
            mask = ((1 << width) - 1) << place
            return (c & ~mask) | (value << place & mask)
        second = self.match.one_of("add", "min", "max") if len(self.selectors) > 3 else ""
        if not second:
            return value
        value &= 0xFFFFFFFF
        if self.result.is_signed:
            value, c = to_signed(value, 32), to_signed(c, 32)
        return _PRIMARY[second](value, c)

    def _multiply_add(self, x: int, y: int, c: int) -> int:
        signed = any(t.is_signed for t in self.source_types)
        negated = self.minus[1] != self.minus[2]
        signed |= negated or self.minus[3]
        extra = int(self.op.has("po"))
        product = -x * y if negated else x * y
        if self.minus[3] and not negated:
            c, extra = ~c & 0xFFFFFFFF, 1
        total = product + (to_signed(c, 32) if signed else c) + extra
        total >>= {"shr7": 7, "shr15": 15}.get(self.match.one_of("shr7", "shr15"), 0)
        return self.limited(total, 32, signed)

    # ---- two or four

    def several(self, a: int, b: int, c: int) -> int:
        n = int(self.op.sem[-1])
        bits = 32 // n
        pool = [word >> k * bits & ((1 << bits) - 1) for word in (a, b) for k in range(n)]
        vectors = []
        for k, type_ in enumerate(self.source_types):
            chosen = self.selectors[k + 1][1:] or "".join(str(n * k + j) for j in range(n))[::-1]
            values = [pool[int(digit)] for digit in reversed(chosen)]
            vectors.append([to_signed(v, bits) if type_.is_signed else v for v in values])
        results = [
            self.limited(self.primary(x, y), bits, self.result.is_signed)
            for x, y in zip(*vectors, strict=True)
        ]
        mask = [int(digit) for digit in self.selectors[0][1:]] or list(range(n))
        if self.op.has("add"):
            return c + sum(results[k] for k in mask)
        for k in mask:
            field = ((1 << bits) - 1) << k * bits
            c = (c & ~field) | (results[k] << k * bits & field)
        return c


def _field(selector: str) -> tuple[int, int]:
    """Width and place of what a selector names."""
    if not selector:
        return 32, 0
    bits = 8 if selector[0] == "b" else 16
    return bits, bits * int(selector[1])


def _pick(word: int, selector: str, signed: bool) -> int:
    bits, place = _field(selector)
    value = word >> place & ((1 << bits) - 1)
    return to_signed(value, bits) if signed else value


def video_step(
    operands: Operands, instruction: Instruction, match: Match, op: Op, i: int
) -> Callable[[Warp], None]:
    """The effect of a video instruction."""
    names, minus = _names(instruction.operands)
    selectors = tuple(n.part if isinstance(n, Name) else "" for n in names)
    video = Video(op, match, selectors, minus)
    whole = [Name(n.text) if isinstance(n, Name) else n for n in names]
    readers = [operands.read(o, _U32, i) for o in whole[1:]]
    write = operands.write(whole[0], _U32, i)
    function = video.several if op.sem in SEVERAL else video.scalar

    def step(warp: Warp) -> None:
        raw = by_lane(lambda *values: function(*values) & 0xFFFFFFFF, *(r(warp) for r in readers))
        write(warp, raw, warp.executing)

    return step


def _names(operands: Sequence[Operand]) -> tuple[list[Operand], tuple[bool, ...]]:
    """The operands without their signs, and which had a minus."""
    found: list[Operand] = []
    minus: list[bool] = []
    for operand in operands:
        is_minus = (
            isinstance(operand, Unary) and operand.operator == "-" and isinstance(operand.operand, Name)
        )
        minus.append(is_minus)
        found.append(operand.operand if is_minus and isinstance(operand, Unary) else operand)
    return found, tuple(minus)
