"""A list of launches: memory is kept from one to the next, all are checked first, an interrupt keeps the results."""

from pathlib import Path

import numpy as np
import pytest
from scalekernel import INPUTS, SCALE
from stream_kernels import TEXT, small_machine

from ptxsim.launch_options import LaunchOptions
from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.results.sequences import SequenceRun
from ptxtool.runs.launch_lists import run_sequence, simulate_sequence

MODULE = parse(SCALE, "scale.ptx")
TWICE = '[[launch]]\nargs = ["x", "a"]\n\n[[launch]]\nargs = ["x", 2.0]\n'


def named(name: str | None) -> Function:
    return api.kernel(MODULE, name)


def read(text: str) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def test_a_launch_finds_what_the_one_before_it_left() -> None:
    # x is multiplied by 2.5 and then by 2; the first element is 0 and stays it
    launch = read(INPUTS + TWICE + '[[expect]]\narg = "x"\nafter = 1\nexpr = "2.5 * x"\n')
    outcome = run_sequence(named, launch, LaunchOptions())
    (buffer,) = outcome.buffers
    assert np.array_equal(buffer.array, 5.0 * np.arange(3584))
    assert buffer.changed == 3583
    assert [step.kernel for step in outcome.steps] == ["scale", "scale"]
    assert outcome.problems == ()


def test_contents_are_missing_only_in_the_first_launch_that_has_the_buffer() -> None:
    """What the first launch reads was never written; the second one reads what the first one stored."""
    unwritten = INPUTS.replace("range = [0, 3584]\n", "")
    outcome = run_sequence(named, read(unwritten + TWICE), LaunchOptions(check=["init"]))
    assert [[d.code for d in step.findings] for step in outcome.steps] == [["E411"], []]


def test_all_launches_are_checked_before_the_first_runs() -> None:
    announced: list[str] = []
    wrong = '[[launch]]\nargs = ["x"]\n\n[[launch]]\nargs = ["x", "a", "a"]\n'
    with pytest.raises(PtxError) as caught:
        simulate_sequence(named, read(INPUTS + TWICE + wrong), LaunchOptions(), announced.append)
    assert [d.code for d in caught.value.diagnostics] == ["E401", "E401"]
    assert announced == []


def test_an_interrupt_between_two_launches_keeps_the_results() -> None:
    def announce(text: str) -> None:
        if text != "1 of 2, scale":
            raise KeyboardInterrupt

    launch = read(INPUTS + TWICE)
    run = simulate_sequence(named, launch, LaunchOptions(on_interrupt="return"), announce)
    assert (run.status, run.numbers, run.checked) == ("interrupted", (1,), ())
    assert len(run.results) == 1
    with pytest.raises(KeyboardInterrupt):
        simulate_sequence(named, launch, LaunchOptions(on_interrupt="raise"), announce)


STREAMS = """
grid = 2
block = 32

[[args]]
name = "x"
type = "u32"
count = 64
value = 1

[[args]]
name = "y"
type = "u32"
count = 64
range = [0, 64]

[[launch]]
kernel = "add"
args = ["x", 5]
stream = 1

[[launch]]
kernel = "reversed"
grid = 1
block = 64
args = ["y"]
stream = 2

[[launch]]
kernel = "reversed"
args = ["x"]
stream = 2
after = [1]

[[launch]]
kernel = "add"
args = ["y", 1]
stream = 1
"""
COMPARED = """
[[launch]]
kernel = "add"
args = ["x", 2]

[[expect]]
arg = "x"
expr = "x + 7"

[[expect]]
arg = "y"
expr = "64 - y"
after = 4
"""


@pytest.fixture(scope="module")
def on_streams() -> SequenceRun:
    module = parse(TEXT, "streams.ptx")
    options = LaunchOptions(gpu=small_machine())
    return simulate_sequence(
        lambda name: module.kernels[name or ""], read(STREAMS + "after = [2]\n" + COMPARED), options
    )


def test_launches_on_streams_are_one_run(on_streams: SequenceRun) -> None:
    assert on_streams.problems == ()
    assert on_streams.checked == ("x", "y")
    (ran,) = on_streams.concurrent
    assert ran.numbers == (1, 2, 3, 4)
    assert [launch.stream for launch in ran.result.launches] == [1, 2, 2, 1]
    assert [launch.after for launch in ran.result.launches] == [(), (), (1, 2), (1, 2)]
    # the four have one result, at the number of the first; the fifth waits for all of them
    assert on_streams.numbers == (1, 5)
    assert on_streams.totals.launches == 5
    data = on_streams.to_dict()["concurrent"][0]
    assert [each["launch"] for each in data["launches"]] == [1, 2, 3, 4]
    assert data["cycles"] == ran.result.cycles


def test_a_launch_after_which_results_are_compared_is_waited_for() -> None:
    module = parse(TEXT, "streams.ptx")
    text = STREAMS + '[[expect]]\narg = "x"\nexpr = "x + 5"\nafter = 1\n'
    options = LaunchOptions(gpu=small_machine())
    run = simulate_sequence(lambda name: module.kernels[name or ""], read(text), options)
    assert [ran.numbers for ran in run.concurrent] == [(1,), (2, 3, 4)]
    assert run.problems == ()


def test_the_cycle_limit_is_for_all_launches_on_streams() -> None:
    module = parse(TEXT, "streams.ptx")
    options = LaunchOptions(gpu=small_machine(), max_cycles=20)
    run = simulate_sequence(lambda name: module.kernels[name or ""], read(STREAMS), options)
    assert (run.status, run.numbers, [d.code for d in run.problems]) == ("max-cycles", (1,), ["E408"])
