"""Whether kernels keep their limits: the values of `ptxtool gate`, before and after, and what is exceeded.

The values are those of `ptxtool diff` (instructions, pressure, shared and local bytes, barriers, resident CTAs), of the
register counts (`registers`, `spills` by ptxas) and of a simulated launch (`cycles`, `conflicts` of shared memory's
banks). What was measured before and is not now does not keep its limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxtool.base.diag import Diagnostic
from ptxtool.formats.gate_limits import HIGHER_IS_BETTER, MEASURES, Limit, Limits
from ptxtool.ir.nodes import Function

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Measured:
    """One kernel's values by measure."""

    kernel: Function = field(repr=False)
    values: Mapping[str, int]


@dataclass(frozen=True)
class Verdict:
    """One measure of one kernel. `bound` is the worst value accepted, None where there is no limit."""

    kernel: str
    measure: str
    before: int | None
    after: int | None
    limit: Limit | None
    bound: float | None

    @property
    def is_kept(self) -> bool:
        if self.limit is None:
            return True
        if self.after is None:
            return False
        if self.bound is None:  # nothing to compare with: a new kernel
            return True
        return self.after >= self.bound if self.measure in HIGHER_IS_BETTER else self.after <= self.bound

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {
            "kernel": self.kernel,
            "measure": self.measure,
            "before": self.before,
            "after": self.after,
            "limit": None if self.bound is None else self.bound,
            "kept": self.is_kept,
        }


@dataclass(frozen=True)
class Gate:
    """The verdicts of all kernels of a text, and the kernels that were there before and no longer are."""

    verdicts: tuple[Verdict, ...]
    kernels: Mapping[str, Function] = field(repr=False)
    missing: tuple[str, ...] = ()

    @property
    def is_kept(self) -> bool:
        return not self.problems

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """An E304 for every limit that is not kept, at the kernel's name."""
        return tuple(_problem(v, self.kernels[v.kernel]) for v in self.verdicts if not v.is_kept)

    def values(self) -> dict[str, dict[str, int]]:
        """What a baseline keeps: by kernel and measure."""
        found: dict[str, dict[str, int]] = {}
        for v in self.verdicts:
            if v.after is not None:
                found.setdefault(v.kernel, {})[v.measure] = v.after
        return found

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        verdicts = [v.to_dict() for v in self.verdicts]
        return {"kept": self.is_kept, "missing": list(self.missing), "measures": verdicts}

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame with a row per measure of every kernel. Raises E502 without pandas."""
        from ptxtool.results.frames import frame

        return frame(v.to_dict() for v in self.verdicts)

    def _repr_html_(self) -> str:
        """What is exceeded comes first, then what else changed."""
        from ptxtool.base.html import table

        shown = sorted(self.verdicts, key=lambda v: (v.is_kept, v.before == v.after))
        word = {True: "kept", False: "exceeded"}
        rows = [
            (v.kernel, v.measure, v.before, v.after, v.bound, "" if v.limit is None else word[v.is_kept])
            for v in shown
        ]
        exceeded = len(self.problems)
        title = f"gate: {f'limits exceeded: {exceeded}' if exceeded else 'passed'}"
        missing = f"no longer there: {', '.join(self.missing)}" if self.missing else ""
        return table(title, ("kernel", "measure", "before", "after", "accepted", "limit"), rows, missing)


def judged(measured: Sequence[Measured], before: Mapping[str, Mapping[str, int]], limits: Limits) -> Gate:
    """Hold values to limits, and to those of before by kernel and measure."""
    verdicts: list[Verdict] = []
    for one in measured:
        name = one.kernel.name
        old, of_kernel = before.get(name, {}), limits.of(name)
        for measure in MEASURES:
            if measure in one.values or measure in old:
                chosen = of_kernel.get(measure)
                bound = chosen.bound(measure, old.get(measure)) if chosen else None
                after = one.values.get(measure)
                verdicts.append(Verdict(name, measure, old.get(measure), after, chosen, bound))
    names = {one.kernel.name: one.kernel for one in measured}
    return Gate(tuple(verdicts), names, tuple(n for n in before if n not in names))


def _problem(verdict: Verdict, kernel: Function) -> Diagnostic:
    name, measure = verdict.kernel, verdict.measure
    if verdict.after is None:
        how = f"{measure} has a limit and was not measured"
    else:
        was = "" if verdict.before is None else f" from {verdict.before}"
        least = "at least" if measure in HIGHER_IS_BETTER else "at most"
        how = f"{measure} went{was} to {verdict.after}, {least} {verdict.bound:g} is accepted"
    end = kernel.source.text.index(name, kernel.start) + len(name)
    help = "'ptxtool diff' shows what changed; accept it with a wider limit, or a new baseline (--save)"
    return Diagnostic("E304", f"'{name}': {how}", kernel.source, kernel.start, end, help)
