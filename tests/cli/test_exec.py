"""`exec`: its options, where the report goes, and its exit code."""

import json
import shutil
from pathlib import Path

import pytest
from smallkernel import Cli

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@needs_compiler
def test_the_report_goes_to_standard_error(cli: Cli) -> None:
    result = cli("exec", "--", "sh", "-c", "exit 4")
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr == "sh -c exit 4: 0 launches without time, exit status 4; no CUDA call was made\n"


@needs_compiler
def test_options_after_the_application_are_its_own(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "report.json"
    result = cli("exec", "--json", "-o", out, "sh", "-c", "exit 0", "--json")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    data = json.loads(out.read_text())
    assert (data["command"], data["status"], data["kernels"]) == (["sh", "-c", "exit 0", "--json"], 0, [])
    assert json.loads(cli("exec", "--json", "true").stderr)["processes"] == 0


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (["--scheduler", "gto"], "--scheduler is an option of the simulation: add --sim"),
        (["--share-registers", "50"], "--share-registers is an option of the simulation: add --sim"),
        (["--sim", "--check", "all"], "--check goes with a run without time: leave --sim out"),
        (["--sim-launches", "first:1", "--check", "all"], "--check goes with a run without time"),
        (["--memory", "9g"], "'9g' is not a size of 1m to 3760m, such as 512m or 2g"),
        (["--memory", "much"], "'much' is not a size"),
        (["--record-launches", "3"], "--record-launches goes with --record"),
        (["--arch", "75"], "'75' is not a compute capability, such as sm_75"),
    ],
)
def test_options_that_do_not_go_together(cli: Cli, options: list[str], what: str) -> None:
    result = cli("exec", *options, "--", "true")
    assert result.exit_code == 2
    assert what in " ".join(result.stderr.split())


def test_an_application_that_is_not_there(cli: Cli) -> None:
    result = cli("exec", "--", "./nowhere")
    assert result.exit_code == 1
    assert "error[E501]: no program './nowhere'" in result.stderr
    assert cli("exec").exit_code == 2


@needs_compiler
@pytest.mark.parametrize("size", ["64m", "64M", "64MiB", "67108864"])
def test_sizes(cli: Cli, size: str) -> None:
    assert cli("exec", "--memory", size, "true").exit_code == 0


@needs_compiler
def test_launches_to_simulate(cli: Cli) -> None:
    result = cli("exec", "--json", "--sim-launches", "similar", "--scheduler", "lrr", "true")
    data = json.loads(result.stderr)
    assert (data["timed"], data["sim_launches"], data["error"]) == (True, "similar", None)
    assert json.loads(cli("exec", "--json", "true").stderr)["sim_launches"] is None
    result = cli("exec", "--sim-launches", "some", "true")
    assert result.exit_code == 1
    assert "error[E502]: 'some' chooses no launches" in result.stderr


@needs_compiler
def test_a_recording_is_reported(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "out"
    data = json.loads(cli("exec", "--json", "--record", out, "--record-launches", "first:2", "true").stderr)
    assert data["recording"] == {"folder": str(out), "launches": 0, "content_bytes": 0, "file_bytes": 0}
    assert out.is_dir()
    assert json.loads(cli("exec", "--json", "true").stderr)["recording"] is None


@needs_compiler
def test_what_cannot_be_recorded_ends_before_the_application_begins(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    begun = tmp_path / "begun"
    for options, problem in (
        (["--record", tmp_path], "error[E503]"),
        (
            ["--record", tmp_path / "out", "--record-launches", "most"],
            "error[E502]: 'most' chooses no launches",
        ),
    ):
        result = cli("exec", *options, "--", "touch", begun)
        assert result.exit_code == 1
        assert problem in result.stderr
    assert not begun.exists()


@needs_compiler
def test_a_page_of_an_application(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "app.html"
    assert cli("exec", "--sim", "--page", out, "--", "sh", "-c", "exit 3").exit_code == 3
    text = out.read_text()
    assert '"command":["sh","-c","exit 3"],"status":3' in text
    assert '"kernels":[]' in text
    assert cli("exec", "--page", out, "-o", out, "true").exit_code == 1  # two outputs in one file
