"""The graph as Graphviz text."""

from kernels import ptx

from ptxtool.cfg.blocks import build
from ptxtool.cfg.dot import to_dot


def test_a_divergent_branch() -> None:
    kernel = ptx("@%p0 bra A;\nmov.b32 %r0, 1;\nA: ret;")
    assert to_dot(build(kernel), {0}) == (
        'digraph "k" {\n'
        '  node [shape=box, fontname="monospace", fontsize=10];\n'
        '  edge [fontname="monospace", fontsize=9];\n'
        '  b0 [label="B0  line 7\\l  @%p0 bra A;\\l"];\n'
        '  b1 [label="B1  line 8\\l  mov.b32 %r0, 1;\\l"];\n'
        '  b2 [label="B2  line 9\\lA:\\l  ret;\\l"];\n'
        "  b3 [label=exit, shape=ellipse];\n"
        "  b0 -> b2 [label=taken, color=blue, style=dashed];\n"
        "  b0 -> b1 [label=fall, style=dashed];\n"
        "  b1 -> b2 [label=fall];\n"
        "  b2 -> b3 [label=exit, color=gray40];\n"
        "}\n"
    )


def test_a_uniform_branch_is_not_dashed() -> None:
    text = to_dot(build(ptx("@%p0 bra A;\nmov.b32 %r0, 1;\nA: @%p1 bra B;\nmov.b32 %r0, 1;\nB: ret;")), {2})
    assert [line.split()[0] for line in text.splitlines() if "dashed" in line] == ["b2", "b2"]


def test_a_long_block_is_shortened_in_the_middle() -> None:
    text = to_dot(build(ptx("mov.b32 %r0, 1; " * 10 + "ret;")), limit=4)
    assert text.count("mov.b32") == 3
    assert "... 7 more ..." in text
