"""The public functions: everything the commands do, for programs. `ptxtool` has all of them by name.

Files are read and written here; everything else is done by the layers below, which are imported when a function is
called, so that importing this module is cheap. What is public just as a layer below has it stands in `_HOMES`. Every
function raises `PtxError` for input that cannot be used.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from ptxtool.emit import emit as emit
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.parse import parse as parse

if TYPE_CHECKING:
    from ptxsim.launch_options import (
        LadderKeywords,
        LaunchKeywords,
        LaunchOptions,
        PageKeywords,
        RunKeywords,
    )
    from ptxsim.timing.drive import Progress
    from ptxtool.analysis.compare.difference import Difference
    from ptxtool.analysis.demotion.targets import DemotionTargets
    from ptxtool.analysis.flow.liveness import Liveness
    from ptxtool.analysis.flow.liveness import liveness as liveness
    from ptxtool.analysis.flow.loops import loops as loops
    from ptxtool.analysis.flow.pressure import pressure as pressure
    from ptxtool.analysis.flow.uniformity import uniformity as uniformity
    from ptxtool.analysis.occupancy.cuda_limits import CudaTarget
    from ptxtool.analysis.occupancy.overhead import Storage
    from ptxtool.analysis.occupancy.sharing_plan import Pairs, Percent, SharingPlan
    from ptxtool.analysis.occupancy.switching_plan import SwitchingPlan
    from ptxtool.analysis.occupancy.unified_plan import UnifiedPlan
    from ptxtool.analysis.regalloc.register_need import register_need as register_need
    from ptxtool.analysis.sharing.first_use import first_use as first_use
    from ptxtool.analysis.sharing.shared_use import shared_use as shared_use
    from ptxtool.base.diag import Diagnostic
    from ptxtool.base.diag import PtxError as PtxError
    from ptxtool.cfg.blocks import Cfg
    from ptxtool.cfg.dominance import dominators as dominators
    from ptxtool.cfg.dominance import post_dominators as post_dominators
    from ptxtool.cfg.reconvergence import reconvergence_points as reconvergence_points
    from ptxtool.formats.cuda_sources import CudaSources
    from ptxtool.formats.gate_limits import Limits
    from ptxtool.formats.gpu import Gpu
    from ptxtool.formats.gpu import gpus as gpus
    from ptxtool.formats.launch.launch_file import Launch
    from ptxtool.formats.launch.launch_file import load_launch as load_launch
    from ptxtool.formats.launch.launch_recording import LaunchRecording
    from ptxtool.formats.launch.launch_recording import load_recording as load_recording
    from ptxtool.formats.samples import samples as samples
    from ptxtool.formats.vectors import read_vectors as read_vectors
    from ptxtool.ir.edit import TextEdit as TextEdit
    from ptxtool.ir.nodes import Function, Module
    from ptxtool.isa.forms import Form
    from ptxtool.passes.base import Pass
    from ptxtool.passes.base import PassResult as PassResult
    from ptxtool.passes.base import Remark as Remark
    from ptxtool.passes.own import OwnPass
    from ptxtool.passes.pipeline import RewriteResult
    from ptxtool.passes.syntax import Stage
    from ptxtool.report.pages.resident import CtaTakes
    from ptxtool.report.plots import Chart
    from ptxtool.results.applications import ApplicationRun
    from ptxtool.results.exhibits import Reproduction
    from ptxtool.results.gates import Gate
    from ptxtool.results.kernel_runs import KernelPage, KernelRun, RefusedRun
    from ptxtool.results.outcome import Outcome
    from ptxtool.results.proofs import Proof
    from ptxtool.results.recorded_comparisons import RecordedComparison
    from ptxtool.results.register_counts import RegisterCounts
    from ptxtool.results.run_results import Comparison, Run
    from ptxtool.results.scheme_comparison import SchemeComparison
    from ptxtool.results.sequences import SequenceOutcome, SequenceRun
    from ptxtool.results.sweeps import Configuration as Configuration
    from ptxtool.results.sweeps import SweepResult
    from ptxtool.results.tuning import Tuning
    from ptxtool.sweep.runner import SweepProgress
    from ptxtool.sweep.tuning import TuningMode

_HOMES = {
    "Configuration": "ptxtool.results.sweeps",
    "PassResult": "ptxtool.passes.base",
    "PtxError": "ptxtool.base.diag",
    "Remark": "ptxtool.passes.base",
    "TextEdit": "ptxtool.ir.edit",
    "dominators": "ptxtool.cfg.dominance",
    "gpus": "ptxtool.formats.gpu",
    "first_use": "ptxtool.analysis.sharing.first_use",
    "liveness": "ptxtool.analysis.flow.liveness",
    "load_launch": "ptxtool.formats.launch.launch_file",
    "load_recording": "ptxtool.formats.launch.launch_recording",
    "loops": "ptxtool.analysis.flow.loops",
    "post_dominators": "ptxtool.cfg.dominance",
    "pressure": "ptxtool.analysis.flow.pressure",
    "read_vectors": "ptxtool.formats.vectors",
    "reconvergence_points": "ptxtool.cfg.reconvergence",
    "register_need": "ptxtool.analysis.regalloc.register_need",
    "samples": "ptxtool.formats.samples",
    "shared_use": "ptxtool.analysis.sharing.shared_use",
    "uniformity": "ptxtool.analysis.flow.uniformity",
}
"""Public names of the layers below and their modules, which are imported on first use (a test holds the imports above
to them)."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'ptxtool.api' has no attribute '{name}'")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


# ---- text in, text out


def load(path: str | Path) -> "Module":
    """Read and parse a file, standard input (`-`) or a packaged sample (`sgemm`). Raises E501 and syntax errors."""
    from ptxtool.formats.files import read_input

    name, data = read_input(path)
    return parse(data, name)


