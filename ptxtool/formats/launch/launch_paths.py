"""Where the files of a launch file may lie: in its folder or below, unless the caller allows more.

A launch file comes with a kernel from elsewhere and is read without being named. It must not make the tool read a
file of the user's. Links and `..` are resolved first.
"""

from collections.abc import Iterator
from pathlib import Path

from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_tables import LaunchTable, Span, key_span

_TABLES = ("constants", "textures", "surfaces")


def check_paths(head: LaunchTable) -> None:
    """Raise E502 for a file that does not lie in the folder of the launch file."""
    inside = _resolved(head.folder)
    for name, span in _files(head):
        found = _resolved(head.folder / name)
        if inside is None or found is None or not found.is_relative_to(inside):
            raise _outside(head, name, span)


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError):  # a NUL in the name, a circle of links
        return None


def _outside(head: LaunchTable, name: str, span: Span) -> PtxError:
    help = "copy the file there, or allow this launch file to read others with --allow-outside (allow_outside=True)"
    return head.fail(f"'{name}' is not in the folder of the launch file", help=help, span=span)


def _files(head: LaunchTable) -> Iterator[tuple[str, Span]]:
    """The files that are named, each with its place. Tables of a wrong kind are reported elsewhere."""
    if isinstance(head.values.get("file"), str):
        yield head.values["file"], head.span("file")
    for table in ("args", "memory", "expect", "launch"):
        rows = head.values.get(table)
        for index, row in enumerate(rows if isinstance(rows, list) else ()):
            for key in ("file", "changes") if isinstance(row, dict) else ():
                given = row.get(key)
                for name in given if isinstance(given, list) else [given]:
                    if isinstance(name, str):
                        yield name, key_span(head.source, table, index, key)
    for table in _TABLES:
        items = head.values.get(table)
        for name, row in (items if isinstance(items, dict) else {}).items():
            if isinstance(row, dict) and isinstance(row.get("file"), str):
                yield row["file"], key_span(head.source, f"{table}.{name}", 0, "file")
