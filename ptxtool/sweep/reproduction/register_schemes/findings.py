"""What the comparison shows: a line for each scheme on each machine.

Means are geometric. A mean within the noise of `exhibits.NOISE` percent is no gain and no loss, whatever single kernels
do.
"""

import statistics
from collections.abc import Iterator

from ptxtool.results.exhibits import Finding
from ptxtool.sweep.reproduction.register_schemes.exhibits import (
    NOISE,
    Exhibits,
    energy,
    resident_ratio,
    speed,
)
from ptxtool.sweep.reproduction.register_schemes.matrix import Matrix
from ptxtool.sweep.reproduction.verdicts import geometric_mean


def findings(matrix: Matrix, exhibits: Exhibits) -> tuple[Finding, ...]:
    """The answers for the runs that ended."""
    return tuple(
        finding
        for machine in matrix.machines
        for column in matrix.compared
        for finding in _of(exhibits, machine.name, column)
    )


def _of(exhibits: Exhibits, machine: str, column: str) -> Iterator[Finding]:
    speeds = exhibits.changes(machine, column, speed)
    if not speeds:
        return
    energies = exhibits.changes(machine, column, energy)
    residents = statistics.geometric_mean(exhibits.changes(machine, column, resident_ratio).values())
    parts = [
        f"{gain_text(geometric_mean([*speeds.values()]))}, {min(speeds.values()):+.1f} to {max(speeds.values()):+.1f}%",
        f"CTAs x{residents:.2f}",
        f"energy {geometric_mean([*energies.values()]):+.1f}%",
    ]
    yield Finding(f"{column} on {machine}", "; ".join(parts), "", None)


def gain_text(mean: float) -> str:
    """A mean change of speed in percent, as what it is: noise, a gain or a loss."""
    if abs(mean) <= NOISE:
        return f"no result ({mean:+.1f}%)"
    return f"{'gain' if mean > 0 else 'loss'} {mean:+.1f}%"