def fmt(module: "Module") -> str:
    """The module's text in canonical layout: same statements, same comments, proved. Raises E303 if that is not so."""
    from ptxtool.base.diag import PtxError
    from ptxtool.emit.layout import layout
    from ptxtool.validate.layout import check_only_layout_changed

    text = layout(module)
    if text != module.source.text:
        problems = check_only_layout_changed(module, parse(text, module.source.name))
        if problems:
            raise PtxError(problems)
    return text


def save(module: "Module", path: str | Path) -> None:
    """Write the module's text, all of it or nothing: an existing file is replaced only if that succeeds (E503)."""
    from ptxtool.base.source import Source
    from ptxtool.formats.files import write_output

    write_output(path, Source("", emit(module)).to_bytes())


def check(module: "Module") -> "tuple[Diagnostic, ...]":
    """Errors and warnings about the meaning of the text: every instruction, name, declaration and directive."""
    from ptxtool.sema.module import check_module

    return check_module(module)


def check_recovered(broken: "PtxError") -> "tuple[Diagnostic, ...]":
    """Errors about the meaning of the rest of a text, if `load` or `parse` found errors in instructions only."""
    from ptxtool.parse.broken import SyntaxErrors
    from ptxtool.sema.recovered import check_recovered

    return check_recovered(broken) if isinstance(broken, SyntaxErrors) else ()


def kernel(module: "Module", name: str | None = None) -> "Function":
    """A kernel (or other function with a body) by name; without a name the only kernel. Raises E205, which lists them.

    The name is that of the text, or as much of the C++ name as is unique: "scale", "scale<float>" or
    "lib::scale<float>(float*)" for `_ZN3lib5scaleIfEEvPT_`.
    """
    from ptxtool.ir.kernel_names import kernel_named

    return kernel_named(module, name)


# ---- inspection


def register_counts(
    module: "Module", kernels: "Iterable[Function] | None" = None, *, ptxas: bool = True
) -> "tuple[RegisterCounts, ...]":
    """The registers per thread of kernels, by default of all: `.need`, and `.used` by ptxas if it is installed.

    With `ptxas`, runs it once for the module, for a few seconds at most.
    """
    from ptxtool.external.ptxas import ptxas_usage
    from ptxtool.results.register_counts import register_counts

    run = ptxas_usage(module) if ptxas else None
    chosen = module.kernels.values() if kernels is None else kernels
    return tuple(register_counts(kernel, run) for kernel in chosen)


def cfg(kernel: "Function", interprocedural: bool = False) -> "Cfg":
    """The control flow graph: `.blocks`, `.edges`, and `.graph` for networkx."""
    from ptxtool.cfg.blocks import build

    return build(kernel, interprocedural)


def diff(
    before: "Function",
    after: "Function",
    *,
    exact: bool = False,
    threads: int | None = None,
    registers: tuple[int, int] | None = None,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
) -> "Difference":
    """What changed between two kernels: `.counts`, `.figures`, `.renamed`, `.steps`, `.is_worse("pressure")`.

    Names of registers and labels count only if `exact`. With `threads` per CTA also resident CTAs, at `registers` per
    thread before and after, by default the most live ones. Raises E402 where a CTA does not fit.
    """
    from dataclasses import replace

    from ptxtool.analysis.compare.difference import difference
    from ptxtool.analysis.occupancy.occupancy import occupancy

    found = difference(before, after, exact)
    if threads is None:
        return found
    machine = _machine(gpu)
    if registers is None:
        registers = found.figures[0].live_registers, found.figures[1].live_registers
    resident = [
        occupancy(machine, threads, n, static_scratchpad(kernel))
        for kernel, n in zip((before, after), registers, strict=True)
    ]
    return replace(found, occupancy=(resident[0], resident[1]))


def gate(
    new: "Module",
    old: "Module | None" = None,
    *,
    limits: "Limits | None" = None,
    baseline: "Mapping[str, Mapping[str, int]] | None" = None,
    launch: "Launch | str | Path | None" = None,
    threads: int | None = None,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    ptxas: bool = True,
) -> "Gate":
    """Whether the kernels of a text keep their limits, beside an older text or a baseline: `.is_kept`, `.problems`.

    `baseline` is what `.values()` of an earlier gate was. `threads` per CTA, by default those of the launch, give the
    occupancy; `launch` is simulated with both texts. Without `limits` nothing of registers, occupancy, spills, cycles
    and conflicts may get worse. Raises E205 where a text lacks the launch's kernel, E502
    for a limit on what was not measured.
    """
    from math import prod

    from ptxtool.base.diag import error
    from ptxtool.formats.gate_limits import DEFAULT, NEEDS
    from ptxtool.results.gates import Measured, judged
    from ptxtool.runs.gate_values import simulated_values, static_values

    machine = _machine(gpu)
    job = None if launch is None else _launch(launch)
    if threads is None and job is not None:
        threads = prod(job.block)

    def measured(module: "Module") -> list[Measured]:
        run = None if job is None else kernel(module, job.kernel)
        found: list[Measured] = []
        for counts in register_counts(module, ptxas=ptxas):
            values = static_values(counts.kernel, counts, machine, threads)
            if job is not None and counts.kernel is run:
                values |= simulated_values(simulate(run, job, gpu=machine).result)
            found.append(Measured(counts.kernel, values))
        return found

    before = {} if old is None else {one.kernel.name: one.values for one in measured(old)}
    after = measured(new)
    chosen = limits or DEFAULT
    measures = {name for one in after for name in one.values}
    for name in () if limits is None else limits.measures - measures:
        help = NEEDS.get(name, "leave the limit out")
        raise error("E502", f"a limit on {name}, which was measured of no kernel", help=help)
    return judged(after, {**(baseline or {}), **before}, chosen)


# ---- machines


