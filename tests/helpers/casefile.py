"""Tests that are assembly files: golden cases under `tests/cases`, notes on the line under `tests/notes`.

A golden case starts with comments: `// RUN: ptxtool rewrite -p unroll-decls %s` (one or more) and why it exists. `%s`
is the file's name; the command runs in its folder. `NAME.out` beside it holds all that comes out: standard output, then
standard error and the exit code where there are any. `pytest --bless` writes it.

A noted file carries its expectations where they hold, in a comment at the end of the line:

    // error: E201 E204      every diagnostic on this line: of `ptxtool check` in the folder `check`, elsewhere of
                             verification, which every command does; each file of this kind is held whole
    // warning: W201
    // live-in: %r1 %r2      registers live before the instruction on this line; once a kernel has one such note,
    // live-out: %r3         every instruction needs one
    // reconverge: L2        the label where the lanes of the divergent branch on this line meet, or `end`

Missing and surplus notes both fail.
"""

import contextlib
import difflib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout import TESTS

FOLDER = TESTS
SUFFIXES = (".ptx", ".ptxplus")


class GoldenCase(pytest.File):
    """One file of `tests/cases`: the commands in it and the golden file beside it."""

    def collect(self) -> Iterator[pytest.Item]:
        yield GoldenItem.from_parent(self, name=self.path.stem)


