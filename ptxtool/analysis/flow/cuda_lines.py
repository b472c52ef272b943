"""The places in CUDA sources that a function's instructions come from (`ptxtool.base.cuda_places`)."""

from ptxtool.ir.nodes import Function


def cuda_lines(function: Function) -> tuple[str, ...]:
    """`FILE:LINE` per instruction, the file without its folders; "" where there is no `.loc`."""
    places = map(function.cuda_place, range(len(function.instructions)))
    return tuple(place.name if place else "" for place in places)
