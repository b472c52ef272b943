"""`ptxtool sweep`: what it prints, exit codes, kills at random moments, and the page about it."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from checkout import CHECKOUT
from commands import shown_on
from ownpass import write_passes
from smallkernel import Cli
from tinysweep import FAULTY, long_sweep, write

from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.cli.progress import sweep_line
from ptxtool.sweep.export import encode
from ptxtool.sweep.runner import SweepProgress

PTXTOOL = [sys.executable, "-m", "ptxtool"]


def test_a_sweep_its_table_and_what_is_left_of_it(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path)
    first = cli("sweep", path, "--jobs", 1)
    assert first.exit_code == 0
    assert re.fullmatch(
        r"tiny: thread_ipc\n"
        r"kernel +lrr +lrr registers 90% +gto +gto registers 90%\n"
        r"[- ]+\n"
        r"scale( +\d+\.\d\d){4}\n"
        r"\n4 runs: 4 as expected\n",
        first.stdout,
    )
    assert first.stderr.splitlines()[-1] == "4 simulated, 0 cached"
    again = cli("sweep", path, "--jobs", 1)
    assert again.stdout == first.stdout
    assert again.stderr == "0 simulated, 4 cached\n"
    data = json.loads(cli("sweep", path, "--jobs", 1, "--json", "-q").stdout)
    assert data == json.loads(json.dumps(api.load_sweep(tmp_path / "tiny.db").to_dict()))
    assert data["runs"][0]["label"] == "scale lrr"


def test_show_and_export(cli: Cli, tmp_path: Path) -> None:
    cli("sweep", write(tmp_path), "--jobs", 1, "--store", tmp_path / "s.db")
    store, chart, out = tmp_path / "s.db", tmp_path / "chart.svg", tmp_path / "out.csv"
    shown = cli("sweep", "show", store, "--rows", "scheduler", "--value", "cycles", "--gain", "--plot", chart)
    assert shown.exit_code == 0
    assert "tiny: cycles, gain over default in percent\n" in shown.stdout
    assert "geometric mean" in shown.stdout
    assert b"geometric mean" in chart.read_bytes()
    one = cli("sweep", "show", store, "--where", "share-registers=90", "--no-bars")
    assert re.search(r"^kernel +lrr +gto$", one.stdout, re.MULTILINE)
    assert cli("sweep", "export", store, "-o", out, "--sweep", "tiny").exit_code == 0
    assert len(out.read_text().splitlines()) == 5
    picked = ("--where", "share-registers=90", "--where", "scheduler=gto")
    assert cli("sweep", "export", store, "-o", out, *picked).exit_code == 0
    assert len(out.read_text().splitlines()) == 2
    page = tmp_path / "page.html"
    assert cli("sweep", "show", store, "--where", "scheduler=gto", "--page", page).exit_code == 0
    assert re.findall(r'"label":"([^"]*)","axes"', page.read_text()) == [
        "scale gto",
        "scale gto registers 90%",
    ]
    none = cli("sweep", "export", store, "-o", out, "--where", "scheduler=owf")
    assert "no run is left to show" in none.stderr
    assert json.loads(cli("sweep", "show", store, "--json").stdout)["name"] == "tiny"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["show", "nowhere.db"], 1, r"error\[E501\]: cannot read 'nowhere.db'"),
        (["export", "nowhere.db"], 2, r"Missing option '-o'"),
        (["export", "nowhere.db", "-o", "x.xls"], 1, r"error\[E502\]: 'x.xls' has no format"),
        (["show", "x", "--baseline", "a"], 2, r"--baseline goes with --gain"),
        (["show", "x", "--where", "a"], 1, r"error\[E502\]: 'a' is no AXIS=VALUE"),
        (["x.toml", "--jobs", "2", "--cluster", "tcp://h:1"], 2, r"--jobs is for this machine"),
        (["x.toml", "--jobs", "0"], 2, r"Invalid value for '--jobs'"),
        (["nowhere.toml"], 1, r"error\[E501\]: cannot read 'nowhere.toml'"),
        ([], 2, r"Missing argument 'SPEC'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_command_lines(cli: Cli, words: list[str], code: int, message: str) -> None:
    result = cli("sweep", *words)
    assert result.exit_code == code
    assert re.search(message, result.stderr)


def test_help_names_the_subcommands(cli: Cli) -> None:
    text = cli("sweep", "--help").stdout
    assert "sweep show" in text
    assert "sweep export" in text
    assert "--columns" in cli("sweep", "show", "--help").stdout


def test_every_option_of_the_subcommands_is_documented() -> None:
    from ptxtool.cli.commands.sweep import command

    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    section = text.split("\n## sweep\n")[1].split("\n## ")[0]
    for other in command.subcommands.values():  # type: ignore[attr-defined]
        for parameter in other.params:
            option = max(parameter.opts, key=len)
            if option.startswith("--") and option not in ("--output", "--json", "--color"):
                assert option in section, option


def test_failures_are_listed_and_nothing_else_stops(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, 'kernels = ["faulty.ptx", "scale.ptx"]\n')
    (tmp_path / "faulty.ptx").write_text(FAULTY)
    result = cli("sweep", path, "--jobs", 1)
    assert result.exit_code == 1
    assert "2 runs: 1 as expected, 1 failed" in result.stdout
    assert re.search(rf"^faulty:\n{tmp_path}/faulty.ptx:17:.*error\[E404\]", result.stderr, re.MULTILINE)
    again = cli("sweep", path, "--jobs", 1)
    assert again.exit_code == 1
    assert "0 simulated, 2 cached" in again.stderr
    assert "E404" in again.stderr


def test_where_the_results_come_from(cli: Cli, tmp_path: Path) -> None:
    declines = 'kernels = ["scale.ptx"]\npasses = ["allocate{max-regs=1}"]\n'
    reported = cli("sweep", write(tmp_path, declines, "declines.toml"), "--jobs", 1).stderr
    assert reported.splitlines()[0] == "0 simulated, 1 stopped by a pass, 0 cached"
    same = 'kernels = ["scale.ptx"]\npasses = ["", "release-registers{share=0}"]\n'  # which changes nothing
    reported = cli("sweep", write(tmp_path, same, "same.toml"), "--jobs", 1).stderr
    assert reported == "1 simulated, 1 duplicate, 0 cached\n"
    reported = cli("sweep", tmp_path / "same.toml", "--jobs", 1).stderr
    assert reported == "0 simulated, 2 cached\n"


def test_another_sweep_of_the_same_name_says_what_it_removes(cli: Cli, tmp_path: Path) -> None:
    first = write(tmp_path, 'name = "s"\nstore = "s.db"\nkernels = ["scale.ptx"]\n', "one.toml")
    other = write(tmp_path, 'name = "s"\nstore = "s.db"\nkernels = ["scale.ptx"]\nset = ["sm.count=7"]\n')
    note = "sweep 's' of this store had 1 run that is not in this file; two sweeps in a store need different names"
    assert note not in cli("sweep", first, "--jobs", 1).stderr
    assert note not in cli("sweep", first, "--jobs", 1).stderr
    other.write_text(other.read_text().replace('["sm.count=7"]', '["sm.count=7", "sm.count=6"]'))
    assert note in cli("sweep", other, "--jobs", 1).stderr
    other.write_text(other.read_text().replace('"sm.count=6"', '"sm.count=6", "sm.count=5"'))
    assert "not in this file" not in cli("sweep", other, "--jobs", 1).stderr  # a list that grew


# ---- processes


@pytest.mark.slow
def test_a_sweep_that_is_killed_ends_as_one_left_alone(tmp_path: Path) -> None:
    path = long_sweep(tmp_path)
    alone = api.sweep(path, store=tmp_path / "alone.db", jobs=1)
    assert alone.counts() == {"done": 12}
    store = tmp_path / "killed.db"
    command = [*PTXTOOL, "sweep", str(path), "--store", str(store), "--jobs", "1", "-q"]
    chance = random.Random(7)
    made = 0
    for wanted in (1, 3, 6):  # killed somewhere after so many results
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 120
            while results(store) < wanted and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.1))
            process.send_signal(signal.SIGKILL)
        assert made <= results(store)
        made = results(store)
        assert made >= wanted
    rest = api.sweep(path, store=store, jobs=1)
    assert rest.simulated == 12 - made
    assert encode(rest, "json") == encode(alone, "json")


def results(store: Path) -> int:
    """How many runs have a result."""
    try:
        return api.load_sweep(store).counts().get("done", 0)
    except PtxError:  # it is not there yet
        return 0


@pytest.mark.slow
@pytest.mark.parametrize(("by", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_keeps_what_there_is(tmp_path: Path, by: signal.Signals, code: int) -> None:
    path, store = long_sweep(tmp_path, 100), tmp_path / "s.db"
    command = [*PTXTOOL, "sweep", str(path), "--store", str(store), "--jobs", "2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        deadline = time.monotonic() + 300
        while not results(store):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if by == signal.SIGINT:
            os.killpg(process.pid, by)  # as a terminal does: to the workers, too
        else:
            process.send_signal(by)
        out, err = process.communicate(timeout=120)
    assert process.returncode == code
    assert "resource_tracker" not in err
    assert re.search(r"100 runs: \d+ as expected, \d+ not run yet", out)
    assert "interrupted: the same command goes on with the rest" in err
    assert "Traceback" not in err
    assert "internal error" not in err
    assert 0 < results(store) < 100


def test_a_bar_on_a_terminal(tmp_path: Path) -> None:
    path = write(tmp_path)
    parent, child = os.openpty()
    with subprocess.Popen([*PTXTOOL, "sweep", path, "--jobs", "1"], stdout=subprocess.PIPE, stderr=child):
        os.close(child)
        shown = shown_on(parent)
    assert "[....................]  0%  0/4 runs" in shown
    assert re.search(r"\[#{10}\.{10}\] 50%  2/4 runs  0:\d\d left  scale lrr registers 90%", shown)


def test_the_line_about_a_sweep() -> None:
    at = SweepProgress(total=10, stored=4, ended=2, failed=1, label="k lrr")
    assert sweep_line(at, 30.0, 100) == "[############........] 60%  6/10 runs  1 failed  1:00 left  k lrr"
    assert sweep_line(SweepProgress(10, 0, 0, 0), 0.0, 12) == "[..........."
    assert sweep_line(SweepProgress(0, 0, 0, 0), 0.0, 100) == "[####################]100%  0/0 runs"


def test_passes_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    path = write(tmp_path, 'kernels = ["scale.ptx"]\npasses = ["", "flip", "unroll-decls,swap:by=sub"]\n')
    mine = write_passes(tmp_path)
    without = cli("sweep", path)
    assert without.exit_code == 1
    assert f"{path}:2:15: error[E302]: no pass named 'flip'" in without.stderr
    result = cli("sweep", path, "--pass", f"{mine}:Flip", "--pass", f"{mine}:Swap", "--jobs", "1")
    assert result.exit_code == 1  # the one that computes something else
    assert "3 runs: 2 as expected, 1 failed" in result.stdout
    assert (
        f"{mine}:16:5: error[E305]: pass 'swap': the rewritten kernel computes something else"
        in result.stderr
    )
    again = cli("sweep", path, "--pass", f"{mine}:Flip", "--pass", f"{mine}:Swap")
    assert "0 simulated, 1 stopped by a pass, 2 cached" in again.stderr
    path.write_text(f'kernels = ["scale.ptx"]\npasses = ["{mine}:Flip"]\n')
    named = cli("sweep", path)
    assert (named.exit_code, "names a file" in named.stderr) == (1, True)
    assert "--pass FILE.py:CLASS" in named.stderr