class GoldenItem(pytest.Item):
    def runtest(self) -> None:
        got = run_case(self.path)
        golden = self.path.with_suffix(".out")
        if self.config.getoption("bless"):
            golden.write_text(got, encoding="utf-8", newline="")
            return
        want = golden.read_bytes().decode() if golden.exists() else ""
        if got != want:
            raise GoldenFailure(golden, want, got)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        return (
            str(excinfo.value)
            if isinstance(excinfo.value, CaseFailure)
            else str(super().repr_failure(excinfo))
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, str(self.path.relative_to(FOLDER))


class CaseFailure(Exception):
    """A case that does not hold; its text is the whole report."""


class GoldenFailure(CaseFailure):
    def __init__(self, golden: Path, want: str, got: str):
        diff = difflib.unified_diff(
            want.splitlines(keepends=True), got.splitlines(keepends=True), str(golden.name), "this run"
        )
        text = "".join(line if line.endswith("\n") else line + "\n\\ no newline\n" for line in diff)
        super().__init__(
            f"{text}if this run is right: pytest --bless {golden.parent.relative_to(FOLDER.parent)}"
        )


def run_case(path: Path) -> str:
    """What the commands of a golden case print: each under its command line where there are several."""
    head = "\n".join(_head_comments(path))
    commands = re.findall(r"RUN:\s*(.*)", head)
    if not commands:
        raise CaseFailure(f"{path.name}: no '// RUN: ptxtool ... %s' at its head")
    if len(head.splitlines()) == len(commands):
        raise CaseFailure(f"{path.name}: its head does not say why it exists")
    parts: list[str] = []
    for command in commands:
        words = [path.name if word == "%s" else word for word in shlex.split(command)]
        if words[0] != "ptxtool":
            raise CaseFailure(f"{path.name}: '{words[0]}' is not ptxtool")
        code, out, err = run_cli(words[1:], path.parent)
        parts.append((f"$ {command}\n" if len(commands) > 1 else "") + out)
        if err:
            parts.append(f"---- standard error\n{err}")
        if code:
            parts.append(f"---- exit code {code}\n")
    return "".join(parts)


def _head_comments(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("//"):
            return
        yield line


def run_cli(arguments: list[str], folder: Path) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, standard output, standard error."""
    from click.testing import CliRunner

    from ptxtool.cli.main import main

    with contextlib.chdir(folder):
        result = CliRunner().invoke(main, arguments, prog_name="ptxtool")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


# ---- notes on the line

_NOTE = re.compile(r"//\s*(error|warning|live-in|live-out|reconverge):\s*([^/]*)")


class NotedFile(pytest.File):
    """One file of `tests/notes`."""

    def collect(self) -> Iterator[pytest.Item]:
        yield NotedItem.from_parent(self, name=self.path.stem)


class NotedItem(pytest.Item):
    def runtest(self) -> None:
        text = self.path.read_bytes()
        wanted = read_notes(text.decode("utf-8", "surrogateescape"))
        if not wanted:
            raise CaseFailure(f"{self.path.name}: it has no notes")
        kinds = {kind for _, kind in wanted}
        found = find_notes(text, self.path.name, kinds, whole=self.path.parent.name == "check")
        lines = [
            f"{self.path.name}:{line}: {kind}: noted '{wanted.get((line, kind), '')}', "
            f"found '{found.get((line, kind), '')}'"
            for line, kind in sorted(wanted.keys() | found.keys())
            if wanted.get((line, kind)) != found.get((line, kind))
        ]
        if lines:
            raise CaseFailure("\n".join(lines))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        return (
            str(excinfo.value)
            if isinstance(excinfo.value, CaseFailure)
            else str(super().repr_failure(excinfo))
        )

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, 0, str(self.path.relative_to(FOLDER))


Notes = dict[tuple[int, str], str]
"""(line, kind) -> the words noted there, sorted and joined by blanks."""


def read_notes(text: str) -> Notes:
    """The notes that a file carries."""
    notes: Notes = {}
    for number, line in enumerate(text.split("\n"), 1):
        for kind, words in _NOTE.findall(line):
            notes[number, kind] = " ".join(sorted(words.split()))
    return notes


def find_notes(text: bytes, name: str, kinds: set[str], whole: bool = False) -> Notes:
    """The notes that a file should carry, of the kinds that it uses; diagnostics always, all of them if `whole`."""
    from ptxtool.base.diag import PtxError
    from ptxtool.parse import parse
    from ptxtool.sema.module import check_module
    from ptxtool.sema.verify import verify

    notes: Notes = {}
    try:
        module = parse(text, name)
        diagnostics = check_module(module) if whole else verify(module)
    except PtxError as problem:
        module, diagnostics = None, problem.diagnostics
    for diagnostic in diagnostics:
        key = (diagnostic.line or 1, diagnostic.severity)
        notes[key] = " ".join(sorted([*notes.get(key, "").split(), diagnostic.code]))
    for kernel in module.kernels.values() if module else ():
        if {"live-in", "live-out"} & kinds:
            from ptxtool.analysis.flow.liveness import liveness

            live = liveness(kernel)
            for index in range(len(kernel.instructions)):
                line = kernel.line(index)
                notes[line, "live-in"] = " ".join(sorted(live.before[index]))
                notes[line, "live-out"] = " ".join(sorted(live.after[index]))
        if "reconverge" in kinds:
            from ptxtool.cfg.reconvergence import reconvergence_points

            labels = {target: label for label, target in reversed(kernel.labels.items())}
            for branch, target in reconvergence_points(kernel).items():
                end = target == len(kernel.instructions)
                notes[kernel.line(branch), "reconverge"] = (
                    "end" if end else labels.get(target, f"line-{kernel.line(target)}")
                )
    return {key: words for key, words in notes.items() if key[1] in kinds | {"error", "warning"}}


# ---- pytest's hooks, called from conftest.py


def add_option(parser: pytest.Parser) -> None:
    parser.addoption(
        "--bless", action="store_true", help="write the golden files of tests/cases from this run"
    )


def refuse_blessing_in_ci(config: pytest.Config) -> None:
    if config.getoption("bless") and os.environ.get("CI"):
        raise pytest.UsageError("--bless writes expectations; it is refused where CI is set")


def collect_file(path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for a file of `tests/cases` or `tests/notes`, None for any other."""
    if path.suffix in SUFFIXES:
        if FOLDER / "cases" in path.parents:
            return GoldenCase.from_parent(parent, path=path)
        if FOLDER / "notes" in path.parents:
            return NotedFile.from_parent(parent, path=path)
    return None
