"""`ptxtool check FILE...`: every diagnostic of every file."""

from typing import Any

import click

from ptxtool import api
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.cli.common import json_option, output_option, put_json, put_text
from ptxtool.cli.streams import print_diagnostics


@click.command(short_help="Parse and verify files; report every error and warning.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@json_option
@output_option
def command(files: tuple[str, ...], as_json: bool, output: str | None) -> int:
    """Parse and verify files; report every error and warning.

    Exits 1 if any file has an error. Diagnostics go to standard error, one line per file to standard output.
    """
    reports: list[dict[str, Any]] = []
    lines: list[str] = []
    failed = False
    for file in files:
        name, found, contents = _check(file)
        errors = sum(d.is_error for d in found)
        failed = failed or errors > 0
        if not as_json:
            print_diagnostics(found)
        state = _count(errors, "error") if errors else "ok"
        warnings = len(found) - errors
        extra = [*([_count(warnings, "warning")] if warnings else []), *contents]
        lines.append(f"{name}: {', '.join([state, *extra])}")
        reports.append({"file": name, "ok": not errors, "diagnostics": [d.to_dict() for d in found]})
    if as_json:
        put_json({"files": reports}, output)
    else:
        put_text("\n".join(lines), output)
    return 1 if failed else 0


def _check(file: str) -> tuple[str, tuple[Diagnostic, ...], list[str]]:
    """The name, the diagnostics and what is in a file."""
    try:
        module = api.load(file)
    except PtxError as problem:
        name = next((d.source.name for d in problem.diagnostics if d.source), file)
        return name, problem.diagnostics, []
    n = sum(len(f.instructions) for f in module.functions.values())
    contents = [_count(len(module.kernels), "kernel"), _count(n, "instruction")]
    return module.source.name, api.check(module), contents


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" + ("" if n == 1 else "s")
