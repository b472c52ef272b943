"""Which variant is chosen, and the gains, from figures given by hand."""

from dataclasses import replace

import pytest

from ptxtool.analysis.demotion.predictor import Prediction
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.tuning import AssembledSpills, Declined, Tuning, Variant

PLAN = occupancy(load_gpu("tesla-c2050"), 256, 24)


def variant(
    name: str, predicted: float, cycles: int | None = None, problem: str = "", same_as: str = ""
) -> Variant:
    return Variant(
        name=name,
        method="original" if name == "original" else "demote",
        pipeline="allocate",
        target=None if name == "original" else 20,
        rule="",
        switches={"banks": True},
        text=same_as or name,
        registers=24,
        shared_bytes=0,
        instructions=10,
        occupancy=PLAN,
        prediction=Prediction(PLAN.fraction, predicted, 5.0),
        predicted=predicted,
        same_as=same_as,
        cycles=cycles,
        problem=problem,
    )


def tuning(*variants: Variant) -> Tuning:
    return Tuning("k.ptx", "k", "tesla-c2050", 256, variants, (), "")


def test_the_best_prediction_is_chosen_where_nothing_was_simulated() -> None:
    found = tuning(variant("original", 100), variant("a", 90), variant("b", 80), variant("c", 80))
    assert found.chosen.name == "b"
    assert found.pays
    assert [v.name for v in found.ranked] == ["b", "c", "a", "original"]
    assert found.predicted_gain(found.chosen) == pytest.approx(25)
    assert found.gain(found.chosen) is None


def test_simulations_count_more_than_predictions() -> None:
    found = tuning(
        variant("original", 100, 1000), variant("a", 90, 800), variant("b", 80, 990), variant("c", 10)
    )
    assert found.chosen.name == "a"
    assert [v.name for v in found.ranked] == ["a", "b", "original", "c"]
    assert found.gain(found.chosen) == pytest.approx(25)


def test_nothing_pays() -> None:
    assert not tuning(variant("original", 100), variant("a", 100)).pays
    assert not tuning(variant("original", 100, 500), variant("a", 50, 500), variant("b", 50, 501)).pays
    assert tuning(variant("original", 100)).chosen.name == "original"


def test_wrong_results_are_not_chosen() -> None:
    found = tuning(
        variant("original", 100, 1000), variant("a", 90, 10, "memory differs"), variant("b", 95, 999)
    )
    assert found.chosen.name == "b"
    assert [(d.code, d.message) for d in found.problems] == [("E409", "a: memory differs")]


def test_equal_texts_are_ranked_once() -> None:
    found = tuning(variant("original", 100), variant("a", 90), variant("b", 90, same_as="a"))
    assert [v.name for v in found.distinct] == ["a", "original"]


def test_data() -> None:
    found = replace(
        tuning(variant("original", 100, 1000), variant("a", 90, 800)),
        declined=(Declined("d", "why"),),
        assembled=(AssembledSpills(20, 20, 8, 20, None),),
        ptxas="ptxas 13.0",
    ).to_dict()
    assert (found["chosen"], found["pays"], found["declined"]) == ("a", True, [{"name": "d", "why": "why"}])
    first, second = found["variants"]
    assert (first["target"], first["gain_percent"], first["occupancy"]) == (None, 0, PLAN.fraction)
    assert (second["cycles"], second["gain_percent"], second["switches"]) == (800, 25, {"banks": True})
    assert second["predicted_gain_percent"] == pytest.approx(100 * (10 / 9 - 1))
    assert "text" not in second
    assert found["enable_smem_spilling"] == [
        {
            "target": 20,
            "registers": 20,
            "spill_bytes": 8,
            "registers_with_pragma": 20,
            "spill_bytes_with_pragma": None,
        }
    ]
