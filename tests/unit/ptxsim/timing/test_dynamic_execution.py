"""Options of dynamic warp execution, as text and as values, and the record of a run that they begin with."""

import pytest

from ptxsim import DynamicExecution
from ptxsim.timing.dynamic_execution import Controller, dynamic_options
from ptxsim.timing.sharing.hold_back import CERTAIN
from ptxtool.base.diag import PtxError


def test_a_step_of_a_tenth_is_exact() -> None:
    units = Controller(DynamicExecution(step=0.1), 2).records
    assert units["step"].tolist() == [100_000, 100_000]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("perod=5", "no option 'perod'"),
        ("period=0", "period is 0"),
        ("period=x", "period is 'x'"),
        ("step=0", "step is 0"),
        ("step=1.5", "step is 1.5"),
        ("step=nan", "step is nan"),
        ("draws=always", "draws is 'always'"),
        ("stalls=some", "stalls is 'some'"),
        ("seed=-1", "seed is -1"),
    ],
)
def test_wrong_options(text: str, words: str) -> None:
    with pytest.raises(PtxError) as refused:
        dynamic_options(text)
    (problem,) = refused.value.diagnostics
    assert problem.code == "E502"
    assert words in problem.message
    assert problem.help


def test_text_replaces_the_options_that_it_names() -> None:
    assert dynamic_options("") == DynamicExecution()
    found = dynamic_options("period=500,step=0.25,draws=sticky")
    assert found == DynamicExecution(500, 0.25, "window", "sticky", 0)


def test_every_sm_but_the_reference_begins_with_a_chance_of_one() -> None:
    controller = Controller(DynamicExecution(period=200, stalls="cumulative"), 3)
    assert controller.records["chance"].tolist() == [0, CERTAIN, CERTAIN]
    assert controller.records["cumulative"].tolist() == [1, 1, 1]
    assert controller.next_cycle == 200
    result = controller.result()
    assert result.chances == result.lowest == (0, 1, 1)


def test_a_period_ends_when_its_last_cycle_has_passed() -> None:
    """Before that the simulation is not looked at."""

    class Early:
        cycles = 199

    controller = Controller(DynamicExecution(period=200), 1)
    controller.end_period(Early(), None)
    assert (controller.periods, controller.next_cycle) == (0, 200)
