"""Diagnostics as SARIF 2.1.0, the format of code scanning services (GitHub, Azure DevOps) and of editors.

One run of the tool `ptxtool`; a rule for every code that occurs, with its page as help; a result for every diagnostic,
with its fix where `check --fix` has one.
Columns count UTF-16 code units, as SARIF has it by default. Files below the working directory are named relative to it,
under the base `%SRCROOT%`, which the reader of the log takes for the root of the repository: run it there.

Reference: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0, sections 3.19 (tool), 3.27 (result),
3.30 (region), 3.49 (reportingDescriptor), 3.55 to 3.57 (fix, artifactChange, replacement).
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ptxtool.base.diag import CODES, Diagnostic, Fix
from ptxtool.base.render import printable
from ptxtool.base.source import Source
from ptxtool.formats.pages import meaning, page, page_path
from ptxtool.report.kernels.checked import Checked

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(files: Iterable[Checked], version: str) -> dict[str, Any]:
    """The log of one run; `version` is ptxtool's."""
    found = [(file, diagnostic) for file in files for diagnostic in file.diagnostics]
    codes = sorted({diagnostic.code for _, diagnostic in found})
    driver = {"name": "ptxtool", "version": version, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": [_result(file, diagnostic, codes.index(diagnostic.code)) for file, diagnostic in found],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    text = page(code)
    return {
        "id": code,
        "shortDescription": {"text": CODES[code]},
        "fullDescription": {"text": meaning(code)},
        "help": {"text": text, "markdown": text},
        "helpUri": page_path(code).as_uri(),
        "defaultConfiguration": {"level": _level(code)},
    }


def _level(code: str) -> str:
    return "warning" if code.startswith("W") else "error"


def _result(file: Checked, diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    source, note = diagnostic.source, diagnostic.note
    text = printable(diagnostic.message) + (f"\n{printable(diagnostic.help)}" if diagnostic.help else "")
    place = (
        _place(source, diagnostic.start, diagnostic.end) if source else {"artifactLocation": _file(file.name)}
    )
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _level(diagnostic.code),
        "message": {"text": text},
        "locations": [{"physicalLocation": place}],
    }
    if note is not None:
        second = {"physicalLocation": _place(note.source, note.start, note.end)}
        result["relatedLocations"] = [{**second, "message": {"text": printable(note.message)}}]
    if diagnostic.fix is not None and source is not None:
        result["fixes"] = [_fix(source, diagnostic.fix, diagnostic.help)]
    return result


def _fix(source: Source, fix: Fix, help: str) -> dict[str, Any]:
    """The edit of a fix; a region without characters is where text is inserted."""
    place = _place(source, fix.start, fix.end)
    replacement: dict[str, Any] = {"deletedRegion": place["region"]}
    if fix.text:
        replacement["insertedContent"] = {"text": fix.text}
    change = {"artifactLocation": place["artifactLocation"], "replacements": [replacement]}
    return {**({"description": {"text": printable(help)}} if help else {}), "artifactChanges": [change]}


def _place(source: Source, start: int, end: int) -> dict[str, Any]:
    start_line, start_column = _position(source, start)
    end_line, end_column = _position(source, max(start, end))
    region = {
        "startLine": start_line,
        "startColumn": start_column,
        "endLine": end_line,
        "endColumn": end_column,
    }
    return {"artifactLocation": _file(source.name), "region": region}


def _position(source: Source, offset: int) -> tuple[int, int]:
    """Line and column from 1; a character outside the basic plane takes two columns."""
    line, column = source.position(offset)
    before = source.text[source.line_starts[line - 1] : offset]
    return line, column + sum(c > "\uffff" for c in before)


def _file(name: str) -> dict[str, str]:
    path = Path(name)
    if path.is_absolute() and not path.is_relative_to(Path.cwd()):
        return {"uri": path.as_uri()}
    relative = path.relative_to(Path.cwd()) if path.is_absolute() else path
    return {"uri": quote(relative.as_posix(), errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}
