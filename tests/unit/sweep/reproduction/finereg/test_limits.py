"""Tables I to III and Figures 2 to 5 of invented runs."""

import pytest
from finereg_runs import MACHINE, benchmark, compared, run, stand_in

from ptxtool.results.exhibits import Exhibit
from ptxtool.sweep.reproduction.finereg import limits
from ptxtool.sweep.reproduction.finereg.measured import Measured
from ptxtool.sweep.reproduction.finereg.paper import paper
from ptxtool.sweep.reproduction.finereg.variants import STALLS


def at(exhibit: Exhibit, row: str, column: str) -> tuple[float | None, float | None]:
    value = exhibit.at(row, column)
    assert value is not None
    return value.ours, value.paper


def test_the_machine_is_table_one() -> None:
    """1000 column commands of 32 bytes in 1000 cycles at 1126 MHz are 36 GB/s."""
    found = limits.machine(paper(), [compared("KM", 800)], MACHINE)
    for value in found.values:
        if value.row != limits.REACHED:
            assert value.ours == pytest.approx(value.paper, rel=1e-3), value.row
    assert at(found, limits.REACHED, MACHINE.name) == (pytest.approx(36.032), None)


def test_what_limits_the_ctas() -> None:
    """2048 threads are 8 CTAs; 65536 registers are 8 CTAs with 32 per thread and 4 with 64."""
    found = limits.types([compared("KM", 800), compared("HS", 800, registers=64)])
    assert [at(found, "KM", column) for column in found.columns] == [(8, None), (8, None), (0, 0)]
    assert [at(found, "HS", column) for column in found.columns] == [(8, None), (4, None), (1, 1)]


def test_how_often_ctas_change() -> None:
    """1024 CTAs, 16 SMs, 8 slots; 16 resident under FineReg."""
    found = limits.turnover([compared("KM", 800)], MACHINE)
    assert [at(found, "KM", column)[0] for column in found.columns] == [1024, 128, 8, 4]


def test_larger_machines() -> None:
    one = benchmark("KM", {"none": run(1200), "2 x scheduling": run(1000)})
    found = limits.larger(paper(), [one])
    assert at(found, "KM", "2 x scheduling") == (pytest.approx(20), None)
    assert at(found, "mean, Type-S", "2 x scheduling") == (pytest.approx(20), 28.4)
    assert at(found, "mean, Type-R", "2 x memory") == (None, 43.6)
    assert at(found, "KM", "1.5 x memory") == (None, None)


def test_one_more_cta() -> None:
    found = limits.one_more([compared("KM", 800)])
    assert at(found, "KM", "registers") == (32, None)
    assert at(found, "mean, all", "shared memory") == (0, None)


def test_convolution_separable() -> None:
    found = limits.headroom([compared("KM", 1), compared("CS", 800, virtual=500)])
    assert at(found, "baseline", "resident threads of an SM") == (8 * 256, None)
    assert at(found, "full register file", "gain of speed, percent") == (100, None)
    assert at(found, "full register file", "resident threads of an SM") == (10 * 256, None)
    assert at(found, "full register file + DRAM", "gain of speed, percent") == (None, None)


def test_live_registers() -> None:
    """3200 of 50 x 8 x 32 registers moved; 16384 of 8 x 8 x 32 x 32 held values."""
    runs = {
        "finereg": run(resident=16.0),
        "release-by-name": run(renaming={"registers_most": 16384}),
    }
    found = limits.live_share([benchmark("KM", runs)])
    assert [at(found, "KM", column) for column in found.columns] == [(25, None), (25, None)]


def test_registers_accessed() -> None:
    """Of two kernels the mean of 30 windows, the least and the most of both."""
    first = run(register_use={"window": 1000, "windows": 10, "mean": 60.0, "least": 20.0, "most": 70.0})
    second = run(register_use={"window": 1000, "windows": 20, "mean": 30.0, "least": 25.0, "most": 90.0})
    one, two = stand_in("KM", "first"), stand_in("KM", "second")
    counters = {("first", STALLS.name): first, ("second", STALLS.name): second}
    found = limits.register_use(paper(), [Measured(one.application, (one, two), counters)])
    assert [at(found, "KM", column)[0] for column in found.columns] == [40, 20, 90]
    assert at(found, "mean, all", "mean") == (40, 55.3)
    none = limits.register_use(paper(), [benchmark("KM", {STALLS.name: run(register_use=None)})])
    assert [at(none, "KM", column)[0] for column in none.columns] == [None] * 3


def test_the_first_stall() -> None:
    runs = {STALLS.name: run(resident=8.0)}
    found = limits.first_stall([benchmark("KM", runs)])
    assert [at(found, "KM", column) for column in found.columns] == [
        (500, 892),
        (300, None),
        (160, None),
        (200 / 1024, None),
    ]


def test_all_of_them_without_any_run() -> None:
    found = list(limits.limits(paper(), [benchmark("CS", {})], MACHINE))
    assert len({exhibit.key for exhibit in found}) == len(found) == 9
