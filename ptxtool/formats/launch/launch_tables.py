"""The tables of a launch file: values of a kind, with the place of what is wrong with them. For `launch_file.py`."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ptxtool.analysis.occupancy.occupancy import MAX_THREADS
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_data import Step
from ptxtool.formats.launch.launch_places import place_of

MAX_BLOCK = (MAX_THREADS, MAX_THREADS, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
READ_MORE = "docs/launch-file.md has an example of every key"


class LaunchTables:
    """The parsed TOML of a launch file, with places found again in the text (tomllib gives none)."""

    def __init__(self, source: Source, folder: Path):
        self.source = source
        self.folder = folder

    def place(self, table: str = "", index: int = 0, key: str = "") -> tuple[int, int]:
        """The span of a key in the index-th table of that name."""
        return place_of(self.source, table, index, key)

    def fail(self, message: str, place: tuple[int, int], help: str = "", code: str = "E502") -> PtxError:
        return error(code, message, self.source, *place, help or READ_MORE)

    def only(self, given: Any, allowed: Iterable[str], table: str, index: int = 0) -> dict[str, Any]:
        """A table with no keys but those allowed."""
        if not isinstance(given, dict):
            raise self.fail(f"'{table}' must be a table", self.place(table, index))
        allowed = tuple(allowed)
        for key in given:
            if key not in allowed:
                help = did_you_mean(key, allowed, f"keys are {', '.join(allowed)}")
                raise self.fail(f"unknown key '{key}'", self.place(table, index, key), help)
        return given

    def one(self, data: Mapping[str, Any], table: str = "", index: int = 0) -> Step:
        """What a launch says, of the whole file or of an entry of its list; arguments and the like apart."""
        for key in ("grid", "block"):
            if key not in data:
                place = self.place(table, index) if table else (0, 0)
                raise self.fail(f"missing key '{key}'", place, f"for example {key} = [128, 1, 1]")
        block = self.extents(data, "block", MAX_BLOCK, table, index)
        if block[0] * block[1] * block[2] > MAX_THREADS:
            n = block[0] * block[1] * block[2]
            help = "use fewer threads per CTA and more CTAs"
            place = self.place(table, index, "block")
            raise self.fail(f"a block of {n} threads; at most {MAX_THREADS} fit", place, help)
        return Step(
            kernel=self.text(data, "kernel", table, index),
            grid=self.extents(data, "grid", MAX_GRID, table, index),
            block=block,
            arguments=(),
            dynamic_shared=self.whole(data, "dynamic_shared", 0, table, index, 0),
            registers=self.whole(data, "registers", 1, table, index) if "registers" in data else None,
            scheduler=self.scheduler(data, table, index),
            scheduler_place=self.place(table, index, "scheduler"),
            copy_back=(),
            timed=True,
            place=self.place(table, index),
        )

    def text(self, data: Mapping[str, Any], key: str, table: str = "", index: int = 0) -> str | None:
        given = data.get(key)
        if given is not None and (not isinstance(given, str) or not given):
            raise self.fail(f"'{key}' must be a text in quotes", self.place(table, index, key))
        return given

    def scheduler(self, data: Mapping[str, Any], table: str = "", index: int = 0) -> str | None:
        """The name of a warp scheduler; the file of one of the user's own is relative to the launch file."""
        given = self.text(data, "scheduler", table, index)
        return str(self.folder / given) if given and ".py" in given else given

    def whole(
        self,
        data: Mapping[str, Any],
        key: str,
        least: int,
        table: str = "",
        index: int = 0,
        default: int | None = None,
    ) -> int:
        given = data.get(key, default)
        if type(given) is not int or given < least:
            place = self.place(table, index, key)
            raise self.fail(f"'{key}' must be a whole number >= {least}, not '{given}'", place)
        return given

    def extents(
        self,
        data: Mapping[str, Any],
        key: str,
        limits: tuple[int, int, int],
        table: str = "",
        index: int = 0,
    ) -> tuple[int, int, int]:
        given = data[key]
        place = self.place(table, index, key)
        numbers = given if isinstance(given, list) else [given]
        if not 1 <= len(numbers) <= 3 or not all(type(n) is int and n > 0 for n in numbers):
            help = f"for example {key} = 128 or {key} = [16, 16]"
            raise self.fail(f"'{key}' must be one to three positive whole numbers", place, help)
        extents = (*numbers, 1, 1)[:3]
        for axis, extent, limit in zip("xyz", extents, limits, strict=True):
            if extent > limit:
                help = (
                    "use fewer threads per CTA and more CTAs"
                    if key == "block"
                    else "spread it over x, y and z"
                )
                raise self.fail(f"'{key}' is {extent} in {axis}; at most {limit} is possible", place, help)
        return extents

    def rows(self, given: Any, table: str) -> list[Any]:
        if not isinstance(given, list):
            raise self.fail(f"'{table}' must be a list of tables", self.place(table), f"write [[{table}]]")
        return given
