"""The files that a command writes, checked before it starts: an hour of simulation must not end in E503.

Options for output files have the type `OUTPUT`, for folders `OUTPUT_FOLDER`. Parsing such an option refuses (E503) a
file that cannot be written, a database, which may be a sweep's store, and a file that another option writes already.
Code that opens an input calls `reads`, which refuses outputs that are the same file.
"""

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptxtool.base.diag import PtxError, error
from ptxtool.formats.files import STDIN, require_folder, require_writable

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_INPUTS, _OUTPUTS = "ptxtool.inputs", "ptxtool.outputs"
_DATABASE = b"SQLite format 3\0"


class OutputPath(click.ParamType[str]):
    """The path of a file to be written."""

    name = "path"
    _completed = "file"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        path = str(value)
        if ctx is not None and not ctx.resilient_parsing and path != STDIN:
            self.accept(path, param.opts[0] if param else "-o", ctx)
        return path

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type=self._completed)]

    def accept(self, path: str, option: str, ctx: click.Context) -> None:
        """Note an output of the command. Raises E503 for one that cannot be written."""
        require_writable(path)
        if _is_database(path):
            what = "it is a database, such as those in which sweeps keep their results"
            raise _refusal(path, option, what)
        outputs: dict[str, str] = ctx.meta.setdefault(_OUTPUTS, {})
        for other, taken in outputs.items():
            if _is_same(path, taken):
                raise _refusal(path, option, f"{other} writes it already")
        outputs[option] = path


class OutputFolder(OutputPath):
    """The path of a folder that files are written into."""

    _completed = "dir"

    def accept(self, path: str, option: str, ctx: click.Context) -> None:
        require_folder(Path(path))


OUTPUT, OUTPUT_FOLDER = OutputPath(), OutputFolder()


def reads(path: str | Path, what: str) -> None:
    """Note a file that the command reads or updates. Raises E503 where it also is an output."""
    context = click.get_current_context(silent=True)
    if context is None:
        return
    outputs: dict[str, str] = context.meta.get(_OUTPUTS, {})
    for option, output in outputs.items():
        if _is_same(output, path):
            raise _refusal(output, option, f"it is the {what}, which would be lost")
    context.meta.setdefault(_INPUTS, []).append((path, what))


def writes(path: Path, option: str) -> None:
    """Check a file that the command writes without an option for it. Raises E503 for an input."""
    inputs: list[tuple[str | Path, str]] = click.get_current_context().meta.get(_INPUTS, [])
    for read, what in inputs:
        if _is_same(path, read):
            raise _refusal(str(path), option, f"it is the {what}, which would be lost", "folder")


def reads_scheduler(name: str | None) -> None:
    """Note the file of a scheduler of the user's own, FILE.py:FUNCTION."""
    _reads_own(name, "scheduler's file")


def reads_scheme(name: str | None) -> None:
    """Note the file of a register scheme of the user's own, FILE.py:FUNCTION."""
    _reads_own(name, "register scheme's file")


def _reads_own(name: str | None, what: str) -> None:
    file, found, _ = (name or "").rpartition(".py:")
    if found:
        reads(f"{file}.py", what)


def reads_passes(pipeline: str) -> None:
    """Note the files of a pipeline's own passes, FILE.py:CLASS."""
    from ptxtool.passes.own import OWN_NAME

    for name in re.findall(OWN_NAME, pipeline):
        reads(name.strip().rpartition(":")[0] or name, "pass's file")


def _refusal(path: str, option: str, why: str, kind: str = "file") -> PtxError:
    help = f"nothing was run; give {option} another {kind}"
    return error("E503", f"{option} cannot write '{path}': {why}", help=help)


def _is_same(one: str | Path, other: str | Path) -> bool:
    """Whether two paths name one file, existing or not. Devices and pipes may be shared."""
    with contextlib.suppress(OSError, ValueError):
        if os.path.exists(one) and not os.path.isfile(one):
            return False
        if os.path.realpath(one) == os.path.realpath(other):
            return True
        return os.path.samefile(one, other)
    return False


def _is_database(path: str) -> bool:
    with contextlib.suppress(OSError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read(len(_DATABASE)) == _DATABASE
    return False
