"""What is printed about FineReg: the applications of its Tables II and III, and the numbers of its figures, as data.

All of it stands in paper.toml beside this file, with each number's place in the paper. The figures' bars have no
numbers; those that the text prints are here.

Reference: Y. Oh, M. K. Yoon, W. J. Song, W. W. Ro, "FineReg: Fine-Grained Register File Management for Augmenting GPU
Throughput", MICRO 2018.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec


class Application(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of Table II. `samples` are our kernels that stand for it, `launch` is a file in their folders where
    the one that goes with a sample is too small; all but these and `suite` is printed.

    `limit` is what limits the resident CTAs: "S" threads, warps or CTAs, "R" registers or shared memory. `reference` is
    the number by which the table cites the suite. `cycles_to_stall` is Table III's: from a CTA's first issue until all
    of its warps are stalled, on average.
    """

    name: str
    title: str
    limit: Literal["S", "R"]
    reference: int
    suite: str
    samples: tuple[str, ...]
    cycles_to_stall: int
    launch: str = ""


class Comparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much more of something a scheme has than another: percent, the least and the most that agree with the text.

    `depleted` (cycles without room for a CTA's registers) and `pool` (of registers) compare with nothing: `percent` is
    of all cycles, and of the register file. `place` is a section.
    """

    place: str
    measure: Literal["ipc", "ctas", "traffic", "energy", "depleted", "pool"]
    scheme: str
    among: tuple[str, ...]
    percent: tuple[float, float]
    over: str | None = None


class Larger(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Percent of IPC gained with `times` as many resources."""

    resources: tuple[Literal["scheduling", "memory"], ...]
    times: float
    among: tuple[str, ...]
    percent: float


class Split(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A register file split into KB of ACRF and PCRF; its IPC is so many percent below the best split's (None: not
    printed).
    """

    acrf: int
    pcrf: int
    ipc_below_best: float | None = None


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The evaluation. Units stand beside the numbers in paper.toml; pairs are least and most. `machine` is Table I."""

    title: str
    sources: tuple[str, ...]
    gpu: str
    machine: dict[str, float]
    cta_kilobytes: tuple[float, float]
    register_share: float
    registers_used: float
    least_used: float
    used_least: tuple[str, ...]
    best_times_ctas: float
    best_active_share: float
    many_sms: tuple[int, int]
    many_sms_gain: float
    larger_over_finereg: tuple[float, float]
    larger_megabytes: tuple[float, float]
    unified_kilobytes: int
    unified_gain_most: tuple[str, ...]
    comparison: tuple[Comparison, ...]
    larger: tuple[Larger, ...]
    split: tuple[Split, ...]
    application: tuple[Application, ...]

    def applications(self, among: Sequence[str]) -> tuple[Application, ...]:
        """Those that `among` of a comparison names: by name, all, or by limit."""
        return tuple(each for each in self.application if {"all", each.limit, each.name} & set(among))


@cache
def paper() -> Paper:
    """The data."""
    found: Paper = msgspec.toml.decode(Path(__file__).with_name("paper.toml").read_bytes(), type=Paper)
    return found
