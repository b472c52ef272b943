"""The line that says how far a simulation is: on a terminal, and nowhere else."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from commands import shown_on
from scalekernel import LAUNCH, SCALE

from ptxsim.base.jit import JIT_DISABLED
from ptxtool.cli.progress import Termination, progress_line

LONG = LAUNCH.replace("grid = 28", "grid = 9800").replace("3584", "1254400")


@dataclass(frozen=True)
class At:
    cycles: int = 152_400
    ctas_done: int = 210
    n_ctas: int = 840
    warp_instructions: int = 10_000_000
    thread_instructions: int = 65_790_000


def shown(head: str, seconds: float, warp_instructions: int, ctas: int, width: int = 120) -> str:
    """The line of a run that has made so much in these seconds."""
    at = At()
    first = At(ctas_done=at.ctas_done - ctas, warp_instructions=at.warp_instructions - warp_instructions)
    return progress_line(head, at, first, seconds, width)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "warp_instructions", "ctas", "rest"),
    [
        (0.0, 0, 0, ""),
        (2.0, 4_620_000, 0, "  2.31 M insn/s"),
        (2.0, 1_900, 210, "  950 insn/s  0:06 left"),
        (60.0, 60 * 12_345, 21, "  12.3 k insn/s  30:00 left"),
        (60.0, 60 * 123_456, 1, "  123 k insn/s  10:30:00 left"),
    ],
)
def test_the_line(seconds: float, warp_instructions: int, ctas: int, rest: str) -> None:
    """630 CTAs are left: at 210 in 2 s they take 6 s, at 21 a minute half an hour, at one 10 hours and a half."""
    line = shown("", seconds, warp_instructions, ctas)
    assert line == f"[#####...............] 25%  210/840 CTAs  152 k cycles  IPC 431.7{rest}"
    assert shown("2 of 3, k  ", seconds, warp_instructions, ctas) == f"2 of 3, k  {line}"


def test_a_narrow_terminal_gets_less_of_it() -> None:
    lines = {width: shown("", 2.0, 4_620_000, 210, width) for width in (79, 61, 50, 36, 30, 10)}
    assert all(len(line) <= width for width, line in lines.items())
    assert lines[79].endswith("25%  210/840 CTAs  152 k cycles  IPC 431.7  2.31 M insn/s  0:06 left")
    assert lines[61].endswith("25%  210/840 CTAs  152 k cycles  IPC 431.7  0:06 left")
    assert lines[50].endswith("25%  210/840 CTAs  152 k cycles  0:06 left")
    assert lines[36].endswith("25%  210/840 CTAs  0:06 left")
    assert lines[30].endswith("25%  210/840 CTAs")


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A launch of some ten thousand cycles, which the simulator runs in several pieces."""
    folder = tmp_path_factory.mktemp("progress")
    (folder / "launch.toml").write_text(LONG)
    path = folder / "scale.ptx"
    path.write_text(SCALE)
    return path


def on_terminal(*arguments: object) -> tuple[str, str]:
    """Standard output, which is a pipe, and standard error, which is a terminal."""
    pty = pytest.importorskip("pty")
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "ptxtool", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=child) as process:
        os.close(child)
        shown = shown_on(parent)
        assert process.stdout is not None
        out = process.stdout.read().decode()
    assert process.returncode == 0
    return out, shown


@pytest.mark.slow
def test_on_a_terminal(job: Path) -> None:
    out, shown = on_terminal("sim", job)
    lines = re.findall(r"\r\x1b\[K\[[#.]+\] +(\d+)%  (\d+)/9800 CTAs  ([\d.]+ k) cycles  IPC [\d.]+", shown)
    assert len(lines) >= 2
    done = [int(n) for _, n, _ in lines]
    assert done == sorted(done)
    assert 0 < done[-1] < 9800
    assert " insn/s  0:0" in shown
    assert shown.endswith("\r\x1b[K")  # nothing of it is left
    piped = subprocess.run(
        [sys.executable, "-m", "ptxtool", "sim", str(job)], capture_output=True, text=True, check=True
    )
    assert piped.stdout == out
    assert "CTAs" not in piped.stderr


@pytest.mark.slow
def test_quiet(job: Path) -> None:
    out, shown = on_terminal("sim", job, "--quiet")
    assert "CTAs" not in shown
    assert "results: x as expected" in out


@pytest.mark.slow
def test_a_list_says_which_launch(job: Path) -> None:
    listed = job.with_name("list.toml")
    head, _, expect = LONG.partition("[[expect]]")
    entry = '[[launch]]\nargs = ["x", "a"]\nrepeat = 2\n\n[[expect]]'
    listed.write_text(f'file = "scale.ptx"\n{head}{entry}{expect.replace("a * x", "a * a * x")}')
    _, shown = on_terminal("sim", listed)
    assert "\x1b[K1 of 2, scale  starting" in shown
    assert "\x1b[K2 of 2, scale  [" in shown


def test_a_termination_before_there_is_anything_to_show(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(click.exceptions.Exit) as ended, Termination():
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended.value.exit_code == 143
    assert capsys.readouterr().err == "ptxtool: terminated\n"
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
@pytest.mark.parametrize("command", ["run", "sim"])
def test_the_first_compilation_is_announced_in_a_file_too(tmp_path: Path, command: str) -> None:
    """With an empty cache; the command is ended as soon as it has said so."""
    log = tmp_path / "log"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    program = [sys.executable, "-m", "ptxtool.cli.main", command, "saxpy"]
    with (
        log.open("wb") as errors,
        subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=errors, env=environment) as process,
    ):
        deadline = time.monotonic() + 60
        while process.poll() is None and not log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.kill()
    assert log.read_text() == "compiling the simulator (once after installation, up to a minute) ...\n"
