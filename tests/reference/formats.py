"""Floating-point formats of 4 to 19 bits in the reference interpreter, and `cvt` from and to them.

For `reference_steps.py`. Without its sign bit, a format's codes in ascending order stand for ascending numbers, so a
number is rounded by a search for the two codes around it. The code after the largest number, which may stand for
infinity, a NaN or nothing, counts as the number it would be if the sequence went on: halfway to it a value rounds up.

Stochastic rounding takes random bits as `docs/simulator.md` says.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (cvt); OCP, "8-bit Floating Point Specification
(OFP8)" and "Microscaling Formats (MX) Specification", 2023.
"""

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ptxtool.ir.nodes import Instruction, Operand, Vector
from ptxtool.isa.types import TYPES
from reference.decode import Operands, Warp
from reference.numbers import by_lane
from reference.op import Op


@dataclass(frozen=True)
class SmallFormat:
    """`nan` is the code of a NaN, None where there is none; infinity, if any, is the code after `largest`."""

    mantissa_bits: int
    exponent_bits: int
    largest: int
    nan: int | None
    has_infinity: bool
    width: int  # of an element in a register

    @property
    def sign(self) -> int:
        return 1 << (self.mantissa_bits + self.exponent_bits)

    def number(self, code: int) -> Fraction:
        """What a code without a sign stands for, as if it were no infinity or NaN."""
        field, mantissa = divmod(code, 1 << self.mantissa_bits)
        bias = (1 << (self.exponent_bits - 1)) - 1
        if field:
            mantissa += 1 << self.mantissa_bits
        return mantissa * Fraction(2) ** (max(field, 1) - bias - self.mantissa_bits)

    def decode(self, code: int) -> float:
        size = code & (self.sign - 1)
        if self.has_infinity and size == self.largest + 1:
            value = math.inf
        elif self.nan is not None and size > self.largest:
            return math.nan
        else:
            value = float(self.number(size))
        return -value if code & self.sign else value

    def encode(
        self, value: float, mode: str, satfinite: bool = False, noise: int = 0, n_noise: int = 0
    ) -> int:
        """`mode`: rn, rz, rna, or rs with `n_noise` random bits."""
        if math.isnan(value):
            return self.largest if self.nan is None else self.nan
        sign = self.sign if math.copysign(1, value) < 0 else 0
        if math.isinf(value):
            return sign | self._beyond(satfinite)
        size = abs(Fraction(value))
        low = bisect_right(range(self.largest + 2), size, key=self.number) - 1
        if low > self.largest:
            return sign | self._beyond(satfinite or mode == "rz")
        below, above = self.number(low), self.number(low + 1)
        part = (size - below) / (above - below)
        half = Fraction(1, 2)
        up = {
            "rn": part > half or (part == half and low % 2 == 1),
            "rna": part >= half,
            "rz": False,
            "rs": math.floor(part * 2**n_noise) + noise >= 2**n_noise,
        }[mode]
        code = low + up
        return sign | (self._beyond(satfinite) if code > self.largest else code)

    def _beyond(self, satfinite: bool) -> int:
        if satfinite or (self.nan is None and not self.has_infinity):
            return self.largest
        if self.has_infinity:
            return self.largest + 1
        assert self.nan is not None
        return self.nan


FORMATS = {
    "f16": SmallFormat(10, 5, 0x7BFF, 0x7FFF, True, 16),
    "bf16": SmallFormat(7, 8, 0x7F7F, 0x7FFF, True, 16),
    "tf32": SmallFormat(10, 8, 0x3FBFF, 0x3FFFF, True, 32),
    "e5m2": SmallFormat(2, 5, 0x7B, 0x7F, True, 8),
    "e4m3": SmallFormat(3, 4, 0x7E, 0x7F, False, 8),
    "e3m2": SmallFormat(2, 3, 0x1F, None, False, 8),
    "e2m3": SmallFormat(3, 2, 0x1F, None, False, 8),
    "e2m1": SmallFormat(1, 2, 0x7, None, False, 4),
}
_F32 = TYPES["f32"]
MEANINGS = ("cvt_tf32", "cvt_pack", "cvt_small", "cvt_scale")


def _parts(name: str) -> tuple[str, int]:
    """A type's element and how many there are."""
    return (name[:-2], int(name[-1])) if name.endswith(("x2", "x4")) else (name, 1)


