"""How an application runs: the machine, the options of its launches, its memory."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ptxtool.formats.gpu import Gpu

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxtool.passes.syntax import Stage


@dataclass(frozen=True)
class Settings:
    """The choices for one run of an application. Raises E302 for a wrong pipeline, E502 for an unknown check or
    scheduler, and what the file of an own scheduler raises."""

    gpu: Gpu
    options: "LaunchOptions"
    """Of every launch; its dynamic shared memory is the application's."""
    timed: bool = False
    """With the timing model; otherwise a launch only computes."""
    gpu_chosen: bool = False
    """Whether the machine is the user's choice. If not, a run without time is not limited by it."""
    memory_bytes: int = 1 << 30
    """Of device memory."""
    target: int | None = None
    """75 runs the PTX for sm_75 or older, and is the device's compute capability; None: see `Session`."""
    passes: str = ""
    """The pipeline that every kernel goes through before it runs."""
    stages: "tuple[Stage, ...]" = field(init=False, default=())
    """The passes in it."""

    def __post_init__(self) -> None:
        if self.passes:
            from ptxtool.passes.syntax import read_stages

            object.__setattr__(self, "stages", read_stages(self.passes))
        if self.options.check:
            from ptxsim.sanitizer.prepare import check_flags

            check_flags(self.options.check)
        if self.timed and isinstance(self.options.scheduler, str):
            from ptxsim.timing.schedulers import policy

            policy(self.options.scheduler)

    @property
    def hertz(self) -> float:
        """Cycles of a simulated second."""
        return 1e6 * self.gpu.clocks.core_mhz

    @property
    def untimed_options(self) -> "LaunchOptions":
        """Of launches without time among others that are simulated."""
        from ptxsim.launch_options import LaunchOptions

        return LaunchOptions(out_of_bounds=self.options.out_of_bounds)

    @property
    def tracks_writes(self) -> bool:
        """Whether it is known which bytes of device memory were written: for the check of reads of all others."""
        from ptxsim.sanitizer.prepare import check_names

        return "init" in check_names(self.options.check)
