"""The tables of a launch file: values of a kind, with the place of what is wrong with them. For `launch_file.py`."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptxtool.analysis.occupancy.occupancy import MAX_THREADS
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_data import LaunchHead

MAX_BLOCK = (MAX_THREADS, MAX_THREADS, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_CLUSTER = (16, 16, 16)
READ_MORE = "docs/launch-file.md has an example of every key"

Span = tuple[int, int]


def key_span(source: Source, table: str = "", index: int = 0, key: str = "") -> Span:
    """The span of a key in the index-th table of that name; of the table's header, or of nothing, if not found.

    `tomllib` returns values without places: they are looked for again in the text.
    """
    text = source.text
    if not table:
        match = re.search(rf"(?m)^[ \t]*\[*({re.escape(key)})[ \t]*[]=.]", text) if key else None
        return match.span(1) if match else (0, 0)
    headers = list(re.finditer(rf"(?m)^[ \t]*(\[\[?[ \t]*{re.escape(table)}[ \t]*\]\]?)", text))
    if not headers:
        return key_span(source, key=table)
    start = headers[min(index, len(headers) - 1)]
    following = re.compile(r"(?m)^[ \t]*\[").search(text, start.end())
    keys = re.compile(rf"(?m)^[ \t]*({re.escape(key)})[ \t]*[=.]")
    match = keys.search(text, start.end(), following.start() if following else len(text)) if key else None
    return match.span(1) if match else start.span(1)


@dataclass(frozen=True)
class LaunchTable:
    """One table: its values by key, and its name and number in the text; the head of the file has no name.

    Files are relative to `folder`.
    """

    source: Source
    folder: Path
    values: Mapping[str, Any] = field(repr=False)
    name: str = ""
    index: int = 0

    def span(self, key: str = "") -> Span:
        """The place of a key; of the table's header without one."""
        return key_span(self.source, self.name, self.index, key)

    def fail(
        self, message: str, key: str = "", help: str = "", code: str = "E502", span: Span | None = None
    ) -> PtxError:
        """An error at a key, or at another `span`."""
        return error(code, message, self.source, *(span or self.span(key)), help or READ_MORE)

    def inner(self, values: Any, name: str, allowed: Iterable[str], index: int = 0) -> "LaunchTable":
        """A table in this one, with no keys but those allowed."""
        inner = LaunchTable(self.source, self.folder, values, name, index)
        if not isinstance(values, dict):
            raise inner.fail(f"'{name}' must be a table")
        inner.only(allowed)
        return inner

    def only(self, allowed: Iterable[str]) -> None:
        """Raise E502 for a key that is not among those allowed."""
        allowed = tuple(allowed)
        for key in self.values:
            if key not in allowed:
                help = did_you_mean(key, allowed, f"keys are {', '.join(allowed)}")
                raise self.fail(f"unknown key '{key}'", key, help)

    def rows(self, name: str, allowed: Iterable[str]) -> "Iterator[LaunchTable]":
        """The tables of a list, `[[name]]`."""
        given = self.values.get(name, [])
        if not isinstance(given, list):
            span = key_span(self.source, name)
            raise self.fail(f"'{name}' must be a list of tables", help=f"write [[{name}]]", span=span)
        for index, row in enumerate(given):
            yield self.inner(row, name, allowed, index)

    def items(self, name: str, what: str) -> Mapping[str, Any]:
        """The entries of a table in this one."""
        given = self.values.get(name, {})
        if not isinstance(given, dict):
            raise self.fail(f"'{name}' must be a table of {what}", span=key_span(self.source, name))
        return given

    def launch(self) -> LaunchHead:
        """What the whole file or an entry of its list says of a launch; arguments and the like apart."""
        for key in ("grid", "block"):
            if key not in self.values:
                raise self.fail(f"missing key '{key}'", help=f"for example {key} = [128, 1, 1]")
        block = self.extents("block", MAX_BLOCK)
        n = block[0] * block[1] * block[2]
        if n > MAX_THREADS:
            help = "use fewer threads per CTA and more CTAs"
            raise self.fail(f"a block of {n} threads; at most {MAX_THREADS} fit", "block", help)
        return LaunchHead(
            kernel=self.text("kernel"),
            grid=self.extents("grid", MAX_GRID),
            block=block,
            cluster=self.extents("cluster", MAX_CLUSTER) if "cluster" in self.values else None,
            dynamic_shared=self.whole("dynamic_shared", 0, 0),
            registers=self.optional_whole("registers", 1),
            scheduler=self._scheduler(),
            scheduler_place=self.span("scheduler"),
        )

    def _scheduler(self) -> str | None:
        """The name of a warp scheduler; the file of one of the user's own is relative to the launch file."""
        given = self.text("scheduler")
        return str(self.folder / given) if given and ".py" in given else given

    def text(self, key: str) -> str | None:
        """A text, None where the key is not there."""
        given = self.values.get(key)
        if given is not None and (not isinstance(given, str) or not given):
            raise self.fail(f"'{key}' must be a text in quotes", key)
        return given

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        given = self.values.get(key, default)
        if not isinstance(given, bool):
            raise self.fail(f"'{key}' must be true or false", key)
        return given

    def whole(self, key: str, least: int, default: int | None = None) -> int:
        """A whole number; the key must be there if it has no default."""
        given = self.values.get(key, default)
        if type(given) is not int or given < least:
            raise self.fail(f"'{key}' must be a whole number >= {least}, not '{given}'", key)
        return given

    def optional_whole(self, key: str, least: int) -> int | None:
        """A whole number, None where the key is not there."""
        return self.whole(key, least) if key in self.values else None

    def extents(self, key: str, limits: tuple[int, int, int]) -> tuple[int, int, int]:
        """One to three sizes; the others are 1."""
        given = self.values[key]
        numbers = given if isinstance(given, list) else [given]
        if not 1 <= len(numbers) <= 3 or not all(type(n) is int and n > 0 for n in numbers):
            help = f"for example {key} = 128 or {key} = [16, 16]"
            raise self.fail(f"'{key}' must be one to three positive whole numbers", key, help)
        extents = (*numbers, 1, 1)[:3]
        help = "spread it over x, y and z" if key == "grid" else "use fewer threads per CTA and more CTAs"
        for axis, extent, limit in zip("xyz", extents, limits, strict=True):
            if extent > limit:
                raise self.fail(f"'{key}' is {extent} in {axis}; at most {limit} is possible", key, help)
        return extents
