"""`ptxtool occupancy`: resident CTAs, and the sharing plan."""

from dataclasses import asdict, dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import click

from ptxtool import api
from ptxtool.base.diag import PtxError, error
from ptxtool.cli import common
from ptxtool.cli.completion import complete_file
from ptxtool.cli.streams import print_note
from ptxtool.formats.gpu_names import AUTO, DEFAULT_GPU
from ptxtool.ir.blocks import block_bound, threads_problem
from ptxtool.isa.targets import is_older

if TYPE_CHECKING:
    from ptxtool.analysis.occupancy.cuda_limits import CudaTarget
    from ptxtool.formats.gpu import Gpu
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.ir.nodes import Function, Module
    from ptxtool.results.register_counts import RegisterCounts


@click.command()
@click.argument("file", metavar="[FILE]", required=False, shell_complete=complete_file)
@common.one_kernel_option
@common.gpu_or_target_option
@click.option(
    "--registers",
    type=click.IntRange(1),
    metavar="N",
    help="Registers per thread; without them those of the launch file, or as many as 'allocate' needs or PTXPlus "
    "declares; without FILE only --scratchpad, threads and CTAs limit.",
)
@click.option("--block", type=common.cta_threads, metavar="T|X,Y,Z", help="Threads per CTA.")
@click.option(
    "--scratchpad", type=click.IntRange(0), metavar="BYTES", help="Scratchpad (shared memory) per CTA."
)
@click.option(
    "--scratchpad-per-sm",
    type=click.IntRange(1),
    metavar="BYTES",
    help="Scratchpad of an SM, instead of the GPU's.",
)
@common.share_option("registers")
@common.share_option("scratchpad")
@common.scheme_option(
    "The CTAs that are active and resident where these are switched, instead.", common.PLANNED_SCHEMES
)
@click.option("--curve", is_flag=True, help="Resident CTAs over registers per thread.")
@click.option(
    "--demotion",
    is_flag=True,
    help="The registers per thread that are worth demoting to, what that takes and brings, instead.",
)
@common.no_ptxas_option
@common.allow_outside_option
@common.report_options
def command(
    file: str | None,
    kernel: str | None,
    gpu: str | None,
    registers: int | None,
    block: int | None,
    scratchpad: int | None,
    scratchpad_per_sm: int | None,
    scheme: str | None,
    curve: bool,
    demotion: bool,
    no_ptxas: bool,
    sink: common.Sink,
    **shares: Any,
) -> int:
    """Resident CTAs of an SM and what limits them; with --share-..., the sharing plan.

    With FILE, what is not given comes from the file and the launch file beside it: registers per thread and block from
    the launch, scratchpad from the kernel's shared variables. Without a launch, the block is that of '.reqntid', or the
    largest of '.maxntid', and registers are those that 'ptxtool rewrite -p allocate' needs, or those that PTXPlus
    declares. A launch file for another kernel is ignored. With a compute capability as --gpu the limits are CUDA's.
    """
    switched = scheme not in (None, "none")
    is_shared = set(shares.values()) != {"0"}
    if switched and (curve or is_shared):
        raise click.UsageError("--scheme goes with neither --curve nor --share-...: choose one")
    if demotion and (curve or switched or is_shared):
        raise click.UsageError("--demotion goes with none of --curve, --scheme and --share-...: choose one")
    if file is None and kernel is not None:
        raise click.UsageError("--kernel needs FILE")
    if scratchpad_per_sm is not None and (scheme or "").endswith("unified"):
        raise click.UsageError(
            "--scratchpad-per-sm with unified memory: it is --set switching.unified_bytes=BYTES"
        )
    module = None if file is None else common.load_module(file)
    reads_launch = gpu is None or None in (kernel, registers, block, scratchpad)
    beside = common.launch_of(file, needed=block is None) if reads_launch else None
    function = None if module is None else api.kernel(module, kernel or (beside.kernel if beside else None))
    if beside is not None and function is not None and common.of_kernel(beside, function) is not None:
        gpu = gpu or beside.gpu
    name = gpu or (DEFAULT_GPU if module is None else AUTO)
    chosen = _limits(name, switched, None if module is None else module.target)
    settled: _CtaNeeds | None = None
    if module is not None and function is not None:
        settled = _from_file(
            beside, module, function, registers, block, scratchpad, no_ptxas or curve, chosen
        )
        registers, block, scratchpad = settled.registers, settled.block, settled.scratchpad
        _note_newer(settled.kernel.module.target, chosen)
    if block is None:
        raise click.UsageError("--block T is needed: threads per CTA" + (settled.silence if settled else ""))
    if registers is None and not curve and (demotion or scratchpad is None):
        raise click.UsageError("--registers N is needed: registers per thread (or --scratchpad BYTES alone)")
    limits: dict[str, Any] = {"gpu": chosen, "scratchpad_per_sm": scratchpad_per_sm}
    from ptxtool.report.simulations.machines import (
        curve_table,
        demotion_parts,
        plan_parts,
    )

    if curve:
        plans = api.register_curve(block, scratchpad or 0, **limits, **shares)
        curve_data = {"curve": [plan.to_dict() for plan in plans]}
        sink.put(lambda: curve_data, lambda: [curve_table(plans)])
        return 0
    if demotion and registers is not None:
        shared = scratchpad or 0
        static = shared if settled is None else min(shared, settled.static)
        targets = api.demotion_targets(block, registers, static, shared - static, **limits)
        parts = demotion_parts(targets, registers)
        sink.put(targets.to_dict, lambda: parts)
        return 0
    needs = block, registers or 0, scratchpad or 0
    more = settled.to_dict() if settled else {}
    if switched:
        _put_scheme(sink, scheme or "", needs, limits, more, settled.kernel if settled else None)
        return 0
    plan = api.occupancy(*needs, **(limits | shares))
    about = (settled.counts, settled.source) if settled else ()
    sink.put(lambda: plan.to_dict() | more, lambda: plan_parts(plan, *about))
    return 0


