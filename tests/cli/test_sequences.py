"""`run` and `sim` on launch files with several launches: memory between them, totals, and what goes wrong."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import change, data, interrupted
from scalekernel import INPUTS, SCALE
from smallkernel import Cli

SHIFT = SCALE.partition(".address_size 64\n")[2].replace("scale", "shift").replace("mul.f32", "add.f32")
LIST = f"""file = "two.ptx"
{INPUTS}
[[launch]]
kernel = "scale"
args = ["x", "a"]

[[launch]]
kernel = "shift"
args = ["x", 3]
repeat = 2

[[expect]]
arg = "x"
expr = "a * x"
after = 1

[[expect]]
arg = "x"
expr = "a * x + 6"
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """A launch file of three launches, beside its two kernels."""
    (tmp_path / "two.ptx").write_text(SCALE + SHIFT)
    path = tmp_path / "two.toml"
    path.write_text(LIST)
    return path


def test_run(cli: Cli, job: Path, tmp_path: Path) -> None:
    found = data(cli, "run", job)
    assert [step["kernel"] for step in found["launches"]] == ["scale", "shift", "shift"]
    assert found["warp_instructions"] == 3 * 12 * 28 * 4
    assert found["expected"] == {"checked": ["x"], "ok": True, "problems": []}
    (x,) = found["buffers"]
    assert x["values"] == [2.5 * k + 6 for k in range(3584)]
    text = cli("run", job, "--check", "all", "--save", tmp_path / "saved").stdout
    assert "2-3  shift     28    128               2688\n" in text
    assert text.endswith("results: x as expected\nchecks: nothing found (memory, init, races, barriers)\n")
    assert np.load(tmp_path / "saved" / "x.npy")[1] == 8.5


def test_sim(cli: Cli, job: Path) -> None:
    found = data(cli, "sim", job)
    first, second, third = found["launches"]
    assert [each["launch"] for each in found["launches"]] == [1, 2, 3]
    assert (found["of"], found["status"], found["expected"]["ok"]) == (3, "done", True)
    totals = found["totals"]
    assert totals["gpu_tot_sim_cycle"] == first["cycles"] + second["cycles"] + third["cycles"]
    assert totals["gpu_tot_sim_insn"] == 3 * 12 * 28 * 128
    assert totals["gpu_tot_ipc"] == totals["gpu_tot_sim_insn"] / totals["gpu_tot_sim_cycle"]
    assert totals["gpu_tot_issued_cta"] == 3 * 28
    # the data is in the L2 after the first launch; the third one has its code in the L1I, too
    assert first["stats"]["dram_reads"] > 200
    assert third["stats"]["dram_reads"] == third["stats"]["l1i_misses"] == 0 < second["stats"]["l1i_misses"]
    text = cli("sim", job)
    assert text.stderr == ""
    fitted = "tesla-c2050 is the machine for .target sm_20; --gpu names another\n"
    assert text.stdout.startswith(f"{fitted}3 launches on tesla-c2050, lrr\n")
    assert re.search(
        rf"^gpu_tot_sim_cycle +{totals['gpu_tot_sim_cycle']}  cycles$", text.stdout, re.MULTILINE
    )
    assert text.stdout.endswith("results: x as expected\n")
    assert cli("sim", job).stdout == text.stdout


def test_counter_lines_and_hotspots_of_every_launch(cli: Cli, job: Path) -> None:
    totals = data(cli, "sim", job)["totals"]
    lines = cli("sim", job, "--stats", "gpgpusim").stdout.splitlines()
    assert [line.strip() for line in lines if line.startswith("kernel_launch_uid")] == [
        f"kernel_launch_uid = {n}" for n in (1, 2, 3)
    ]
    cycles = [line for line in lines if line.startswith("gpu_tot_sim_cycle")]
    assert cycles[-1] == f"gpu_tot_sim_cycle = {totals['gpu_tot_sim_cycle']}"
    text = cli("sim", job, "--hotspots").stdout
    assert [line for line in text.splitlines() if line.startswith("launch ") and ":" in line] == [
        "launch 1: scale",
        "launch 2: shift",
        "launch 3: shift",
    ]


