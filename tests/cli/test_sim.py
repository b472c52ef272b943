"""`sim` and `compare` on small kernels: results, counters, and everything that can be wrong with a launch."""

import re
from pathlib import Path

import pytest
from commands import change, data, interrupted
from smallkernel import Cli


def test_sim_counts_and_checks(cli: Cli, job: Path) -> None:
    found = data(cli, "sim", job)
    # 12 instructions of 28 CTAs of 4 warps of 32 lanes
    assert found["status"] == "done"
    assert found["warp_instructions"] == 12 * 28 * 4
    assert found["thread_instructions"] == 12 * 28 * 128
    assert found["expected"] == {"checked": ["x"], "ok": True, "problems": []}
    # 8 CTA slots, 12 CTAs by threads, 32768 / (128 * 20) = 12 by registers
    assert (found["resident_ctas"], found["limiter"]) == (8, "ctas")
    slots = found["slots"]
    assert slots["issued"] == found["warp_instructions"]
    text = cli("sim", job)
    assert text.stderr == ""
    assert re.search(rf"^cycles +{found['cycles']}$", text.stdout, re.MULTILINE)
    assert re.search(r"^thread instructions +43008$", text.stdout, re.MULTILINE)
    assert text.stdout.endswith("results: x as expected\n")


TARGETED = """.version 8.0
.target sm_86
.address_size 64
.visible .entry k(.param .u64 p)
{
	ret;
}
"""


@pytest.mark.parametrize(
    ("head", "options", "machine", "is_fitted"),
    [
        ("", (), "rtx3070", True),
        ('gpu = "gtx480"\n', (), "gtx480", False),
        ('gpu = "gtx480"\n', ("--gpu", "auto"), "rtx3070", True),
    ],
)
def test_the_machine_of_a_run(
    cli: Cli, tmp_path: Path, head: str, options: tuple[str, ...], machine: str, is_fitted: bool
) -> None:
    """That of the command line, else of the launch file, else the one that fits the text."""
    (tmp_path / "k.ptx").write_text(TARGETED)
    (tmp_path / "launch.toml").write_text(
        f'{head}grid = 1\nblock = 32\n[[args]]\ntype = "u32"\nvalue = [0]\n'
    )
    done = cli("sim", tmp_path / "k.ptx", *options)
    fitted = f"{machine} is the machine for .target sm_86; --gpu names another\n" if is_fitted else ""
    assert done.stdout.startswith(f"{fitted}k on {machine}, ")
    assert done.stderr == ""


