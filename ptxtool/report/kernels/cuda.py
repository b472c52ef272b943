"""CUDA lines beside the lines of PTX, in reports on kernels; with `--source` their text too."""

from typing import Any

from ptxtool.base.render import CudaText, printable
from ptxtool.ir.nodes import Function


def cuda_text(function: Function, instruction: int, sources: CudaText | None = None) -> str:
    """`k.cu:12`, with `sources` also the text of the line; "" without a place."""
    place = function.cuda_place(instruction)
    if place is None:
        return ""
    text = sources(function.source.name, place) if sources else ""
    return printable(f"{place}: {text}" if text else str(place))


def cuda_marks(function: Function, sources: CudaText | None = None) -> dict[int, str]:
    """`cuda_text` of each instruction whose place is not that of the instruction before."""
    marks: dict[int, str] = {}
    before = None
    for i in range(len(function.instructions)):
        place = function.cuda_place(i)
        if place is not None and place != before:
            marks[i] = cuda_text(function, i, sources)
        before = place
    return marks


def cuda_data(function: Function, instruction: int | None) -> dict[str, Any]:
    """`cuda` and `cuda_inlined_at` for `--json`; nothing without a place."""
    place = None if instruction is None else function.cuda_place(instruction)
    return place.to_dict() if place else {}
