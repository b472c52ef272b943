"""A run without time as a table of its buffers."""

from collections.abc import Iterable

import numpy as np

from ptxtool.base.mangled import shown_name
from ptxtool.report.simulations.simulation import remark_parts
from ptxtool.report.tables import Part, TextTable, head, table
from ptxtool.results.outcome import Buffer, Outcome

_COLUMNS = head("buffer:bold | type | >shape | >changed | >least | >greatest | first elements")
_SHOWN = 6


def outcome_parts(outcome: Outcome) -> list[Part]:
    """What ran, a line for every buffer, and whether the results are right."""
    grid, block = (" x ".join(map(str, e)) for e in (outcome.grid, outcome.block))
    title = f"{shown_name(outcome.kernel)}: grid {grid}, block {block}, {outcome.warp_instructions} warp instructions"
    return [buffer_table(outcome.buffers, title), *remark_parts(outcome.remarks), "", outcome.verdict]


def buffer_table(buffers: Iterable[Buffer], title: str) -> TextTable:
    """A line for every buffer."""
    return table(_COLUMNS, map(_row, buffers), title)


def _row(buffer: Buffer) -> tuple[object, ...]:
    array = buffer.array
    first = [_text(v) for v in array.reshape(-1)[: _SHOWN + 1]]
    if len(first) > _SHOWN:
        first[_SHOWN:] = ["..."]
    kept = array[~np.isnan(array)] if array.dtype.kind == "f" else array
    ends = (_text(kept.min()), _text(kept.max())) if kept.size else ("", "")
    shape = " x ".join(map(str, array.shape))
    return buffer.name, buffer.type, shape, buffer.changed or "", *ends, " ".join(first)


def _text(value: np.generic) -> str:
    return f"{value:.6g}" if value.dtype.kind == "f" else str(value)
