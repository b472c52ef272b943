"""What a caller knows beside the text, for passes whose result depends on it: the machine, the launched CTAs.

Passes read no files. A caller that has read a GPU file or a launch file passes the figures in them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from ptxtool.analysis.occupancy.cuda_limits import known_target
from ptxtool.analysis.occupancy.occupancy import HasSm
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.nodes import Function, Module


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


def most_threads(
    kernel: Function,
    given: int,
    launched: CtaSize | None,
    refusal: Callable[[Function, str, str], Exception],
    otherwise: str,
) -> int:
    """The threads of a CTA, at most: what the kernel's head says, else those given by an option, or launched.

    Raises `refusal` of the kernel, what is wrong and what to do, where they are unknown or an option gives too few;
    `otherwise` are the ways out beside an option and a launch.
    """
    bound = block_bound(kernel)
    if bound is not None and 0 < given < bound.threads:
        what = f"threads={given}, but '.{bound.directive.name}' allows {bound.threads}"
        raise refusal(kernel, what, f"give {bound.threads}, or nothing")
    found = bound.threads if bound else given or (launched.threads if launched else 0)
    if not found:
        help = f"give threads=N, the most threads that a CTA will have, or a launch{otherwise}"
        raise refusal(kernel, "the size of its CTAs is unknown", help)
    return found
