"""The page of every diagnostic code, `docs/errors/CODE.md`, is there and true: its examples are run.

A page is

    # E201: undeclared register or variable          the meaning is that of `CODES`
    what the diagnostic means, in a few sentences

    ## Wrong
    ```ptx kernel.ptx                                a file, by its name; one or more
    ```console                                       commands and all that they print, which must show the code
    $ ptxtool check kernel.ptx

    ## Right
    ```ptx kernel.ptx                                the files of `Wrong`, corrected; the others stay as they are
    ```console                                       only where the command itself is corrected; else those of
    $ ptxtool check other.ptx                        `Wrong` are run again. They succeed, without the code

    ## Why
    ## When to silence it                            of warnings

A command that is not ptxtool's is run by the shell, to make what a page cannot hold. To write a page copy that of E201,
change the text, the examples and the commands, and let `pytest --bless tests/docs/test_error_pages.py` fill in what
they print and add the page to the index; then read what it wrote.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from checkout import CHECKOUT
from smallkernel import Cli

from ptxtool.base.diag import CODES

PAGES = CHECKOUT / "docs" / "errors"
INDEX = PAGES / "README.md"
NOT_TO_BE_PROVOKED = {"E303"}  # a bug of ours: no file leads there
SIMULATES = ("sim", "compare", "prove")
FAMILIES = {"1": "the text", "2": "what the text means", "3": "passes", "4": "launches and simulation"}
FAMILIES["5"] = "files and configuration"
_FENCE = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """What one section of a page shows: files by name, and commands with what they print."""

    files: dict[str, str]
    commands: tuple[tuple[str, str], ...]


def section(page: str, title: str) -> str:
    parts = re.split(rf"^## {title}$", page, flags=re.MULTILINE)
    assert len(parts) == 2, f"the page has no section '## {title}'"
    return re.split(r"^## ", parts[1], flags=re.MULTILINE)[0]


def example(text: str) -> Example:
    files: dict[str, str] = {}
    commands: list[tuple[str, str]] = []
    for language, name, body in _FENCE.findall(text):
        if language == "console":
            for piece in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = piece.partition("\n")
                commands.append((command, output))
        else:
            assert name, f"the {language} block has no file name: ```{language} kernel.{language}"
            files[name] = body
    return Example(files, tuple(commands))


def page_of(code: str) -> Path:
    return PAGES / f"{code}.md"


def run(command: str, cli: Cli) -> tuple[int, str]:
    """The exit code and all that a command prints, in the order in which it appears."""
    words = shlex.split(command)
    if words[0] == "ptxtool":
        result = cli(*words[1:])
        return result.exit_code, re.sub(r"^compiling the .* \.\.\.\n", "", result.output)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def simulates(code: str) -> bool:
    text = page_of(code).read_text(encoding="utf-8") if page_of(code).exists() else ""
    return any(f"$ ptxtool {name} " in text for name in SIMULATES)


def shown_codes() -> list[object]:
    codes = sorted(set(CODES) - NOT_TO_BE_PROVOKED)
    return [pytest.param(code, marks=[pytest.mark.slow] if simulates(code) else []) for code in codes]


@pytest.mark.parametrize("code", CODES)
def test_the_code_has_its_page(code: str) -> None:
    page = page_of(code)
    advice = f"write docs/errors/{code}.md: copy docs/errors/E201.md; the docstring of {Path(__file__).name} says how"
    assert page.exists(), advice
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {code}: {CODES[code]}\n\n"), f"it begins with '# {code}: {CODES[code]}'"
    assert len(section(text, "Why").split()) >= 10, "'## Why' says why"
    if code.startswith("W"):
        advice = "'## When to silence it' says when a warning can be disabled"
        assert len(section(text, "When to silence it").split()) >= 10, advice


@pytest.mark.parametrize("code", shown_codes())
def test_the_wrong_example_prints_what_the_page_shows_and_the_right_one_does_not(
    code: str, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    page = page_of(code)
    if not page.exists():
        pytest.skip("no page yet: the test above says so")
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    wrong, right = example(section(text, "Wrong")), example(section(text, "Right"))
    assert wrong.commands, "'## Wrong' has no ```console block with a command '$ ptxtool ...'"
    write(wrong.files)
    wrong_outputs = [run(command, cli)[1] for command, _ in wrong.commands]
    assert any(f"[{code}]" in output for output in wrong_outputs), "\n".join(wrong_outputs)
    write(right.files)
    results = [run(command, cli) for command, _ in right.commands or wrong.commands]
    right_outputs = [output for _, output in results]
    assert [status for status, _ in results] == [0] * len(results), "\n".join(right_outputs)
    assert not any(f"[{code}]" in output for output in right_outputs), "\n".join(right_outputs)

    if request.config.getoption("bless"):
        head, mark, tail = text.partition("\n## Right\n")
        head = with_outputs(head, wrong, wrong_outputs)
        page.write_text(head + mark + with_outputs(tail, right, right_outputs), encoding="utf-8")
        return
    for one, outputs in ((wrong, wrong_outputs), (right, right_outputs)):
        for (_, shown), output in zip(one.commands, outputs, strict=False):
            assert output == shown


def write(files: dict[str, str]) -> None:
    for name, body in files.items():
        Path(name).write_text(body, encoding="utf-8")


def with_outputs(text: str, one: Example, outputs: list[str]) -> str:
    """A part of a page with what its commands print."""
    for (command, shown), output in zip(one.commands, outputs, strict=False):
        text = text.replace(f"$ {command}\n{shown}", f"$ {command}\n{output}", 1)
    return text


def index_tables() -> str:
    """The lists of codes as the index should have them."""
    parts = []
    for family, title in FAMILIES.items():
        codes = [code for code in sorted(CODES, key=lambda c: (c[1:2], c[0], c)) if code[1] == family]
        rows = "".join(f"| [{code}]({code}.md) | {CODES[code]} |\n" for code in codes)
        parts.append(f"## {family}xx: {title}\n\n| code | meaning |\n|---|---|\n{rows}")
    return "\n".join(parts)


def test_the_index_lists_every_code(request: pytest.FixtureRequest) -> None:
    text = INDEX.read_text(encoding="utf-8")
    head, mark, _ = text.partition("## 1xx")
    if request.config.getoption("bless"):
        INDEX.write_text(head + index_tables(), encoding="utf-8")
    else:
        advice = "pytest --bless tests/docs/test_error_pages.py writes the index"
        assert mark + text.partition(mark)[2] == index_tables(), advice


def test_no_page_is_left_over() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} - {"README"} <= set(CODES)
