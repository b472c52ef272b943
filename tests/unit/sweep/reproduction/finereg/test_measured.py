"""Counters of an application's kernels together."""

import pytest
from finereg_runs import application, benchmark, compared, run, stand_in

from ptxtool.sweep.reproduction.finereg import variants
from ptxtool.sweep.reproduction.finereg.measured import Measured, Totals, change, gain, mean_of, quotient

TWO = Totals((run(1000, resident=8.0), run(3000, resident=16.0, n_ctas=512, registers=16)))


def test_sums_and_averages() -> None:
    """Averages are over 1000 and 3000 cycles."""
    assert (TWO.cycles, TWO.sm_cycles, TWO.traffic, TWO.energy) == (4000, 64000, 2000, 200)
    assert TWO.resident == (8 * 1000 + 16 * 3000) / 4000
    assert TWO.threads == 256 * TWO.resident
    assert (TWO.active, TWO.active_share) == (4, 100 * 4 / 14)
    assert TWO.total("switching.stalls", "no.such") == 400
    assert TWO.mean("switching.cycles_to_first_stall", "n_ctas") == 500
    assert TWO.mean("switching.cycles_to_stall", "nothing") == 0


def test_shares() -> None:
    """50 evictions each, of 8 warps with 32 and 16 registers; 160 cycles of depletion each."""
    assert TWO.live_share == 100 * 6400 / (50 * 8 * (32 + 16))
    assert TWO.depleted == 100 * 320 / 64000
    pool = Totals((run(resident=8.0, pool={"wait_cycles": 10240}),))
    assert pool.waiting == 100 * 10240 / (1000 * 16 * 8 * 8)
    assert Totals((run(),)).live_share == 0


def test_without_switching_the_limit_counts() -> None:
    assert Totals((run(resident_ctas=5),)).resident == 5


def test_an_application_of_two_kernels() -> None:
    kernels = stand_in("CS", "one"), stand_in("CS", "two")
    counters = {("one", "none"): run(100), ("two", "none"): run(200), ("one", "finereg"): run(100)}
    both = Measured(application("CS"), kernels, counters)
    assert both.baseline is not None
    assert both.baseline.cycles == 300
    assert both.best("finereg") is None  # the other kernel has no result
    assert both.resident("none") is None


def test_the_fastest_candidate_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "KNOWN", ("none", "reg-dram"))
    names = [each.name for each in variants.candidates("reg-dram")]
    cycles = dict(zip(names, (90, 70, 80, 95), strict=True))
    all_four = benchmark("KM", {name: run(n) for name, n in cycles.items()})
    chosen = all_four.chosen("reg-dram")
    assert chosen is not None
    assert chosen.name == "reg-dram, 2 in DRAM"
    assert all_four.chosen("finereg") is None
    del cycles[names[3]]
    assert benchmark("KM", {name: run(n) for name, n in cycles.items()}).chosen("reg-dram") is None


def test_changes() -> None:
    m = compared("KM", 800)
    assert gain(m.best("finereg"), m.baseline) == 25
    assert (m.resident("none"), m.resident("finereg")) == (8, 16)
    assert (change(3, 2), change(None, 2), change(3, 0), quotient(6, 3)) == (50, None, None, 2)
    assert mean_of([1, None], sum) is None
    assert mean_of([], sum) is None
    assert mean_of([1, 2], sum) == 3
