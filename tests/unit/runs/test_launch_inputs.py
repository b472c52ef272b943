"""What a launch file gives to a run: fresh arguments, its own options before those of the caller, and its mistakes."""

from pathlib import Path

import numpy as np
import pytest
from scalekernel import INPUTS, LAUNCH, SCALE

from ptxsim.launch_options import LaunchOptions
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.parse import parse
from ptxtool.runs.launch_inputs import prepared

SCALE_KERNEL = parse(SCALE, "scale.ptx").kernels["scale"]


def read(text: str = LAUNCH) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def test_every_run_has_arrays_of_its_own() -> None:
    launch = read()
    (first, _), values, _ = prepared(SCALE_KERNEL, launch, None)
    assert values[0] is first
    first[:] = 7
    (second, a), _, _ = prepared(SCALE_KERNEL, launch, None)
    assert np.array_equal(second, np.arange(3584))
    assert a == 2.5


def test_options_of_the_file_go_before_those_of_the_caller() -> None:
    asked = LaunchOptions(max_cycles=5, dynamic_shared=64, names=["p", "q"])
    _, _, options = prepared(SCALE_KERNEL, read("dynamic_shared = 256\n" + LAUNCH), asked)
    assert (options.dynamic_shared, options.names, options.max_cycles) == (256, ["x", "a"], 5)
    assert asked.dynamic_shared == 64


def test_clusters_are_those_of_the_file_or_of_the_caller() -> None:
    def chosen(text: str, asked: LaunchOptions | None) -> object:
        return prepared(SCALE_KERNEL, read(text), asked)[2].cluster

    assert chosen(LAUNCH, None) is None
    assert chosen("cluster = [2, 1, 1]\n" + LAUNCH, None) == (2, 1, 1)
    assert chosen("cluster = 4\n" + LAUNCH, LaunchOptions(cluster=2)) == (4, 1, 1)
    assert chosen(LAUNCH, LaunchOptions(cluster=2)) == 2
    for wrong in ("0", "[2, 2, 2, 2]", "17", '"2"'):
        with pytest.raises(PtxError, match="E502"):
            read(f"cluster = {wrong}\n" + LAUNCH)


def test_checks_report_what_the_file_tolerates() -> None:
    launch = read('out_of_bounds = "count"\n' + LAUNCH)
    for asked, expected in ((None, "count"), (LaunchOptions(check="memory"), "error")):
        _, _, options = prepared(SCALE_KERNEL, launch, asked)
        assert options.out_of_bounds == expected
    _, _, options = prepared(SCALE_KERNEL, read(), LaunchOptions(out_of_bounds="count"))
    assert options.out_of_bounds == "count"


def test_arguments_that_do_not_fit_are_reported_at_the_launch_file() -> None:
    with pytest.raises(PtxError) as caught:
        prepared(SCALE_KERNEL, read(LAUNCH.replace("value = 2.5", "value = 2.5\ncount = 4")), None)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E401"
    assert problem.source is not None
    assert problem.source.name == "launch.toml"


def test_a_list_of_launches_is_no_launch() -> None:
    with pytest.raises(PtxError, match=r"E502.*a list of 2 launches"):
        prepared(SCALE_KERNEL, read(INPUTS + '[[launch]]\nargs = ["x", "a"]\n' * 2), None)
