"""One timed launch, built and ready to run: its plan, and the arrays that compiled code works on."""

import math
from dataclasses import dataclass, field
from typing import Any, Protocol

from ptxsim.base.pool import record_pool
from ptxsim.base.pool.record_pool import PooledRecords
from ptxsim.base.program import Program
from ptxsim.base.wide_masks import is_wide
from ptxsim.lowering.cluster_launch import ClusterLaunch
from ptxsim.memory_image.printing import Printer
from ptxsim.timing.dynamic_execution import Controller, DynamicExecution
from ptxsim.timing.machine_records import BY_CONTEXT
from ptxsim.timing.residency.schemes.own import OwnScheme
from ptxsim.timing.residency.switching_setup import Switcher
from ptxsim.timing.sharing.renaming_setup import Renamer
from ptxtool.analysis.occupancy.occupancy import Occupancy
from ptxtool.analysis.occupancy.register_schemes import SCHEMES, RegisterScheme
from ptxtool.analysis.occupancy.renaming_plan import RenamingPlan
from ptxtool.analysis.occupancy.section_plan import SectionPlan
from ptxtool.analysis.occupancy.sharing_plan import SharingPlan
from ptxtool.analysis.occupancy.switching_plan import SwitchingPlan
from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan
from ptxtool.formats.gpu import Gpu


class Observer(Protocol):
    """An observer of a run in progress, such as the recorder of a timeline."""

    def next_stop(self, cycle: int) -> int:
        """The cycle at which the loop has to stop for the observer, `cycle` at the latest."""

    def loop_stopped(self) -> None:
        """The loop has stopped."""


@dataclass(frozen=True)
class LaunchPlan:
    """The parameters of a launch besides program, memory and machine."""

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    sharing: SharingPlan
    scheme: RegisterScheme = SCHEMES[0]
    max_cycles: int = 0
    event_skip: bool = True
    lock_as_stall: bool = False
    bank_conflicts: bool = True
    hotspots: bool = False
    entry_registers: int = 0
    """Per thread, where the program has `setmaxnreg` and they are known."""
    dynamic: DynamicExecution | None = None
    switching: SwitchingPlan | None = None
    sections: SectionPlan | None = None
    renaming: RenamingPlan | None = None
    cluster: ClusterLaunch = field(default_factory=ClusterLaunch)
    unified: UnifiedPlan | None = None
    """The split of unified memory, which the machine of the run has."""

    @property
    def warps_per_cta(self) -> int:
        return -(-math.prod(self.block) // 32)

    @property
    def active(self) -> Occupancy | None:
        """The occupancy that a register scheme gives; None: that of `sharing`."""
        if self.switching is not None:
            return self.switching.active
        plan = self.sections or self.renaming
        return plan.occupancy if plan is not None else None


@dataclass
class Simulation:
    """The arrays of one run, kept alive while compiled code holds their addresses."""

    program: Program
    gpu: Gpu
    plan: LaunchPlan
    run: Any
    sms: Any
    l1s: Any
    memory: Any
    context: Any
    arrays: dict[str, Any]
    decide: Any
    """The compiled decision of the register scheme; of `own_scheme`, if that is one of the user's."""
    records: list[PooledRecords]
    """The pooled records of `sms`, and those of `memory` and `l1s` that belong to this run alone."""
    printer: Printer = field(default_factory=Printer)
    observer: Observer | None = None
    dynamic: Controller | None = None
    switcher: Switcher | None = None
    own_scheme: OwnScheme | None = None
    renamer: Renamer | None = None
    members: tuple[Any, ...] = ()
    """The launches that run at the same time (`concurrent/members.py`); none: one launch has the machine to itself."""

    @property
    def is_wide(self) -> bool:
        """Whether its records of SMs are wide."""
        return is_wide(self.sms.dtype)

    @property
    def images(self) -> list[Any]:
        """The memory of each launch."""
        return [member.image for member in self.members] or [self.arrays["image"]]

    @property
    def cycles(self) -> int:
        return int(self.run["cycle"][0])

    @property
    def used_sms(self) -> Any:
        """Indices of the SMs that have run a warp, now or before; all where code of the user's writes in records."""
        return self.records[0].used.indices() if self.records else slice(None)

    def keep_memory(self) -> list[PooledRecords]:
        """Do not recycle memory and caches, which the next run uses: their records."""
        kept, self.records = self.records[1:], self.records[:1]
        return kept

    def recycle(self) -> None:
        """Return the records to the pool for later launches: the state of the run is not read any more."""
        if not self.records:
            return
        used, run = self.used_sms, self.run[0]
        for names, n in ((("wheel", "wakes"), run["wheel"] + 1), (BY_CONTEXT, run["contexts"])):
            for name in names:
                self.sms[name][used, :n] = 0
        for records in self.records:
            record_pool.release(records)
        self.records = []
