"""The clusters of a launch: their extent, from the launch or the kernel's head, and which CTAs they consist of.

Reference: PTX ISA, sections 11.7 (cluster dimension directives), 10 (special registers); NVIDIA, "CUDA C++ Programming
Guide", thread block clusters: 8 CTAs of a cluster are portable.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ptxsim.base.options import Extent, extent
from ptxsim.base.program import MAX_CLUSTER, Program
from ptxsim.execute.codes import CLUSTER_SHIFT, FIRST_CLUSTER_CODE
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.blocks import numbers
from ptxtool.ir.nodes import Directive, Function
from ptxtool.isa.targets import has

Size = tuple[int, int, int]


@dataclass(frozen=True)
class ClusterLaunch:
    """The clusters of a launch."""

    shape: Size = (1, 1, 1)
    is_explicit: bool = False

    @property
    def size(self) -> int:
        """CTAs of a cluster."""
        return prod(self.shape)

    def is_needed(self, program: Program) -> bool:
        """Whether a run keeps the state of clusters."""
        return self.size > 1 or bool((program.uops["op"] >= FIRST_CLUSTER_CODE).any())

    def ctas(self, cluster: int, grid: Sequence[int]) -> list[int]:
        """The numbers in the grid of a cluster's CTAs, by rank."""
        (a, b, c), (columns, rows, _) = self.shape, (int(n) for n in grid)
        across, down = columns // a, rows // b
        x, y, z = cluster % across * a, cluster // across % down * b, cluster // (across * down) * c
        return [
            x + i + columns * (y + j + rows * (z + k)) for k in range(c) for j in range(b) for i in range(a)
        ]

    def fill(self, context: Any) -> None:
        """Write it into a context."""
        context["cluster_shape"], context["explicit_cluster"] = self.shape, self.is_explicit


def cluster_of(kernel: Function, cluster: Extent | None, grid: Size, shared_bytes: int) -> ClusterLaunch:
    """The clusters of a launch; `cluster` is what it asks for, None: what the kernel's head says.

    Raises E402 for a cluster that the head or the grid forbids, that has more CTAs than any GPU's, or whose CTAs have
    more shared memory than another CTA can address.
    """
    heads = {d.name: d for d in kernel.directives}
    required = heads.get("reqnctapercluster")
    wanted = None if cluster is None else extent("cluster", cluster)
    if "blocksareclusters" in heads:
        raise _problem(
            kernel, heads["blocksareclusters"], "'.blocksareclusters' is not simulated", "leave it out"
        )
    if required is not None:
        x, y, z = (*numbers(required), 1, 1)[:3]
        if wanted not in (None, (x, y, z)):
            what = f"cluster {wanted} against '.reqnctapercluster {required.text}' of kernel '{kernel.name}'"
            raise _problem(kernel, required, what, f"it takes clusters of {x} x {y} x {z} CTAs and no others")
        wanted = x, y, z
    elif wanted is None and "explicitcluster" in heads:
        what = f"kernel '{kernel.name}' has '.explicitcluster': a launch has to say its clusters"
        raise _problem(kernel, heads["explicitcluster"], what, "give cluster = [2, 1, 1] or the like")
    if wanted is None:
        return ClusterLaunch()
    # guess: as many as the masks of a target have bits
    limit = MAX_CLUSTER if has(kernel.module.target, "107f") else MAX_CLUSTER // 2
    bound = heads.get("maxclusterrank")
    if bound is not None:
        limit = min(limit, *numbers(bound))
    if prod(wanted) > limit:
        what = f"a cluster of {prod(wanted)} CTAs"
        raise _problem(kernel, bound, what, f"kernel '{kernel.name}' has clusters of at most {limit} CTAs")
    if any(n % size for n, size in zip(grid, wanted, strict=True)):
        what = f"grid {grid} in clusters of {wanted}"
        raise _problem(kernel, None, what, "each extent of the grid is a multiple of the cluster's")
    if shared_bytes > 1 << CLUSTER_SHIFT and prod(wanted) > 1:
        what = f"{shared_bytes} bytes of shared memory in each CTA of a cluster"
        raise _problem(kernel, None, what, f"at most {1 << CLUSTER_SHIFT} can be addressed by the others")
    return ClusterLaunch(wanted, True)


def _problem(kernel: Function, directive: Directive | None, what: str, help: str) -> PtxError:
    start, end = (directive.start, directive.end) if directive else (kernel.start, kernel.body_start)
    return error("E402", what, kernel.source, start, end, help)
