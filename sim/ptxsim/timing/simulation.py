"""One timed launch, built and ready to run: its configuration, and the arrays that compiled code works on."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from ptxsim.base import record_pool
from ptxsim.base.program import Program
from ptxsim.base.record_pool import PooledRecords
from ptxsim.memory_image.printing import Printer
from ptxsim.timing.dynamic_execution import Controller, DynamicExecution
from ptxsim.timing.residency.switching_setup import Switcher
from ptxtool.analysis.occupancy.sharing_plan import SharingPlan
from ptxtool.analysis.occupancy.switching_plan import SwitchingPlan
from ptxtool.formats.gpu import Gpu


class Observer(Protocol):
    """What looks at a run while it goes on, such as the recorder of a timeline."""

    def next_stop(self, cycle: int) -> int:
        """The cycle at which the loop has to stop for it, `cycle` at the latest."""

    def take(self) -> None:
        """The loop has stopped."""


@dataclass(frozen=True)
class Configuration:
    """What a run is besides program, memory and machine."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    plan: SharingPlan
    max_cycles: int = 0
    event_skip: bool = True
    lock_as_stall: bool = False
    bank_conflicts: bool = True
    hotspots: bool = False
    dynamic: DynamicExecution | None = None
    switching: SwitchingPlan | None = None


@dataclass
class Simulation:
    """The arrays of one run, kept alive while compiled code holds their addresses."""

    program: Program
    gpu: Gpu
    configuration: Configuration
    run: Any
    sms: Any
    l1s: Any
    memory: Any
    context: Any
    arrays: dict[str, Any]
    records: list[PooledRecords]
    """Of `sms`, and those of `memory` and `l1s` that are of this run alone."""
    printer: Printer = field(default_factory=Printer)
    observer: Observer | None = None
    dynamic: Controller | None = None
    switcher: Switcher | None = None

    @property
    def cycles(self) -> int:
        return int(self.run["cycle"][0])

    def keep_memory(self) -> None:
        """Give back no memory and no caches: they are the next run's."""
        self.records = self.records[:1]

    def give_back(self) -> None:
        """Let launches to come have the records: nothing of the run is looked at any more."""
        self.sms["wheel"][:, : int(self.run["wheel"][0]) + 1] = 0
        for records in self.records:
            record_pool.release(records)
        self.records = []
