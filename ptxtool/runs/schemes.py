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

    `passes` may contain `registers=run`: the registers per thread of the launch (`run_values.py`).
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
        shared, none = {self.resource: self.percent}, Fraction(0)
        return for_run(
            self.passes, shared.get("registers", none), shared.get("scratchpad", none), lambda: registers
        )


def ladder_schemes(
    resource: Resource,
    percent: Fraction,
    scheduler: "str | Policy" = "lrr",
    owner_first: "str | Policy" = "owf",
    unroll: str = UNROLL,
    release: bool = False,
) -> tuple[Scheme, ...]:
    """The baseline and the optimisations one by one; `release` adds the rung that releases locks early."""
    name = scheduler_name(scheduler)
    shared = Scheme(f"Shared-{name}-NoOpt", scheduler, resource, percent)
    rungs = [Scheme(f"Unshared-{name}", scheduler, resource), shared]
    if resource == "registers":
        unrolled = replace(shared, name=f"Shared-{name}-Unrolled", passes=unroll)
        rungs += [unrolled, replace(unrolled, name=f"{unrolled.name}-Dyn", dynamic=True)]
    full = replace(rungs[-1], name=FULL[resource], scheduler=owner_first)
    rungs.append(full)
    if release:
        rungs.append(with_release(full))
    return tuple(rungs)


def prepared(scheme: Scheme) -> Scheme:
    """The scheme with the passes that `with_release` runs before it places marks: they shorten the use of what is
    shared. Last accesses to scratchpad come earlier, and the registers used at the end of a kernel are private."""
    names = {
        "registers": ("Settled", "split-tail-ranges{{{share},registers=run}}"),
        "scratchpad": ("Hastened", "layout-shared{{{share}}},hoist-last-access{{{share},registers=run}}"),
    }
    return _further(scheme, *names[scheme.resource])


def with_release(scheme: Scheme) -> Scheme:
    """The scheme with release marks, after the passes that allow them to be early."""
    marks = {
        "registers": "release-registers{{{share},registers=run}}",
        "scratchpad": "release-scratchpad{{{share}}}",
    }
    passes = prepared(scheme).passes
    return _further(replace(scheme, passes=passes), "Release", marks[scheme.resource])


def _further(scheme: Scheme, name: str, passes: str) -> Scheme:
    passes = passes.format(share=f"share={_number(scheme.percent)}")
    passes = ",".join(filter(None, (scheme.passes, passes)))
    return replace(scheme, name=f"{scheme.name}-{name}", passes=passes)


def scheduler_name(scheduler: "str | Policy") -> str:
    """The scheduler's part of a scheme's name: LRR, or the function of a user's own policy."""
    text = scheduler if isinstance(scheduler, str) else scheduler.name
    _, own, function = text.rpartition(".py:")
    return function if own else text.upper()


def _number(percent: Fraction) -> str:
    """A percentage as passes read it: a whole number, or a decimal without loss where it has one."""
    return str(percent.numerator) if percent.denominator == 1 else str(float(percent))
