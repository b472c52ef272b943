"""What the resource-sharing papers print: applications, resident CTAs, IPC and gains, as data beside this file.

Each number's place in the papers stands in the TOML files.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016, and the
same authors' Register Sharing.
"""

from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from ptxtool.runs.schemes import Resource


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `change` that turns a cause on or off, and what it `shows` if the `claim` holds.

    `sample` is another sample, `kernel` and `launch` are other files in the sample's folder, `settings` keys of the
    machine; `source_order` leaves the loads where the source has them. The claim is about the row of this `change`
    beside that of `beside`: the application as it is, or another experiment.
    """

    change: str
    shows: str
    claim: Literal[
        "IPC rises",
        "IPC falls",
        "IPC stays",
        "gain rises",
        "gain falls",
        "gain stays",
        "gain changes its sign",
    ]
    sample: str = ""
    kernel: str = ""
    launch: str = ""
    settings: tuple[str, ...] = ()
    source_order: bool = False
    beside: str = "as it is"


class Application(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An application that the resource limits: `sample` is our kernel, the rest is printed.

    `kernel` is the name of the original's kernel, `registers` what a thread of it has, where the papers print it.

    `launch` is a file in the sample's folder, where the one that goes with the sample is not meant; `second` one with
    another grid; `working` one in which the kernel does what it should, where `launch` has faults that the papers'
    simulator had; `as_ptx` one that does the same to PTX, which has no such faults; `experiment` explain its result.
    `gain` is that of the full scheme at 90% over Unshared-LRR, in percent; `ladder` the same of partial schemes,
    where the text names them; `unused_percent` is what no CTA has of the resource. `resident` (CTAs on an SM) and
    `ipc` (thread IPC) are by sharing percentage. `loads_first` are registers: the sample's PTX is lowered within
    these after its loads were put first (`hoist-loads`), as compilers to machine code do; 0: its PTXPlus as it is.
    """

    name: str
    kernel: str
    sample: str
    gain: float
    resident: tuple[int, ...]
    ipc: tuple[float, ...]
    ladder: dict[str, float] = {}
    launch: str = ""
    second: str = ""
    registers: int | None = None
    working: str = ""
    as_ptx: str = ""
    loads_first: int = 0
    unused_percent: float | None = None
    worse_than_double: bool | None = None
    experiment: tuple[Experiment, ...] = ()

    @property
    def second_name(self) -> str:
        """What its runs on the second grid are called."""
        return f"{self.name}, second grid"

    @property
    def working_name(self) -> str:
        """What its runs without the faults are called."""
        return f"{self.name}, working"

    @property
    def as_ptx_name(self) -> str:
        """What its runs as PTX are called."""
        return f"{self.name}, as PTX"

    @property
    def unscheduled_name(self) -> str:
        """What its runs with loads in the order of the source are called."""
        return f"{self.name}, order of the source"


class Unlimited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An application that the resource does not limit (Set-3 of B, Set-2 of A).

    `threads` of a CTA, `registers` of a thread and `limited_by`, of an SM's limits, are those that A prints.
    """

    name: str
    kernel: str
    sample: str
    launch: str = ""
    threads: int | None = None
    registers: int | None = None
    limited_by: Literal["", "threads", "ctas", "scratchpad"] = ""


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the two experiments. `double` are the settings of the machine with twice the resource, `variant_settings`
    those of the other paper's machine, which differs in what `variant` says."""

    title: str
    sources: tuple[str, ...]
    resource: Resource
    gpu: str
    double: tuple[str, ...]
    percents: tuple[int, ...]
    mean_gain: float
    most_over_gto: float
    most_over_two_level: float
    application: tuple[Application, ...]
    unlimited: tuple[Unlimited, ...]
    variant: str = ""
    variant_settings: tuple[str, ...] = ()

    @property
    def full_percent(self) -> int:
        """The sharing percentage of the figures: the last of the tables."""
        return self.percents[-1]


SHARING = ("register-sharing", "scratchpad-sharing")
"""The experiments with a paper."""


@cache
def paper(name: str) -> Paper:
    """That of one of SHARING."""
    text = Path(__file__).with_name(f"{name}.toml").read_bytes()
    found: Paper = msgspec.toml.decode(text, type=Paper)
    return found
