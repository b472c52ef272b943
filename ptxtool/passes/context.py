"""What a caller knows beside the text, for passes whose result depends on it: the machine, the launched CTAs.

Passes read no files. A caller that has read a GPU file or a launch file passes the figures in them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ptxtool.analysis.occupancy.cuda_limits import known_target
from ptxtool.analysis.occupancy.occupancy import HasSm
from ptxtool.ir.nodes import Module


class CtaSize(NamedTuple):
    """The largest CTAs that a kernel is launched with: threads, and bytes of dynamic shared memory."""

    threads: int
    dynamic_shared: int = 0


@dataclass(frozen=True)
class PassContext:
    """The machine, None for that of the text's `.target`, and by kernel the CTAs of the launches at hand."""

    gpu: HasSm | None = None
    ctas: Mapping[str, CtaSize] = field(default_factory=dict)

    def machine(self, module: Module) -> HasSm | None:
        """The machine, None where neither the caller nor CUDA's limits of `.target` give one."""
        return self.gpu or known_target(module.target.replace("compute_", "sm_"))
