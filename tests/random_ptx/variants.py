"""A module under the passes that give physical registers, with every option that matters."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allocated import PREDICATES, bodies, least, unbounded, within

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.ir.edit import splice
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.syntax import parse_pipeline
from ptxtool.sema.verify import verify


class Variant(NamedTuple):
    """What a pipeline gives. `doubts` are what its own check has to say: a run looks at the text all the same."""

    pipeline: str
    module: Module
    doubts: Sequence[Diagnostic]


def apply(module: Module, pipeline: str) -> Variant:
    """Run a pipeline without believing its checks. Raises E301 where a pass declines."""
    doubts: list[Diagnostic] = []
    for one in parse_pipeline(pipeline):
        result = one.run(module)
        after = parse(splice(module.source.text, result.edits), module.source.name)
        doubts += [d for d in verify(after) if d.is_error]
        doubts += result.claim(module, after)
        module = after
    return Variant(pipeline, module, tuple(doubts))


def variants(module: Module) -> Iterator[Variant]:
    """The pipelines worth a run. Raises where one gives names past its bound."""
    small, large = least(module), unbounded(module)
    middle = min(255, (small + large) // 2)
    bounds = {
        "allocate{spill=none}": 255,
        "allocate{order=pressure}": 255,
        f"allocate{{max-regs={small}}}": small,
        f"allocate{{max-regs={middle},order=pressure}}": middle,
        f"allocate{{max-regs={small + (large - small) // 4}}},compact": 255,
        "compact": 255,
        f"allocate{{max-regs={small + 2},spill=shared,threads=64}}": small + 2,
        f"allocate{{max-regs={middle},spill=shared,threads=64}}": middle,
        "allocate,demote{count=4,rule=frequency,threads=64}": 255,
        f"allocate{{max-regs={middle}}},demote{{count=255,rule=conflicts,threads=64}},compact{{banks=true}}": 255,
    }
    for pipeline, bound in bounds.items():
        try:
            variant = apply(module, pipeline)
        except PtxError:
            if not any(word in pipeline for word in ("spill=none", "spill=shared", "demote")):
                raise
            continue
        for function in bodies(variant.module):
            within(function, bound, 1 << 16 if pipeline == "compact" else PREDICATES, pipeline)
        yield variant
