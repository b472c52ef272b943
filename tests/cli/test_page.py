"""`ptxtool page`: a page of the text alone, with a run, with several."""

import json
import re
from pathlib import Path

import pytest
from scalekernel import LAUNCH, SCALE
from smallkernel import Cli


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The kernel file, its launch file beside it."""
    (tmp_path / "launch.toml").write_text(LAUNCH)
    path = tmp_path / "scale.ptx"
    path.write_text(SCALE)
    return path


def data_of(text: str) -> dict[str, object]:
    """What a page has embedded."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    data: dict[str, object] = json.loads(found)
    return data


def test_a_page_of_a_text_alone(cli: Cli, job: Path) -> None:
    out = job.with_suffix(".html")
    result = cli("page", job, "--no-run", "--block", "128", "-o", out)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    kernel = data_of(out.read_text())["kernel"]
    assert kernel == json.loads(cli("page", job, "--no-run", "--block", "128", "--json").stdout)
    assert kernel["runs"] == []
    assert kernel["texts"][0]["functions"][0]["lines"] == list(range(9, 21))
    assert kernel["occupancy"]["threads"] == 128


def test_the_machine_fits_the_text(cli: Cli, job: Path) -> None:
    job.write_text(re.sub(r"\.target \w+", ".target sm_80", SCALE))
    machines = [
        json.loads(cli("page", job, *how, "--json", "-q").stdout)["machine"] for how in ((), ("--no-run",))
    ]
    assert machines == ["a100", "a100"]


def test_a_page_with_the_run_of_the_launch_file(cli: Cli, job: Path) -> None:
    result = cli("page", job, "-q")
    assert (result.exit_code, result.stderr) == (0, "")
    kernel = data_of(result.stdout)["kernel"]
    plain = json.loads(cli("sim", job, "--hotspots", "--json").stdout)
    (run,) = kernel["runs"]
    assert run["counters"]["cycles"] == plain["cycles"]
    assert run["verdict"] == "results: x as expected"
    assert run["hotspots"]["lost"] == [spot["lost"] for spot in plain["hotspots"]["instructions"]]
    assert run["hotspots"]["caused"] == [spot["caused"] for spot in plain["hotspots"]["instructions"]]
    # 20 registers per thread, as the launch file says
    assert (kernel["occupancy"]["registers"], kernel["occupancy"]["registers_from"]) == (20, "as it ran")


def test_runs_side_by_side(cli: Cli, job: Path) -> None:
    kernel = json.loads(
        cli("page", job, "scheduler=gto", "passes=allocate,name=packed", "--json", "-q").stdout
    )
    assert [run["name"] for run in kernel["runs"]] == ["baseline", "scheduler=gto", "packed"]
    assert [run["text"] for run in kernel["runs"]] == [0, 0, 1]
    # allocate renames registers: every instruction has its counterpart
    assert kernel["texts"][1]["before"] == list(range(12))
    assert kernel["texts"][1]["removed"] == []


def test_a_refused_run_has_its_reason(cli: Cli, job: Path) -> None:
    result = cli("page", job, "set=sm.registers=256,name=tiny", "--json", "-q")
    kernel = json.loads(result.stdout)
    assert [run["name"] for run in kernel["runs"]] == ["baseline"]
    (refused,) = kernel["refused"]
    assert (refused["name"], refused["code"]) == ("tiny", "E402")
    assert f"tiny is refused: {refused['reason']}" in result.stderr
    assert result.exit_code == 0


def test_the_block_of_a_kernel_without_a_launch(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "alone.ptx"
    path.write_text(SCALE)
    kernel = json.loads(cli("page", path, "--json").stdout)
    assert "--block" in kernel["occupancy"]["reason"]
    kernel = json.loads(cli("page", path, "--block", "256", "--gpu", "sm_90", "--json").stdout)
    assert (kernel["occupancy"]["gpu"], kernel["machine"]) == ("sm_90", "sm_90")


def test_wrong_results_are_reported_and_the_page_is_written(cli: Cli, job: Path) -> None:
    (job.parent / "launch.toml").write_text(LAUNCH.replace("a * x", "a * x + 1"))
    out = job.with_suffix(".html")
    result = cli("page", job, "-o", out, "-q")
    assert result.exit_code == 1
    assert "E409" in result.stderr
    assert data_of(out.read_text())["kernel"]["runs"][0]["problems"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["schem=finereg"], "E502"),
        (["--no-run", "scheduler=gto"], "RUN needs a launch"),
        (["--gpu", "sm_90"], "is a compute capability, which cannot be simulated"),
        (["passes=demote:nonsense=1"], "E302"),
    ],
)
def test_what_cannot_be(cli: Cli, job: Path, arguments: list[str], message: str) -> None:
    result = cli("page", job, *arguments, "-o", job.parent / "k.html")
    assert result.exit_code in (1, 2)
    assert message in result.stderr
    assert not (job.parent / "k.html").exists()


def test_an_output_is_no_input(cli: Cli, job: Path) -> None:
    result = cli("page", job, "-o", job)
    assert (result.exit_code, "E503" in result.stderr) == (1, True)
    assert job.read_text() == SCALE
