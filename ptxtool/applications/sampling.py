"""Which launches are simulated with time, and the cycles of the others: `exec --sim-launches`.

Launches are alike when they have the same kernel, grid, block and dynamic shared memory, and numbers of warp
instructions that differ by at most 5%. A launch that is not simulated has the cycles of the one like it that was
simulated last, times the ratio of the two numbers of warp instructions. Where the user chooses by number, and no launch
like it was simulated, the one of the kernel with the nearest number is taken, of the same shape if there is one; the
ratio is then that of the warp instructions of an SM, as a grid of fewer CTAs than SMs leaves some of them idle.

`similar` simulates the first launch of each group of launches alike, the second, which finds caches warm, and the 5th,
14th, 41st and so on (odd and even ones in turn, as programs often alternate between two buffers). Each simulated launch
is compared with what would have been estimated; the last difference of a group is the error of its estimates, and in a
group without any the largest one of the kernel.

Not compared: what else makes launches of equal numbers of instructions differ, such as their memory accesses. The
error shows it.
"""

from dataclasses import dataclass, field, replace
from math import prod

from ptxtool.applications.launch_choice import FORMS, LaunchChoice, launch_choice
from ptxtool.base.diag import PtxError, error
from ptxtool.formats.gpu import Gpu
from ptxtool.results.applications import Launch

SIMILAR = "similar"
_TOLERANCE = 0.05
_Shape = tuple[str, tuple[int, ...], tuple[int, ...], int]


@dataclass
class _Group:
    """Launches alike: the numbers of the one that was simulated last."""

    first_instructions: int
    """Of the first launch."""
    work: float = 0.0
    """Warp instructions of each SM that has a CTA."""
    cycles: int = 0
    launches: int = 1
    next: int = 2
    """The number of the next launch to simulate, among those of the group."""
    error: float | None = None
    """Of the estimate that was compared last, relative to the simulated cycles; None: none was."""

    def distance(self, warp_instructions: int) -> float:
        """From the first launch's number of warp instructions, relative to it."""
        return abs(warp_instructions - self.first_instructions) / max(self.first_instructions, 1)


@dataclass
class Sampling:
    """The choice of the launches to simulate, and what is known of those that were."""

    text: str
    gpu: Gpu
    choice: LaunchChoice | None
    """None: launches that are alike stand for one another."""
    _groups: dict[_Shape, list[_Group]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, gpu: Gpu) -> "Sampling":
        """The choice that a text means. Raises E502."""
        try:
            return cls(text, gpu, None if text == SIMILAR else launch_choice(text))
        except PtxError:
            help = f"give {FORMS}; or {SIMILAR}"
            raise error("E502", f"'{text}' chooses no launches", help=help) from None

    def is_chosen(self, launch: Launch) -> bool | None:
        """Whether to simulate a launch; None: that depends on how many warp instructions it has."""
        if self.choice is not None:
            return launch.number in self.choice
        return None if _shape(launch) in self._groups else True

    def represents(self, launch: Launch) -> bool:
        """Count a launch that was run without time among its group; whether its cycles are estimated. If not, it is to
        be simulated: its group is new, or its turn has come."""
        group = self._alike(launch)
        if group is None:
            return False
        group.launches += 1
        if group.launches < group.next:
            return True
        group.next = 3 * group.next - 1
        return False

    def simulated(self, launch: Launch) -> Launch:
        """Learn from a launch that was simulated; returns it."""
        source, group = self._source(launch), self._alike(launch)
        if group is None:
            group = _Group(launch.warp_instructions)
            self._groups.setdefault(_shape(launch), []).append(group)
        if source is not None:
            group.error = abs(self._scaled(source, launch) - launch.cycles) / max(launch.cycles, 1)
        group.work, group.cycles = self._work(launch), launch.cycles
        return launch

    def estimated(self, launch: Launch) -> Launch:
        """A launch that was run without time, with estimated cycles; as it is where no launch of its kernel was
        simulated so far."""
        source = self._source(launch)
        if source is None:
            return launch
        cycles, hertz = self._scaled(source, launch), 1e6 * self.gpu.clocks.core_mhz
        return replace(launch, cycles=cycles, seconds=cycles / hertz, is_estimated=True)

    def completed(self, launch: Launch) -> Launch:
        """A launch at the end: estimated from later launches where no earlier one could serve, and with its error."""
        if not launch.cycles and not launch.error:
            launch = self.estimated(launch)
        source = self._source(launch) if launch.is_estimated else None
        if source is None:
            return launch
        known = [group.error for group in self._of_kernel(launch) if group.error is not None]
        error = max(known, default=None) if source.error is None else source.error
        return replace(launch, uncertainty=error)

    def _source(self, launch: Launch) -> _Group | None:
        """What the cycles of a launch are estimated from."""
        group = self._alike(launch)
        if group is None and self.choice is not None:
            groups = self._groups.get(_shape(launch)) or self._of_kernel(launch)
            group = min(groups, key=lambda each: each.distance(launch.warp_instructions), default=None)
        return group

    def _scaled(self, source: _Group, launch: Launch) -> int:
        return round(source.cycles * self._work(launch) / max(source.work, 1.0))

    def _work(self, launch: Launch) -> float:
        return launch.warp_instructions / min(prod(launch.grid), self.gpu.sm.count)

    def _of_kernel(self, launch: Launch) -> list[_Group]:
        found = (groups for shape, groups in self._groups.items() if shape[0] == launch.kernel)
        return [group for groups in found for group in groups]

    def _alike(self, launch: Launch) -> _Group | None:
        """The group of a launch: the nearest one within the tolerance."""
        n = launch.warp_instructions
        groups = self._groups.get(_shape(launch), [])
        group = min(groups, key=lambda each: each.distance(n), default=None)
        return group if group is not None and group.distance(n) <= _TOLERANCE else None


def _shape(launch: Launch) -> _Shape:
    return launch.kernel, launch.grid, launch.block, launch.dynamic_shared
