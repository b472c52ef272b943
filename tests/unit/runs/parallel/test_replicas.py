"""Runs on machines that differ in accidents only."""

from dataclasses import replace
from pathlib import Path

import pytest
from scalekernel import LAUNCH, SCALE
from sim_results import sim_result

from ptxsim.launch_options import LaunchOptions
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.source import Source
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.launch.launch_file import parse_launch
from ptxtool.parse import parse
from ptxtool.results.run_results import Run
from ptxtool.runs.launch_runs import run_launch
from ptxtool.runs.parallel.replicas import replica, replicated

GPU = load_gpu("tesla-c2050")


def test_each_machine_is_another() -> None:
    machines = [replica(GPU, number, 5) for number in range(5)]
    assert machines[0] is GPU
    # 14 SMs, every second of which is first in turn, after SM 1
    assert [m.dispatch.first_sm for m in machines] == [1, 3, 5, 7, 9]
    assert [m.l2.rop_cycles - GPU.l2.rop_cycles for m in machines] == [0, 1, 0, 1, 0]
    assert len({m.dispatch.first_sm for m in (replica(GPU, k, 14) for k in range(14))}) == 14
    assert replica(GPU, 3, 40).dispatch.first_sm == 4


def test_a_machine_of_one_sm() -> None:
    one = GPU.with_sm(count=1)
    assert [replica(one, k, 3).dispatch.first_sm for k in range(3)] == [one.dispatch.first_sm, 0, 0]


@pytest.mark.parametrize("of", [0, -1, 1001, 2.0])
def test_a_number_that_cannot_be(of: int) -> None:
    def run(_: LaunchOptions) -> Run:
        raise AssertionError("nothing runs")

    with pytest.raises(PtxError, match="replicas"):
        replicated(run, LaunchOptions(), of)


def test_the_spread_of_a_launch() -> None:
    kernel = parse(SCALE, "scale.ptx").kernels["scale"]
    launch = parse_launch(Source("launch.toml", LAUNCH), Path())
    seen: list[str] = []
    options = LaunchOptions(gpu="tesla-c2050")

    def run(each: LaunchOptions) -> Run:
        return run_launch(kernel, launch, each)

    alone = run(options)
    found = replicated(run, options, 3, seen.append)
    assert seen == ["replica 2 of 3", "replica 3 of 3"]
    assert found.result == alone.result
    assert found.replicas is not None
    again = [run(replace(options, gpu=replica(GPU, number, 3))).result for number in range(3)]
    assert found.replicas.cycles.values == tuple(float(each.cycles) for each in again)
    assert found.replicas.thread_ipc.values == tuple(each.thread_ipc for each in again)
    assert found.complete
    assert replicated(run, options, 1).replicas is None


def test_wrong_results_and_interrupts_of_replicas() -> None:
    wrong = Diagnostic("E409", "x differs")
    runs = [
        Run(sim_result(), (), ("x",), ()),
        Run(sim_result(), (), ("x",), (wrong,)),
        Run(sim_result(status="interrupted"), (), (), ()),
    ]
    left = iter(runs)
    found = replicated(lambda _: next(left), LaunchOptions(), 5)
    assert [each.message for each in found.problems] == ["replica 2: x differs"]
    assert found.replicas is not None
    assert (found.replicas.of, len(found.replicas.cycles.values), found.complete) == (5, 2, False)
