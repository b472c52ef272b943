"""`run`: what a kernel computes, without time: CTAs run one after the other, and only instructions are counted.

Buffers are numpy arrays and are updated in place. The CTAs are run by `functional/interpreter.py`; an instruction that
cannot be run is reported before the first one. Nothing here imports the timing model.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from ptxsim.base.options import MAX_SHARED, Extent, check_call, extent
from ptxsim.functional import interpreter as functional
from ptxsim.functional.interpreter import FunctionalResult
from ptxsim.launch_options import LaunchOptions, RunKeywords, options_of
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function

if TYPE_CHECKING:
    from ptxsim.timing.machine_state import MachineState

__all__ = ["FunctionalResult", "functional_launch", "run"]

MAX_THREADS = 1024


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
    for what, amount, most in (
        ("threads in a block", block[0] * block[1] * block[2], MAX_THREADS),
        ("bytes of dynamic shared memory", options.dynamic_shared, MAX_SHARED),
    ):
        if amount > most:
            where = kernel.source, kernel.start, kernel.body_start
            raise error("E402", f"{amount} {what}", *where, f"at most {most} fit")
    machine: dict[str, Any] = {}
    if state is not None:
        program = state.program(kernel, block, options.ptxplus_semantics, options.stack_bytes)
        machine = {"gpu": state.gpu, "program": program, "device": state.device}
    return functional.run(
        kernel,
        grid,
        block,
        args,
        constants=options.constants,
        textures=options.textures,
        dynamic_shared=options.dynamic_shared,
        limit=options.max_instructions or functional.LIMIT,
        check=options.check,
        undefined=options.undefined,
        output=options.output,
        trace=options.trace,
        ptxplus_semantics=options.ptxplus_semantics,
        names=options.names,
        stack_bytes=options.stack_bytes,
        heap_bytes=options.heap_bytes,
        **machine,
    )
