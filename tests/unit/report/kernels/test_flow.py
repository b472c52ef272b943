"""Control flow as tables: blocks, dominators, loops, and where lanes rejoin."""

from typing import Any

from kernels import ptx

from ptxtool import api
from ptxtool.ir.nodes import Function
from ptxtool.report.kernels.flow import flow_data, flow_parts

LOOP = ptx("mov.u32 %r1, 1;\nA:\nadd.u32 %r1, %r1, 1;\n@%p1 bra A;\nret;\nmov.u32 %r1, 2;\nret;")
"""B0, the loop B1 of the label A, B2, and B3, which nothing reaches."""


def flow(kernel: Function) -> Any:
    graph = api.cfg(kernel)
    trees = api.dominators(graph), api.post_dominators(graph)
    return (
        graph,
        *trees,
        api.loops(kernel),
        api.reconvergence_points(kernel),
        api.uniformity(kernel).divergent,
    )


def test_blocks() -> None:
    text = "\n".join(map(str, flow_parts(*flow(LOOP))))
    rows = [line.split() for line in text.splitlines() if line[:2] in ("B0", "B1", "B2", "B3")]
    assert text.startswith("k: 4 blocks, ")
    assert [row[0] for row in rows] == ["B0", "B1", "B2", "B3"]
    assert rows[1][2:6] == ["1-2", "B0", "B2", "1"]  # its instructions, idom, ipdom, loops
    assert rows[1][-1] == "A"
    assert [row[-1] == "unreachable" for row in rows] == [False, False, False, True]


def test_lanes_rejoin_after_the_loop() -> None:
    data = flow_data(*flow(LOOP))
    (point,) = data["reconvergence"]
    assert (point["instruction"], point["text"], point["rejoins_at"]) == (2, "@%p1 bra A;", 3)
    assert [block["loop_depth"] for block in data["blocks"]] == [0, 1, 0, 0]
    assert [block["reachable"] for block in data["blocks"]] == [True, True, True, False]
    assert data["exit"] == 4


def test_branches_that_may_diverge_and_uniform_ones() -> None:
    kernel = ptx(
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nsetp.eq.u32 %p2, %r2, 0;\n"
        "@%p1 bra A;\nmov.u32 %r3, 1;\nA:\n@%p2 bra B;\nmov.u32 %r3, 2;\nB:\n@%p1 bra C;\nmov.u32 %r3, 1;\nC:\nret;"
    )
    parts = flow_parts(*flow(kernel))
    (row,) = parts[2].rows  # type: ignore[union-attr]
    assert row == (str(kernel.line(6)), "@%p2 bra B;", f"line {kernel.line(8)} (B4)")
    uniform = f"lines {kernel.line(4)}, {kernel.line(8)}"
    assert parts[-1] == f"uniform branches, which all lanes of a warp take the same way: {uniform}"
    data = flow_data(*flow(kernel))["reconvergence"]
    assert [(each["text"], each["may_diverge"]) for each in data] == [
        ("@%p1 bra A;", False),
        ("@%p2 bra B;", True),
        ("@%p1 bra C;", False),
    ]
    assert len(flow_parts(*flow(ptx("mov.pred %p1, 1; @%p1 bra A; mov.u32 %r1, 1; A: ret;")))) == 3


def test_code_without_branches_has_no_table_of_them() -> None:
    assert len(flow_parts(*flow(ptx("ret;")))) == 1
