"""The CTAs of a cluster in a run without time: every CTA has arrays of its own, and all of them run together.

The first CTA has the arrays of the launch. The others have copies of the context and of the checks, in which the
addresses of what belongs to a CTA (registers, local memory, calls, shadows) are those of copies. Global memory, the
program and the reports are the same for all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxsim.functional.barriers import BARRIER, N_BARRIERS, WARP
from ptxsim.memory_image.heap import aligned
from ptxsim.memory_image.image import MemoryImage
from ptxsim.sanitizer.prepare import Checks


@dataclass(frozen=True)
class Member:
    """What belongs to one CTA."""

    context: Any
    checks: Any
    warps: Any
    barriers: Any
    shared: Any
    of_image: tuple[Any, ...]
    of_checks: tuple[Any, ...]

    @classmethod
    def first(cls, image: MemoryImage, checks: Checks, n_warps: int) -> "Member":
        """The CTA that has the arrays of a launch."""
        shared = aligned(max(256, len(image.shared_image)))
        image.context["shared_memory"] = shared.ctypes.data
        warps, barriers = np.zeros(n_warps, WARP), np.zeros(N_BARRIERS, BARRIER)
        return cls(image.context, checks.state, warps, barriers, shared, image.of_cta, checks.of_cta)

    def another(self) -> "Member":
        """Another CTA of the same cluster."""
        context, of_image = _copied(self.context, (*self.of_image, self.shared))
        checks, of_checks = _copied(self.checks, self.of_checks)
        return Member(
            context, checks, self.warps.copy(), self.barriers.copy(), of_image[-1], of_image[:-1], of_checks
        )

    @property
    def arrays(self) -> tuple[Any, ...]:
        """All that its state consists of, without the checks."""
        return self.warps, self.barriers, self.shared, *self.of_image


def _copied(record: Any, arrays: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """A copy of a record that points to copies of some arrays where it pointed to these."""
    copy, copies = record.copy(), []
    for array in arrays:
        made = aligned(max(1, array.nbytes))[: array.nbytes].view(array.dtype).reshape(array.shape)
        made[...] = array
        copies.append(made)
        start = array.ctypes.data
        for name in record.dtype.names:
            value = record[0][name]
            if record.dtype[name] == np.uint64 and start <= int(value) < start + max(1, array.nbytes):
                copy[0][name] = made.ctypes.data + int(value) - start
    return copy, tuple(copies)
