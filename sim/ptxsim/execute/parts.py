"""The parts of the simulator that some programs need only: they are compiled and loaded for these."""

from typing import Any

from ptxsim.execute import codes

_PARTS = {
    "matrix": (codes.MATRIX_LOAD, codes.WARPGROUP),
    "warpgroup": (codes.WARPGROUP, codes.TENSOR_MULTIPLY),
    "tensor": (codes.TENSOR_MULTIPLY, codes.MATRIX_END),
    "textures": (codes.MATRIX_END, codes.FIRST_CALL_CODE),
    "host": (codes.FIRST_HOST_CODE, codes.FIRST_BULK_CODE),
    "bulk": (codes.FIRST_BULK_CODE, codes.FIRST_CLUSTER_CODE),
}
"""The micro-operations of each, from the first to before the second."""
CHECKS = "checks"


def parts_of(uops: Any) -> set[str]:
    """The parts that micro-operations need."""
    op = uops["op"]
    if op.max(initial=0) < codes.SYNCHRONISE_END:
        return set()
    return {part for part, (first, end) in _PARTS.items() if ((op >= first) & (op < end)).any()}