def test_compare_and_commands_without_a_text(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(TARGETED)
    launch = ("--grid", "1", "--block", "32", "--arg", "p:u32[1]")
    assert cli("compare", tmp_path / "k.ptx", *launch, "--gpu", "auto").stdout.startswith("k on rtx3070:")
    done = cli("overhead", "--gpu", "auto")
    assert done.exit_code == 2
    assert "--gpu auto takes the machine that fits a text: there is none here" in done.stderr


def test_sim_options_change_what_they_say(cli: Cli, job: Path) -> None:
    plain = data(cli, "sim", job)
    assert data(cli, "sim", job, "--no-event-skip") == plain
    assert data(cli, "sim", job, "--scheduler", "owf")["scheduler"] == "owf"
    # 44 registers: 5632 a CTA, 5 fit, 4608 are left for 5 more of 563 each; 8 CTA slots: 3 pairs; 4.4 private
    shared = data(cli, "sim", job, "--registers", 44, "--share-registers", 90)
    wanted = {"registers": 44, "resident_ctas": 8, "shared_pairs": 3, "private_registers": 4}
    assert {key: shared[key] for key in wanted} == wanted
    assert shared["expected"]["ok"]


def test_replicas_have_mean_and_spread(cli: Cli, job: Path) -> None:
    plain = data(cli, "sim", job)
    found = data(cli, "sim", job, "--replicas", "3")
    replicas = found.pop("replicas")
    assert found == plain
    values = replicas["cycles"]["values"]
    assert (replicas["of"], len(values), values[0]) == (3, 3, plain["cycles"])
    assert replicas["cycles"]["mean"] == pytest.approx(sum(values) / 3)
    text = cli("sim", job, "--replicas", "3").stdout
    assert f"3 replicas: {sum(values) / 3:.0f} cycles on average ({min(values):.0f} to" in text
    assert cli("sim", job, "--replicas", "0").exit_code == 2
    ladder = data(cli, "compare", job, "--replicas", "2")
    assert [len(rung["gain_replicas"]["values"]) for rung in ladder["rungs"]] == [2] * 5
    together = cli("compare", job, "--replicas", "2", "--schemes", "all")
    assert (together.exit_code, "--replicas does not go with --schemes" in together.stderr) == (2, True)


def test_virtual_registers_are_shared_as_allocated_unless_as_written(cli: Cli, job: Path) -> None:
    # 6 physical registers, of which 4 are private, and 12 declared
    options = ("sim", job, "--registers", 44, "--share-registers", 90)
    found, written = data(cli, *options), data(cli, *options, "--as-written")
    note = (
        "its 12 registers are virtual: the 6 physical ones that allocate assigns are shared (--as-written: as"
    )
    note += " declared)"
    assert [note in run["remarks"] for run in (found, written)] == [True, False]
    assert cli(*options).stdout.count(f"note: {note}\n") == 1
    assert found["resident_ctas"] == written["resident_ctas"] == 8
    for as_written in (False, True):
        more = ["--as-written"] * as_written
        result = cli(
            "sim", job, "--registers", 5, "--share-registers", 90, "--set", "sm.registers=2200", *more
        )
        refused = "E301" in result.stderr and "need 6 physical ones, and the run takes 5" in result.stderr
        assert (result.exit_code, refused) == ((0, False) if as_written else (1, True)), result.stderr


def test_a_gpu_file_of_ones_own(cli: Cli, job: Path, tmp_path: Path) -> None:
    gpu = tmp_path / "half.toml"
    gpu.write_text('inherits = "tesla-c2050"\nname = "half"\n[sm]\ncount = 7\n')
    found = data(cli, "sim", job, "--gpu", gpu)
    assert (found["gpu"], found["n_sms"]) == ("half", 7)


@pytest.mark.parametrize("command", ["sim", "compare"])
def test_wrong_results_are_said(cli: Cli, job: Path, command: str) -> None:
    change(job.with_name("launch.toml"), "a * x", "a * x + (x > 3000)")
    result = cli(command, job)
    assert result.exit_code == 1
    assert "launch.toml:" in result.stderr
    assert "error[E409]" in result.stderr
    assert "the first at [3001]: got 7502.5, expected 7503.5" in result.stderr
    assert "thread IPC" in result.stdout
    assert "wrong" in result.stdout.lower()


@pytest.mark.parametrize(
    ("old", "new", "code", "reported"),
    [
        ('[[args]]\nname = "a"\ntype = "f32"\nvalue = 2.5\n', "", "E502", "a"),
        ('type = "f32"\nvalue = 2.5', 'type = "f64"\nvalue = 2.5', "E401", "has 8 bytes, not 4"),
        (
            'type = "f32"\nvalue = 2.5',
            'type = "s32"\nvalue = 2',
            "E401",
            "argument 'a' for parameter '.f32 a'",
        ),
        ("value = 2.5", "value = 2.5\ncount = 4", "E401", "is a buffer, but the parameter is no pointer"),
        (
            "\n[[expect]]",
            '\n[[args]]\ntype = "u32"\nvalue = 1\n\n[[expect]]',
            "E401",
            "takes 2 arguments, 3 given",
        ),
        ("block = 128", "block = 2048", "E502", "at most 1024"),
        ("registers = 20", "registers = 300", "E402", "one CTA does not fit on an SM of tesla-c2050"),
        ("registers = 20", "dynamic_shared = 65536", "E402", "65536 bytes of scratchpad of 49152"),
        ("block = 128", "block = 128\nblocks = 2", "E502", "unknown key 'blocks'"),
        ("grid = 28", "grid = 0", "E502", "'grid' must be"),
        ('kernel = "scale"', 'kernel = "scales"', "E205", "its kernels are scale"),
        ("grid = 28", "grid = ", "E502", "not TOML"),
    ],
)
@pytest.mark.parametrize("command", ["sim", "compare"])
def test_launches_that_cannot_be(
    cli: Cli, job: Path, old: str, new: str, code: str, reported: str, command: str
) -> None:
    change(job.with_name("launch.toml"), old, new)
    result = cli(command, job)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[{code}]" in result.stderr
    assert reported in result.stderr


def test_unknown_scheduler_and_machine(cli: Cli, job: Path) -> None:
    assert "error[E502]: no warp scheduler 'fifo'" in cli("sim", job, "--scheduler", "fifo").stderr
    assert "error[E502]: no GPU named 'gt'" in cli("sim", job, "--gpu", "gt").stderr
    assert "error[E205]" in cli("sim", job, "--kernel", "other").stderr


@pytest.mark.parametrize(
    ("old", "new", "code", "reported"),
    [
        (
            "add.s64 %rd3, %rd1, %rd2;",
            "add.s64 %rd3, %rd2, %rd2;",
            "E404",
            "access out of bounds at address 0x",
        ),
        ("add.s64 %rd3, %rd1, %rd2;", "add.s64 %rd3, %rd1, 2;", "E405", "misaligned access at address 0x"),
        ("mul.f32 %f2, %f2, %f1;", "mul.wibble.f32 %f2, %f2, %f1;", "E403", "mul.wibble.f32"),
    ],
)
def test_faults_at_run_time(cli: Cli, job: Path, old: str, new: str, code: str, reported: str) -> None:
    change(job, old, new)
    line = next(n for n, text in enumerate(job.read_text().splitlines(), 1) if "ld.global" in text)
    result = cli("sim", job)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error[{code}]" in result.stderr
    assert reported in result.stderr
    if code != "E403":
        assert f"{job}:{line}:" in result.stderr
        assert re.search(r"kernel 'scale', CTA \(\d+,0,0\), thread \(\d+,0,0\)", result.stderr)


def test_a_barrier_that_can_never_complete(cli: Cli, job: Path) -> None:
    # half of the warps wait for all four at barrier 0, the others at barrier 1
    change(
        job,
        "\tld.global.f32",
        "\tsetp.lt.s32 %p, %r3, 64;\n\t@%p bra A;\n\tbar.sync 0, 128;\n\tbra B;\nA:\n\tbar.sync 1, 128;\n"
        "B:\n\tld.global.f32",
    )
    change(job, "\t.reg .f32", "\t.reg .pred %p;\n\t.reg .f32")
    result = cli("sim", job)
    assert result.exit_code == 1
    assert "error[E406]: a barrier can never complete" in result.stderr
    who = r"CTA \(\d+,0,0\) warp \d \(threads \(\d+,0,0\) to \(\d+,0,0\), SM \d+\) waits at 'bar.sync \d"
    assert re.search(who + r".*;' in line \d+", result.stderr)
    assert "kernel 'scale', cycle " in result.stderr


def endless(job: Path) -> None:
    change(job, "\tld.global.f32", "FOREVER:\n\tadd.s32 %r1, %r1, 1;\n\tbra FOREVER;\n\tld.global.f32")


def test_the_cycle_limit(cli: Cli, job: Path) -> None:
    endless(job)
    result = cli("sim", job, "--max-cycles", 5000)
    assert result.exit_code == 1
    assert "error[E408]: 'scale' had not ended after 5000 cycles: 0 of 28 CTAs done" in result.stderr
    assert re.search(r"^cycles +5000$", result.stdout, re.MULTILINE)
    assert "(cycle limit reached)" in result.stdout
    assert result.stdout.endswith("results: not compared, the run did not end\n")
    assert f"{job}:4:1: error[E408]" in result.stderr  # the kernel's head


@pytest.mark.slow
@pytest.mark.parametrize("command", ["sim", "compare"])
def test_ctrl_c_prints_the_counters_so_far(cli: Cli, job: Path, command: str) -> None:
    cli("sim", job)  # compiled from here on
    endless(job)
    # the running loop is found by the time it uses once everything is imported and compiled
    out, err = interrupted(command, job, cpu_seconds=6.0)
    assert "interrupted" in out
    assert re.search(r"^(cycles +|Unshared-LRR +\d+ +)\d{3,}\b", out, re.MULTILINE)
    assert "Traceback" not in err


def test_the_scheduler_of_a_launch_file(cli: Cli, job: Path) -> None:
    file = job.with_name("launch.toml")
    text = file.read_text()
    file.write_text('scheduler = "two_level:3"\n' + text)
    assert data(cli, "sim", job)["scheduler"] == "two_level:3"
    assert data(cli, "sim", job, "--scheduler", "old")["scheduler"] == "old"
    rungs = data(cli, "compare", job)["rungs"]
    assert [rung["scheduler"] for rung in rungs] == ["two_level:3"] * 4 + ["owf"]
    assert rungs[0]["name"] == "Unshared-TWO_LEVEL:3"
    file.write_text('scheduler = "gtx"\n' + text)
    reported = cli("sim", job).stderr
    assert "launch.toml:1:1: error[E502]: no warp scheduler 'gtx'" in reported
    assert "did you mean 'gto'?" in reported


def test_code_of_a_scheduler_runs_only_if_the_command_line_names_it(cli: Cli, job: Path) -> None:
    own = job.with_name("mine.py")
    own.write_text(
        "from pathlib import Path\nfrom ptxsim.base.jit import ctz\nPath(__file__ + '.run').touch()\n"
        "def pick(sm, scheduler, candidates):\n    return ctz(candidates)\n"
    )
    file = job.with_name("launch.toml")
    file.write_text('scheduler = "mine.py:pick"\n' + file.read_text())
    for command in ("sim", "compare"):
        result = cli(command, job)
        assert result.exit_code == 1
        assert "launch.toml:1:1: error[E502]" in result.stderr
        assert f"--scheduler {own}:pick" in result.stderr
    assert not own.with_name("mine.py.run").exists()
    assert data(cli, "sim", job, "--scheduler", f"{own}:pick")["scheduler"] == str(own) + ":pick"
    rungs = data(cli, "compare", job, "--scheduler", "gto")["rungs"]
    assert [rung["name"] for rung in rungs] == [
        "Unshared-GTO",
        "Shared-GTO-NoOpt",
        "Shared-GTO-Unrolled",
        "Shared-GTO-Unrolled-Dyn",
        "Shared-OWF-Unrolled-Dyn",
    ]
