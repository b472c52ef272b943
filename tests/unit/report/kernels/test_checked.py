"""What `check` reports about files."""

from dataclasses import replace

from ptxtool.base.diag import Diagnostic
from ptxtool.base.source import Source
from ptxtool.report.kernels.checked import Checked, checked_data, concise, summary

WARNING = Diagnostic("W209", "no ASCII", Source("k.ptx", "ret;\n ret;"), 6, 9)
BAD = Checked("bad.ptx", (Diagnostic("E104", "holds no statements"),), 1, 0)
WARNED = Checked("k.ptx", (WARNING,), 0, 1, 1, 2)


def test_a_warning_is_wrong_where_it_is_strict() -> None:
    assert WARNED.is_ok
    assert not Checked("k.ptx", (WARNING,), 0, 1, 1, 2, strict=True).is_ok
    assert not BAD.is_ok


def test_a_line_about_a_file() -> None:
    assert Checked("k.ptx", (), 0, 0, 1, 3).line == "k.ptx: ok, 1 kernel, 3 instructions"
    assert WARNED.line == "k.ptx: ok, 1 warning, 1 kernel, 2 instructions"
    assert BAD.line == "bad.ptx: 1 error"
    assert len(replace(BAD, name="k" * 5000).line) < 140


def test_a_summary() -> None:
    assert summary([Checked("k.ptx", (), 0, 0)]) == "1 file: all ok"
    assert summary([BAD, WARNED, WARNED]) == "3 files: 2 ok, 1 not; 1 error, 2 warnings"


def test_a_line_for_each_diagnostic_begins_with_its_place_or_its_file() -> None:
    assert concise([WARNED, BAD]).splitlines() == [
        "k.ptx:2:2: warning[W209]: no ASCII",
        "bad.ptx: error[E104]: holds no statements",
    ]


def test_what_is_left_out_still_counts() -> None:
    many = Checked("k.ptx", (WARNING,) * 5, 0, 5).at_most(2)
    assert (len(many.diagnostics), many.n_warnings) == (2, 5)
    assert checked_data([many, BAD])["warnings"] == 5
    assert checked_data([many, BAD])["ok"] is False
