"""CUDA lines beside the lines of PTX, in reports on kernels; with `--source` their text too."""

from collections.abc import Callable
from typing import Any

from ptxtool.base.cuda_places import CudaPlace
from ptxtool.base.render import CudaText, printable
from ptxtool.ir.nodes import Function

PlaceText = Callable[[CudaPlace | None], str]
"""How a report shows the line of a CUDA source, "" where there is none."""


def place_text(ptx: str, sources: CudaText | None = None) -> PlaceText:
    """`k.cu:12` for the places of the PTX file `ptx`, with `sources` also the text of the line."""

    def shown(place: CudaPlace | None) -> str:
        text = sources(ptx, place) if place and sources else ""
        return printable(f"{place}: {text}" if text else str(place or ""))

    return shown


NAMED: PlaceText = place_text("")
"""Lines of CUDA sources without their text."""


def cuda_text(function: Function, instruction: int, sources: CudaText | None = None) -> str:
    """`k.cu:12`, with `sources` also the text of the line; "" without a place."""
    return place_text(function.source.name, sources)(function.cuda_place(instruction))


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
