"""One run of a launch without time: arguments checked and made, the kernel run, the results compared.

For `run`, as `run.py` is for the commands that simulate.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_file import Launch, check_arguments
from ptxtool.formats.launch.launch_steps import only_one
from ptxtool.ir.nodes import Function
from ptxtool.results.outcome import Buffer, Outcome
from ptxtool.runs.texture_arguments import given

if TYPE_CHECKING:
    from ptxsim.functional.tracing import Trace


def run_functional(
    kernel: Function,
    launch: Launch,
    *,
    check: Collection[str] = (),
    max_instructions: int | None = None,
    output: Callable[[str], object] | None = None,
    trace: "Trace | None" = None,
    ptxplus_semantics: str = "hardware",
) -> Outcome:
    """Run a launch with fresh arguments and compare the results with the expected ones.

    What `check` (of `ptxsim.run`) finds are the findings; buffers without contents are the undefined ones.
    `output` is called with what the kernel prints, as it comes; `trace` with chosen instructions.

    Raises E401 where the arguments do not fit the kernel, and what `ptxsim.run` raises.
    """
    problems = check_arguments(only_one(launch), kernel)
    if problems:
        raise PtxError(problems)
    import ptxsim
    from ptxsim.sanitizer.prepare import check_names

    arguments = launch.arguments()
    values, textures = given(launch, arguments)
    result = ptxsim.run(
        kernel,
        launch.grid,
        launch.block,
        values,
        launch.dynamic_shared,
        launch.constants(),
        textures=textures,
        check=check,
        undefined=[a for i, a in zip(launch.inputs, arguments, strict=True) if i.undefined],
        max_instructions=max_instructions,
        output=output,
        trace=trace,
        ptxplus_semantics=ptxplus_semantics,
        names=[i.name for i in launch.inputs],
        **launch.limits,
    )
    buffers = tuple(
        Buffer(i.name, i.type, after, changed(i.value, after))
        for i, after, parameter in zip(launch.inputs, arguments, kernel.parameters, strict=True)
        if isinstance(i.value, np.ndarray) and not parameter.declarators[0].dimensions  # those are by value
    )
    return Outcome(
        kernel.name,
        launch.grid,
        launch.block,
        result.warp_instructions,
        buffers,
        launch.compared,
        tuple(launch.check(arguments)),
        check_names(check),
        result.problems,
        result.lost_problems,
        result.printed,
    )


def changed(before: np.ndarray, after: np.ndarray) -> int:
    """The number of elements whose bytes are others."""
    width = before.dtype.itemsize
    old, new = (a.reshape(-1).view(np.uint8).reshape(-1, width) for a in (before, after))
    return int((old != new).any(axis=1).sum())
