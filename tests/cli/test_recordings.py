"""FILE may be the folder that `exec --record` wrote: all of its launches."""

import json
from pathlib import Path

import pytest
from recorded_program import recorded
from smallkernel import Cli

from ptxtool.applications.launch_choice import launch_choice


def test_run_takes_a_recording(cli: Cli, tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("1,4-5"))
    result = cli("run", tmp_path / "out", "--save", tmp_path / "saved")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "not in the list: launches 2-3\n" in result.stdout
    assert "3 launches\n" in result.stdout
    assert [line.split()[:2] for line in result.stdout.splitlines() if " sum " in line] == [
        ["1", "sum"],
        ["4-5", "sum"],
    ]
    assert result.stdout.endswith(" as expected\n")
    assert "arg1.npy" in {path.name for path in (tmp_path / "saved").iterdir()}
    data = json.loads(cli("run", "--json", tmp_path / "out" / "launch.toml").stdout)
    assert [each["launch"] for each in data["launches"]] == [1, 4, 5]
    assert data["left_out"] == ["launches 2-3"]


def test_a_wrong_result_names_the_launch(cli: Cli, tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2"))
    kernel = tmp_path / "out" / "0002-scale" / "kernel.ptx"
    kernel.write_text(kernel.read_text().replace("%r2, 3", "%r2, 4"))
    result = cli("run", tmp_path / "out")
    assert result.exit_code == 1
    assert f"{tmp_path / 'out' / '0002-scale' / 'launch.toml'}:" in result.stderr
    assert "results: wrong (1 problem)" in result.stdout


@pytest.mark.slow
def test_sim_takes_a_recording(cli: Cli, tmp_path: Path) -> None:
    cycles = recorded(tmp_path / "out")
    data = json.loads(cli("sim", "--json", tmp_path / "out").stdout)
    assert [each["cycles"] for each in data["launches"]] == cycles
    assert data["totals"]["gpu_tot_sim_cycle"] == sum(cycles)
    result = cli("sim", tmp_path / "out", "--replicas", 2)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "2 replicas: " in result.stdout


@pytest.mark.slow
def test_compare_takes_a_recording(cli: Cli, tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2,4"))
    result = cli("compare", tmp_path / "out")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "2 launches on tesla-c2050, each with empty caches\n" in result.stdout
    assert result.stdout.endswith("results: as expected, and memory identical under all schemes\n")
    data = json.loads(cli("compare", tmp_path / "out", "--schemes", "finereg", "--jobs", 1, "--json").stdout)
    assert [each["launch"] for each in data["launches"]] == [2, 4]
    assert [each["name"] for each in data["together"]] == ["none", "finereg"]
    result = cli("compare", tmp_path / "out", "--out-of-bounds", "count")
    assert (result.exit_code, "goes with one launch" in " ".join(result.stderr.split())) == (2, True)


@pytest.mark.slow
def test_sim_shows_hotspots_of_each_launch(cli: Cli, tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2,4"))
    result = cli("sim", tmp_path / "out", "--hotspots")
    assert result.exit_code == 0
    assert "launch 2: scale" in result.stdout
    assert "launch 4: sum" in result.stdout


@pytest.mark.slow
def test_a_sweep_runs_each_launch(cli: Cli, tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("2,4"))
    spec = tmp_path / "tiny.toml"
    spec.write_text('kernels = ["out", "out/0004-sum"]\nschedulers = ["lrr", "gto"]\n')
    result = cli("sweep", spec, "--jobs", 1)
    assert (result.exit_code, result.stderr) == (0, "4 simulated, 2 duplicates, 0 cached\n")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert [row[0] for row in rows[3:6]] == ["2-scale", "4-sum", "0004-sum"]
    assert rows[4][1:] == rows[5][1:]
    result = cli("sweep", spec, "--jobs", 1)
    assert result.stderr == "0 simulated, 6 cached\n"
    kernel = tmp_path / "out" / "0002-scale" / "kernel.ptx"
    kernel.write_text(kernel.read_text().replace("%r2, 3", "%r2, 4"))
    result = cli("sweep", spec, "--jobs", 1)
    assert (result.exit_code, "2 simulated" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    "options",
    [["--grid", "1", "--block", "1"], ["--kernel", "sum"], ["--heap-bytes", "64"], ["--launch", "x.toml"]],
)
def test_options_of_one_launch_do_not_go_with_it(cli: Cli, tmp_path: Path, options: list[str]) -> None:
    recorded(tmp_path / "out", launch_choice("1"))
    result = cli("run", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert f"{options[0]} goes with one launch" in " ".join(result.stderr.split())


def test_no_output_replaces_a_recorded_launch(cli: Cli, tmp_path: Path) -> None:
    recorded(tmp_path / "out", launch_choice("1"))
    result = cli("run", tmp_path / "out", "-o", tmp_path / "out" / "0001-sum" / "launch.toml")
    assert result.exit_code == 1
    assert "E503" in result.stderr


@pytest.mark.parametrize(
    "command", [["tune", "KERNEL", "--launch"], ["prove", "KERNEL", "KERNEL", "--launch"]]
)
def test_other_commands_take_one_launch(cli: Cli, tmp_path: Path, command: list[str]) -> None:
    recorded(tmp_path / "out", launch_choice("1"))
    kernel = tmp_path / "out" / "0001-sum" / "kernel.ptx"
    words = [kernel if word == "KERNEL" else word for word in command]
    result = cli(*words, tmp_path / "out" / "launch.toml")
    assert result.exit_code == 1
    assert "a list of 1 recorded launch, where one launch is needed" in result.stderr
    assert "give the folder of one launch" in result.stderr
