"""A module under `split-registers`: base sets of several sizes, from the least possible one on."""

from collections.abc import Iterator

from random_ptx.variants import Variant, apply

from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module

GAPS = (0, 2, 8, 30)


def splits(module: Module, seed: int) -> Iterator[Variant]:
    """The module with a third, half and most of its registers in the base set, and as few as there can be."""
    for n, base in enumerate((1, 4 + seed % 9, 10 + seed % 7, 18 + seed % 11)):
        start = ("allocate", "allocate:order=pressure", "compact")[(seed + n) % 3]
        pipeline = f"{start},split-registers:base={base}:gap={GAPS[(seed + n) % 4]}"
        try:
            yield apply(module, pipeline)
        except PtxError as problem:
            if any(d.code != "E301" for d in problem.diagnostics):
                raise
