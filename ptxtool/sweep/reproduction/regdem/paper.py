"""What is printed about RegDem: the nine benchmarks and the means of its evaluation, as data beside this file.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, and the scripts of its release.
"""

from functools import cache
from pathlib import Path

import msgspec


class Benchmark(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark: `sample` is our kernel, written after `origin`; the rest is printed.

    `threads` and `slot_bytes` are of a CTA. `registers` per thread and `occupancy` (resident warps over those that an
    SM can hold) are before and after demotion.
    """

    name: str
    origin: str
    sample: str
    threads: int
    demoted: int
    registers: tuple[int, int]
    slot_bytes: int
    occupancy: tuple[float, float]

    @property
    def target(self) -> int:
        """The registers per thread to demote to."""
        return self.registers[1]


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The evaluation. `mean_gain` and `most_gain` are those of the predictor's choices over the compiler's allocation,
    `predictor_percent` is the speed of these choices relative to an exhaustive search; all in percent.
    """

    title: str
    sources: tuple[str, ...]
    gpu: str
    mean_gain: float
    most_gain: float
    predictor_percent: float
    bank_conflict_percent: float
    benchmark: tuple[Benchmark, ...]


@cache
def paper() -> Paper:
    """The data."""
    found: Paper = msgspec.toml.decode(Path(__file__).with_name("paper.toml").read_bytes(), type=Paper)
    return found
