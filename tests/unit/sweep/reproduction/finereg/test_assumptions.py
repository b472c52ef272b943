"""What each assumption changes, of invented runs."""

import pytest
from finereg_runs import MACHINE, benchmark, compared, run

from ptxtool.sweep.reproduction.finereg.assumptions import (
    AS_IT_IS,
    SETTINGS,
    assumptions,
    by_assumption,
    causes,
)
from ptxtool.sweep.reproduction.finereg.findings import TOGETHER
from ptxtool.sweep.reproduction.finereg.variants import ASSUMPTIONS, MORE_MEMORY, assumed


def test_memory_is_assumed_of_both() -> None:
    """FineReg as it is: 25% faster than 1000 cycles; with more bandwidth 10% slower than 450."""
    runs = {
        "none": run(1000),
        "finereg": run(800),
        MORE_MEMORY.name: run(450),
        assumed("more memory bandwidth").name: run(500),
        assumed("overlap").name: run(500),
    }
    found = by_assumption([benchmark("KM", runs)])
    shown = {v.column: v.ours for v in found.values if v.row == "KM"}
    assert shown[AS_IT_IS] == 25
    assert shown["more memory bandwidth"] == pytest.approx(-10)
    assert shown["overlap"] == 100
    assert shown["all"] is None
    assert set(shown) == {AS_IT_IS, *ASSUMPTIONS}


def test_every_single_assumption_is_explained() -> None:
    assert set(SETTINGS) == set(ASSUMPTIONS) - set(TOGETHER)


def test_causes() -> None:
    """16 resident CTAs, 4 of them active; 640 of 800 x 16 x 16 cycles of CTAs with an empty place."""
    found = causes([compared("KM", 800)], MACHINE)
    shown = {v.column: v.ours for v in found.values if v.row == "KM"}
    assert shown["cycles"] == pytest.approx(-20)
    assert shown["active CTAs"] == pytest.approx(-50)
    assert shown["resident CTAs"] == pytest.approx(100)
    assert shown["empty places"] == pytest.approx(100 * 640 / (800 * 16 * 16))
    assert shown["CTAs stalled without"] == pytest.approx(100 * 32000 / (1000 * 16 * 8))
    assert (shown["waits without"], shown["busy with"]) == (60, 10)
    assert shown["DRAM busy without"] == pytest.approx(100 * 1000 * 2 / (16 * 1000 * 1377 / 1126))
    assert [exhibit.key for exhibit in assumptions([compared("KM", 800)], MACHINE)] == [
        "assumptions",
        "causes",
    ]
