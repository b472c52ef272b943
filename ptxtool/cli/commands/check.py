"""`ptxtool check FILE...`: every diagnostic of every file, for people, editors, programs and code scanning."""

import sys
from collections.abc import Iterable
from pathlib import Path

import click

from ptxtool import api
from ptxtool.base.diag import CODES, PtxError, by_place
from ptxtool.base.phrases import nearest
from ptxtool.base.source import Source
from ptxtool.cli import colour
from ptxtool.cli.common import json_option, output_option, put_json, put_text
from ptxtool.cli.completion import complete_file
from ptxtool.cli.cuda_source import source_option
from ptxtool.cli.outputs import reads
from ptxtool.cli.streams import MOST_SHOWN, print_diagnostics, print_note, print_text
from ptxtool.formats.files import STDIN, find_input
from ptxtool.report.kernels.checked import Checked, checked_data, concise, summary


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, shell_complete=complete_file)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "concise", "json", "sarif"]),
    default="text",
    show_default=True,
    help="For people; one line per diagnostic; data; SARIF 2.1.0 for code scanning.",
)
@json_option
@click.option(
    "--max-errors",
    "most",
    type=click.IntRange(0),
    metavar="N",
    help=f"At most N errors and N warnings of a file, 0 for all.  [default: {MOST_SHOWN} as text, else all]",
)
@click.option("--werror", is_flag=True, help="Exit 1 for warnings too.")
@click.option("--disable", metavar="CODE,...", multiple=True, help="Leave out warnings of these codes.")
@click.option("--fix", is_flag=True, help="Apply the next steps that leave nothing to choose, in place.")
@click.option("-q", "--quiet", is_flag=True, help="As text: no line for a file without diagnostics.")
@source_option(expose_value=False)
@click.option("--explain", metavar="CODE", help="Print what a code means, with an example, and stop.")
@output_option
def command(
    files: tuple[str, ...],
    form: str,
    as_json: bool,
    most: int | None,
    werror: bool,
    disable: tuple[str, ...],
    fix: bool,
    quiet: bool,
    explain: str | None,
    output: str | None,
) -> int:
    """Parse and verify files; report every error and warning.

    Exits 1 if any file has an error. As text, diagnostics go to standard error, one line per file to standard output.
    With --fix each FILE is rewritten first, if that leaves fewer of them; standard error has a line for every fix.
    """
    if explain is not None:
        return _explain(explain, as_json, output)
    if not files:
        raise click.UsageError("Missing argument 'FILE...'.")
    off = _disabled(disable)
    for file in files:
        reads(find_input(file), "file to check")
    if fix:
        for file in files:
            _fix(file)
    checked = (_check(file, off, werror) for file in files)
    if form == "text" and not as_json:
        return _as_text(checked, MOST_SHOWN if most is None else most, quiet, output)
    found = [file.at_most(most or 0) for file in checked]
    if form == "sarif":
        from importlib.metadata import version

        from ptxtool.report.sarif import sarif

        put_json(sarif(found, version("ptxtool")), output)
    elif form == "concise":
        lines = concise(found)
        if lines or output is not None:
            put_text(lines, output)
    else:
        put_json(checked_data(found), output)
    return _exit_code(found)


def _fix(file: str) -> None:
    """Rewrite a file with the fixes that help."""
    from ptxtool.formats.files import find_input, read_input, write_output
    from ptxtool.sema.fixes import fix_text

    if file == STDIN:
        raise click.UsageError("--fix rewrites files: - (standard input) is none")
    if find_input(file) != Path(file):
        raise click.UsageError(f"'{file}' is a packaged sample: copy it to fix the copy")
    try:
        name, data = read_input(file)
    except PtxError:
        return  # reported when it is checked
    result = fix_text(Source.from_bytes(name, data).text, name)
    if result.applied:
        write_output(file, Source(name, result.text).to_bytes())
    for one in result.applied:
        line = f":{one.line}" if one.line else ""
        print_note(f"{name}{line}: fixed {one.code}: {one.message}; {one.help}")


def _check(file: str, off: frozenset[str], werror: bool) -> Checked:
    """The diagnostics of a file, and what is in it."""
    kernels = instructions = None
    try:
        module = api.load(file)
        name, diagnostics = module.source.name, api.check(module)
        kernels = len(module.kernels)
        instructions = sum(len(f.instructions) for f in module.functions.values())
    except PtxError as problem:
        diagnostics = problem.diagnostics + api.check_recovered(problem)
        name = next((d.source.name for d in diagnostics if d.source), file)
    found = tuple(d for d in by_place(diagnostics) if d.code not in off)
    n_errors = sum(d.is_error for d in found)
    return Checked(name, found, n_errors, len(found) - n_errors, kernels, instructions, strict=werror)


def _as_text(checked: Iterable[Checked], most: int, quiet: bool, output: str | None) -> int:
    """Report each file as soon as it is checked, and at the end, if there are several, their sum."""
    seen: list[Checked] = []
    lines: list[str] = []
    for file in checked:
        seen.append(file)
        print_diagnostics(file.diagnostics, most)
        if file.diagnostics or not quiet:
            lines.append(file.line)
            if output is None:
                print_text(file.line)
    if len(seen) > 1:
        lines.append(summary(seen))
        if output is None:
            print_text(lines[-1])
    if output is not None:
        put_text("\n".join(lines), output)
    return _exit_code(seen)


def _exit_code(checked: Iterable[Checked]) -> int:
    return 0 if all(file.is_ok for file in checked) else 1


def _disabled(options: tuple[str, ...]) -> frozenset[str]:
    """The codes that --disable names."""
    codes = [_code(word) for option in options for word in option.split(",")]
    for code in codes:
        if not code.startswith("W"):
            raise click.UsageError(f"{code} is an error: only warnings can be disabled")
    return frozenset(codes)


def _code(word: str) -> str:
    """A code as the user wrote it."""
    code = word.strip().upper()
    if code in CODES:
        return code
    near = nearest(code, CODES)
    raise click.UsageError(
        f"no diagnostic has the code '{word}'" + (f"; did you mean {near}?" if near else "")
    )


def _explain(word: str, as_json: bool, output: str | None) -> int:
    """Print the page of a code."""
    from ptxtool.formats.pages import page

    code = _code(word)
    text = page(code)
    if as_json:
        put_json({"code": code, "meaning": CODES[code], "page": text}, output)
    elif output is None and colour.wanted(sys.stdout):
        from ptxtool.report.terminal import show_page

        show_page(sys.stdout, text)
    else:
        put_text(text, output)
    return 0
