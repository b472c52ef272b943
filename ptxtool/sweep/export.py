"""Sweeps for other programs: CSV and Parquet with a row per run and a column per counter, JSON with everything.

The columns are the axes, then the plain counters of a run, then all that `stats` has, then dynamic warp execution and
the first stall point; a cell is empty where a run has no such value. The order of the columns is the same for all
sweeps. The same results give the same bytes.
"""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ptxtool.base.diag import error
from ptxtool.results.sweeps import AXES, Record, SweepResult

FORMATS = ("csv", "json", "parquet")
_ISSUED = tuple(f"issued_w{lanes}" for lanes in range(1, 33))
"""Counters that a run has only where they are not 0."""
_DYNAMIC = ("periods", "raised", "lowered", "stops", "held_cycles")
_STALL = ("instruction", "line", "register", "sequence", "warps", "warp_cycles")


def form_of(path: str | Path) -> str:
    """The format that a file's name means. Raises E502."""
    form = Path(path).suffix.removeprefix(".").lower()
    if form not in FORMATS:
        raise error(
            "E502", f"'{path}' has no format", help="give a file that ends in .csv, .json or .parquet"
        )
    return form


def encode(result: SweepResult, form: str) -> bytes:
    """A sweep as "csv", "json" or "parquet". Raises E502 for Parquet without pyarrow."""
    if form == "json":
        return (json.dumps(result.to_dict(), indent=2) + "\n").encode()
    rows = [row(record) for record in result]
    columns = _columns(result)
    return _csv(rows, columns) if form == "csv" else _parquet(rows, columns)


def row(record: Record) -> dict[str, Any]:
    """A run as one row: plain values by column."""
    return {name: value for section in _sections(record) for name, value in section.items()}


def _columns(result: SweepResult) -> list[str]:
    """The columns that any run has, section by section: which run has which of them does not change their order."""
    runs = [_sections(record) for record in result]
    return list(
        dict.fromkeys(name for sections in zip(*runs, strict=True) for each in sections for name in each)
    )


def _sections(record: Record) -> tuple[dict[str, Any], ...]:
    """The columns of a run in their order, in parts that a run has all of or nothing."""
    counters = record.counters
    head = {"label": record.label, **{axis: record.axes[axis] for axis in AXES}, "status": record.status}
    plain = {
        f"run_{k}" if k in head else k: v for k, v in counters.items() if isinstance(v, str | int | float)
    }
    plain |= {name: "x".join(map(str, counters[name])) for name in ("grid", "block") if name in counters}
    stats: Mapping[str, Any] = counters.get("stats", {})
    lanes = {name: stats.get(name, 0) for name in _ISSUED} if stats else {}
    dynamic: Mapping[str, Any] = counters.get("dynamic") or {}
    held = {f"dynamic_{name}": dynamic[name] for name in _DYNAMIC if name in dynamic}
    first = min(counters.get("stall_points", ()), key=lambda point: point["instruction"], default=None)
    stall = (
        {f"first_stall_{name}": first[name] for name in (*_STALL, "cuda") if name in first} if first else {}
    )
    end = {
        "checked": " ".join(record.outcome.checked),
        "memory": record.memory,
        "problem": "; ".join(str(problem["message"]) for problem in record.outcome.problems),
        "key": record.key,
    }
    others = {name: value for name, value in stats.items() if name not in _ISSUED}
    return head, plain, others, lanes, held, stall, end


def _csv(rows: list[dict[str, Any]], columns: list[str]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode("utf-8", "surrogateescape")


def _parquet(rows: list[dict[str, Any]], columns: list[str]) -> bytes:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        help = "pip install 'ptxtool[parquet]', or export .csv or .json"
        raise error("E502", "Parquet needs pyarrow, which is not installed", help=help) from None
    arrays = {name: pa.array(_of_one_type([each.get(name) for each in rows])) for name in columns}
    out = io.BytesIO()
    parquet.write_table(pa.table(arrays), out)
    return out.getvalue()


def _of_one_type(values: list[Any]) -> list[Any]:
    """The values of a column; as text where they are of several types, such as registers left to the launch file."""
    given = [None if value == "" else value for value in values]
    kinds = {type(value) for value in given if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in given]
    return given if len(kinds) <= 1 else [None if value is None else str(value) for value in given]
