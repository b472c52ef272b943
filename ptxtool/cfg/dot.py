"""A control flow graph as Graphviz text.

For `ptxtool cfg --dot` and reports: one box per block with its labels and instructions, edges named by their
kind, divergent branches dashed. Blocks longer than `limit` instructions are shortened in the middle.

Reference: E. Gansner et al., "Drawing graphs with dot", 2015 (the language; record-free labels, `\\l` for
left-aligned lines).
"""

from collections.abc import Collection

from ptxtool.cfg.blocks import Block, Cfg

_COLOURS = {"taken": "blue", "call": "darkgreen", "return": "darkgreen", "exit": "gray40"}


def to_dot(cfg: Cfg, divergent: Collection[int] = (), limit: int = 40) -> str:
    """The graph in the DOT language; the same graph gives the same text. `divergent` are instructions."""
    lines = [
        f"digraph {_quoted(cfg.kernel.name)} {{",
        '  node [shape=box, fontname="monospace", fontsize=10];',
        '  edge [fontname="monospace", fontsize=9];',
    ]
    for block in cfg.blocks:
        lines.append(f"  b{block.index} [label={_label(cfg, block, limit)}];")
    lines.append(f"  b{cfg.exit} [label=exit, shape=ellipse];")
    for edge in cfg.edges:
        style = ", style=dashed" if cfg.blocks[edge.source].last in divergent else ""
        colour = f", color={_COLOURS[edge.kind]}" if edge.kind in _COLOURS else ""
        lines.append(f"  b{edge.source} -> b{edge.target} [label={edge.kind}{colour}{style}];")
    return "\n".join([*lines, "}", ""])


def _label(cfg: Cfg, block: Block, limit: int) -> str:
    kernel = cfg.kernel
    rows = [f"B{block.index}  line {kernel.line(block.start)}", *(f"{name}:" for name in block.labels)]
    shown = [f"  {kernel.text(i)}" for i in block.instructions]
    if len(shown) > limit:
        middle = slice(limit // 2, -(limit // 2))
        shown[middle] = [f"  ... {len(shown[middle])} more ..."]
    rows += shown
    return '"' + "".join(_escaped(row) + "\\l" for row in rows) + '"'


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'
