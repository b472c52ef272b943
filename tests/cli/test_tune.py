"""`ptxtool tune`: predictions, simulations, the chosen text, JSON, and what is refused."""

import json
from pathlib import Path

import pytest
from commands import data
from crowded import crowded, launch
from smallkernel import Cli

from ptxtool.parse import parse


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A kernel that registers limit, with its launch file beside it."""
    (tmp_path / "launch.toml").write_text(launch(28))
    path = tmp_path / "crowded.ptx"
    path.write_text(crowded())
    return path


def test_predictions(cli: Cli, kernel: Path) -> None:
    found = cli("tune", kernel, "--predict", "--no-ptxas")
    assert (found.exit_code, found.stderr) == (0, "")
    lines = found.stdout.splitlines()
    assert lines[0] == "crowded on tesla-c2050: CTAs of 256 threads"
    assert any(line.startswith("original ") for line in lines)
    assert "chosen by prediction: " in found.stdout
    assert max(map(len, lines)) <= 120
    assert cli("tune", kernel, "--predict", "--no-ptxas").stdout == found.stdout


def test_threads_without_a_launch(cli: Cli, kernel: Path) -> None:
    kernel.with_name("launch.toml").unlink()
    found = data(cli, "tune", kernel, "--predict", "--block", "16,16", "--no-ptxas")
    assert found["threads"] == 256
    refused = cli("tune", kernel, "--block", 256)
    assert (refused.exit_code, "--block is for --predict" in refused.stderr) == (2, True)


def test_json_and_the_chosen_text(cli: Cli, kernel: Path) -> None:
    out = kernel.with_name("tuned.ptx")
    found = data(cli, "tune", kernel, "--predict", "--no-ptxas", "-o", out)
    assert [v["name"] for v in found["variants"]][:3] == ["original", "local 24", "local-shared 24"]
    chosen = next(v for v in found["variants"] if v["name"] == found["chosen"])
    assert chosen["predicted"] == min(v["predicted"] for v in found["variants"])
    written = parse(out.read_bytes()).kernels["crowded"]
    assert len(written.instructions) == chosen["instructions"]
    assert all(set(v["switches"]) == {"banks", "substitute", "hoist"} for v in found["variants"])


def test_simulations(cli: Cli, kernel: Path) -> None:
    store = kernel.with_name("runs.db")
    run = ("tune", kernel, "--best", "1", "--jobs", "1", "--store", store, "--no-ptxas")
    found = data(cli, *run)
    simulated = {
        v["name"]: v["cycles"] for v in found["variants"] if v["cycles"] is not None and not v["same_as"]
    }
    assert len(simulated) == 2
    assert "original" in simulated
    assert simulated[found["chosen"]] == min(simulated.values())
    again = cli(*run, "--json")
    assert json.loads(again.stdout) == found
    text = cli(*run)
    assert ("chosen by simulation: " in text.stdout) == found["pays"]
    assert ("nothing pays (by simulation): " in text.stdout) != found["pays"]


def test_wrong_results(cli: Cli, kernel: Path) -> None:
    """The launch file expects other results than the original's: every run is wrong, and nothing is chosen."""
    file = kernel.with_name("launch.toml")
    file.write_text(launch(1) + '\n[[expect]]\narg = "out"\nexpr = "0 * out"\n')
    found = cli("tune", kernel, "--best", "1", "--jobs", "1", "--no-ptxas")
    assert found.exit_code == 1
    assert "error[E409]: original: argument 'out' is not as expected" in found.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--launch", "none.toml"], "E501"),
        (["--kernel", "other"], "E205"),
        (["--gpu", "none"], "E502"),
        (["--best", "0"], "0 is not in the range"),
        (["--store", "missing/x.db", "--best", "1"], "E503"),
        (["-o", "missing/out.ptx"], "E503"),
        (["--scheduler", "none"], "E502"),
    ],
)
def test_what_is_refused(cli: Cli, kernel: Path, options: list[str], message: str) -> None:
    found = cli("tune", kernel, "--no-ptxas", "--jobs", "1", *options)
    assert found.exit_code in (1, 2)
    assert message in found.stderr
    assert found.stdout == ""


def test_without_a_launch_only_predictions(cli: Cli, kernel: Path) -> None:
    kernel.with_name("launch.toml").unlink()
    kernel.write_text(crowded(".reqntid 256\n"))
    assert cli("tune", kernel, "--predict", "--no-ptxas").exit_code == 0
    found = cli("tune", kernel, "--no-ptxas")
    assert found.exit_code == 1
    assert "E501" in found.stderr
    assert "--predict" in found.stderr
