"""Which launches are simulated with time, and the cycles of the others: `exec --sim-launches`.

Launches are alike when they have the same kernel, grid, block and dynamic shared memory, and numbers of warp
instructions that differ by at most 5%. A launch that is not simulated has the cycles of the one like it that was
simulated last, times the ratio of the two numbers of warp instructions. Where the user chooses by number, and no launch
like it was simulated, the nearest one of the kernel is taken, of the same shape if there is one.

`similar` simulates the first launch of each group of launches alike, and for the error the 4th, 16th, 64th and so on:
each is compared with what would have been estimated.

Not compared: what else makes launches of equal numbers of instructions differ, such as their memory accesses. The
error shows it.
"""

from dataclasses import dataclass, field, replace

from ptxtool.applications.launch_choice import FORMS, LaunchChoice, launch_choice
from ptxtool.base.diag import PtxError, error
from ptxtool.results.applications import Launch

SIMILAR = "similar"
_TOLERANCE = 0.05
_Shape = tuple[str, tuple[int, ...], tuple[int, ...], int]


@dataclass
class _Group:
    """Launches alike: the numbers of the one that was simulated last, and of the first one."""

    first_instructions: int
    warp_instructions: int
    cycles: int
    launches: int = 1

    def distance(self, warp_instructions: int) -> float:
        """From the first launch's number of warp instructions, relative to it."""
        return abs(warp_instructions - self.first_instructions) / max(self.first_instructions, 1)


@dataclass
class Sampling:
    """The choice of the launches to simulate, and what is known of those that were."""

    text: str
    hertz: float
    """Cycles of a simulated second."""
    choice: LaunchChoice | None
    """None: launches that are alike stand for one another."""
    _groups: dict[_Shape, list[_Group]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str, hertz: float) -> "Sampling":
        """The choice that a text means. Raises E502."""
        try:
            return cls(text, hertz, None if text == SIMILAR else launch_choice(text))
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
        return not _is_power_of_4(group.launches)

    def simulated(self, launch: Launch) -> Launch:
        """Learn from a launch that was simulated; the launch with the cycles that would have been estimated."""
        if launch.error or not launch.cycles:
            return launch
        expected = self._expected(launch)
        group = self._alike(launch)
        if group is None:
            group = _Group(launch.warp_instructions, 0, 0)
            self._groups.setdefault(_shape(launch), []).append(group)
        group.warp_instructions, group.cycles = launch.warp_instructions, launch.cycles
        return replace(launch, expected_cycles=expected)

    def estimated(self, launch: Launch) -> Launch:
        """A launch that was run without time, with estimated cycles; as it is where no launch of its kernel was
        simulated so far."""
        cycles = 0 if launch.error or launch.cycles else self._expected(launch)
        if not cycles:
            return launch
        return replace(launch, cycles=cycles, seconds=cycles / self.hertz, is_estimated=True)

    def _expected(self, launch: Launch) -> int:
        """The cycles of a launch, scaled from the nearest one; 0 without any."""
        group = self._alike(launch)
        if group is None and self.choice is not None:
            of_kernel = [found for shape, found in self._groups.items() if shape[0] == launch.kernel]
            groups = self._groups.get(_shape(launch)) or [group for found in of_kernel for group in found]
            group = min(groups, key=lambda each: each.distance(launch.warp_instructions), default=None)
        if group is None:
            return 0
        return round(group.cycles * launch.warp_instructions / max(group.warp_instructions, 1))

    def _alike(self, launch: Launch) -> _Group | None:
        """The group of a launch: the nearest one within the tolerance."""
        n = launch.warp_instructions
        groups = self._groups.get(_shape(launch), [])
        group = min(groups, key=lambda each: each.distance(n), default=None)
        return group if group is not None and group.distance(n) <= _TOLERANCE else None


def _shape(launch: Launch) -> _Shape:
    return launch.kernel, launch.grid, launch.block, launch.dynamic_shared


def _is_power_of_4(number: int) -> bool:
    return number.bit_count() == 1 and number.bit_length() % 2 == 1
