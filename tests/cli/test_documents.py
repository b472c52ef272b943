"""The documents are true: their commands print what they say, README's Python runs, every code and command is there.

In a `console` block a line `$ ptxtool ...` is run; what follows is its output. A line `...` stands for the rest of it.
The figures of simulations may change with the model, so there numbers and bars count as equal. After a wanted change
`pytest --bless tests/cli/test_documents.py` writes the outputs into README and `docs/commands.md`.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from smallkernel import Cli

from ptxtool.cli.main import COMMANDS
from ptxtool.external.ptxas import ptxas_version

CHECKOUT = Path(__file__).resolve().parents[2]
README = CHECKOUT / "README.md"
SHOWING = (README, CHECKOUT / "docs" / "commands.md")
_BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def shown() -> Iterator[tuple[str, Path, str]]:
    """Every command that a document shows: the command, the document, the output."""
    for path in SHOWING:
        for block in _BLOCK.findall(path.read_text(encoding="utf-8")):
            for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, output = piece.partition("\n")
                yield command, path, output


def masked(text: str) -> list[list[str]]:
    """Lines as words, with the figures and bars of a simulation taken out."""
    lines = [re.sub(r"[+-]?\d+(\.\d+)?%?", "0", line) for line in text.splitlines()]
    return [[word for word in line.split() if not re.fullmatch(r"#+|-+", word)] for line in lines]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own that looks like the checkout to the commands of the documents."""
    (tmp_path / "tests").symlink_to(CHECKOUT / "tests")
    (tmp_path / "samples").symlink_to(CHECKOUT / "samples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runs(simulated: bool) -> list[str]:
    return [command for command, *_ in shown() if (command.split()[1] in ("compare", "sim")) == simulated]


def check(cli: Cli, command: str, bless: bool) -> None:
    path, output = next((path, output) for each, path, output in shown() if each == command)
    asked = re.search(r"by ptxas ([\d.]+)", output)
    if asked and asked[1] != ptxas_version():
        pytest.skip(f"needs ptxas {asked[1]}")
    words = shlex.split(command)
    assert words[0] == "ptxtool"
    result = cli(*words[1:])
    assert result.exit_code == 0, result.stderr
    got = result.stdout
    lines = output.rstrip("\n").split("\n") if output else []
    if lines and lines[-1] == "...":
        got = "\n".join([*got.splitlines()[: len(lines) - 1], "...", ""])
    if bless:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(f"$ {command}\n{output}", f"$ {command}\n{got}", 1), encoding="utf-8")
    elif words[1] in ("compare", "sim"):
        assert masked(got) == masked(output)
    else:
        assert got == output


@pytest.mark.parametrize("command", runs(simulated=False))
def test_inspecting_and_rewriting(
    command: str, cli: Cli, folder: Path, request: pytest.FixtureRequest
) -> None:
    check(cli, command, request.config.getoption("bless"))


@pytest.mark.slow
@pytest.mark.parametrize("command", runs(simulated=True))
def test_simulating(command: str, cli: Cli, folder: Path, request: pytest.FixtureRequest) -> None:
    check(cli, command, request.config.getoption("bless"))


def test_the_python_example_runs(folder: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_python_examples_of_the_simulator_run(folder: Path) -> None:
    page = (CHECKOUT / "docs" / "simulator.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "thread (231,0,0) of CTA (3,0,0) reads 4 bytes right behind buffer 'y'" in done.stdout
    assert (
        "48 (('%rd7', ('0x1000008c',)),) (('%f2', ('141',)),)" in done.stdout
    )  # y is 1, then 2 x more each time
    assert re.search(
        r"^2 launches: \d+ cycles, \d+ thread instructions, thread IPC .*, 8 CTAs$", done.stdout, re.M
    )


def test_the_two_commands_of_the_readme_are_in_the_makefile() -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^    make (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE)


def test_the_numbers_of_runs_of_the_experiments() -> None:
    from ptxtool.sweep.reproduction.experiment import configurations
    from ptxtool.sweep.reproduction.papers import EXPERIMENTS, paper

    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    said = re.findall(r"`([\w-]+-sharing)` \((\d+) runs\)", text)
    assert said == [(name, str(len(configurations(paper(name))))) for name in EXPERIMENTS]


def test_every_command_and_option_is_documented() -> None:
    import importlib

    text = (CHECKOUT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.*)", text, re.MULTILINE) == list(COMMANDS)
    shared = text.split("\n## ")[0]
    for name in COMMANDS:
        section = text.split(f"\n## {name}\n")[1].split("\n## ")[0]
        command = importlib.import_module(f"ptxtool.cli.commands.{name.replace('-', '_')}").command
        for parameter in command.params:
            option = max(parameter.opts, key=len)
            if option.startswith("--") and option not in ("--output",):
                assert option in section + shared, f"{name} {option}"


@pytest.mark.parametrize("path", [README, *sorted((CHECKOUT / "docs").rglob("*.md"))], ids=lambda p: p.name)
def test_links_lead_somewhere(path: Path) -> None:
    prose = re.sub(r"(?ms)^```.*?^```|^ {4}[^\n]*$", "", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)#:]+)\)", prose):
        assert (path.parent / target).exists(), target
