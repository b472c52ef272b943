"""The sharing plan: the resident CTAs when pairs of them share registers or scratchpad.

With R of a resource on an SM and r of it per CTA, g = floor(R / r) CTAs fit. The rest, R - g*r, can hold the private
part t*r of further CTAs, each paired with one of the g; a pair takes (1 + t) * r. So

    S = min(g, floor((R - g*r) / (t*r)))     pairs        (at most every CTA gets a partner)
    M = min(g + S, limits of the other resources)          resident CTAs

t = 1 - sharing percentage / 100. Where another resource cuts M below g + S, the fewest pairs that give M are formed: S
= M - g, U = 2g - M unshared CTAs; M <= g needs no pair. With `pairs="most"` as many pairs as possible are formed: the
first S, at most M / 2. Arithmetic is exact: t is 1/10 at 90%, never 0.09999. The first floor(registers * t) registers
in declaration order are private, and scratchpad bytes below floor(bytes * t). Not handled: sharing both resources at
once (the papers share the one that limits). Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance
Through Resource Sharing, HPDC 2016, section III (equations 1 to 4); the floor and S <= g are what its tables VI and
VIII need (timing-model section 4.4).
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Literal

from ptxtool.analysis.occupancy.occupancy import HasSm, Occupancy, fits, occupancy
from ptxtool.base.diag import error
from ptxtool.base.phrases import counted

Pairs = Literal["fewest", "most"]

NOTHING_SHARED = "nothing is shared at 0%"
"""The remark of passes and reports that are asked to share by 0%."""

Percent = int | str | Fraction
"""A sharing percentage: 0 up to but not 100, exact. Decimals come as text ("12.5") or as fractions, never as floats."""


@dataclass(frozen=True)
class SharingPlan(Occupancy):
    """Resident CTAs under sharing: `unshared_ctas` (U) + 2 * `shared_pairs` (S) = `resident_ctas` (M).

    `resource` is "registers", "scratchpad" or "" (nothing is shared); `unshared` is the occupancy without sharing;
    `limits` are the CTAs that each resource admits, that of the shared one raised to g + S. `private_registers` is
    per thread and `private_scratchpad` in bytes per CTA, both of a CTA in a pair.
    """

    unshared: Occupancy
    resource: str
    percent: Fraction
    unshared_ctas: int
    shared_pairs: int
    private_registers: int
    private_scratchpad: int

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {
            **super().to_dict(),
            "share": self.resource or None,
            "share_percent": percentage_data(self.percent),
            "resident_ctas_without_sharing": self.unshared.resident_ctas,
            "unshared_ctas": self.unshared_ctas,
            "shared_pairs": self.shared_pairs,
            "private_registers": self.private_registers,
            "private_scratchpad": self.private_scratchpad,
        }

    def __str__(self) -> str:
        if not self.resource:
            return str(self.unshared)
        private = f"{self.private_scratchpad} of {self.needs.scratchpad} bytes of scratchpad"
        if self.resource == "registers":
            private = f"{self.private_registers} of {self.needs.registers_per_thread} registers per thread"
        without = self.unshared.resident_ctas
        lines = [
            f"{counted(self.resident_ctas, 'resident CTA')} at {percentage_text(self.percent)}% "
            f"{self.resource.removesuffix('s')} sharing, {without} without; "
            f"limited by {' and '.join(self.all_limiters)} ({self.gpu})",
            f"  unshared CTAs {self.unshared_ctas}, shared pairs {self.shared_pairs}, private {private}",
            f"  active warps {self.active_warps} of {self.max_warps}",
        ]
        return "\n".join(lines)


def sharing_plan(
    gpu: HasSm,
    threads: int,
    registers: int,
    scratchpad: int = 0,
    *,
    share_registers: Percent = 0,
    share_scratchpad: Percent = 0,
    pairs: Pairs = "fewest",
) -> SharingPlan:
    """Plan the CTAs of an SM when one resource is shared by the given percentage.

    `registers` are per thread, `scratchpad` is bytes per CTA. Both percentages 0: the plain occupancy as a plan.
    `pairs` says how many are formed where another resource limits the CTAs.
    Raises E402 where one CTA does not fit, E502 for a percentage outside 0 <= P < 100 or for two at once.
    """
    register_percent = percentage(share_registers, "share_registers")
    scratchpad_percent = percentage(share_scratchpad, "share_scratchpad")
    if register_percent and scratchpad_percent:
        help = "share the resource that limits the kernel: give one of share_registers and share_scratchpad"
        raise error("E502", "registers and scratchpad shared at once", help=help)
    base = occupancy(gpu, threads, registers, scratchpad)
    resource = "registers" if register_percent else "scratchpad" if scratchpad_percent else ""
    percent = register_percent or scratchpad_percent
    limits = dict(base.limits)
    fit, most = limits.get(resource), 0
    if fit is not None:
        capacity, need = {
            "registers": (gpu.sm.registers, base.needs.registers),
            "scratchpad": (gpu.sm.scratchpad_bytes, base.needs.allocated_scratchpad),
        }[resource]
        most = _pairs(capacity, need, fit, percent)
        limits[resource] = fit + most
    resident = min(limit for limit in limits.values() if limit is not None)
    n_pairs = min(most, resident // 2)
    if pairs == "fewest":
        n_pairs = max(0, resident - fit) if fit is not None else 0
    return SharingPlan(
        gpu=base.gpu,
        needs=base.needs,
        limits=limits,
        resident_ctas=resident,
        active_warps=resident * base.needs.padded_threads // gpu.sm.warp_size,
        max_warps=base.max_warps,
        unshared=base,
        resource=resource,
        percent=percent,
        unshared_ctas=resident - 2 * n_pairs,
        shared_pairs=n_pairs,
        private_registers=private_part(registers, register_percent),
        private_scratchpad=private_part(scratchpad, scratchpad_percent),
    )


def register_curve(
    gpu: HasSm,
    threads: int,
    scratchpad: int = 0,
    *,
    share_registers: Percent = 0,
    share_scratchpad: Percent = 0,
    pairs: Pairs = "fewest",
    registers: Iterable[int] = range(1, 256),
) -> tuple[SharingPlan, ...]:
    """One plan per number of registers per thread, up to the first at which one CTA no longer fits."""
    plans: list[SharingPlan] = []
    for n in registers:
        if plans and not fits(gpu, threads, n):
            break
        shares: dict[str, Percent] = {
            "share_registers": share_registers,
            "share_scratchpad": share_scratchpad,
        }
        plans.append(sharing_plan(gpu, threads, n, scratchpad, **shares, pairs=pairs))
    return tuple(plans)


def private_part(amount: int, percent: Percent) -> int:
    """floor(amount * t): the private registers per thread, or bytes, of a CTA in a pair."""
    return int(amount * (100 - Fraction(percent)) // 100)


_LONGEST = 40
_PERCENTAGE = re.compile(
    rf"[+-]?[0-9./]{{1,{_LONGEST}}}"
)  # `1e999999999` would be a number of a billion digits


def percentage(value: Percent, name: str = "sharing percentage") -> Fraction:
    """The exact value of a sharing percentage. Raises E502 for anything but 0 <= P < 100."""
    if isinstance(value, bool | float):
        help = "write decimals as text, such as '12.5', so that they are exact"
        raise error("E502", f"{name} = {value!r}", help=help)
    try:
        if isinstance(value, str) and not _PERCENTAGE.fullmatch(value.strip()):
            raise ValueError
        percent = Fraction(value)
    except (ValueError, ZeroDivisionError):
        help = "give a percentage such as 90 or 12.5"
        raise error("E502", f"{name} = '{value}' is no number", help=help) from None
    if percent == 100:
        help = "with nothing private the number of CTAs has no bound; give less than 100, such as 90"
        raise error("E502", f"{name} = 100 leaves a CTA no private part", help=help)
    if not 0 <= percent < 100:
        raise error("E502", f"{name} = {value} is outside 0 to 100", help="give a percentage such as 90")
    return percent


def percentage_text(percent: Fraction | int) -> str:
    """A percentage without loss, as `percentage` reads it: `90`, `12.5`, `100/3` where no short decimal is equal."""
    exact = Fraction(percent)
    decimal = Context(_LONGEST).divide(Decimal(exact.numerator), Decimal(exact.denominator))
    text = f"{decimal:f}"
    return text if len(text) <= _LONGEST and Fraction(text) == exact else str(exact)


def percentage_data(percent: Fraction | int) -> int | float | str:
    """A percentage without loss for `--json`: a number, or its text where no number of 64 bits prints like it."""
    text = percentage_text(percent)
    if text.isdecimal():
        return int(text)
    return float(percent) if repr(float(percent)) == text else text


def _pairs(capacity: int, need: int, fit: int, percent: Fraction) -> int:
    """S before other limits: floor((R - g*r) / (t*r)), at most g."""
    left = capacity - fit * need
    return min(fit, int(left * 100 // ((100 - percent) * need)))