def gpu(
    name_or_path: "str | Path | Gpu" = DEFAULT_GPU,
    tell: "Callable[[Diagnostic], object] | None" = None,
    *,
    settings: "Iterable[str]" = (),
) -> "Gpu":
    """A machine by the name of a packaged GPU file or by the path of your own, or of a `gpgpusim.config`. Raises E502.

    `tell` is called with every W501: a setting of a GPGPU-Sim file that the simulator does not model. `settings` change
    single keys, such as "sm.count=7", and are added to the machine's name.
    """
    from ptxtool.formats.gpu import machine_of
    from ptxtool.formats.settings import with_settings

    return with_settings(machine_of(name_or_path, tell), settings)


def fitting_gpu(target: str) -> str:
    """The name of the packaged machine that fits texts of a `.target`: the oldest that runs them, or else the newest.

    A text without a target (""), or with an unknown one, has the machine that is the default everywhere.
    """
    from ptxtool.formats.gpu_names import fitting_gpu

    return fitting_gpu(target)


def occupancy(
    threads: int,
    registers: int,
    scratchpad: int = 0,
    *,
    gpu: "str | Path | Gpu | CudaTarget" = DEFAULT_GPU,
    scratchpad_per_sm: int | None = None,
    share_registers: "Percent" = 0,
    share_scratchpad: "Percent" = 0,
) -> "SharingPlan":
    """The resident CTAs of an SM, what limits them, and the sharing plan.

    `gpu` may also be a compute capability, "sm_90": then the limits are CUDA's. `threads` and `scratchpad` bytes are
    per CTA, `registers` per thread; `scratchpad_per_sm` bytes replace the GPU's.
    Raises E402 where one CTA does not fit or a thread cannot have so many registers, E502 for a percentage outside 0 <=
    P < 100 and for an unknown GPU.
    """
    from ptxtool.analysis.occupancy.cuda_limits import check_registers
    from ptxtool.analysis.occupancy.sharing_plan import sharing_plan

    machine = _limits_of(gpu, scratchpad_per_sm)
    check_registers(_target(machine), registers)
    return sharing_plan(
        machine,
        threads,
        registers,
        scratchpad,
        share_registers=share_registers,
        share_scratchpad=share_scratchpad,
        pairs=_pairs(machine),
    )


def switched_occupancy(
    threads: int,
    registers: int,
    scratchpad: int = 0,
    *,
    scheme: str,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    scratchpad_per_sm: int | None = None,
    live: int | None = None,
) -> "SwitchingPlan":
    """The active and the resident CTAs of an SM under a scheme that switches them, such as "finereg".

    `live`, for "finereg-unified": the most 32-bit registers that are live in a warp, by default `registers`.
    Raises E402 where one CTA does not fit or a thread cannot have so many registers, E502 for another scheme or a
    division of the register file that cannot be.
    """
    from ptxtool.analysis.occupancy.cuda_limits import check_registers
    from ptxtool.analysis.occupancy.register_schemes import scheme_named
    from ptxtool.analysis.occupancy.switching_plan import switching_plan
    from ptxtool.analysis.occupancy.unified_plan import unified_plan
    from ptxtool.base.diag import error

    machine, chosen = _machine(gpu, scratchpad_per_sm), scheme_named(scheme)
    check_registers(machine.target, registers)
    if chosen.extended or chosen.renamed:
        help = "simulate the kernel: the result has the CTAs, and what each took of the registers"
        raise error("E502", f"the CTAs under '{scheme}' depend on the text of a kernel", help=help)
    if chosen.unified:
        if scratchpad_per_sm is not None:
            help = "a kernel divides the bytes of switching.unified_bytes"
            raise error("E502", f"scratchpad_per_sm together with '{scheme}'", help=help)
        machine = machine.divided(unified_plan(machine, chosen, threads, registers, scratchpad, live=live))
    return switching_plan(machine, chosen, threads, registers, scratchpad)


def unified_split(
    threads: int,
    registers: int,
    scratchpad: int = 0,
    *,
    scheme: str = "unified",
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    live: int | None = None,
    grid_ctas: int | None = None,
) -> "UnifiedPlan":
    """How a kernel divides unified memory among registers, shared memory and L1, and how many CTAs are resident.

    `live` is the most 32-bit registers that are live in a warp, by default `registers`; `grid_ctas` the CTAs of the
    grid, by default as many as can be resident. Raises E402 where one CTA does not fit or a thread cannot have so many
    registers, E502 for a scheme or a machine without unified memory.
    """
    from ptxtool.analysis.occupancy.cuda_limits import check_registers
    from ptxtool.analysis.occupancy.register_schemes import scheme_named
    from ptxtool.analysis.occupancy.unified_plan import unified_plan

    machine = _machine(gpu)
    check_registers(machine.target, registers)
    needs = threads, registers, scratchpad
    return unified_plan(machine, scheme_named(scheme), *needs, live=live, grid_ctas=grid_ctas)


def register_curve(
    threads: int,
    scratchpad: int = 0,
    *,
    gpu: "str | Path | Gpu | CudaTarget" = DEFAULT_GPU,
    scratchpad_per_sm: int | None = None,
    share_registers: "Percent" = 0,
    share_scratchpad: "Percent" = 0,
    registers: Iterable[int] | None = None,
) -> "tuple[SharingPlan, ...]":
    """One plan per number of registers per thread, up to the first at which one CTA no longer fits.

    `registers` are by default all that a thread can have, 255 on most GPUs. `gpu` is as for `occupancy`.
    """
    from ptxtool.analysis.occupancy.cuda_limits import most_registers
    from ptxtool.analysis.occupancy.sharing_plan import register_curve

    machine = _limits_of(gpu, scratchpad_per_sm)
    return register_curve(
        machine,
        threads,
        scratchpad,
        share_registers=share_registers,
        share_scratchpad=share_scratchpad,
        pairs=_pairs(machine),
        registers=range(1, most_registers(_target(machine)) + 1) if registers is None else registers,
    )


