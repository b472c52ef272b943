"""The schemes that the resource-sharing papers compare: scheduler, sharing percentage, passes.

    Unshared-LRR               the kernel as it is, loose round robin
    Shared-LRR-NoOpt           registers shared
    Shared-LRR-Unrolled        ... declarations unrolled and put in order of first use
    Shared-LRR-Unrolled-Dyn    ... dynamic warp execution holds back memory instructions of non-owners
    Shared-OWF-Unrolled-Dyn    ... owner warps first: the full scheme

For scratchpad there is nothing to unroll, and the papers use no dynamic warp execution: Unshared-LRR, Shared-LRR-NoOpt,
Shared-OWF. A last rung may release locks after the last use of what is shared, the papers' future work (for
scratchpad Jatala et al., TACO 2017). Another scheduler may take the place of loose round robin, in the names too.
Reference: V. Jatala, J. Anantpur, A. Karkare, Improving GPU Performance Through Resource Sharing, HPDC 2016,
section VI.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from ptxtool.analysis.occupancy.sharing_plan import percentage_text
from ptxtool.runs.run_values import for_run

if TYPE_CHECKING:
    from ptxsim.timing.schedulers import Policy

Resource = Literal["registers", "scratchpad"]

UNROLL = "unroll-decls,reorder-decls{order=text}"
FULL = {"registers": "Shared-OWF-Unrolled-Dyn", "scratchpad": "Shared-OWF"}
"""The papers' full schemes."""


@dataclass(frozen=True)
class Scheme:
    """A named way to run a kernel; `percent` of `resource` is shared. `settings` change the machine, as `--set` does.

    `passes` may contain `share=run` and `registers=run`: the percentage, and the registers per thread of the launch
    (`run_values.py`).
    """

    name: str
    scheduler: "str | Policy" = "lrr"
    resource: Resource = "registers"
    percent: Fraction = Fraction(0)
    passes: str = ""
    dynamic: bool = False
    settings: tuple[str, ...] = ()

    @property
    def options(self) -> dict[str, Any]:
        """The options of a run for sharing; there is no dynamic warp execution where nothing is shared."""
        if not self.percent:
            return {}
        return {f"share_{self.resource}": self.percent, **({"dynamic": True} if self.dynamic else {})}

    def pipeline(self, registers: int | None) -> str:
        """The passes for a launch with these registers per thread; None: the kernel's own count."""
        shared = {self.resource: percentage_text(self.percent)}
        share_registers, share_scratchpad = shared.get("registers", "0"), shared.get("scratchpad", "0")
        return for_run(self.passes, share_registers, share_scratchpad, lambda: registers)


def ladder_schemes(
    resource: Resource,
    percent: Fraction,
    scheduler: "str | Policy" = "lrr",
    owner_first: "str | Policy" = "owf",
    release: bool = False,
) -> tuple[Scheme, ...]:
    """The baseline and the optimisations one by one; `release` adds the rung that releases locks early."""
    name = scheduler_name(scheduler)
    shared = Scheme(f"Shared-{name}-NoOpt", scheduler, resource, percent)
    rungs = [Scheme(f"Unshared-{name}", scheduler, resource), shared]
    if resource == "registers":
        unrolled = replace(shared, name=f"Shared-{name}-Unrolled", passes=UNROLL)
        rungs += [unrolled, replace(unrolled, name=f"{unrolled.name}-Dyn", dynamic=True)]
    full = replace(rungs[-1], name=FULL[resource], scheduler=owner_first)
    rungs.append(full)
    if release:
        rungs.append(with_release(full))
    return tuple(rungs)


_RELEASE: dict[Resource, tuple[str, str, str]] = {
    "registers": (
        "Settled",
        "split-tail-ranges{share=run,registers=run}",
        "release-registers{share=run,registers=run}",
    ),
    "scratchpad": (
        "Hastened",
        "layout-shared{share=run},hoist-last-access{share=run,registers=run}",
        "release-scratchpad{share=run}",
    ),
}
"""By resource: the passes that shorten the use of what is shared, with a name for them, and the one that places marks.
Last accesses to scratchpad come earlier, and the registers used at the end of a kernel are private."""


def prepared(scheme: Scheme) -> Scheme:
    """The scheme with the passes that `with_release` runs before it places marks."""
    name, passes, _ = _RELEASE[scheme.resource]
    return with_passes(scheme, name, passes)


def with_release(scheme: Scheme) -> Scheme:
    """The scheme with release marks, after the passes that allow them to be early."""
    return with_passes(scheme, "Release", *_RELEASE[scheme.resource][1:])


def with_passes(scheme: Scheme, name: str, *passes: str) -> Scheme:
    """The scheme with further passes, under a name that says so."""
    pipeline = ",".join(filter(None, (scheme.passes, *passes)))
    return replace(scheme, name=f"{scheme.name}-{name}", passes=pipeline)


def scheduler_name(scheduler: "str | Policy") -> str:
    """The scheduler's part of a scheme's name: LRR, or the function of a user's own policy."""
    text = scheduler if isinstance(scheduler, str) else scheduler.name
    _, own, function = text.rpartition(".py:")
    return function if own else text.upper()