def small_step(operands: Operands, instruction: Instruction, op: Op, i: int) -> Callable[[Warp], None]:
    """The effect of a conversion with a small format on one of its sides."""
    sources: list[Operand] = list(instruction.operands[1:])
    noise = operands.read(sources.pop(), TYPES["b32"], i) if op.has("rs") else None
    if isinstance(sources[0], Vector):
        sources = list(sources[0].items)
    readers = [operands.read(o, op.stype, i) for o in sources]
    write = operands.write(instruction.operands[0], TYPES[f"b{max(8, op.type.bits)}"], i)
    function = _scale if op.sem == "cvt_scale" else _convert

    def step(warp: Warp) -> None:
        words = [r(warp) for r in readers]
        bits = noise(warp) if noise is not None else np.zeros_like(words[0])
        write(warp, by_lane(lambda rbits, *values: function(op, rbits, values), bits, *words), warp.executing)

    return step


def _elements(op: Op, words: tuple[int, ...]) -> list[int]:
    """The source elements, the lowest first; of several registers the last is the lowest."""
    name, n = _parts(op.stype.name)
    if n == 1:
        return list(reversed(words))
    bits = 16 if name in ("f16", "bf16") else FORMATS[name].width if name in FORMATS else 8
    return [words[0] >> bits * k & ((1 << bits) - 1) for k in range(n)]


def _single(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def _random_bits(name: str) -> list[int]:
    """Where in `rbits` the random bits of the elements begin, those of the lowest element (the last operand) first."""
    if name in ("f16", "bf16"):
        return [0, 16]
    first_of_f, first_of_e = 0, 16 if name == "e2m1" else 8
    first_of_b, first_of_a = 8 if name == "e2m1" else 16, 24
    return [first_of_f, first_of_e, first_of_b, first_of_a]


def _convert(op: Op, rbits: int, words: tuple[int, ...]) -> int:
    name, _ = _parts(op.type.name)
    source = _parts(op.stype.name)[0]
    target = FORMATS[name]
    mode = next(m for m in ("rn", "rz", "rna", "rs") if op.has(m))
    n_noise = {"f16": 13, "bf16": 16}.get(name, 8)
    result = 0
    for k, word in enumerate(_elements(op, words)):
        value = _single(word) if source == "f32" else FORMATS[source].decode(word)
        if op.has("relu") and not math.isnan(value):
            value = value if value > 0 else 0.0
        noise = rbits >> _random_bits(name)[k] & ((1 << n_noise) - 1)
        code = target.encode(value, mode, op.has("satfinite"), noise, n_noise)
        result |= code << 13 if name == "tf32" else code << target.width * k
    return result


def _scale(op: Op, rbits: int, words: tuple[int, ...]) -> int:
    """`ue8m0`: code k is 2**(k - 127), 255 a NaN."""
    result = 0
    for k, word in enumerate(_elements(op, words)):
        if op.stype.name == "ue8m0x2":
            value = math.nan if word == 255 else 2.0 ** (word - 127)
            result |= FORMATS["bf16"].encode(value, "rn") << 16 * k
            continue
        value = abs(FORMATS["bf16"].decode(word) if op.stype.name == "bf16x2" else _single(word))
        result |= _power(value, op.has("rp"), op.has("satfinite")) << 8 * k
    return result


def _power(value: float, up: bool, satfinite: bool) -> int:
    if math.isnan(value):
        return 255
    if math.isinf(value):
        return 254 if satfinite else 255
    code = 0
    while code < 255 and Fraction(2) ** (code + 1 - 127) <= Fraction(value):
        code += 1
    if up and Fraction(value) > Fraction(2) ** (code - 127):
        code += 1
    return min(code, 254) if satfinite else code


def pack_integers(op: Op, a: int, b: int, c: int = 0) -> int:
    """cvt.pack.sat: a above b, both narrowed, below the low bits of c."""
    bits = op.type.bits
    low, high = (
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if op.type.name[0] == "s" else (0, (1 << bits) - 1)
    )
    first, second = (max(low, min(high, x - (1 << 32) if x >> 31 else x)) & ((1 << bits) - 1) for x in (a, b))
    return (c << 2 * bits | first << bits | second) & 0xFFFFFFFF