def demotion_targets(
    threads: int,
    registers: int,
    static_shared: int = 0,
    dynamic_shared: int = 0,
    *,
    gpu: "str | Path | Gpu | CudaTarget" = DEFAULT_GPU,
    scratchpad_per_sm: int | None = None,
) -> "DemotionTargets":
    """The register counts that are worth demoting to: `.before`, `.targets`, and why there are no more, `.end`.

    `threads` and bytes of shared memory are per CTA, `registers` per thread; the rest is as in `occupancy`, and so are
    the errors.
    """
    from ptxtool.analysis.demotion.targets import demotion_targets
    from ptxtool.analysis.occupancy.cuda_limits import check_registers

    machine = _limits_of(gpu, scratchpad_per_sm)
    check_registers(_target(machine), registers)
    return demotion_targets(machine, registers, threads, static_shared, dynamic_shared)


def _limits_of(
    gpu: "str | Path | Gpu | CudaTarget", scratchpad_per_sm: int | None = None
) -> "Gpu | CudaTarget":
    """A machine, or the limits of a compute capability."""
    from ptxtool.analysis.occupancy.cuda_limits import CudaTarget, cuda_target, is_target

    if isinstance(gpu, str) and is_target(gpu):
        gpu = cuda_target(gpu)
    if isinstance(gpu, CudaTarget):
        return gpu if scratchpad_per_sm is None else gpu.with_scratchpad(scratchpad_per_sm)
    return _machine(gpu, scratchpad_per_sm)


def _target(machine: "Gpu | CudaTarget") -> str:
    from ptxtool.formats.gpu import Gpu

    return machine.target if isinstance(machine, Gpu) else machine.name


def _pairs(machine: "Gpu | CudaTarget") -> "Pairs":
    from ptxtool.formats.gpu import Gpu

    return machine.sharing.pairs if isinstance(machine, Gpu) else "fewest"


def static_scratchpad(kernel: "Function") -> int:
    """The scratchpad bytes of a CTA without dynamic ones: shared variables, in PTXPlus also parameters."""
    from ptxsim.lowering.variable_layout import lay_out

    return lay_out(kernel).static_shared_bytes


def isa(opcode: str) -> "list[Form]":
    """The forms of an instruction in the table: "add", or the first parts of a longer opcode such as "cp.async.bulk".

    Raises E203 for an opcode that is not in the table.
    """
    from ptxtool.base.diag import error
    from ptxtool.base.phrases import did_you_mean
    from ptxtool.isa.table import table
    from ptxtool.report.kernels.instructions import forms_of, opcodes

    found = forms_of(table(), opcode)
    if not found:
        help = did_you_mean(opcode, [*opcodes(table()), *table().forms], "'ptxtool isa' lists them")
        raise error("E203", f"unknown instruction '{opcode}'", help=help)
    return found


def overhead(gpu: "str | Path | Gpu" = DEFAULT_GPU, schemes: "Iterable[str]" = ()) -> "tuple[Storage, ...]":
    """The bits of storage that each sharing or register scheme adds to an SM, or each of `schemes`. Raises E502."""
    from ptxtool.analysis.occupancy.scheme_storage import SCHEMES, storage_of

    machine = _machine(gpu)
    return tuple(storage_of(machine, scheme) for scheme in tuple(schemes) or SCHEMES)


def _machine(name_or_path: "str | Path | Gpu", scratchpad_per_sm: int | None = None) -> "Gpu":
    machine = gpu(name_or_path)
    return machine if scratchpad_per_sm is None else machine.with_sm(scratchpad_bytes=scratchpad_per_sm)


# ---- rewriting


def rewrite(
    module: "Module",
    pipeline: "str | Iterable[Pass | Stage]",
    *,
    launch: "Launch | str | Path | None" = None,
    gpu: "str | Path | Gpu | CudaTarget | None" = None,
    announce: "Callable[[str], object] | None" = None,
    progress: "Progress | None" = None,
) -> "RewriteResult":
    """Run passes such as "unroll-decls,reorder-decls:order=text": `.module`, `.remarks`. Raises E301, E302, E303.

    A pass of your own is "FILE.py:CLASS:option=value" in the pipeline, or one of a list of passes (docs/passes.md). Its
    result is compared with the kernel before it by `prove`, if there is a `launch`: raises E305 where it computes
    something else. `announce` and `progress` are those of `prove`. `demote` takes the size of CTAs from
    `launch`, and the limits of an SM from `gpu`, a machine or a compute capability (default: that of `.target`).
    """
    from ptxtool.formats.issue_counts import read_issue_counts
    from ptxtool.passes.pipeline import run
    from ptxtool.passes.syntax import read_stages
    from ptxtool.runs.pass_context import pass_context

    stages = read_stages(pipeline) if isinstance(pipeline, str) else tuple(pipeline)
    given = None if launch is None else _launch(launch)

    def proved(before: "Module", after: "Module") -> "tuple[str, tuple[Diagnostic, ...]]":
        assert given is not None
        proof = prove(before, after, given, announce=announce, progress=progress)
        return proof.summary, proof.problems

    context = pass_context(module, given, None if gpu is None else _limits_of(gpu))
    return run(module, stages, read_issue_counts, proved if given else None, context)


def prove(
    before: "Module",
    after: "Module",
    launch: "Launch | str | Path",
    *,
    kernel: str | None = None,
    random: int = 0,
    seed: int = 0,
    rtol: float = 0.0,
    atol: float = 0.0,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    announce: "Callable[[str], object] | None" = None,
    progress: "Progress | None" = None,
) -> "Proof":
    """Run a text before and after it was rewritten and compare the memory: `.problems` has an E305 where it differs.

    Both run with a launch file's inputs, then `random` times with random ones in their shape, from `seed` on; each time
    without time and with time. Elements must have the same bits; floats may differ by `atol + rtol * abs(before)`.
    `kernel` names the kernel (default: the launch's, or the only one). `announce` is called before each run.

    Raises what the original raises with the launch's inputs: E205, E401 and the like.
    """
    from ptxtool.runs.proof import ProofOptions
    from ptxtool.runs.proof import prove as run_both

    options = ProofOptions(
        kernel, random, seed, rtol, atol, _machine(gpu), announce=announce, progress=progress
    )
    return run_both(before, after, _launch(launch), _kernel_named, options)


