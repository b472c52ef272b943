"""Control flow as tables: blocks with their dominators and loops, and where divergent branches reconverge."""

from collections.abc import Collection, Mapping
from typing import Any

from ptxtool.analysis.flow.loops import Loops
from ptxtool.base.render import CudaText
from ptxtool.cfg.blocks import Cfg
from ptxtool.cfg.dominance import DominatorTree
from ptxtool.report.kernels.cuda import cuda_data, cuda_text
from ptxtool.report.tables import Part, clip, head, heading, table

_BLOCKS = head("block:cyan | lines | instructions | idom | ipdom | >loops | successors | labels")
_BRANCHES = head(">line | branch that may diverge:code | lanes rejoin")


def flow_parts(
    cfg: Cfg,
    idom: DominatorTree,
    ipdom: DominatorTree,
    loops: Loops,
    points: Mapping[int, int],
    divergent: Collection[int],
    sources: CudaText | None = None,
) -> list[Part]:
    """The report of one kernel: `points` are where lanes rejoin, `divergent` the branches that may part them."""
    kernel = cfg.kernel
    unreachable = set(cfg.unreachable)
    leading: dict[int, list[str]] = {}
    for edge in cfg.edges:
        leading.setdefault(edge.source, []).append(f"{cfg.name(edge.target)} ({edge.kind})")
    rows: list[tuple[object, ...]] = []
    for block in cfg.blocks:
        k = block.index
        labels = " ".join((*block.labels, *(("unreachable",) if k in unreachable else ())))
        rows.append(
            (
                f"B{k}",
                _span(kernel.line(block.start), kernel.line(block.last)),
                _span(block.start, block.last),
                _name(cfg, idom.idom[k]),
                _name(cfg, ipdom.idom[k]),
                loops.depth(k) or "",
                ", ".join(leading.get(k, ())),
                labels,
            )
        )
    title = heading(kernel.name, f"{len(cfg.blocks)} blocks, {len(cfg.edges)} edges")
    of_blocks = [cuda_text(kernel, block.start) for block in cfg.blocks]
    columns = _BLOCKS
    if any(of_blocks):
        columns = (*_BLOCKS, *head("CUDA line"))
        rows = [(*row, place) for row, place in zip(rows, of_blocks, strict=True)]
    parts: list[Part] = [table(columns, rows, title)]
    parting = [i for i in points if i in divergent]
    if parting:
        branches: list[tuple[object, ...]] = [
            (kernel.line(i), clip(kernel.text(i), 72), _place(cfg, points[i])) for i in parting
        ]
        heads, cuda = _BRANCHES, [cuda_text(kernel, i, sources) for i in parting]
        if any(cuda):
            heads = (*_BRANCHES, *head("CUDA line"))
            branches = [(*row, place) for row, place in zip(branches, cuda, strict=True)]
        parts += ["", table(heads, branches, "reconvergence (immediate post-dominators)")]
    uniform = [str(kernel.line(i)) for i in points if i not in divergent]
    if uniform:
        lines = f"line{'s' * (len(uniform) > 1)} {', '.join(uniform)}"
        parts += ["", clip(f"uniform branches, which all lanes of a warp take the same way: {lines}")]
    return parts


def flow_data(
    cfg: Cfg,
    idom: DominatorTree,
    ipdom: DominatorTree,
    loops: Loops,
    points: Mapping[int, int],
    divergent: Collection[int],
) -> dict[str, Any]:
    """The same for `--json`. Blocks are numbers; the virtual exit is the number after the last."""
    kernel = cfg.kernel
    unreachable = set(cfg.unreachable)
    return {
        "kernel": kernel.name,
        "entry": cfg.entry,
        "exit": cfg.exit,
        "blocks": [
            {
                "block": b.index,
                "start": b.start,
                "end": b.end,
                "line": kernel.line(b.start),
                **cuda_data(kernel, b.start),
                "labels": list(b.labels),
                "idom": idom.idom[b.index],
                "ipdom": ipdom.idom[b.index],
                "loop_depth": loops.depth(b.index),
                "reachable": b.index not in unreachable,
            }
            for b in cfg.blocks
        ],
        "edges": [{"source": e.source, "target": e.target, "kind": e.kind} for e in cfg.edges],
        "reconvergence": [
            {
                "instruction": i,
                "line": kernel.line(i),
                **cuda_data(kernel, i),
                "text": kernel.text(i),
                "rejoins_at": at,
                "may_diverge": i in divergent,
            }
            for i, at in points.items()
        ],
    }


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _name(cfg: Cfg, block: int | None) -> str:
    return "" if block is None else cfg.name(block)


def _place(cfg: Cfg, instruction: int) -> str:
    kernel = cfg.kernel
    if instruction >= len(kernel.instructions):
        return "at the end"
    return f"line {kernel.line(instruction)} (B{cfg.block_of[instruction]})"
