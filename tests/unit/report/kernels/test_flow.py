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
    return graph, *trees, api.loops(kernel), api.reconvergence_points(kernel)


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


def test_code_without_branches_has_no_table_of_them() -> None:
    assert len(flow_parts(*flow(ptx("ret;")))) == 1