# ---- live-register vectors


def write_vectors(liveness: "Liveness", path: str | Path, form: str = "binary") -> None:
    """Write live-register vectors as "json", "npz", "c" or "binary" (docs/live-vectors.md)."""
    from ptxtool.formats.files import write_output
    from ptxtool.formats.vectors import encode, live_vectors

    write_output(path, encode(live_vectors(liveness), form))


# ---- simulation


def run(
    kernel: "Function",
    launch: "Launch | str | Path",
    *,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[RunKeywords]",
) -> "Outcome":
    """Run a launch file's launch without time: `.buffers` has the results, `.problems` what is wrong with them.

    `ptxsim.LaunchOptions` explains the options; the launch file's inputs, stack and heap take precedence over them.
    For arguments of your own use `ptxsim.run`.
    """
    from ptxsim.launch_options import options_of
    from ptxtool.runs.functional_runs import run_functional

    return run_functional(kernel, _launch(launch), options_of("run", options, changes))


def simulate(
    kernel: "Function",
    launch: "Launch | str | Path",
    *,
    replicas: int = 1,
    announce: "Callable[[str], object] | None" = None,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[LaunchKeywords]",
) -> "Run":
    """Simulate a launch file's launch: `.result` has the counters, `.problems` what is wrong with the results.

    `ptxsim.LaunchOptions` explains the options; without `scheduler` and `registers` they are the launch file's. With
    more than one of `replicas` the launch runs on as many machines that differ in accidents only, and `.replicas` has
    the spread of cycles and thread IPC; `announce` is called before each. For arguments of your own use
    `ptxsim.launch`. Raises E401 for a number of replicas that cannot be.
    """
    from ptxsim.launch_options import options_of
    from ptxtool.runs.launch_runs import run_launch
    from ptxtool.runs.parallel.replicas import replicated

    job, chosen = _launch(launch), options_of("launch", options, changes)
    return replicated(lambda each: run_launch(kernel, job, each), chosen, replicas, announce, jobs=None)


def run_application(
    command: Sequence[str],
    *,
    gpu: "str | Path | Gpu | None" = None,
    timed: bool = False,
    options: "LaunchOptions | None" = None,
    memory_bytes: int = 1 << 30,
    target: int | None = None,
    passes: str = "",
    record: "str | Path | None" = None,
    record_launches: str | None = None,
    sim_launches: str | None = None,
    tell: "Callable[[Diagnostic | str], object]" = print,
) -> "ApplicationRun":
    """Run a CUDA application with the simulator for its GPU (docs/exec.md): `.launches`, `.kernels`, `.status`.

    `command` is the program and its arguments; `timed` simulates launches with time. `options` are those of every
    launch: of `ptxsim.run`, or of `ptxsim.launch`. `memory_bytes` is the device's memory, a multiple of 4096; `target`
    75 gives it compute capability 7.5. `passes` is a pipeline, as that of `rewrite`, for every kernel before it runs; a
    kernel that a pass refuses runs as it is (`.rewritten`). `record` is a new folder for launch files of its launches:
    of all, or of `record_launches` ("3,7-9", "every:10", "first:2"). `sim_launches` simulates such a choice alone, or
    "similar": launches that are alike stand for one another; the cycles of the others are estimated. `tell` is called
    with each diagnostic and note while it runs. Raises E302 for a wrong pipeline, E501 for a command that cannot be
    run, E502 without a C compiler, for an unknown GPU and a choice of launches that is none, E503 where nothing can be
    recorded.
    """
    from ptxsim.launch_options import LaunchOptions
    from ptxtool.applications.exec import run_application
    from ptxtool.applications.launch_choice import ALL, launch_choice
    from ptxtool.applications.recording import Recorder
    from ptxtool.applications.reporter import Reporter
    from ptxtool.applications.sampling import Sampling
    from ptxtool.applications.settings import Settings

    machine = _machine(DEFAULT_GPU if gpu is None else gpu)
    timed = timed or sim_launches is not None
    is_chosen = timed or gpu is not None
    settings = Settings(machine, options or LaunchOptions(), timed, is_chosen, memory_bytes, target, passes)
    reporter = Reporter(tell)
    if sim_launches is not None:
        reporter.sampling = Sampling.of(sim_launches, machine)
    if record is not None:
        choice = ALL if record_launches is None else launch_choice(record_launches)
        reporter.recorder = Recorder(Path(record), command, tell, reporter.problem, choice)
    return run_application(command, settings, reporter)


def run_sequence(
    module: "Module",
    launch: "Launch | str | Path",
    *,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[RunKeywords]",
) -> "SequenceOutcome":
    """Run a launch file's list of launches without time, each on the memory that the one before it left.

    `.steps` has a summary of each, `.buffers` the final contents, `.problems` what is wrong. Options: as `run`.
    """
    from ptxsim.launch_options import options_of
    from ptxtool.runs.launch_lists import run_sequence

    return run_sequence(
        lambda name: kernel(module, name), _launch(launch), options_of("run", options, changes)
    )


