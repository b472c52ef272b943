"""A benchmark's variants with what their simulations counted, and the choices among them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ptxtool.results.tuning import Method, Tuning, Variant
from ptxtool.sweep.reproduction.regdem.paper import Benchmark

RunCounters = Mapping[str, Any]
"""The counters of a run, under the names of `sim --json`."""


@dataclass(frozen=True)
class Measured:
    """A benchmark: its variants, with cycles where their runs ended, and counters by the name of the variant."""

    benchmark: Benchmark
    tuning: Tuning
    counters: Mapping[str, RunCounters]

    @property
    def original(self) -> Variant:
        return self.tuning.original

    @property
    def fastest(self) -> Variant | None:
        """The variant that an exhaustive search finds; None while runs are missing."""
        return fastest(self.tuning.variants)

    @property
    def predicted(self) -> Variant:
        """The predictor's choice among all variants, the original included."""
        return min(self.tuning.variants, key=lambda v: v.predicted)

    @property
    def by_equations(self) -> Variant:
        """The choice by the paper's equations 2 and 3 alone, without the bound of the busiest resource."""
        return min(self.tuning.variants, key=lambda v: v.predicted_regdem)

    @property
    def naively_predicted(self) -> Variant:
        """The choice of the paper's naive predictor: fewest stalls of instructions, whatever the occupancy."""
        return min(self.tuning.variants, key=lambda v: v.prediction.naive)

    def of(self, method: Method) -> tuple[Variant, ...]:
        """The variants made by a method."""
        return tuple(v for v in self.tuning.variants if v.method == method)

    @property
    def at_target(self) -> tuple[Variant, ...]:
        """The variants that demote to the paper's register count."""
        return tuple(v for v in self.of("demote") if v.target == self.benchmark.target)

    def demoted(self, rule: str, switches: Iterable[str] = ()) -> Variant | None:
        """The variant at the paper's register count with a rule and these switches on; None if it was declined."""
        on = set(switches)
        return next(
            (
                v
                for v in self.at_target
                if v.rule == rule and {s for s, is_on in v.switches.items() if is_on} == on
            ),
            None,
        )

    def gain(self, variant: Variant | None) -> float | None:
        """How much faster than the original a variant is, in percent; None where a run has no result."""
        if variant is None or variant.problem or self.original.problem:
            return None
        return self.tuning.gain(variant)

    def count(self, variant: Variant | None, *names: str) -> int | None:
        """The sum of counters by dotted names, of a variant or the one with the same text; None where none ended."""
        counters = self.counters.get(variant.same_as or variant.name) if variant else None
        return None if counters is None else sum(_at(counters, name) for name in names)


def fastest(variants: Iterable[Variant]) -> Variant | None:
    """The variant with the fewest cycles, the first of equal ones; None where none ended well or one is missing."""
    ended = [v for v in variants if not v.problem]
    if any(v.cycles is None for v in ended):
        return None
    return min(ended, key=lambda v: v.cycles or 0, default=None)


def _at(counters: RunCounters, name: str) -> int:
    found: Any = counters
    for part in name.split("."):
        found = found[part]
    return int(found)