def _put_scheme(
    sink: common.Sink,
    scheme: str,
    needs: tuple[int, int, int],
    limits: dict[str, Any],
    more: dict[str, object],
    kernel: "Function | None",
) -> None:
    """Print the CTAs under a register scheme, and the split of unified memory, which may depend on what is live."""
    from ptxtool.analysis.occupancy.register_schemes import scheme_named
    from ptxtool.report.simulations.machines import switching_parts, unified_parts

    parts, split = scheme_named(scheme), None
    if parts.unified:
        live = None
        if parts.switching == "finereg" and kernel is not None:
            live = api.pressure(kernel).maximum
        split = api.unified_split(*needs, scheme=scheme, gpu=limits["gpu"], live=live)
        limits = {"gpu": limits["gpu"].divided(split)}
        more = more | {"limiter": split.limiter, "all_limiters": [split.limiter], "unified": asdict(split)}
        if parts.switching == "none":
            plan = api.occupancy(*needs, **limits)
            sink.put(lambda: plan.to_dict() | more, lambda: unified_parts(plan, split))
            return
        limits["live"] = live
    found = api.switched_occupancy(*needs, scheme=scheme, **limits)
    sink.put(lambda: found.to_dict() | more, lambda: switching_parts(found, split))


@dataclass(frozen=True)
class _CtaNeeds:
    """What a CTA needs, from the command line, the launch file and the kernel.

    The kernel declares `static` bytes of scratchpad. `source` is where the number of registers comes from, `silence`
    why the launch file gives no block.
    """

    registers: int | None
    block: int | None
    scratchpad: int
    static: int
    source: str
    counts: "RegisterCounts"
    silence: str
    kernel: "Function"

    def to_dict(self) -> dict[str, object]:
        return {"registers_from": self.source, "register_counts": self.counts.to_dict()}