def simulate_sequence(
    module: "Module",
    launch: "Launch | str | Path",
    *,
    replicas: int = 1,
    announce: "Callable[[str], None] | None" = None,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[LaunchKeywords]",
) -> "SequenceRun":
    """Simulate a launch file's list of launches on one machine, which keeps memory, caches and open DRAM rows.

    `.results` has the counters of each launch, `.totals` the sums (GPGPU-Sim's `gpu_tot_*`), `.problems` what is wrong.
    Options are those of `simulate`, `replicas` too; `max_cycles` is for all together. `announce` is called before each
    launch with its number and kernel. For arguments of your own: `ptxsim.Machine`.
    """
    from ptxsim.launch_options import options_of
    from ptxtool.runs.launch_lists import simulate_sequence
    from ptxtool.runs.parallel.replicas import replicated

    job, chosen = _launch(launch), options_of("launch", options, changes)

    def run(each: "LaunchOptions") -> "SequenceRun":
        return simulate_sequence(lambda name: kernel(module, name), job, each, announce)

    return replicated(run, chosen, replicas)


def run_recording(
    recording: "LaunchRecording",
    *,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[RunKeywords]",
) -> "SequenceOutcome":
    """Run the launches that `exec --record` wrote, without time, each on the memory that it had in the application.

    `recording` is what `load_recording` returns. The result and the options are those of `run_sequence`.
    """
    from ptxsim.launch_options import options_of
    from ptxtool.runs.recorded_launches import run_recording

    return run_recording(recording, options_of("run", options, changes))


def simulate_recording(
    recording: "LaunchRecording",
    *,
    replicas: int = 1,
    announce: "Callable[[str], None] | None" = None,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[LaunchKeywords]",
) -> "SequenceRun":
    """Simulate the launches that `exec --record` wrote on one machine: with the caches that the application found.

    `recording` is what `load_recording` returns. The result and the options are those of `simulate_sequence`.
    """
    from ptxsim.launch_options import options_of
    from ptxtool.runs.parallel.replicas import replicated
    from ptxtool.runs.recorded_launches import simulate_recording

    chosen = options_of("launch", options, changes)
    return replicated(lambda each: simulate_recording(recording, each, announce), chosen, replicas)


def page(
    kernel: "Function",
    launch: "Launch | str | Path | None" = None,
    *,
    runs: Iterable[str] = (),
    gpu: "str | Path | Gpu | CudaTarget | None" = None,
    threads: int | None = None,
    sources: "CudaSources | None" = None,
    ptxas: bool = True,
    announce: "Callable[[str], object] | None" = None,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[PageKeywords]",
) -> "KernelPage":
    """A page of a kernel to look at (docs/page.md): `.html` is one self-contained file, `.runs` the runs it shows,
    `.refused` those that a pass or the machine declined, with the reason.

    With `launch` the kernel is simulated, with the options of `simulate`, and once more for each of `runs`:
    "scheme=finereg", "gpu=gtx480,scheduler=gto", "passes=allocate:max-regs=20". Without, `threads` are those of a CTA,
    for occupancy, if the kernel's head does not fix them, and `gpu` may be a compute capability. `sources` has the
    lines of CUDA sources. With `ptxas`, asks it for its registers. `announce` is called before each run with its name.

    Raises E502 for runs that cannot be, for runs without `launch`, and what passes and the simulator raise.
    """
    from dataclasses import replace

    from ptxtool.base.diag import error
    from ptxtool.report.pages.kernel_page import KernelView, kernel_data, kernel_page
    from ptxtool.results.kernel_runs import KernelPage
    from ptxtool.runs.kernel_runs import read_change, run_kernel

    described = [read_change(each) for each in runs]
    found: tuple[KernelRun, ...] = ()
    refused: tuple[RefusedRun, ...] = ()
    if launch is not None:
        from ptxsim.launch_options import options_of
        from ptxtool.formats.launch.launch_steps import only_one

        job, chosen = only_one(_launch(launch)), options_of("launch", options, changes)
        simulated = _simulated(chosen.gpu if gpu is None else gpu)

        def rewritten(module: "Module", passes: str) -> "Module":
            return rewrite(module, passes, launch=job, gpu=simulated).module

        options = replace(chosen, gpu=simulated)
        found, refused = run_kernel(kernel, job, options, described, rewritten, announce)
        machine: Gpu | CudaTarget = simulated
    elif described:
        raise error("E502", "runs need a launch", help="give a launch file, or --grid, --block and --arg")
    else:
        machine = _limits_of(DEFAULT_GPU if gpu is None else gpu)
    (counts,) = register_counts(kernel.module, [kernel], ptxas=ptxas)
    takes = _cta_takes(kernel, counts, threads, found[0].run if found else None)
    view = KernelView(kernel, machine, counts, takes, check(kernel.module), found, refused, sources)
    data = kernel_data(view)
    return KernelPage(kernel_page(data), data, found, refused)


def _simulated(gpu: "str | Path | Gpu | CudaTarget") -> "Gpu":
    """The machine of a simulation. Raises E502 for a compute capability."""
    from ptxtool.base.diag import error
    from ptxtool.formats.gpu import Gpu

    found = _limits_of(gpu)
    if isinstance(found, Gpu):
        return found
    help = f"name a machine, such as {DEFAULT_GPU} ('ptxtool gpus' lists them), or give no launch"
    raise error("E502", f"'{found.name}' is a compute capability, which cannot be simulated", help=help)


def _cta_takes(
    kernel: "Function", counts: "RegisterCounts", threads: int | None, run: "Run | None"
) -> "CtaTakes | None":
    """What a CTA takes of an SM, as it ran or as the text has it; None where the threads or registers are unknown."""
    from ptxtool.analysis.flow.pressure import pressure
    from ptxtool.analysis.regalloc.register_need import registers_per_thread
    from ptxtool.ir.blocks import block_bound
    from ptxtool.report.pages.resident import CtaTakes

    static, live = static_scratchpad(kernel), pressure(kernel).maximum
    if run is not None:
        result, source = run.result, "as it ran"
        return CtaTakes(prod(result.block), result.registers, source, result.scratchpad_bytes, static, live)
    bound = block_bound(kernel)
    threads = threads or (bound.threads if bound else None)
    if threads is None or counts.need is None:
        return None
    registers, source = counts.need.registers, "what allocate needs"
    if kernel.module.is_ptxplus:
        registers, source = registers_per_thread(kernel), "as declared"
    return CtaTakes(threads, registers, source, static, static, live)


