"""`run`: what a kernel computes, without time: as if CTAs ran one after the other; only instructions are counted.

Buffers are numpy arrays and are updated in place. The CTAs are run by `functional/interpreter.py`; an instruction that
cannot be run is reported before the first one. Nothing here imports the timing model.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from ptxsim.base.options import MAX_SHARED, SLICE, Extent, all_threads, check_call, extent
from ptxsim.functional.interpreter import LIMIT, FunctionalLaunch
from ptxsim.functional.tracing import Tracer
from ptxsim.launch_options import LaunchOptions, RunKeywords, options_of
from ptxsim.lowering.cluster_launch import cluster_of
from ptxsim.lowering.lower import lower
from ptxsim.lowering.variable_layout import AT_BEGINNING
from ptxsim.memory_image.faults import tolerated
from ptxsim.memory_image.fixed_memory import device_of
from ptxsim.memory_image.image import MemoryImage
from ptxsim.memory_image.printing import Printer
from ptxsim.sanitizer.prepare import Checks, check_flags
from ptxsim.sanitizer.reports import diagnostics
from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.formats.gpu import machine_of
from ptxtool.ir.nodes import Function

if TYPE_CHECKING:
    from ptxsim.timing.machine_state import MachineState

MAX_THREADS = 1024


@dataclass(frozen=True)
class FunctionalResult:
    """The counts of a run without time."""

    ctas: int
    warp_instructions: int
    problems: tuple[Diagnostic, ...] = ()
    """What the checks found."""
    lost_problems: int = 0
    """Findings for which there was no room."""
    printed: str = field(default="", repr=False)
    out_of_bounds: int = 0
    """Accesses of threads outside of all buffers, where the launch tolerates them."""
    remarks: tuple[str, ...] = ()
    """On them."""


def run(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any] = (),
    *,
    options: LaunchOptions | None = None,
    **changes: Unpack[RunKeywords],
) -> FunctionalResult:
    """Run a kernel over a grid of CTAs; arrays in `args` are updated in place. (For several in a row: `Machine`.)

    `grid` and `block` are a number or up to three (x, y, z); `args` are the kernel's parameters in order: numpy arrays
    for pointers (C-contiguous; updated in place), numbers for scalars, a `Texture`, `Sampler` or `Surface` for handles.
    `LaunchOptions` explains the options; as keyword arguments they replace those of `options`.

    Raises `PtxError`: E401 wrong arguments, E402 a CTA that fits no machine, E403 an instruction that cannot be
    run (before the first one), E404/E405 a bad memory access, E406 a barrier that can never complete, E408 after
    `max_instructions`, E413 a failed assertion, E414 a trap, E415 a stack overflow,
    E502 for a check or semantics that do not exist.
    """
    return functional_launch(kernel, grid, block, args, options_of("run", options, changes))


def functional_launch(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any],
    options: LaunchOptions,
    state: "MachineState | None" = None,
) -> FunctionalResult:
    """`run`, for a `Machine` too: `state` has its memory."""
    check_call(kernel, args, options.names)
    grid, block = extent("grid", grid), extent("block", block)
    n_threads, n_ctas = prod(block), prod(grid)
    where = kernel.source, kernel.start, kernel.body_start
    for what, amount, most in (
        ("threads in a block", n_threads, MAX_THREADS),
        ("bytes of dynamic shared memory", options.dynamic_shared, MAX_SHARED),
    ):
        if amount > most:
            raise error("E402", f"{amount} {what}", *where, f"a CTA has at most {most}")
    semantics, stack_bytes = options.ptxplus_semantics, options.stack_bytes
    gpu, kept = (machine_of(options.gpu), None) if state is None else (state.gpu, state.device)
    device = device_of(kernel, gpu, options.memory, options.heap_bytes, kept)
    if state is None:
        origin = AT_BEGINNING if device is None else device.origin(kernel.module)
        program = lower(kernel, gpu, block, semantics, stack_bytes, origin, own_rows=bool(options.check))
    else:
        program = state.program(kernel, block, semantics, stack_bytes)
    n_warps = -(-n_threads // 32)
    image = MemoryImage.build(
        program,
        kernel,
        gpu,
        args,
        constants=options.constants,
        textures=options.textures,
        dynamic_shared=options.dynamic_shared,
        warp_slots=n_warps,
        names=options.names,
        heap_bytes=options.heap_bytes,
        device=device,
        tolerant=options.out_of_bounds == "count",
        late=options.asynchronous == "late",
    )
    if len(image.shared_image) > MAX_SHARED:
        declared = len(image.shared_image) - options.dynamic_shared
        what = f"kernel '{kernel.name}' has {declared} bytes of shared memory"
        what += f" and {options.dynamic_shared} dynamic ones" if options.dynamic_shared else ""
        raise error("E402", what, *where, f"a CTA has at most {MAX_SHARED}")
    cluster = cluster_of(kernel, options.cluster, grid, len(image.shared_image))
    cluster.fill(image.context[0])
    if options.trace is not None and cluster.size > 1:
        raise error("E401", "a trace of clusters", *where, "trace a launch without clusters")
    flags = check_flags(options.check)
    about = options.undefined, n_ctas, cluster.size > 1
    checks = Checks.build(kernel, program, image, n_warps, flags, *about)
    printer, tracer = Printer(options.output), None
    if options.trace is not None:
        tracer = Tracer(options.trace, program, image, checks, n_ctas, n_warps)
    limit, slice_length = options.max_instructions or LIMIT, options.slice or SLICE
    sizes = np.array(grid, np.int64), np.array(block, np.int64)
    launch = kernel, program, image, checks, *sizes, limit, slice_length, printer, tracer, cluster
    threads = options.threads if isinstance(options.threads, int) else all_threads()
    try:
        FunctionalLaunch(*launch, threads).run()
    except PtxError as problem:  # what the checks have found before it
        causes = diagnostics(program, image, checks, block, grid, causes_only=True)
        raise PtxError((*causes, *problem.diagnostics)) from None
    image.read_back()
    if options.memory is not None:
        options.memory.read_back(image.device)
    if options.variables is not None:
        options.variables.update(image.variables(program.layout))
    found = diagnostics(program, image, checks, block, grid)
    lost = int(checks.state[0]["lost_reports"])
    counts = n_ctas, int(image.context[0]["cycle"])
    return FunctionalResult(*counts, found, lost, printer.text, *tolerated(program, image))