def test_one_timeline_of_all_launches(cli: Cli, job: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    result = cli("sim", job, "--trace", out, "--trace-sms", "0", "--json")
    cycles = json.loads(result.stdout)["totals"]["gpu_tot_sim_cycle"]
    found = json.loads(out.read_text())
    assert max(event.get("ts", 0) for event in found["traceEvents"]) <= cycles
    assert [each["kernel"] for each in found["otherData"]["launches"]] == ["scale", "shift", "shift"]


def test_the_same_without_a_list(cli: Cli, job: Path) -> None:
    """A list of one is as a launch by itself."""
    single = LIST.partition("[[launch]]")[0] + '[[expect]]\narg = "x"\nexpr = "a * x"\n'
    job.with_name("one.toml").write_text(f'kernel = "scale"\n{single}')
    listed = '[[launch]]\nkernel = "scale"\nargs = ["x", "a"]\n[[expect]]\narg = "x"\nexpr = "a * x"\n'
    job.with_name("list.toml").write_text(LIST.partition("[[launch]]")[0] + listed)
    for gpu in ("tesla-c2050", "gpgpusim42-c2050"):
        one = data(cli, "sim", job.with_name("one.toml"), "--gpu", gpu)
        (of_list,) = data(cli, "sim", job.with_name("list.toml"), "--gpu", gpu)["launches"]
        assert of_list["stats"] == one["stats"]


def test_options_of_entries_and_of_the_command_line(cli: Cli, job: Path) -> None:
    change(job, 'kernel = "shift"\n', 'kernel = "shift"\nscheduler = "gto"\nregisters = 44\n')
    found = data(cli, "sim", job)["launches"]
    assert [(e["scheduler"], e["registers"]) for e in found] == [("lrr", 20), ("gto", 44), ("gto", 44)]
    found = data(cli, "sim", job, "--scheduler", "old", "--registers", 24)["launches"]
    assert [(e["scheduler"], e["registers"]) for e in found] == [("old", 24)] * 3


def test_copies_back_go_through_the_l2(cli: Cli, job: Path) -> None:
    """GPGPU-Sim 4.2: 2 MB that are copied back push the data of the next launch out."""
    large = '[[args]]\nname = "large"\ntype = "u8"\ncount = 2097152\nvalue = 0\n\n[[launch]]\n'
    change(job, "[[launch]]\n", large)
    change(job, 'args = ["x", "a"]\n', 'args = ["x", "a"]\ncopy_back = ["x"]\n')
    near = data(cli, "sim", job, "--gpu", "gpgpusim42-c2050")["launches"]
    change(job, 'kernel = "scale"\n', 'kernel = "scale"\nrepeat = 1\n')
    third = '[[launch]]\nkernel = "shift"\ngrid = 1\nargs = ["large", 0]\ncopy_back = ["large"]\n\n'
    change(job, '[[launch]]\nkernel = "shift"', f'{third}[[launch]]\nkernel = "shift"')
    far = data(cli, "sim", job, "--gpu", "gpgpusim42-c2050")["launches"]
    assert near[1]["stats"]["dram_reads"] < 20  # code only
    assert far[2]["stats"]["dram_reads"] >= 3584 * 4 // 32


def test_launches_without_time(cli: Cli, job: Path) -> None:
    change(job, 'args = ["x", "a"]\n', 'args = ["x", "a"]\ntime = false\n')
    found = data(cli, "sim", job)
    assert [each["launch"] for each in found["launches"]] == [2, 3]
    assert found["expected"]["ok"]
    assert found["totals"]["gpu_tot_issued_cta"] == 2 * 28


def test_wrong_results_say_behind_which_launch(cli: Cli, job: Path) -> None:
    change(job, 'expr = "a * x"\n', 'expr = "a * x + 1"\n')
    for command in ("run", "sim"):
        result = cli(command, job)
        assert result.exit_code == 1
        assert "E409" in result.stderr
        assert "argument 'x' is not as expected after launch 1: 3584 of 3584" in result.stderr
        assert "results: wrong (1 problem)" in result.stdout


def test_all_arguments_are_checked_before_anything_runs(cli: Cli, job: Path) -> None:
    change(job, 'args = ["x", "a"]\n', 'args = ["a", "x"]\n')
    change(job, 'args = ["x", 3]\n', 'args = ["x"]\n')
    for command in ("run", "sim"):
        result = cli(command, job)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.count("error[E401]") == 3
        assert "two.toml:20:1: error[E401]" in result.stderr
        assert "two.toml:24:1: error[E401]: kernel 'shift' takes 2 arguments, 1 given" in result.stderr


def test_the_cycle_limit_is_for_all_launches(cli: Cli, job: Path) -> None:
    first = data(cli, "sim", job)["launches"][0]["cycles"]
    result = cli("sim", job, "--max-cycles", first + 100, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [each["status"] for each in found["launches"]] == ["done", "max-cycles"]
    assert found["totals"]["gpu_tot_sim_cycle"] == first + 100
    assert not found["expected"]["ok"]
    assert "'shift' had not ended after 100 cycles" in result.stderr


def test_what_takes_one_launch_only(cli: Cli, job: Path) -> None:
    result = cli("compare", job)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "two.toml:20:1: error[E502]: a list of 3 launches, where one launch is needed" in result.stderr
    assert "--launch" in result.stderr
    assert cli("sim", job, "--kernel", "scale").exit_code == 2
    change(job, 'kernel = "scale"', 'kernel = "stale"')
    assert "E205" in cli("run", job).stderr


@pytest.mark.slow
def test_ctrl_c_prints_the_launches_so_far(cli: Cli, job: Path) -> None:
    cli("sim", job)  # compiled from here on
    change(job, "repeat = 2", "repeat = 100000")
    out, err = interrupted("sim", job, cpu_seconds=6.0)
    assert out.startswith("100001 launches on tesla-c2050, lrr (interrupted)\n")
    assert "gpu_tot_sim_cycle" in out
    assert "Traceback" not in err
