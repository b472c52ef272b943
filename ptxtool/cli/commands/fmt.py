"""`ptxtool fmt FILE...`: canonical layout, in place."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ptxtool import api
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.source import Source
from ptxtool.cli import colour
from ptxtool.cli.common import json_option, output_option, put_bytes, put_json
from ptxtool.cli.completion import complete_file
from ptxtool.cli.outputs import reads
from ptxtool.cli.streams import print_diagnostics, print_note
from ptxtool.formats.files import STDIN, find_input


@dataclass(frozen=True)
class _Formatted:
    """One file before and after; `after` is None where it cannot be laid out."""

    file: str
    name: str
    before: str = ""
    after: str | None = None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def changed(self) -> bool:
        return self.after is not None and self.after != self.before

    def unified_diff(self) -> str:
        from ptxtool.report.unified import unified_diff

        if self.after is None:
            return ""
        return unified_diff(self.before, self.after, self.name, f"{self.name} (laid out)")


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, shell_complete=complete_file, required=True)
@click.option("--check", is_flag=True, help="Write nothing; list the files that would change, exit 1 if any.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@json_option
@output_option
def command(files: tuple[str, ...], check: bool, diff: bool, as_json: bool, output: str | None) -> int:
    """Lay files out canonically: one statement a line, operands aligned, blocks indented, comments kept.

    FILE is rewritten in place, whole or not at all, and only if its layout changes; - is standard input, printed, and
    -o - prints too. A file with syntax errors stays as it is. The meaning never changes: the new text is parsed again
    and compared.
    """
    if STDIN in files and len(files) > 1:
        raise click.UsageError("- (standard input) stands alone: give it without other files")
    reports = check or diff or as_json
    if output is not None and len(files) > 1 and not reports:
        raise click.UsageError("-o OUT takes one FILE: leave it out to lay out files in place")
    printed, output = output == STDIN, None if output == STDIN else output
    if reports:
        for file in files:
            reads(find_input(file), "file to lay out")
    results: list[_Formatted] = []
    for file in files:
        result = _format(file)
        results.append(result)
        if not as_json:
            print_diagnostics(result.diagnostics)
        if not reports:
            _put(result, output, printed)
    if as_json:
        put_json({"files": [_data(result, diff) for result in results]}, output)
    elif diff:
        text = "".join(result.unified_diff() for result in results)
        if output is None and colour.wanted(sys.stdout):
            from ptxtool.report.unified import coloured

            text = coloured(text)
        put_bytes(_bytes(text), output)
    elif check:
        put_bytes(_bytes("".join(f"{r.name}\n" for r in results if r.changed)), output)
    failed = any(result.after is None for result in results)
    return 1 if failed or (check and any(result.changed for result in results)) else 0


def _format(file: str) -> _Formatted:
    from ptxtool.formats.files import read_input

    name = file
    try:
        name, data = read_input(file)
        module = api.parse(data, name)
        return _Formatted(file, name, module.source.text, api.fmt(module))
    except PtxError as problem:
        return _Formatted(file, name, diagnostics=problem.diagnostics)


def _put(result: _Formatted, output: str | None, printed: bool) -> None:
    """Write a file's new layout to where it belongs."""
    from ptxtool.formats.files import write_output

    if result.after is None:
        return
    if output is not None or printed or result.file == STDIN:
        put_bytes(_bytes(result.after), output)
    elif not Path(result.file).exists():
        raise click.UsageError(f"'{result.file}' is a packaged sample: give -o OUT to write it elsewhere")
    elif result.changed:
        write_output(result.file, _bytes(result.after))
        print_note(f"laid out {result.name}")


def _data(result: _Formatted, diff: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"file": result.name, "changed": result.changed}
    if result.after is None:
        return {**data, "diagnostics": [d.to_dict() for d in result.diagnostics]}
    data["text"] = result.after
    return {**data, "diff": result.unified_diff()} if diff else data


def _bytes(text: str) -> bytes:
    return Source("", text).to_bytes()
