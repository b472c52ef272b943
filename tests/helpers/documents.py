"""The example blocks of README and docs: finding them, and running those of a page in order in one folder.

A block is the text between two lines of ```; the words after the first ``` are its language and, for a file, its name.
`tests/docs/test_examples.py` lists the languages. The blocks of a page share a folder and a Python namespace: a file
that one block writes is there for the next one.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checkout import CHECKOUT
from click.testing import CliRunner

from ptxtool.cli.main import main

STORED = CHECKOUT / "tests" / "docs"
"""What nvcc writes for the CUDA files of the pages, for machines without this version of nvcc."""
_FENCE = re.compile(r"^(\s*)(```+|~~~+)\s*(\S*)(?: +(.*?))?\s*$")
_LIST_ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s")
_LOOP = re.compile(r"for (\w+) in (.*?); do (.*?); done")
_BY_PTXAS = re.compile(r", \d+ by ptxas [\d.]+ -O\d for sm_\w+")
SIMULATING = ("compare", "prove", "sim", "sweep", "tune", "reproduce")


@dataclass(frozen=True)
class Block:
    """A block of a page: the line of its fence, its language ("" for indented text), its name, its text."""

    page: Path
    line: int
    language: str
    name: str
    body: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(CHECKOUT)}:{self.line}"

    @property
    def commands(self) -> list[tuple[str, str]]:
        """The commands of a `console` block, each with the output that the page shows."""
        pieces = re.split(r"^\$ ", self.body, flags=re.MULTILINE)
        assert pieces[0] == "", f"{self}: a console block begins with '$ '"
        return [(command, output) for command, _, output in (piece.partition("\n") for piece in pieces[1:])]

    @property
    def simulates(self) -> bool:
        if self.language == "python":
            return "ptxsim" in self.body or "sweep" in self.body
        return self.language == "console" and any(f"ptxtool {name} " in self.body for name in SIMULATING)


def blocks_of(page: Path) -> list[Block]:
    """The fenced and the indented blocks of a page, in order. Continued items of lists are not blocks."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").split("\n")
    at, in_list, after_blank = 0, False, True
    while at < len(lines):
        line = lines[at]
        fence = _FENCE.match(line)
        if fence:
            begin, (indent, mark, language, name) = at + 1, fence.groups(default="")
            at = next(n for n in range(begin, len(lines)) if lines[n].strip() == mark)
            body = "".join(text.removeprefix(indent) + "\n" for text in lines[begin:at])
            found.append(Block(page, begin, language or "none", name, body))
            after_blank = False
        elif line.startswith("    ") and line.strip() and after_blank and not in_list:
            begin = at
            while at + 1 < len(lines) and (lines[at + 1].startswith("    ") or not lines[at + 1].strip()):
                at += 1
            found.append(Block(page, begin + 1, "", "", "\n".join(lines[begin : at + 1])))
            after_blank = True
        else:
            if line.strip() and not line.startswith(" "):
                in_list = bool(_LIST_ITEM.match(line))
            after_blank = not line.strip()
        at += 1
    return found


class Missing(Exception):
    """A program that a command needs is not on this machine."""


class PageRun:
    """The blocks of a page run so far. `printed(block)` runs every block up to that one, each once."""

    def __init__(self, page: Path, folder: Path, shared: dict[str, str]) -> None:
        self.folder = folder
        self.shared = shared
        """What a command prints that neither reads nor writes files of the folder: run once for all pages."""
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.blocks = blocks_of(page)
        self.todo = list(self.blocks)
        self.results: dict[Block, list[str] | BaseException] = {}
        for name in ("samples", "tests"):
            (folder / name).symlink_to(CHECKOUT / name)

    def printed(self, block: Block) -> list[str]:
        """What each command of a block prints, or what a Python block prints; raises what the block raised."""
        with contextlib.chdir(self.folder):
            while block not in self.results:
                current = self.todo.pop(0)
                try:
                    self.results[current] = list(self._run(current))
                except (Exception, SystemExit) as problem:
                    self.results[current] = problem
        result = self.results[block]
        if isinstance(result, BaseException):
            raise result
        return result

    def _run(self, block: Block) -> Iterator[str]:
        if block.name and block.language not in ("console", "sh"):
            Path(block.name).parent.mkdir(parents=True, exist_ok=True)
            Path(block.name).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block.body, str(block), "exec"), self.namespace)
            yield printed.getvalue()
        elif block.language == "console":
            for command, shown in block.commands:
                yield self._shared(command, "error[" in shown)

    def _shared(self, command: str, fails: bool) -> str:
        if command in self.shared:
            return self.shared[command]
        before = set(os.listdir())
        output = printed_by(command, fails)
        own = before - {"samples", "tests"}
        if set(os.listdir()) == before and not any(name in command for name in own):
            self.shared[command] = output
        return output


