"""A list of launches: memory is kept from one to the next, all are checked first, an interrupt keeps the results."""

from pathlib import Path

import numpy as np
import pytest
from scalekernel import INPUTS, SCALE

from ptxsim.launch_options import LaunchOptions
from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
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
