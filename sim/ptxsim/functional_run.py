"""`run`: what a kernel computes, without time: as `launch`, but CTAs run one after the other and nothing is counted
but instructions.

Buffers are numpy arrays and are updated in place. The launch is run by `functional/interpreter.py`; what cannot be run
is said before the first instruction.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ptxsim.base.options import (
    HEAP_BYTES,
    MAX_SHARED,
    STACK_BYTES,
    Extent,
    check_kernel,
    check_limits,
    check_names,
    check_sequence,
    extent,
    whole,
)
from ptxsim.functional import interpreter as functional
from ptxsim.functional.interpreter import FunctionalResult
from ptxsim.functional.tracing import Trace
from ptxsim.timing.machine_state import MachineState
from ptxtool.base.diag import error
from ptxtool.ir.nodes import Function

__all__ = ["FunctionalResult", "run"]

MAX_THREADS = 1024


def run(
    kernel: Function,
    grid: Extent,
    block: Extent,
    args: Sequence[Any] = (),
    dynamic_shared: int = 0,
    constants: Mapping[str, Any] | None = None,
    *,
    textures: Mapping[str, Any] | None = None,
    check: Collection[str] = (),
    undefined: Sequence[Any] = (),
    max_instructions: int | None = None,
    output: Callable[[str], object] | None = None,
    trace: Trace | None = None,
    ptxplus_semantics: str = "hardware",
    names: Sequence[str] = (),
    stack_bytes: int = STACK_BYTES,
    heap_bytes: int = HEAP_BYTES,
    _state: MachineState | None = None,
) -> FunctionalResult:
    """Run a kernel over a grid of CTAs; arrays in `args` are updated in place. (For several in a row: `Machine`.)

    `grid` and `block` are a number or up to three (x, y, z); `args` are the kernel's parameters in order: numpy arrays
    for pointers (C-contiguous; updated in place), numbers for scalars. `dynamic_shared` is in bytes; `constants` fills
    module variables by name, `textures` gives its textures, samplers and surfaces (handles among the parameters
    take a `Texture`, `Sampler` or `Surface`). `max_instructions` gives a CTA up after so many warp instructions. What
    the kernel prints is in the result's `printed`; `output` is called with pieces of it as they come.

    `check` names what to look for on the way: "memory" (bad accesses; the run goes on without them), "init" (registers,
    shared and local memory, and the buffers among `undefined`, read before they are written), "races" (between threads
    of a CTA, on shared memory), "barriers" (that only a part of a warp reaches); "all" is all of them. The result's
    `problems` are diagnostics. `trace` selects instructions and is called with each as it executes
    (`ptxsim.functional.tracing`). `ptxplus_semantics="gpgpu-sim"` gives PTXPlus the meaning it has in GPGPU-Sim
    (docs/ptxplus-semantics.md). A thread has `stack_bytes` for recursion beyond its longest chain of functions, and as
    many for `alloca`; `malloc` has `heap_bytes`. `names` is what reports call the arguments, one for each (default: the
    names of the parameters).

    Raises `PtxError`: E401 wrong arguments, E402 a CTA that fits no machine, E403 an instruction that cannot be
    run (before the first one), E404/E405 a bad memory access, E406 a barrier that can never complete, E408 after
    `max_instructions`, E413 a failed assertion, E414 a trap, E415 a stack overflow,
    E502 for a check or semantics that do not exist.
    """
    check_kernel(kernel)
    grid3, block3 = extent("grid", grid), extent("block", block)
    whole("dynamic_shared", dynamic_shared, 0)
    if max_instructions is not None:
        whole("max_instructions", max_instructions, 1)
    check_sequence(args)
    check_names(names, args)
    check_limits(stack_bytes, heap_bytes)
    threads = block3[0] * block3[1] * block3[2]
    for what, amount, most in (
        ("threads in a block", threads, MAX_THREADS),
        ("bytes of dynamic shared memory", dynamic_shared, MAX_SHARED),
    ):
        if amount > most:
            raise error(
                "E402",
                f"{amount} {what}",
                kernel.source,
                kernel.start,
                kernel.body_start,
                f"at most {most} fit",
            )
    machine: dict[str, Any] = {}
    if _state is not None:
        program = _state.program(kernel, block3, ptxplus_semantics, stack_bytes)
        machine = {"gpu": _state.gpu, "program": program, "device": _state.device}
    return functional.run(
        kernel,
        grid3,
        block3,
        args,
        constants=constants,
        textures=textures,
        dynamic_shared=dynamic_shared,
        limit=max_instructions or functional.LIMIT,
        check=check,
        undefined=undefined,
        output=output,
        trace=trace,
        ptxplus_semantics=ptxplus_semantics,
        names=names,
        stack_bytes=stack_bytes,
        heap_bytes=heap_bytes,
        **machine,
    )
