"""The ladder of schemes: which resource it shares, its rungs in order, and the comparison of memory bit by bit."""

from pathlib import Path

import numpy as np
import pytest
from scalekernel import INPUTS, LAUNCH, SCALE
from sim_results import sim_result

from ptxsim.launch_options import LaunchOptions
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.parse import parse
from ptxtool.results.run_results import Run
from ptxtool.runs.ladder import _same_memory, ladder

KERNEL = parse(SCALE, "scale.ptx").kernels["scale"]


def read(text: str = LAUNCH) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def unannounced(name: str) -> None:
    raise AssertionError(f"{name} runs")


def test_one_resource_is_shared() -> None:
    with pytest.raises(PtxError, match=r"E502.*registers and scratchpad shared at once"):
        ladder(KERNEL, read(), LaunchOptions(), share_registers=50, share_scratchpad=50, announce=unannounced)


def test_a_list_of_launches_has_no_ladder() -> None:
    launch = read(INPUTS + '[[launch]]\nargs = ["x", "a"]\n')
    with pytest.raises(PtxError, match=r"E502.*a list of 1 launch,"):
        ladder(KERNEL, launch, LaunchOptions(), announce=unannounced)


def test_the_ladder_of_scratchpad() -> None:
    # 20000 bytes of 49152: 2 CTAs fit, and 9152 bytes are left; at 75% a shared CTA takes 5000 more: 1 pair
    announced: list[str] = []
    launch = read("dynamic_shared = 20000\n" + LAUNCH)
    found = ladder(KERNEL, launch, LaunchOptions(), share_scratchpad="75", announce=announced.append)
    assert announced == [rung.name for rung in found.rungs]
    assert announced == ["Unshared-LRR", "Shared-LRR-NoOpt", "Shared-OWF"]
    assert [rung.result.resident_ctas for rung in found.rungs] == [2, 3, 3]
    assert [rung.percent for rung in found.rungs] == [0, 75, 75]
    assert (found.complete, found.problems) == (True, ())


def test_a_rung_with_demoted_registers() -> None:
    """The launch has the size of CTAs, which the text does not."""
    found = ladder(KERNEL, read(), LaunchOptions(), passes="allocate,demote:count=1")
    assert found.rungs[-1].passes.endswith("allocate,demote:count=1")
    assert (found.complete, found.problems) == (True, ())


def run(*arguments: np.ndarray) -> Run:
    return Run(sim_result(), arguments, (), ())


def test_memory_is_the_same_bit_by_bit() -> None:
    nan, zero = np.array([np.nan]), np.array([0.0])
    assert _same_memory(run(nan, zero), run(nan.copy(), zero.copy()))
    assert not _same_memory(run(nan, zero), run(nan, -zero))


def test_a_rung_of_passes() -> None:
    rungs = ladder(KERNEL, read(), LaunchOptions(), passes="allocate:max-regs=8").rungs
    assert rungs[-1].passes == f"{rungs[-2].passes},allocate:max-regs=8"
    assert len(rungs) == len(ladder(KERNEL, read(), LaunchOptions()).rungs) + 1
