"""`ptxtool samples`: every packaged sample, and names that work."""

from pathlib import Path

from commands import clean_data
from smallkernel import Cli

from ptxtool.formats.files import sample_names


def test_every_sample_is_listed_with_a_summary(cli: Cli) -> None:
    found = clean_data(cli, "samples")["samples"]
    assert [sample["name"] for sample in found] == list(sample_names())
    assert all(10 < len(sample["summary"]) < 120 for sample in found)
    (saxpy,) = (sample for sample in found if sample["name"] == "saxpy")
    assert saxpy["summary"] == "y = a * x + y for 300,000 elements"
    assert [Path(file).name for file in saxpy["files"]] == ["kernel.cu", "kernel.ptx", "launch.toml"]
    assert (Path(saxpy["file"]).name, saxpy["run"]) == ("kernel.ptx", "ptxtool run saxpy")


def test_the_text_says_how_to_run_one(cli: Cli) -> None:
    shown = cli("samples").stdout
    (row,) = (line for line in shown.splitlines() if line.startswith("sgemm "))
    assert row.split(maxsplit=2) == ["sgemm", "ptxplus", "C = alpha * A * B^T + beta * C"]
    assert "ptxtool run saxpy " in shown
    assert "reduction/two-passes.toml" in shown


def test_the_files_are_those_that_the_names_stand_for(cli: Cli) -> None:
    for sample in clean_data(cli, "samples")["samples"][:3]:
        assert cli("check", sample["name"]).stdout.startswith(f"{sample['file']}: ok")
