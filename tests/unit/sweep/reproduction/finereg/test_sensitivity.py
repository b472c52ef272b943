"""Figures 17 to 19 of invented runs."""

import pytest
from finereg_runs import MACHINE, benchmark, compared, run, stand_in

from ptxtool.sweep.reproduction.finereg import sensitivity
from ptxtool.sweep.reproduction.finereg.measured import Measured
from ptxtool.sweep.reproduction.finereg.paper import paper


def more(m: Measured, **runs: object) -> Measured:
    counters = {**m.counters, **{(m.name, name): found for name, found in runs.items()}}
    return Measured(m.application, m.kernels, counters)  # type: ignore[arg-type]


def test_splits_against_the_papers_best() -> None:
    one = more(compared("KM", 800), **{"finereg, 64/192 KB": run(1000, resident=24.0)})
    found = sensitivity.splits(paper(), [one], MACHINE)
    shown = {(v.row, v.column): (v.ours, v.paper) for v in found.values}
    assert shown["64/192 KB", "speed"] == (pytest.approx(-20), -12.9)
    assert shown["64/192 KB", "resident CTAs"] == (pytest.approx(200), None)
    assert shown["128/128 KB", "resident CTAs"] == (pytest.approx(100), pytest.approx(147))
    assert shown["128/128 KB", "active of resident CTAs"] == (pytest.approx(-75), pytest.approx(-67))
    assert shown["96/160 KB", "speed"] == (None, None)


def test_a_baseline_with_finereg_s_ctas() -> None:
    """11.2 CTAs on average become 12 slots: 96 warps, 3072 threads, 98304 registers; shared memory stays."""
    kernel = stand_in("KM")
    assert sensitivity.resident_ctas(run(resident=11.2)) == 12
    sizes = sensitivity.sizes(kernel, 12, MACHINE)
    assert sizes == (
        *("sm.ctas=32", "sm.threads=3072", "sm.warps=96", "sm.registers=98304"),
        "sm.scratchpad_bytes=98304",
    )
    assert sensitivity.added_megabytes(kernel, 12, MACHINE) == 4 * 4 * 8192 / (1 << 20)
    assert sensitivity.added_megabytes(kernel, 4, MACHINE) == 0


def test_its_runs_follow_those_of_finereg() -> None:
    kernel = stand_in("KM")
    counters = {("KM", "finereg"): run(resident=8.0), ("KM", "finereg, 64 SMs"): run(resident=1e6)}
    found = list(sensitivity.resourced([kernel], counters, MACHINE))
    assert [(k.sample, v.name) for k, v in found] == [("KM", "none, FineReg's CTAs, 16 SMs")]
    assert "sm.warps=64" in found[0][1].settings


def test_numbers_of_sms() -> None:
    """16 CTAs instead of the 8 that fit: 8 x 8192 registers on each of 16 SMs are 4 MB."""
    one = more(compared("KM", 800), **{sensitivity.resourced_name(16): run(640)})
    found = sensitivity.sms(paper(), [one], MACHINE)
    shown = {(v.row, v.column): (v.ours, v.paper) for v in found.values}
    assert shown["16 SMs", "FineReg over none"] == (pytest.approx(25), None)
    assert shown["16 SMs", "none with FineReg's CTAs, over FineReg"] == (pytest.approx(25), None)
    assert shown["16 SMs", "of so many applications"] == (1, None)
    assert shown["16 SMs", "MB that this takes"] == (4, 2.4)
    assert shown["128 SMs", "MB that this takes"] == (None, 19.1)
    assert shown["128 SMs", "CTAs per slot"] == (1, None)


def test_unified_memory() -> None:
    one = benchmark("KM", {"none": run(), "unified": run(500, unified={"l1_ways": 34})})
    found = sensitivity.unified(paper(), [one])
    value = found.at("mean, all", "unified")
    assert value is not None
    assert (value.ours, value.paper) == (pytest.approx(100), 17.6)
    ways = sensitivity.unified_ways([one]).at("KM", "unified")
    assert ways is not None
    assert ways.ours == 34
    assert len(list(sensitivity.sensitivity(paper(), [one], MACHINE))) == 4
