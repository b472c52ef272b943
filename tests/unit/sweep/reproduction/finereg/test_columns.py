"""Rows of applications and of means."""

from statistics import fmean

from finereg_runs import compared

from ptxtool.sweep.reproduction.finereg.columns import by_application, in_group, mean_row, printed_mean
from ptxtool.sweep.reproduction.finereg.paper import paper

THREE = [compared("KM", 800), compared("FD", 500), compared("HS", 1000)]


def test_groups() -> None:
    assert [m.name for m in in_group(THREE, ["S"])] == ["KM", "FD"]
    assert [m.name for m in in_group(THREE, ["all"])] == ["KM", "FD", "HS"]
    assert [m.name for m in in_group(THREE, ["HS", "NW"])] == ["HS"]


def test_means_of_the_groups() -> None:
    values = {"KM": 1.0, "FD": 3.0, "HS": 8.0}
    found = by_application(
        THREE,
        lambda m: [("ours", values[m.name]), ("missing", None if m.name == "HS" else 1.0)],
        *("key", "title", "place", "quantity"),
        mean=fmean,
        printed=lambda row, column: 2.5 if (row, column) == ("mean, Type-S", "ours") else None,
    )
    shown = {(v.row, v.column): (v.ours, v.paper) for v in found.values}
    assert shown["KM", "ours"] == (1, None)
    assert shown["mean, Type-S", "ours"] == (2, 2.5)
    assert shown["mean, all", "ours"] == (4, None)
    assert shown["mean, all", "missing"] == (None, None)
    assert found.rows == ("KM", "FD", "HS", "mean, Type-S", "mean, Type-R", "mean, all")


def test_what_the_text_prints_about_means() -> None:
    printed = printed_mean(paper(), "ctas", "none")
    assert printed(mean_row("S"), "finereg") == 203.8
    assert printed(mean_row("all"), "finereg") == 141.7
    assert printed("KM", "finereg") is None
    assert printed_mean(paper(), "ipc", "none")(mean_row("R"), "finereg") == 20.0
