"""Which parts of a register scheme are not simulated together with what else of a launch: the one place that says so.

A scheme has up to four parts (`ptxtool/analysis/occupancy/register_schemes.py`); a kernel without marks of extended
registers has no use for a pool of them.
"""

from ptxsim.base.program import Program
from ptxsim.lowering.variable_layout import WORKSPACE_REGISTERS
from ptxsim.timing.simulation import LaunchPlan
from ptxtool.analysis.occupancy.register_schemes import RegisterScheme
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function

SHARING = "sharing of registers or scratchpad"
COPIES = "asynchronous copies"
CALLS = "functions that are called"
CLUSTERS = "clusters"

REFUSED: dict[str, dict[str, str]] = {
    "CTA switching": {
        SHARING: "a CTA that has left the pipeline would keep the locks of its pair",
        COPIES: "the copies on their way are counted by the warp's place in the pipeline",
        CLUSTERS: "a CTA that has left the pipeline would be waited for by those of its cluster",
    },
    "a pool of registers": {
        SHARING: "a warp waits for a lock or for a section, not for both",
        CALLS: "the extended registers of a function are not known where it is called",
        CLUSTERS: "a CTA of a cluster may wait for another one that waits for a section",
    },
    "sharing": {CLUSTERS: "a CTA of a cluster may wait for another one that waits for a lock"},
    "unified memory": {SHARING: "a pair would share what the split gives to each CTA"},
    "release by name": {
        SHARING: "a register of a pair has no warp of its own",
        CALLS: "the registers of a function are not known where it is called",
    },
}
"""By part of a scheme what it is not simulated with, and why."""

ALONE: dict[str, str] = {
    SHARING: "CTA slots are paired for the whole run, of one kernel",
    "a register scheme": "what it keeps of CTAs has the shape of one kernel's",
    CLUSTERS: "the SMs that a cluster needs are not kept for it",
    "'setmaxnreg'": "the registers of a CTA are counted for one kernel",
    "a barrier of the grid": "there is one for all launches, and it needs all SMs",
    "bulk copies": "the copy engine of an SM is that of one kernel",
    "hot spots": "the reasons of a slot are those of one kernel",
    "a timeline": "its tracks are of CTAs of one shape",
}
"""What a launch may not have that runs at the same time as others, and why."""


def check_concurrent(
    kernel: Function, program: Program, plan: LaunchPlan, in_clusters: bool, has_timeline: bool
) -> None:
    """Raise E502, placed at the kernel, for a launch on a stream that has something that is simulated alone only."""
    there = {
        SHARING: plan.sharing.percent > 0,
        "a register scheme": plan.scheme.name != "none",
        CLUSTERS: in_clusters,
        "'setmaxnreg'": plan.entry_registers > 0,
        "a barrier of the grid": any(name in program.layout.launch_rows for name in WORKSPACE_REGISTERS),
        "bulk copies": program.has_bulk_copies,
        "hot spots": plan.hotspots,
        "a timeline": has_timeline,
    }
    for what, why in ALONE.items():
        if there[what]:
            raise error(
                "E502",
                f"'{kernel.name}' on a stream with {what}: not simulated",
                kernel.source,
                kernel.start,
                kernel.body_start,
                help=f"{why}: leave it out, or launch it with Machine.launch, which runs it alone",
            )


def check_combination(
    scheme: RegisterScheme,
    kernel: Function,
    program: Program,
    is_shared: bool,
    has_pool: bool,
    in_clusters: bool = False,
) -> None:
    """Raise E502, placed at the kernel, for a scheme together with something that it excludes.

    `is_shared`: pairs of CTAs share registers or scratchpad; `has_pool`: warps take sections of a pool.
    """
    parts = {
        "CTA switching": scheme.switching != "none",
        "a pool of registers": has_pool,
        "unified memory": scheme.unified,
        "release by name": scheme.renamed,
        "sharing": is_shared,
    }
    there = {
        SHARING: is_shared,
        COPIES: bool(program.instructions["copies"].any()),
        CALLS: len(program.first_registers) > 1,
        CLUSTERS: in_clusters,
    }
    named, way_out = ("", "") if scheme.name == "none" else (f" ({scheme.name})", ' (scheme="none")')
    for part, excluded in REFUSED.items():
        for what, why in excluded.items():
            if parts[part] and there[what]:
                raise error(
                    "E502",
                    f"{part}{named} together with {what}: not simulated",
                    kernel.source,
                    kernel.start,
                    kernel.body_start,
                    help=f"{why}: leave one of the two out{way_out}",
                )
