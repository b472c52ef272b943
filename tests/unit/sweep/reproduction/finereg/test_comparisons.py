"""FineReg beside its rivals, of invented runs."""

import pytest
from finereg_runs import benchmark, compared, run

from ptxtool.sweep.reproduction.finereg import comparisons, variants
from ptxtool.sweep.reproduction.finereg.paper import Comparison, paper

TWO = [compared("KM", 500, virtual=800), compared("HS", 2000, virtual=1000)]


def comparison(**options: object) -> Comparison:
    given = {"place": "VI", "scheme": "finereg", "among": ("all",), "percent": (1.0, 1.0), "over": "none"}
    return Comparison(**{**given, **options})  # type: ignore[arg-type]


def test_speed_and_its_means() -> None:
    """Twice as fast and half as fast: 0 on average."""
    found = comparisons.speed(paper(), TWO, ["virtual-thread", "finereg"])
    shown = {(v.row, v.column): (v.ours, v.paper) for v in found.values}
    assert shown["KM", "finereg"] == (100, None)
    assert shown["HS", "finereg"] == (-50, None)
    assert shown["mean, all", "finereg"] == (pytest.approx(0), 32.8)
    assert shown["mean, Type-R", "finereg"] == (-50, 20.0)


def test_residents_over_those_that_were_counted_without_a_scheme() -> None:
    found = comparisons.residents(paper(), TWO, ["virtual-thread", "finereg"])
    shown = {(v.row, v.column): (v.ours, v.paper) for v in found.values}
    assert shown["KM", "virtual-thread"] == (25, None)
    assert shown["mean, all", "finereg"] == (100, 141.7)


def test_more_than_another_scheme_is_the_quotient_of_the_means() -> None:
    assert comparisons.measured(comparison(measure="ctas", over="virtual-thread"), TWO) == pytest.approx(60)
    speed = comparisons.measured(comparison(measure="ipc", over="virtual-thread"), TWO)
    assert speed == pytest.approx(100 * (1 / 1.25**0.5 - 1))
    assert comparisons.measured(comparison(measure="ipc", among=("KM",)), TWO) == pytest.approx(100)
    assert comparisons.measured(comparison(measure="ipc", scheme="reg-dram"), TWO) is None
    depleted = comparison(measure="depleted", over=None)
    assert comparisons.measured(depleted, TWO) == pytest.approx(50 * 160 / 16 * (1 / 500 + 1 / 2000))


def test_energy_and_its_parts() -> None:
    less = run(energy={"total_uj": 80.0, "parts_uj": {"dram": 36.0, "leakage": 20.0, "pcrf_read": 4.0}})
    one = benchmark("KM", {"none": run(), "finereg": less})
    found = comparisons.energy(paper(), [one], ["finereg"])
    value = found.at("mean, all", "finereg")
    assert value is not None
    assert (value.ours, value.paper) == (pytest.approx(-20), -21.3)
    parts = comparisons.energy_parts([one], ["none", "finereg"])
    assert [v.ours for v in parts.values if v.row == "none"] == [40, 5, 0, 0, 30, 25]
    assert [v.ours for v in parts.values if v.row == "finereg"] == [36, 0, 4, 0, 20, 20]


def test_traffic() -> None:
    more = run(dram={"reads": 650, "writes": 450})
    found = comparisons.traffic(paper(), [benchmark("FD", {"none": run(), "finereg": more})], ["finereg"])
    value = found.at("FD", "finereg")
    assert value is not None
    assert value.ours == pytest.approx(10)
    assert "the paper, FD, NW, ST: reg-dram +7.2 to +9.9%" in found.notes


def test_the_pool_where_regmutex_is_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "KNOWN", ("none", "finereg", "virtual-thread-regmutex"))
    names = [each.name for each in variants.candidates("virtual-thread-regmutex")]
    waits = {"wait_cycles": 10240}
    runs = {name: run(1000 - k, resident=8.0, pool=waits) for k, name in enumerate(names)}
    one = benchmark("KM", {"none": run(), "finereg": run(resident=8.0), **runs})
    found = comparisons.depletion([one])
    shown = {v.column: v.ours for v in found.values if v.row == "KM"}
    assert shown["pool, of the register file"] == 35
    assert shown["waits for the pool"] == pytest.approx(100 * 10240 / (997 * 16 * 64))
    pool = comparison(measure="pool", scheme="virtual-thread-regmutex", over=None)
    assert comparisons.measured(pool, [one]) == 35


def test_what_the_text_prints() -> None:
    found = comparisons.printed_comparisons(paper(), TWO)
    value = found.at("speed: finereg over none, all", comparisons.PERCENT)
    assert value is not None
    assert value.paper == 32.8
    below = found.at("traffic: finereg over none, FD NW ST", comparisons.PERCENT)
    assert below is None  # none of these was run
    assert len({exhibit.key for exhibit in comparisons.compared(paper(), TWO)}) == 7
