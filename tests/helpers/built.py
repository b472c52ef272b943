"""Launches that are laid out and not run: for tests of what a launch begins with."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ptxsim.lowering.lower import lower
from ptxsim.memory_image.image import MemoryImage
from ptxsim.timing.build import build
from ptxsim.timing.machine_state import MachineState
from ptxsim.timing.simulation import LaunchPlan, Simulation
from ptxtool import parse
from ptxtool.analysis.occupancy.sharing_plan import sharing_plan
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.ir.nodes import Function

GPU = load_gpu("tesla-c2050")


def kernel_of(body: str) -> Function:
    """A kernel of a pointer with these instructions, and 32 registers of a kind."""
    text = f"""
.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{{
	.reg .b32 %r<32>;
	.reg .b64 %l<4>;
	.reg .f64 %d<4>;
	.reg .pred %p<4>;
	{body}
	ret;
}}
"""
    return parse(text, name="k.ptx").kernels["k"]


def built(
    body: str | Function = "",
    *,
    gpu: Gpu = GPU,
    grid: int = 1,
    threads: int = 32,
    registers: int = 16,
    share: int = 0,
    state: MachineState | None = None,
    **plan: Any,
) -> Simulation:
    """The simulation of a launch that has not begun."""
    kernel = kernel_of(body) if isinstance(body, str) else body
    make: Callable[..., Any] = (
        lower if state is None else (lambda k, _, b: state.program(k, b, "hardware", 1024))
    )
    program = make(kernel, gpu, (threads, 1, 1))
    device = None if state is None else state.device
    image = MemoryImage.build(program, kernel, gpu, [np.zeros(64, np.uint32)], device=device)
    sharing = sharing_plan(gpu, threads, registers, share_registers=share, pairs=gpu.sharing.pairs)
    options = LaunchPlan((grid, 1, 1), (threads, 1, 1), sharing, **plan)
    return build(program, image, gpu, options, state)
