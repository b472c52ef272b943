"""One run of a launch file without time: arguments checked, the kernel run, the results compared.

For `run`, as `launch_runs.py` for the commands that simulate.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ptxtool.formats.launch.launch_file import Launch
from ptxtool.ir.nodes import Function
from ptxtool.results.outcome import Buffer, Outcome
from ptxtool.runs.launch_inputs import prepared

if TYPE_CHECKING:
    from ptxsim.functional_run import FunctionalResult
    from ptxsim.launch_options import LaunchOptions


def run_functional(kernel: Function, launch: Launch, options: "LaunchOptions | None" = None) -> Outcome:
    """Run a launch with fresh arguments and compare the results with the expected ones.

    Buffers without contents are undefined to the check "init". Raises E401 where the arguments do not fit the kernel,
    and what `ptxsim.run` raises.
    """
    contents, values, options = prepared(kernel, launch, options)
    import ptxsim
    from ptxsim.sanitizer.prepare import check_names

    undefined = [a for i, a in zip(launch.contents, contents, strict=True) if i.undefined]
    result = ptxsim.run(kernel, launch.grid, launch.block, values, options=options, undefined=undefined)
    return Outcome(
        **launched(kernel, launch, result),
        buffers=buffers_of(kernel, launch, contents),
        checked=launch.compared,
        wrong=launch.check(contents),
        looked_for=check_names(options.check),
    )


def buffers_of(kernel: Function, launch: Launch, contents: Sequence[Any]) -> tuple[Buffer, ...]:
    """The buffers of a launch with these contents after it."""
    return tuple(
        Buffer(i.name, i.type, after, changed(i.value, after))
        for k, (i, after) in enumerate(zip(launch.contents, contents, strict=True))
        if isinstance(i.value, np.ndarray) and not _is_by_value(kernel, k)
    )


def _is_by_value(kernel: Function, k: int) -> bool:
    """Whether the k-th array of a launch is a structure among the parameters."""
    return k < len(kernel.parameters) and bool(kernel.parameters[k].declarators[0].dimensions)


def launched(kernel: Function, launch: Launch, result: "FunctionalResult") -> dict[str, Any]:
    """The fields of a `LaunchOutcome`."""
    return {
        "kernel": kernel.name,
        "grid": launch.grid,
        "block": launch.block,
        "warp_instructions": result.warp_instructions,
        "findings": result.problems,
        "lost_findings": result.lost_problems,
        "printed": result.printed,
        "out_of_bounds": result.out_of_bounds,
        "remarks": result.remarks,
    }


def changed(before: np.ndarray, after: np.ndarray) -> int:
    """The number of elements whose bytes differ."""
    width = before.dtype.itemsize
    old, new = (a.reshape(-1).view(np.uint8).reshape(-1, width) for a in (before, after))
    return int((old != new).any(axis=1).sum())
