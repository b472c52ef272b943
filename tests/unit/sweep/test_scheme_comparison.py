"""One kernel under several register schemes: which run, with which text, and that results are compared."""

from pathlib import Path
from typing import Any

import pytest
from pressured import write

from ptxtool import api
from ptxtool.analysis.occupancy.register_schemes import SCHEMES
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.launch.launch_options import launch_from_options
from ptxtool.results.scheme_comparison import SchemeComparison
from ptxtool.sweep.scheme_comparison import ComparisonOptions, compare_schemes, scheme_names

GPU = load_gpu("gtx980-finereg")


def compared(folder: Path, *schemes: str, **options: Any) -> SchemeComparison:
    path = write(folder)
    kernel, launch = api.kernel(api.load(path)), api.load_launch(folder / "launch.toml")
    return compare_schemes(
        kernel, launch, GPU, schemes, api.kernel, ComparisonOptions(**{"jobs": 1} | options)
    )


def test_names() -> None:
    assert scheme_names(["all"]) == tuple(scheme.name for scheme in SCHEMES)
    assert scheme_names(["finereg", "none", "finereg"]) == ("none", "finereg")
    assert scheme_names(["unified", "all"])[:2] == ("none", "unified")
    assert scheme_names(["mine.py:go"]) == ("none", "mine.py:go")
    with pytest.raises(PtxError, match=r"(?s)E502.*did you mean 'finereg'"):
        scheme_names(["finreg"])


def test_a_text_is_made_where_a_scheme_needs_it(tmp_path: Path) -> None:
    """25 CTAs at 34 registers, 30 at 24 (`pressured.py`)."""
    plain, split = compared(tmp_path, "regmutex").runs
    assert (plain.registers, split.registers) == ("34", "24+10")
    assert (plain.counters["resident_ctas"], split.counters["resident_ctas"]) == (25, 30)
    assert plain.counters["remarks"] == []
    assert split.counters["remarks"][0].startswith("split-registers: pressured: 24 registers in the base set")
    assert split.counters["extended_marks"] == 2
    # a mov for each value that lives on the other side of a mark
    assert split.counters["text_instructions"] == plain.counters["text_instructions"] + 10
    assert split.same_memory
    assert split.counters["storage_bits"] == 64 + 64 + 64 * 6


def test_options_are_those_of_all_runs(tmp_path: Path) -> None:
    found = compared(
        tmp_path, "virtual-thread", scheduler="lrr", registers=48, passes="allocate:order=pressure"
    )
    assert {run.counters["scheduler"] for run in found.runs} == {"lrr"}
    assert {run.counters["resident_ctas"] for run in found.runs} == {21}
    assert found.problems == ()
    assert found.complete


def test_a_scheme_that_declines_stops_no_other(tmp_path: Path) -> None:
    path = write(tmp_path)
    kernel = api.kernel(api.load(path))
    launch = api.load_launch(tmp_path / "launch.toml")
    fermi = load_gpu("tesla-c2050")
    found = compare_schemes(
        kernel, launch, fermi, ["unified", "virtual-thread"], api.kernel, ComparisonOptions(jobs=1)
    )
    assert [run.outcome.status for run in found.runs] == ["done", "failed", "done"]
    assert found.runs[1].outcome.is_refused
    assert "there is no unified memory" in found.runs[1].outcome.reason
    assert found.problems == ()


def test_a_launch_of_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no file; one that it names is found from here."""
    import numpy as np

    monkeypatch.chdir(tmp_path)
    np.save("in.npy", np.ones(64 * 140, np.float32))
    kernel = api.kernel(api.load(write(tmp_path)))
    launch = launch_from_options(kernel, "4", "64", ["in.npy", "f32[4480]"])
    found = compare_schemes(kernel, launch, GPU, ["finereg"], api.kernel, ComparisonOptions(jobs=1))
    assert [run.counters["n_ctas"] for run in found.runs] == [4, 4]
    assert found.runs[1].same_memory


def test_a_list_of_launches_is_refused(tmp_path: Path) -> None:
    kernel = api.kernel(api.load(write(tmp_path)))
    text = (tmp_path / "launch.toml").read_text()
    (tmp_path / "launch.toml").write_text(text + '\n[[launch]]\nargs = ["in", "out"]\n')
    with pytest.raises(PtxError, match="E502"):
        compare_schemes(
            kernel, api.load_launch(tmp_path / "launch.toml"), GPU, [], api.kernel, ComparisonOptions()
        )


def test_schemes_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that cannot be loaded, or decide what is not possible, stop no other."""
    monkeypatch.chdir(tmp_path)
    head = 'settings = {"ctas": 40}\ndef stay(view):\n    return 0\n'
    Path("mine.py").write_text(f"{head}def wild(view):\n    return 9\n")
    found = compared(tmp_path, "mine.py:stay", "mine.py:wild", "mine.py:go", "nowhere.py:go")
    none, stay, *wrong = found.runs
    assert (stay.scheme, stay.counters["switching"]["scheme"]) == ("mine.py:stay", "mine.py:stay")
    assert stay.counters["storage_bits"] == 2 * 40 + 19661
    assert stay.counters["cycles"] == none.counters["cycles"]
    assert not any(run.is_refused for run in wrong)
    assert [(p.code, p.source is None) for p in found.problems] == [
        ("E416", True),
        ("E502", False),
        ("E501", True),
    ]
    assert found.problems[0].message.endswith(f"{tmp_path}/mine.py:4:1")