def compare(
    kernel: "Function",
    launch: "Launch | str | Path",
    *,
    gpu: "str | Path | Gpu | None" = None,
    share_registers: "Percent | None" = None,
    share_scratchpad: "Percent | None" = None,
    release: bool = False,
    passes: str = "",
    replicas: int = 1,
    jobs: int | None = None,
    announce: "Callable[[str], None] | None" = None,
    options: "LaunchOptions | None" = None,
    **changes: "Unpack[LadderKeywords]",
) -> "Comparison":
    """Run the papers' ladder of schemes: `.rungs`, `.gain(rung)`, `.problems`.

    Registers are shared, by 90% if no percentage is given, or scratchpad; `release` adds a rung that releases locks
    early, `passes` one with a pipeline after that of the rung before. Options are those of `simulate`, `gpu` is one of
    them; `scheduler` is for all rungs without owner warps first. With `replicas` (see `simulate`) `.gains(rung)` has
    the spread of a gain. `jobs` rungs run at a time, in threads, by default one for each CPU; their number changes no
    result. `announce` is called with each rung's name when it is the first that has not ended.
    """
    from dataclasses import replace

    from ptxsim.launch_options import options_of
    from ptxtool.runs.ladder import ladder

    chosen = options_of("launch", options, changes)
    return ladder(
        kernel,
        _launch(launch),
        chosen if gpu is None else replace(chosen, gpu=gpu),
        share_registers=share_registers if share_registers is not None else chosen.share_registers or None,
        share_scratchpad=share_scratchpad
        if share_scratchpad is not None
        else chosen.share_scratchpad or None,
        release=release,
        passes=passes,
        replicas=replicas,
        jobs=jobs,
        announce=announce,
    )


