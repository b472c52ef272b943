"""Shared variables as a table, and the first access that needs the shared part of the scratchpad."""

from typing import Any

from ptxtool.analysis.sharing.shared_use import ANY, SharedStop, SharedUse
from ptxtool.base.phrases import counted
from ptxtool.base.render import CudaText
from ptxtool.report.kernels.cuda import cuda_data, cuda_text
from ptxtool.report.tables import TextTable, clip, head, heading, table

_COLUMNS = head("variable:cyan | >bytes | >offset | >accesses | >lines | >span:bold | first access:code")
_WITH_CUDA = (*_COLUMNS, *head("CUDA line"))


def shared_use_table(
    use: SharedUse, boundary: int | None = None, sources: CudaText | None = None
) -> TextTable:
    """The variables in order of first access; with `boundary`, the first shared byte, also what needs it."""
    by_number = use.kernel.registers.is_ptxplus and any(v.name == ANY for v in use.variables)
    unseen = "(by number, if at all)" if by_number else "(never accessed)"
    rows: list[tuple[object, ...]] = [
        (
            clip(v.name, 40),
            v.size or None,
            v.offset,
            v.accesses,
            f"{v.first.line}-{v.last.line}" if v.first and v.last else None,
            None if v.span is None else f"{v.span:.4g}",
            v.first.text if v.first else unseen,
        )
        for v in use.variables
    ]
    columns = _COLUMNS
    cuda = [cuda_text(use.kernel, v.first.instruction, sources) if v.first else "" for v in use.variables]
    if any(cuda):
        columns = _WITH_CUDA
        rows = [(*row[:-1], clip(str(row[-1]), 48), place) for row, place in zip(rows, cuda, strict=True)]
    n = len(use.layout.variables)
    text = f"{counted(n, 'shared variable')} in order of first access, {use.layout.bytes} bytes"
    notes: list[str] = []
    if boundary is not None:
        stop = use.first_stop(boundary)
        notes = [
            "",
            f"private bytes: 0 to {boundary - 1}" if boundary else "private bytes: none",
            clip(f"first access that needs the shared part: {_stop(use, stop, sources)}"),
        ]
    return table(columns, rows, heading(use.kernel.name, text), notes)


def _stop(use: SharedUse, stop: SharedStop | None, sources: CudaText | None) -> str:
    if stop is None:
        return "none"
    cuda = cuda_text(use.kernel, stop.at.instruction, sources)
    return f"line {stop.at.line}{f' ({cuda})' if cuda else ''}, {stop.variable}: {stop.at.text}"


def shared_use_data(use: SharedUse, boundary: int | None = None) -> dict[str, Any]:
    """The same for `--json`."""
    data: dict[str, Any] = {
        "kernel": use.kernel.name,
        "scratchpad_bytes": use.layout.bytes,
        "variables": [
            {**v.to_dict(), **cuda_data(use.kernel, v.first.instruction if v.first else None)}
            for v in use.variables
        ],
    }
    if boundary is not None:
        stop = use.first_stop(boundary)
        data["private_scratchpad"] = boundary
        data["first_shared"] = stop and {
            **stop.at.to_dict(),
            **cuda_data(use.kernel, stop.at.instruction),
            "variable": stop.variable,
        }
    return data
