"""`docs/errors-compared.md`: what ptxtool says about each mistake, and what ptxas says where it is installed.

A section has the lines of a mistake as a `ptx` block, then a block per program, `console ptxas` and `console ptxtool`.
The lines stand in the kernel at the head of the page. `pytest --bless tests/docs/test_errors_compared.py` writes what
the programs print, for ptxas only where it is the version that the page names.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from checkout import CHECKOUT
from ptxas import ptxas
from smallkernel import Cli

PAGE = CHECKOUT / "docs" / "errors-compared.md"
COMMANDS = {"ptxas": "ptxas -arch=sm_90 kernel.ptx", "ptxtool": "ptxtool check kernel.ptx"}
PLACE = "\t// the lines of the example\n"
_BLOCK = re.compile(r"^```(\w+)(?: (\w+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Mistake:
    """One section: its text, the lines of code, and what each program prints."""

    section: str
    lines: str
    shown: dict[str, str]


def mistakes() -> list[Mistake]:
    found = []
    for section in re.split(r"^(?=## )", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        blocks = _BLOCK.findall(section)
        lines = next(body for language, _, body in blocks if language == "ptx")
        found.append(Mistake(section, lines, {name: body for _, name, body in blocks if name}))
    return found


def write_kernel(lines: str) -> int:
    """Write the kernel with a mistake to `kernel.ptx`; the number of the first line of the mistake."""
    frame = next(
        body for language, _, body in _BLOCK.findall(PAGE.read_text(encoding="utf-8")) if language == "ptx"
    )
    assert frame.count(PLACE) == 1
    Path("kernel.ptx").write_text(frame.replace(PLACE, lines), encoding="utf-8")
    return frame[: frame.index(PLACE)].count("\n") + 1


def hold(mistake: Mistake, program: str, printed: str, bless: bool) -> None:
    """The page shows what a program printed."""
    want = f"$ {COMMANDS[program]}\n{printed}"
    if not bless:
        assert mistake.shown[program] == want
        return
    now = next(m for m in mistakes() if m.lines == mistake.lines)  # the other block may be new since
    block = f"```console {program}\n"
    section = now.section.replace(f"{block}{now.shown[program]}```", f"{block}{want}```")
    PAGE.write_text(PAGE.read_text(encoding="utf-8").replace(now.section, section), encoding="utf-8")


@cache
def ptxas_version() -> str:
    """The version of ptxas, such as "13.0"; "" where there is none."""
    program = ptxas()
    if program is None:
        return ""
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"release (\d+\.\d+)", done.stdout)
    return found[1] if found else ""


def ids(mistake: Mistake) -> str:
    return mistake.section.split("\n")[0].lstrip("# ")


@pytest.fixture
def kernel(mistake: Mistake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.chdir(tmp_path)
    return write_kernel(mistake.lines)


@pytest.mark.parametrize("mistake", mistakes(), ids=ids)
def test_what_ptxtool_says(mistake: Mistake, kernel: int, cli: Cli, request: pytest.FixtureRequest) -> None:
    result = cli(*shlex.split(COMMANDS["ptxtool"])[1:])
    assert result.exit_code == 1
    found = [int(n) for n in re.findall(r"^kernel\.ptx:(\d+):\d+: error\[", result.output, re.MULTILINE)]
    last = kernel + mistake.lines.count("\n") - 1
    assert found, result.output
    assert all(kernel <= n <= last for n in found), "only the lines of the mistake are wrong"
    assert "help: " in result.output
    hold(mistake, "ptxtool", result.output, request.config.getoption("bless"))


@pytest.mark.parametrize("mistake", mistakes(), ids=ids)
def test_what_ptxas_says(mistake: Mistake, kernel: int, request: pytest.FixtureRequest) -> None:
    named = re.search(r"`ptxas` (\d+\.\d+)", PAGE.read_text(encoding="utf-8"))
    assert named is not None
    if ptxas_version() != named[1]:
        pytest.skip(f"needs ptxas {named[1]}: CUDA, or `pip install nvidia-cuda-nvcc`")
    words = shlex.split(COMMANDS["ptxas"])
    done = subprocess.run([str(ptxas()), *words[1:]], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    hold(mistake, "ptxas", done.stdout + done.stderr, request.config.getoption("bless"))


def test_there_are_ten() -> None:
    assert [int(ids(mistake).split(".")[0]) for mistake in mistakes()] == list(range(1, 11))