def compare_schemes(
    kernel: "Function",
    launch: "Launch | str | Path",
    schemes: "Iterable[str]" = ("all",),
    *,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    scheduler: str | None = None,
    passes: str = "",
    registers: int | None = None,
    ptxplus_semantics: str = "hardware",
    jobs: int | None = None,
    progress: "Callable[[SweepProgress], object] | None" = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> "SchemeComparison":
    """Simulate a launch under register schemes and without one: `.runs`, `.change(run, "cycles")`, `.problems`.

    `schemes` are names, "all" for every one there is (docs/switching.md). All run the kernel after `passes`. A text
    that a scheme needs is made; a scheme that cannot run the kernel is a run with the reason. The other options are
    those of `simulate` and `sweep`.

    Raises E502 for an unknown scheme and for a list of launches, and what `sweep` raises.
    """
    from ptxtool.sweep.scheme_comparison import ComparisonOptions
    from ptxtool.sweep.scheme_comparison import compare_schemes as compare

    options = ComparisonOptions(
        scheduler or "", passes, registers, ptxplus_semantics, jobs, progress, on_interrupt
    )
    return compare(kernel, _launch(launch), _machine(gpu), schemes, _kernel_named, options)


def compare_recording(
    recording: "LaunchRecording",
    *,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    share_registers: "Percent | None" = None,
    share_scratchpad: "Percent | None" = None,
    release: bool = False,
    passes: str = "",
    replicas: int = 1,
    jobs: int | None = None,
    announce: "Callable[[str], None] | None" = None,
    **changes: "Unpack[LadderKeywords]",
) -> "RecordedComparison":
    """Run the ladder for every launch that `exec --record` wrote: `.launches`, `.totals`, `.problems`.

    `recording` is what `load_recording` returns; each launch is compared by itself. The options are those of `compare`;
    `announce` is called with the launch and the rung. What a pass or the simulator refuses in a launch is part of the
    result. Raises E501 and E502.
    """
    from ptxtool.runs.recorded_comparisons import compare_launches

    machine = _machine(gpu)

    def compared(kernel: "Function", launch: "Launch", called: str) -> "Comparison":
        return compare(
            kernel,
            launch,
            gpu=machine,
            share_registers=share_registers,
            share_scratchpad=share_scratchpad,
            release=release,
            passes=passes,
            replicas=replicas,
            jobs=jobs,
            announce=announce and (lambda rung: announce(f"{called}: {rung}")),
            **changes,
        )

    return compare_launches(recording, compared, machine.name)


def compare_recording_schemes(
    recording: "LaunchRecording",
    schemes: "Iterable[str]" = ("all",),
    *,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    scheduler: str | None = None,
    passes: str = "",
    registers: int | None = None,
    ptxplus_semantics: str = "hardware",
    jobs: int | None = None,
    progress: "Callable[[SweepProgress], object] | None" = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> "RecordedComparison":
    """Run every launch that `exec --record` wrote under register schemes: `.launches`, `.totals`, `.problems`.

    The result is that of `compare_recording`, the options are those of `compare_schemes`, `progress` is about one
    launch at a time. Raises E501 and E502.
    """
    from ptxtool.runs.recorded_comparisons import compare_launches
    from ptxtool.sweep.scheme_comparison import ComparisonOptions
    from ptxtool.sweep.scheme_comparison import compare_schemes as compare

    machine, names = _machine(gpu), tuple(schemes)
    options = ComparisonOptions(
        scheduler or "", passes, registers, ptxplus_semantics, jobs, progress, on_interrupt
    )

    def compared(kernel: "Function", launch: "Launch", _: str) -> "SchemeComparison":
        return compare(kernel, launch, machine, names, _kernel_named, options)

    return compare_launches(recording, compared, machine.name)


# ---- sweeps


def tune(
    kernel: "Function",
    launch: "Launch | str | Path | None" = None,
    *,
    gpu: "str | Path | Gpu" = DEFAULT_GPU,
    mode: "TuningMode" = "both",
    best: int = 3,
    threads: int | None = None,
    scheduler: str | None = None,
    store: str | Path | None = None,
    jobs: int | None = None,
    ptxas: bool = True,
    progress: "Callable[[SweepProgress], object] | None" = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    allow_outside: bool = False,
) -> "Tuning":
    """Variants of a kernel with fewer registers: `.variants`, `.chosen`, `.chosen.text`, `.pays` (docs/tuning.md).

    `mode` is "predict", "simulate" (every variant) or "both" (the `best` predicted ones). `launch` is a launch file,
    which "predict" does without where the kernel's head, or `threads`, has the size of its CTAs. With `ptxas`, asks
    ptxas what it spills. The other options are those of `sweep`.

    Raises E301 for recursive calls, E402 where CTAs do not fit or their size is unknown, E501 without a launch to
    simulate, E502 for a list of launches, and what `sweep` raises.
    """
    from ptxtool.sweep.tuning import TuningOptions
    from ptxtool.sweep.tuning import tune as tune_kernel

    options = TuningOptions(
        mode, best, scheduler or "", store, jobs, progress, on_interrupt, allow_outside, ptxas, threads
    )
    given = None if launch is None else _launch(launch)
    return tune_kernel(kernel, given, _machine(gpu), _kernel_named, options)


def sweep(
    runs: "str | Path | Iterable[Configuration]",
    *,
    store: str | Path | None = None,
    name: str | None = None,
    jobs: int | None = None,
    cluster: Any = None,
    own_passes: "Iterable[str | type[Any] | OwnPass]" = (),
    progress: "Callable[[SweepProgress], object] | None" = None,
    on_interrupt: Literal["raise", "return"] = "raise",
    allow_outside: bool = False,
) -> "SweepResult":
    """Simulate many runs, those of a sweep file or a list of `ptxtool.Configuration`: `result["LABEL"]`, `.failed`.

    `store` is a file that keeps the results: stored runs are not repeated (default: the sweep file's; without a file
    they are in memory only). `jobs` processes (default: one per CPU) or a Dask `cluster` (its address, or one of Dask's
    objects) execute them. `own_passes` are classes, or "FILE.py:CLASS", of passes of your own, which pipelines then
    have by their names (docs/passes.md). `progress` is called before the first run and after each. On Ctrl-C the
    exception is raised, or with `on_interrupt="return"` the result so far is returned. With `allow_outside` launch
    files may name files outside their folders.

    Raises all errors in the runs' descriptions before the first run begins, E503 for a store that cannot be written,
    and E504 if the cluster cannot be reached. The errors of a run are in its record.
    """
    from ptxtool.passes.own import own_passes as by_name
    from ptxtool.sweep.runner import run_sweep
    from ptxtool.sweep.spec import read_spec

    own = by_name(own_passes)
    if isinstance(runs, str | Path):
        spec = read_spec(runs, own, allow_outside)
        runs, store, name = spec.configurations, store or spec.store, name or spec.name
    return run_sweep(
        runs,
        kernel,
        own=own,
        store=store,
        name=name or "sweep",
        jobs=jobs,
        cluster=cluster,
        progress=progress,
        on_interrupt=on_interrupt,
        allow_outside=allow_outside,
    )


def reproduce(
    experiment: str,
    *,
    kernels: "Iterable[str]" = (),
    schemes: "Iterable[str]" = (),
    gpus: "Iterable[str]" = (),
    explain: str | None = None,
    recorded: str | Path | None = None,
    store: str | Path | None = None,
    jobs: int | None = None,
    cluster: Any = None,
    progress: "Callable[[SweepProgress], object] | None" = None,
    on_interrupt: Literal["raise", "return"] = "raise",
) -> "Reproduction":
    """Run "register-sharing", "scratchpad-sharing", "regdem", "finereg" or "schemes".

    The result has `.exhibits`, `.findings` and `.failures`.

    `kernels`, `schemes` and `gpus` restrict "schemes" to some of each. `explain` names an application of the first two:
    the experiments that explain its result are run instead. `recorded` is a folder of launches that `exec --record`
    kept of their applications, which are compared, too. The other options are those of `sweep`. Raises what `sweep`
    raises, and E502 for another name.
    """
    from ptxtool.sweep.reproduction.experiments import reproduce
    from ptxtool.sweep.reproduction.register_schemes.matrix import Restriction

    return reproduce(
        experiment,
        kernel,
        Restriction(tuple(kernels), tuple(schemes), tuple(gpus)),
        explain,
        None if recorded is None else Path(recorded),
        store=store,
        jobs=jobs,
        cluster=cluster,
        progress=progress,
        on_interrupt=on_interrupt,
    )


def load_sweep(store: str | Path, name: str | None = None) -> "SweepResult":
    """Read a sweep from a store, by default the latest; nothing is run. Raises E501, E502."""
    from ptxtool.sweep.store import Store

    with Store(store, reading=True) as kept:
        return kept.result(name)


def plot(value: Any) -> "Chart":
    """A chart of a result, for a notebook or `.save("file.svg")`; `.figure` is matplotlib's.

    `value` is what `pressure`, `simulate`, `compare`, `compare_schemes`, `sweep` or `ptxsim.launch` returned. Raises
    E502 for another one, for one without numbers, and without matplotlib.
    """
    from ptxtool.report.plots import chart

    return chart(value)


def _kernel_named(module: "Module", name: str | None) -> "Function":
    return kernel(module, name)


def _launch(launch: "Launch | str | Path") -> "Launch":
    from ptxtool.formats.launch.launch_file import load_launch

    return load_launch(launch) if isinstance(launch, str | Path) else launch
