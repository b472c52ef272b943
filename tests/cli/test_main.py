"""The command group: every command is there, none is imported early, and failures become exit codes."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from smallkernel import KERNEL

from ptxtool.cli.main import COMMANDS, main, module_of


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert f"Usage: main {name}" in result.stdout


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"lsp"}))  # a server has no result
def test_every_command_speaks_json(name: str) -> None:
    command = importlib.import_module(module_of(name)).command
    assert {"as_json", "output"} <= {parameter.name for parameter in command.params}


def test_every_command_is_a_function_of_the_api() -> None:
    from ptxtool import api

    functions = {"exec": "run_application", "live": "liveness", "sim": "simulate"}
    for name in set(COMMANDS) - {"help", "lsp"}:  # the one Python has by itself, the other is a server
        assert callable(getattr(api, functions.get(name, name.replace("-", "_"))))


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


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads as Linux lists them")
def test_no_threads_for_linear_algebra_in_commands_without_it(tmp_path: Path) -> None:
    path = tmp_path / "k.ptxplus"
    path.write_text(KERNEL)
    program = (
        f"import os, sys\nfrom ptxtool.cli.main import main\ntry:\n    main(['pressure', {str(path)!r}])\n"
        "except SystemExit as end:\n    print(end.code, 'numpy' in sys.modules, len(os.listdir('/proc/self/task')))"
    )
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment
    )
    assert done.stdout.splitlines()[-1] == "0 True 1"


def test_help_imports_no_command() -> None:
    code = (
        "import sys\nfrom ptxtool.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n"
        "    print(*sorted(m for m in sys.modules if m.startswith(('ptxtool.', 'lark', 'numpy', 'rich', 'msgspec'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].split() == [
        "ptxtool.base",
        "ptxtool.base.collector",
        "ptxtool.base.diag",
        "ptxtool.base.render",
        "ptxtool.base.source",
        "ptxtool.cfg",
        "ptxtool.cli",
        "ptxtool.cli.colour",
        "ptxtool.cli.interrupts",
        "ptxtool.cli.main",
        "ptxtool.cli.progress",
        "ptxtool.cli.streams",
        "ptxtool.emit",
        "ptxtool.isa",
        "ptxtool.parse",
        "ptxtool.sweep",
    ]


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("sweeep", "Did you mean 'sweep'?"),
        ("first_use", "Did you mean 'first-use'?"),
        ("zzz", "There are check, "),
    ],
)
def test_a_command_that_is_not_there(word: str, advice: str) -> None:
    result = CliRunner().invoke(main, [word])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"No such command '{word}'. {advice}" in result.stderr
