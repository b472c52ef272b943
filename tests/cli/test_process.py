"""The program as a process: exit codes, closed and full outputs, Ctrl-C, bugs, and how fast it starts."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from commands import shown_on
from smallkernel import KERNEL

from ptxtool.cli.main import COMMANDS, main

PTXTOOL = [sys.executable, "-m", "ptxtool.cli.main"]


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*PTXTOOL, *map(str, arguments)], capture_output=True, text=True, check=False, **options
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_with_its_summary(name: str) -> None:
    command = importlib.import_module(f"ptxtool.cli.commands.{name.replace('-', '_')}").command
    assert command.short_help == COMMANDS[name]
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"Usage: main {name}" in result.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_speaks_json(name: str) -> None:
    command = importlib.import_module(f"ptxtool.cli.commands.{name.replace('-', '_')}").command
    assert {"as_json", "output"} <= {parameter.name for parameter in command.params}


def test_every_command_is_a_function_of_the_api() -> None:
    from ptxtool import api

    functions = {"live": "liveness", "sim": "simulate"}
    for name in COMMANDS:
        assert callable(getattr(api, functions.get(name, name.replace("-", "_"))))


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
        told = process.stderr.read().decode()
    assert process.returncode == 141
    assert "Error" not in told
    assert "ptxtool:" not in told


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


def test_our_bug_is_said_to_be_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("one two\nthree")

    monkeypatch.delenv("PTXTOOL_DEBUG", raising=False)
    monkeypatch.setattr("ptxtool.api.overhead", broken)
    result = CliRunner().invoke(main, ["overhead"])
    assert result.exit_code == 70
    assert result.stderr.startswith("ptxtool: internal error: ZeroDivisionError: one two\n")
    assert "PTXTOOL_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("PTXTOOL_DEBUG", "1")
    assert "Traceback" in CliRunner().invoke(main, ["overhead"]).stderr


@pytest.mark.parametrize("kind", [KeyboardInterrupt, click.Abort])
def test_interrupted(monkeypatch: pytest.MonkeyPatch, kind: type[BaseException]) -> None:
    def interrupt(*_: object) -> None:
        raise kind

    monkeypatch.setattr("ptxtool.api.overhead", interrupt)
    result = CliRunner().invoke(main, ["overhead"])
    assert (result.exit_code, result.stderr.strip()) == (130, "ptxtool: interrupted")


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


def test_help_imports_no_command() -> None:
    code = (
        "import sys\nfrom ptxtool.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n"
        "    print(*sorted(m for m in sys.modules if m.startswith(('ptxtool.', 'lark', 'numpy', 'rich', 'msgspec'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == [
        "ptxtool.base",
        "ptxtool.base.diag",
        "ptxtool.base.render",
        "ptxtool.base.source",
        "ptxtool.cfg",
        "ptxtool.cli",
        "ptxtool.cli.colour",
        "ptxtool.cli.main",
        "ptxtool.cli.progress",
        "ptxtool.cli.streams",
        "ptxtool.emit",
        "ptxtool.isa",
        "ptxtool.parse",
        "ptxtool.sweep",
    ]