def _dynamic(kernel: "Function") -> list[str]:
    """The shared variables of a kernel that are sized by its launch."""
    from ptxtool.analysis.sharing.shared_layout import shared_layout

    return [v.name for v in shared_layout(kernel).variables if not v.size]


def _from_file(
    beside: "Launch | None",
    module: "Module",
    function: "Function",
    registers: int | None,
    block: int | None,
    scratchpad: int | None,
    no_ptxas: bool,
    gpu: "Gpu | CudaTarget",
) -> _CtaNeeds:
    """Fill in missing options from the launch file beside FILE and from the kernel: shared variables, registers."""
    launch = common.of_kernel(beside, function)
    (counts,) = common.register_counts(module, [function], no_ptxas)
    static = api.static_scratchpad(function)
    if scratchpad is None and beside is not None and launch is not None:
        scratchpad = beside.scratchpad
    if scratchpad is None:
        scratchpad = static
        if launch is not None and _counts_dynamic(gpu):
            scratchpad += launch.dynamic_shared
        dynamic = [] if launch is not None else _dynamic(function)
        if dynamic:
            names = " and ".join(f"'{name}'" for name in dynamic)
            print_note(
                f"dynamic shared memory ({names}) is not counted: give all the bytes with --scratchpad"
            )
    source = "from the command line"
    if registers is None and launch is not None and launch.registers is not None:
        registers, source = launch.registers, "from the launch file"
    if registers is None:
        from ptxtool.analysis.occupancy.entry_registers import adjusts_registers, entry_registers

        if adjusts_registers(function) and (at_entry := entry_registers(function)) is not None:
            registers, source = at_entry, "at its entry, as its launch bounds fix them for setmaxnreg"
    if registers is None and module.is_ptxplus:
        from ptxtool.analysis.regalloc.register_need import registers_per_thread  # loads numpy

        registers, source = registers_per_thread(function), "as declared, which a run takes"
    if registers is None:
        if counts.need is None:
            help = "give the registers per thread with --registers N"
            raise error("E301", counts.problem, module.source, function.start, function.body_start, help=help)
        registers, source = counts.need.registers, "what allocate needs"
    if block is None and launch is not None:
        block = prod(launch.block)
    bound = block_bound(function)
    if block is None and bound is not None:
        block = bound.threads
        if not bound.is_exact:
            print_note(
                f"CTAs of {block} threads, the most that '.maxntid' of '{function.name}' allows: --block T"
            )
    problem = None if block is None else threads_problem(function, block)
    if problem is not None:
        raise PtxError([problem])
    silence = "; FILE has no launch file beside it that says so"
    if beside is not None and launch is None:
        silence = f"; '{beside.source.name}' is not for kernel '{function.name}'"
    return _CtaNeeds(registers, block, scratchpad, static, source, counts, silence, function)


def _limits(gpu: str, switched: bool, target: str | None) -> "Gpu | CudaTarget":
    """The machine of --gpu and --set, or the limits of a compute capability, which switch no CTAs."""
    from ptxtool.analysis.occupancy.cuda_limits import is_target

    if switched and is_target(gpu):
        raise click.UsageError("--scheme needs a machine that is simulated, such as --gpu gtx980-finereg")
    return common.limits_of(gpu, target)


def _note_newer(target: str, limits: "Gpu | CudaTarget") -> None:
    """Say so where the file is compiled for a newer GPU than the machine."""
    from ptxtool.formats.gpu import Gpu

    if isinstance(limits, Gpu) and is_older(limits.target, target):
        print_note(
            f"the file is for {target}, {limits.name} is an {limits.target} machine: --gpu {target} has its limits"
        )


def _counts_dynamic(limits: "Gpu | CudaTarget") -> bool:
    """Whether dynamic shared memory limits the resident CTAs, which some of the simulated machines ignore."""
    from ptxtool.formats.gpu import Gpu

    return not isinstance(limits, Gpu) or limits.dispatch.dynamic_scratchpad == "counted"