def printed_by(command: str, fails: bool = False) -> str:
    """What a command prints, on both streams in the order of a terminal. It succeeds, unless it `fails`.

    ptxtool runs in this process, also in `for NAME in WORDS; do ...; done` and before a pipe; the shell runs the rest.
    """
    loop = _LOOP.fullmatch(command)
    if loop:
        name, values, body = loop.groups()
        return "".join(printed_by(body.replace(f"${name}", value), fails) for value in values.split())
    if command.startswith("nvcc -cudart shared "):
        return _built(command)
    if command.startswith("ptxtool exec "):
        command = f"{shlex.quote(sys.executable)} -m {command}"
        done = subprocess.run(["sh", "-c", f"{command} 2>&1"], capture_output=True, text=True, check=False)
        return done.stdout
    if command.startswith("nvcc "):
        return _compiled(shlex.split(command))
    if command.startswith("python "):
        command = f"{shlex.quote(sys.executable)}{command.removeprefix('python')}"
    if not command.startswith("ptxtool "):
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if "fixture 'ptx_kernel' not found" in done.stdout:
            raise Missing("needs ptxtool installed again: its entry point for pytest is not there")
        return done.stdout + done.stderr
    command, _, filters = command.partition(" | ")
    words = shlex.split(command)[1:]
    if words[0] == "sweep" and words[1].endswith(".toml"):
        words += ["--jobs", "1"]  # results do not depend on it
    result = CliRunner().invoke(main, words, prog_name="ptxtool", env={"PTXTOOL_DEBUG": "1"})
    if "PackageNotFoundError" in result.output:
        raise Missing("needs ptxtool installed as a package: the output has its version")
    assert result.exit_code == (1 if fails else 0), result.output or repr(result.exception)
    if filters:
        done = subprocess.run(
            ["sh", "-c", filters], input=result.stdout, capture_output=True, text=True, check=True
        )
        return result.stderr + done.stdout
    return re.sub(r"^compiling the .* \.\.\.\n", "", result.output, flags=re.MULTILINE)


def _built(command: str) -> str:
    """An executable, where there is an nvcc."""
    if shutil.which("nvcc") is None:
        raise Missing("needs nvcc")
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def _compiled(words: list[str]) -> str:
    """nvcc, held to the PTX that `tests/docs` stores; where it is another version the stored file is taken."""
    (source,) = [word for word in words if word.endswith(".cu")]
    stored = STORED / Path(source).with_suffix(".ptx").name
    text = stored.read_text(encoding="utf-8")
    release = re.search(r"release [\d.]+", text)
    assert release is not None
    if release[0] not in _nvcc_version():
        shutil.copy(stored, stored.name)
        raise Missing(f"needs nvcc, {release[0]}")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert Path(stored.name).read_text(encoding="utf-8") == text, f"{stored} is not what nvcc writes"
    return done.stdout + done.stderr


def _nvcc_version() -> str:
    if shutil.which("nvcc") is None:
        return ""
    return subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout


def agree(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed: exactly, but for lines `...`, each of which stands for any lines.

    Where this machine has no ptxas, or another version than the page, what ptxas says is left out on both sides.
    """
    version = re.search(r"by ptxas ([\d.]+)", shown)
    if version and f"by ptxas {version[1]}" not in printed:
        shown, printed = _BY_PTXAS.sub("", shown), _BY_PTXAS.sub("", printed)
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*".join(parts), printed) is not None


def shortened(shown: str, printed: str) -> str:
    """What was printed, with a line `...` where the page has one: before and after it as many lines as on the page."""
    lines, shown_lines = printed.splitlines(keepends=True), shown.splitlines(keepends=True)
    if "...\n" not in shown_lines:
        return printed
    first = shown_lines.index("...\n")
    assert shown_lines.count("...\n") == 1, "two lines '...' in an output: correct it by hand"
    n_after = len(shown_lines) - first - 1
    return "".join([*lines[:first], "...\n", *lines[len(lines) - n_after :]])
