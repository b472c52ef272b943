"""Dynamic warp execution on the host: its options, its state in a run, and its result.

`timing/sharing/hold_back.py` describes the mechanism.
"""

from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

import numpy as np

from ptxsim.timing.sharing.hold_back import CERTAIN, DYNAMIC
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean

STALLS = ("window", "cumulative")
DRAWS = ("cycle", "sticky")


@dataclass(frozen=True)
class DynamicExecution:
    """Options of dynamic warp execution; the defaults are the papers', or the simplest choice where these give none.

    Every `period` cycles the chance of non-owners' memory instructions moves by `step`. `stalls` compares the stalls of
    the period ("window") or all since the start ("cumulative"). `draws` happen in every "cycle", or once per
    instruction for the rest of the period ("sticky"), from `seed`.
    """

    period: int = 1000
    step: float = 0.1
    stalls: str = "window"
    draws: str = "cycle"
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise E502 for invalid options."""
        for name, least, most in (("period", 1, 1 << 40), ("seed", 0, (1 << 63) - 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise _wrong(name, value, f"give a whole number from {least} to {most}")
        step = self.step
        if isinstance(step, bool) or not isinstance(step, int | float) or not 1e-6 <= step <= 1:
            raise _wrong("step", step, "give a number above 0, at most 1")
        for name, known in (("stalls", STALLS), ("draws", DRAWS)):
            if getattr(self, name) not in known:
                raise _wrong(name, getattr(self, name), f"there are {' and '.join(map(repr, known))}")


def _wrong(name: str, value: object, advice: str) -> PtxError:
    return error("E502", f"dynamic warp execution: {name} is {value!r}", help=advice)


def dynamic_options(text: str) -> DynamicExecution:
    """The options of a text such as `period=500,draws=sticky`. Raises E502."""
    known: dict[str, Any] = {field.name: type(field.default) for field in fields(DynamicExecution)}
    given: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in known:
            what = f"dynamic warp execution has no option '{name}'"
            help = did_you_mean(name, known, then=f"there are {', '.join(known)}: {name}=VALUE,...")
            raise error("E502", what, help=help)
        try:
            given[name] = known[name](value)
        except ValueError:
            raise _wrong(name, value, "give a number") from None
    return DynamicExecution(**given)


@dataclass(frozen=True)
class DynamicResult:
    """The result of dynamic warp execution. Chances are per SM; SM 0 is the reference, whose chance is 0."""

    options: DynamicExecution
    periods: int
    chances: tuple[float, ...]
    """At the end."""
    lowest: tuple[float, ...]
    raised: int
    lowered: int
    stops: int
    """Memory instructions of non-owner warps that were held back."""
    held_cycles: int
    """Warp-cycles for which they were held back."""

    def __str__(self) -> str:
        others = self.chances[1:] or (0.0,)
        return (
            f"dynamic warp execution: {self.periods} periods, chances at the end {min(others):g} to {max(others):g}, "
            f"{self.stops} memory instructions held back for {self.held_cycles} warp-cycles"
        )


class Controller:
    """Dynamic warp execution of a run: the record of every SM, and the cycle in which the period ends."""

    def __init__(self, options: DynamicExecution, n_sms: int) -> None:
        self.options = options
        self.next_cycle = options.period
        self.periods = 0
        self.records: Any = np.zeros(n_sms, DYNAMIC)
        self.records["seed"] = options.seed
        self.records["sticky"] = options.draws == "sticky"
        self.records["cumulative"] = options.stalls == "cumulative"
        self.records["step"] = round(Fraction(str(options.step)) * CERTAIN)
        self.records["chance"][1:] = self.records["lowest"][1:] = CERTAIN

    def end_period(self, simulation: Any, policy: Any) -> None:
        """Do what the end of a period asks for (`timing/dynamic_period.py`), if its last cycle has passed."""
        if simulation.cycles < self.next_cycle:
            return
        from ptxsim.timing.dynamic_period import end_period

        with np.errstate(all="ignore"):
            end_period(simulation.is_wide)(simulation.run, simulation.l1s, self.records, policy.window)
        self.next_cycle += self.options.period
        self.periods += 1

    def result(self) -> DynamicResult:
        """The result as the records are now."""
        records = self.records
        chances, lowest = (tuple((records[name] / CERTAIN).tolist()) for name in ("chance", "lowest"))
        totals = {name: int(records[name].sum()) for name in ("raised", "lowered", "stops", "held_cycles")}
        return DynamicResult(self.options, self.periods, chances, lowest, **totals)
