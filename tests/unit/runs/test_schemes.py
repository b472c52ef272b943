"""The schemes that the papers compare."""

from fractions import Fraction

import pytest

from ptxtool.passes.sharing.release_registers import ReleaseRegisters
from ptxtool.passes.syntax import parse_pipeline
from ptxtool.runs.schemes import Scheme, ladder_schemes, scheduler_name


def test_rungs_share_one_resource() -> None:
    for resource, n in (("registers", 5), ("scratchpad", 3)):
        first, *shared = ladder_schemes(resource, Fraction(90), release=True)  # type: ignore[arg-type]
        assert first.options == {}
        assert len(shared) == n
        assert all(scheme.options[f"share_{resource}"] == 90 for scheme in shared)
    hasten = "hoist-last-access{share=90,registers=20}"
    assert shared[-1].pipeline(20) == f"layout-shared{{share=90}},{hasten},release-scratchpad{{share=90}}"
    marked = ladder_schemes("registers", Fraction(90), release=True)[-1]  # type: ignore[arg-type]
    assert marked.pipeline(20).endswith(
        ",split-tail-ranges{share=90,registers=20},release-registers{share=90,registers=20}"
    )
    assert marked.pipeline(None).endswith(",split-tail-ranges{share=90},release-registers{share=90}")


def test_another_scheduler_takes_the_place_of_lrr_in_the_names_too() -> None:
    names = [scheme.name for scheme in ladder_schemes("scratchpad", Fraction(90), "gto")]
    assert names == ["Unshared-GTO", "Shared-GTO-NoOpt", "Shared-OWF"]
    assert scheduler_name("folder/mine.py:pick") == "pick"


def test_nothing_shared_means_no_options() -> None:
    assert Scheme("x", dynamic=True).options == {}
    shared = Scheme("x", percent=Fraction(90), dynamic=True)
    assert shared.options == {"share_registers": 90, "dynamic": True}


@pytest.mark.parametrize(
    ("percent", "text"),
    [
        ("25/2", "12.5"),
        ("100/3", "100/3"),
        ("0.0000001", "0.0000001"),
        ("33.333333333333333333", "33.333333333333333333"),
    ],
)
def test_a_percentage_reaches_the_passes_without_loss(percent: str, text: str) -> None:
    scheme = Scheme("x", percent=Fraction(percent), passes="release-registers{share=run,registers=run}")
    assert scheme.pipeline(16) == f"release-registers{{share={text},registers=16}}"
    (pass_,) = parse_pipeline(scheme.pipeline(16))
    assert isinstance(pass_, ReleaseRegisters)
    assert pass_.percent == Fraction(percent)
