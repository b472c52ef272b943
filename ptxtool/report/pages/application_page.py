"""The page of an application: its kernels, its launches, and of each kernel the longest launch that was simulated."""

from math import prod
from typing import Any

from ptxtool.analysis.flow.pressure import pressure
from ptxtool.base.mangled import shown_name
from ptxtool.formats.gpu import Gpu
from ptxtool.report.pages.kernel_page import SCRIPTS, STYLES, KernelView, kernel_data
from ptxtool.report.pages.page import page
from ptxtool.report.pages.resident import CtaTakes
from ptxtool.report.pages.run_figures import reasons_data
from ptxtool.results.applications import ApplicationRun, MeasuredLaunch
from ptxtool.results.kernel_runs import KernelRun
from ptxtool.results.register_counts import register_counts
from ptxtool.results.run_results import Run

_MOST_LAUNCHES = 5000
"""Launches in the page's list, the first ones."""


def application_page(run: ApplicationRun, machine: Gpu) -> str:
    """The page as HTML."""
    data = {"reasons": reasons_data(), "application": application_data(run, machine)}
    return page(f"{run.command[0]} - ptxtool", STYLES, (*SCRIPTS, "application.js"), data)


def application_data(run: ApplicationRun, machine: Gpu) -> dict[str, Any]:
    """The sums by kernel, the launches, and the view of each kernel that was measured."""
    return {
        **run.to_dict(),
        "kernels": [kernel.to_dict() | {"shown": shown_name(kernel.kernel)} for kernel in run.kernels],
        "launch_list": [
            {
                "number": launch.number,
                "kernel": shown_name(launch.kernel),
                "grid": "x".join(map(str, launch.grid)),
                "block": "x".join(map(str, launch.block)),
                "cycles": launch.cycles,
                "warp_instructions": launch.warp_instructions,
                "seconds": launch.seconds,
                "estimated": launch.is_estimated,
                "error": launch.error,
            }
            for launch in run.launches[:_MOST_LAUNCHES]
        ],
        "measured": {each.kernel.name: _measured(each, machine) for each in run.longest},
        "problems": [str(problem) for problem in run.problems],
    }


def _measured(launch: MeasuredLaunch, machine: Gpu) -> dict[str, Any]:
    """The view of a kernel with its longest launch as the run."""
    result, kernel = launch.result, launch.kernel
    static = max(0, result.scratchpad_bytes - launch.dynamic_shared)
    takes = CtaTakes(
        prod(result.block),
        result.registers,
        "as it ran",
        result.scratchpad_bytes,
        static,
        pressure(kernel).maximum,
    )
    run = KernelRun(f"launch {launch.number}", {}, kernel, Run(result, (), (), ()))
    return kernel_data(KernelView(kernel, machine, register_counts(kernel, None), takes, (), (run,)))
