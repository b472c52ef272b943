"""The tables of made-up runs."""

import pytest
from scheme_results import MATRIX, RESULT

from ptxtool.sweep.reproduction.register_schemes.exhibits import Exhibits, resident_ratio
from ptxtool.sweep.reproduction.register_schemes.matrix import Column, Machine, Matrix

EXHIBITS = Exhibits(MATRIX, RESULT)
ALL = {exhibit.key: exhibit for exhibit in EXHIBITS.all()}


def test_speed_and_energy_by_kernel() -> None:
    """800 cycles of 1000 are 25% faster, 1250 are 20% slower; energy is as cycles."""
    speed = {(v.row, v.column): v.ours for v in ALL["speed gpu"].values}
    assert speed["a", "regmutex"] == pytest.approx(25)
    assert speed["a", "unified"] == pytest.approx(-20)
    assert speed["c", "regmutex"] is speed["c", "unified"] is None
    energy = {(v.row, v.column): v.ours for v in ALL["energy gpu"].values}
    assert energy["a", "regmutex"] == pytest.approx(-20)
    assert ALL["cycles gpu"].at("a", "none").ours == 1000  # type: ignore[union-attr]
    assert ALL["residents gpu"].at("a", "regmutex").ours == 6  # type: ignore[union-attr]


def test_means_and_what_is_within_noise() -> None:
    means = {(v.row, v.column): v.ours for v in ALL["means gpu"].values}
    assert means["regmutex", "geometric mean"] == pytest.approx(100 * (1.25**0.5 - 1))
    assert (means["regmutex", "lowest"], means["regmutex", "highest"]) == (0, pytest.approx(25))
    # logarithms of 1.25 and 1 are ln(1.25) apart, and their standard deviation is that over the root of two
    assert means["regmutex", "standard deviation"] == pytest.approx(100 * (1.25 ** (0.5**0.5) - 1))
    counts = {(v.row, v.column): v.ours for v in ALL["counts gpu"].values}
    names = ("kernels", "faster", "slower", "within noise")
    assert [counts["regmutex", name] for name in names] == [2, 1, 0, 1]
    assert [counts["unified", name] for name in names] == [2, 0, 1, 1]  # b is 1.01% faster


def test_kernels_that_a_scheme_declines_are_named_with_the_reason() -> None:
    assert ALL["speed gpu"].notes == ("regmutex: not c (it is PTXPlus)",)


def test_storage_and_the_compiler_s_work() -> None:
    storage = {(v.row, v.column): v.ours for v in ALL["storage"].values}
    assert storage == {("regmutex", "gpu"): 512, ("unified", "gpu"): 0}
    work = ALL["compiler regmutex gpu"]
    assert work.rows == ("a",)  # the text of b was not split
    found = {v.column: v.ours for v in work.values}
    assert (found["base set"], found["extended"], found["marks"], found["moves added"]) == (24, 10, 4, 5)
    assert found["executed more, percent"] == pytest.approx(2)
    assert found["waiting, percent"] == pytest.approx(2.5)  # 250 of 5000 cycles of two warps
    assert not any(key.startswith("compiler unified") for key in ALL)


def test_changes_of_kernels_with_both_runs() -> None:
    assert EXHIBITS.changes("gpu", "unified", resident_ratio) == {"a": 2, "b": 1}
    assert EXHIBITS.changes("other", "unified", resident_ratio) == {}


def test_without_a_scheme_to_compare_there_is_no_table_of_changes() -> None:
    alone = Matrix(("a",), (Column("none", "none"),), (Machine("gpu", ()),))
    assert [e.key for e in Exhibits(alone, RESULT).all()] == ["residents gpu", "cycles gpu"]
