"""The program as a process: exit codes, closed and full outputs, colour on a terminal, the same bytes everywhere."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import shown_on
from smallkernel import KERNEL

from ptxtool.cli.main import COMMANDS

PTXTOOL = [sys.executable, "-m", "ptxtool.cli.main"]


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PTXTOOL, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


def test_version() -> None:
    from importlib.metadata import version

    assert run("--version").stdout == f"ptxtool {version('ptxtool')}\n"


def test_exit_codes() -> None:
    assert run("overhead").returncode == 0
    assert run("check", "nowhere.ptx").returncode == 1
    assert run("check").returncode == 2


def test_installed_command() -> None:
    program = Path(sys.executable).parent / "ptxtool"
    done = subprocess.run([program, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout for name in COMMANDS)


def test_a_reader_who_goes_away_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "long.ptxplus"
    path.write_text(KERNEL.replace("L1:", "\tadd.u32 $r2, $r1, $r3;\n" * 20000 + "L1:"))
    with subprocess.Popen(
        [*PTXTOOL, "rewrite", "-p", "unroll-decls", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        reported = process.stderr.read().decode()
    assert process.returncode == 141
    assert "Error" not in reported
    assert "ptxtool:" not in reported


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*PTXTOOL, "overhead"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr.startswith("error[E503]: cannot write to standard output: no space left on device")
    assert "Traceback" not in done.stderr


def test_output_to_a_device(tmp_path: Path) -> None:
    path = tmp_path / "k.ptxplus"
    path.write_text(KERNEL)
    assert run("live", path, "-o", "/dev/null").returncode == 0
    assert Path("/dev/null").is_char_device()


def test_a_terminal_gets_colour_and_a_pipe_does_not(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    path = tmp_path / "k.ptxplus"
    path.write_text(KERNEL)

    def on_terminal(*arguments: object, **extra: str) -> str:
        parent, child = pty.openpty()
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color", **extra}
        command = [*PTXTOOL, *map(str, arguments)]
        with subprocess.Popen(command, stdout=child, stderr=child, stdin=child, env=env) as process:
            os.close(child)
            shown = shown_on(parent)
        assert process.returncode in (0, 1)
        return shown

    assert "\x1b[" in on_terminal("first-use", path)
    assert "\x1b[1;31merror[E501]\x1b[0m" in on_terminal("live", "nowhere.ptx")
    assert "\x1b[" not in on_terminal("first-use", path, NO_COLOR="1")
    assert "\x1b[" not in run("first-use", path).stdout


def test_same_input_same_bytes_whatever_the_locale(kernel_file: Path) -> None:
    import os
    import subprocess
    import sys

    outputs = set()
    for locale, seed in (("C", "1"), ("C.UTF-8", "2"), ("POSIX", "3")):
        env = {**os.environ, "LC_ALL": locale, "PYTHONHASHSEED": seed, "PYTHONCOERCECLOCALE": "0"}
        command = [sys.executable, "-m", "ptxtool.cli.main", "cfg", "--format", "dot", str(kernel_file)]
        outputs.add(subprocess.run(command, env=env, capture_output=True, check=True).stdout)
    assert len(outputs) == 1
