"""How exact approximate functions are: here against the exact value, and on hardware by the PTX manual.

One table for the test of our own error (sim/test_approximations.py), the comparison with a GPU (gpu/) and the table of
docs/simulator.md. Reference: PTX ISA 9.0, sections 9.7.3 and 9.7.4; what is a guess says so.
"""

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Bound:
    """The largest error: the sum of last places of the result, a part of it, and an absolute one.

    `within` gives other absolute errors for |argument| up to a limit: (limit, error); beyond the last one nothing is
    promised. With `divides` nothing is promised where the second argument is below 2^-126.
    """

    places: float = 0.0
    relative: float = 0.0
    absolute: float = 0.0
    within: tuple[tuple[float, float], ...] = ()
    divides: bool = False

    def __str__(self) -> str:
        of = [f"{self.places:g}" if self.places else "", _power(self.relative, " of the result")]
        text = " + ".join(p for p in (*of, _power(self.absolute, " absolute")) if p)
        for limit, error in self.within:
            text += f"{', ' if text else ''}{_power(error, ' absolute')} up to ±{round(limit / math.pi)}π"
        return text + (" (divisors from 2^-126 on)" if self.divides else "")


def _power(value: float, what: str) -> str:
    return f"2^{math.log2(value):g}{what}" if value else ""


@dataclass(frozen=True)
class Approximation:
    """An instruction without `.ftz` and `.sat`, our own largest error in last places, and the manual's."""

    instruction: str
    ours: float
    hardware: Bound
    remark: str = ""

    @property
    def row(self) -> str:
        """The row of the documentation's table."""
        ours = _power(self.ours, "") if self.ours > 1000 else f"{self.ours:g}"
        return f"| {' '.join([f'`{self.instruction}`', self.remark]).strip()} | {ours} | {self.hardware} |"


_WAVE = Bound(within=((math.pi, 2.0**-20.5), (100 * math.pi, 2.0**-14.7)))
APPROXIMATIONS = (
    Approximation("sin.approx.f32", 0.501, _WAVE, "for any finite argument"),
    Approximation("cos.approx.f32", 0.501, _WAVE, "for any finite argument"),
    Approximation("ex2.approx.f32", 0.501, Bound(places=2), "with subnormal results too"),
    Approximation("lg2.approx.f32", 0.501, Bound(relative=2.0**-22, absolute=2.0**-22), "near 1 too"),
    Approximation("tanh.approx.f32", 0.501, Bound(relative=2.0**-11)),
    Approximation("rsqrt.approx.f32", 0.501, Bound(relative=2.0**-22.9)),
    Approximation("sqrt.approx.f32", 0.5, Bound(relative=2.0**-23)),
    Approximation("rcp.approx.f32", 0.5, Bound(places=1)),
    Approximation("div.approx.f32", 0.5, Bound(places=2, divides=True)),
    Approximation("div.full.f32", 0.5, Bound(places=2)),
    Approximation("ex2.approx.f16", 0.501, Bound(relative=2.0**-9.9)),
    Approximation("tanh.approx.f16", 0.501, Bound(absolute=2.0**-10.987)),
    Approximation("ex2.approx.ftz.bf16", 0.501, Bound(relative=2.0**-7)),
    Approximation("tanh.approx.bf16", 0.501, Bound(absolute=2.0**-8)),
    # guess: the manual says "gross approximation" and that 20 bits of the significand are given
    Approximation("rcp.approx.ftz.f64", 2.0**33, Bound(relative=2.0**-19)),
    Approximation("rsqrt.approx.f64", 1.5, Bound(places=2)),  # guess: the manual names no error
)
SIGNIFICANDS = {"f16": (11, -14), "bf16": (8, -126), "f32": (24, -126), "f64": (53, -1022)}
"""Bits of the significand, and the smallest normal exponent."""


def _plain(opcode: str) -> str:
    words = [w for w in opcode.split(".") if w not in ("ftz", "sat")]
    return ".".join([*words[:-1], words[-1].removesuffix("x2")])


_BY_NAME = {_plain(a.instruction): a for a in APPROXIMATIONS}


def approximation(opcode: str) -> Approximation | None:
    """What is known of an opcode, `.ftz` or packed or not; None for what is rounded as IEEE 754 has it."""
    if opcode == "rsqrt.approx.ftz.f64":  # of the upper word, as the reciprocal
        return _BY_NAME["rcp.approx.f64"]
    return _BY_NAME.get(_plain(opcode))


def allowed(found: Approximation, ours: np.ndarray, arguments: list[np.ndarray], format_: str) -> np.ndarray:
    """How far hardware may be from our results, number by number: its bound and ours together; infinite: anywhere."""
    precision, lowest = SIGNIFICANDS[format_]
    bound = found.hardware
    with np.errstate(all="ignore"):
        size = np.abs(np.where(np.isfinite(ours), ours, 0))
        exponent = np.where(size > 0, np.maximum(np.frexp(size)[1] - 1, lowest), lowest)
        place = np.ldexp(1.0, exponent - precision + 1)
    error = (bound.places + found.ours) * place + bound.relative * size + bound.absolute
    if bound.within:
        more = np.full(size.shape, np.inf)
        for limit, absolute in reversed(bound.within):
            more = np.where(np.abs(arguments[0]) <= limit, absolute, more)
        error = error + more
    if bound.divides:
        divisor = np.abs(arguments[1])
        error = np.where(divisor >= 2.0**-126, error, np.inf)
    return error
