"""Blocks and edges of small kernels, worked out by hand."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.base.diag import PtxError
from ptxtool.cfg.blocks import Cfg, build


def shape(cfg: Cfg) -> list[str]:
    """`0 -> 1 fall` for every edge, the virtual exit as `x`."""
    name = {cfg.exit: "x"}
    return [f"{e.source} -> {name.get(e.target, e.target)} {e.kind}" for e in cfg.edges]


def test_straight_line_is_one_block() -> None:
    cfg = build(ptx("mov.b32 %r0, 1; mov.b32 %r1, 2; ret;"))
    assert [(b.start, b.end) for b in cfg.blocks] == [(0, 3)]
    assert shape(cfg) == ["0 -> x exit"]


def test_if_else() -> None:
    cfg = build(ptx("@%p0 bra A; mov.b32 %r0, 1; bra B; A: mov.b32 %r0, 2; B: ret;"))
    assert [(b.start, b.end) for b in cfg.blocks] == [(0, 1), (1, 3), (3, 4), (4, 5)]
    assert shape(cfg) == ["0 -> 2 taken", "0 -> 1 fall", "1 -> 3 taken", "2 -> 3 fall", "3 -> x exit"]
    assert cfg.blocks[2].labels == ("A",)
    assert cfg.reverse_postorder == (0, 1, 2, 3, 4)


def test_a_guarded_exit_falls_through() -> None:
    for leave in ("exit", "ret"):
        cfg = build(ptx(f"@%p0 {leave}; mov.b32 %r0, 1; {leave};"))
        assert shape(cfg) == ["0 -> x exit", "0 -> 1 fall", "1 -> x exit"]


def test_an_instruction_with_exit_modifier_leaves() -> None:
    cfg = build(ptxplus("@$p0.ne mov.exit.u32 g[$r1], $r0; mov.exit.u32 g[$r2], $r0; l_exit: exit;"))
    assert shape(cfg) == ["0 -> x exit", "0 -> 1 fall", "1 -> x exit", "2 -> x exit"]
    assert cfg.unreachable == (2,)


def test_trap_leaves_and_running_off_the_end_does_too() -> None:
    cfg = build(ptx("@%p0 trap; mov.b32 %r0, 1;"))
    assert shape(cfg) == ["0 -> x exit", "0 -> 1 fall", "1 -> x exit"]


def test_a_branch_to_a_label_at_the_end_leaves() -> None:
    assert shape(build(ptx("@%p0 bra E; mov.b32 %r0, 1; E:"))) == [
        "0 -> x exit",
        "0 -> 1 fall",
        "1 -> x exit",
    ]


def test_indexed_branch_goes_to_its_list() -> None:
    cfg = build(ptx("ts: .branchtargets A, B, A; brx.idx %r0, ts; A: ret; B: ret;"))
    assert shape(cfg) == ["0 -> 1 taken", "0 -> 2 taken", "1 -> x exit", "2 -> x exit"]


def test_branches_with_one_list_share_a_junction() -> None:
    cfg = build(ptx("ts: .branchtargets A, B; A: brx.idx %r0, ts; B: @%p0 brx.idx %r0, ts; C: ret;"))
    assert cfg.junctions == ((0, 1),)
    assert cfg.successors_by_node == ((4,), (4, 2), (3,), (), (0, 1))
    assert cfg.predecessors_by_node == ((4,), (4,), (1,), (2,), (0, 1))
    assert cfg.successors == ((0, 1), (0, 1, 2), (3,), ())
    assert cfg.predecessors == ((0, 1), (0, 1), (1,), (2,))
    assert shape(cfg) == [
        "0 -> 0 taken",
        "0 -> 1 taken",
        "1 -> 0 taken",
        "1 -> 1 taken",
        "1 -> 2 fall",
        "2 -> x exit",
    ]
    assert cfg.rank == {0: 0, 1: 1, 2: 2, 3: 3, 4: 1}


def test_a_junction_to_the_end_leaves() -> None:
    cfg = build(ptx("ts: .branchtargets A, E; A: @%p0 brx.idx %r0, ts; brx.idx %r0, ts; E:"))
    assert shape(cfg) == ["0 -> 0 taken", "0 -> x exit", "0 -> 1 fall", "1 -> 0 taken", "1 -> x exit"]
    assert cfg.before_exit >= {0, 1}


def test_branches_with_one_list_have_edges_in_proportion() -> None:
    n = 50
    labels = ", ".join(f"L{k}" for k in range(n))
    branches = "".join(f"L{k}: brx.idx %r0, ts; " for k in range(n))
    cfg = build(ptx(f"ts: .branchtargets {labels}; {branches} ret;"))
    assert sum(map(len, cfg.successors_by_node)) == 2 * n + 1
    assert cfg.reverse_postorder == tuple(range(n))


def test_ptxplus_brx_may_go_to_every_label() -> None:
    cfg = build(ptxplus("brx.u32 $r1; A: nop; B: exit;"))
    assert shape(cfg) == ["0 -> 1 taken", "0 -> 2 taken", "1 -> 2 fall", "2 -> x exit"]


def test_break_goes_where_breakaddr_says() -> None:
    cfg = build(ptxplus("breakaddr OUT; L: @$p0.ne break; bra L; OUT: exit;"))
    assert shape(cfg) == ["0 -> 1 fall", "1 -> 3 taken", "1 -> 2 fall", "2 -> 1 taken", "3 -> x exit"]


CALLS = """
    callp F;
    mov.u32 $r1, $r2;
    callp F;
    exit;
F:  mov.u32 $r2, $r3;
    retp;
"""


def test_plain_view_continues_behind_a_call() -> None:
    cfg = build(ptxplus(CALLS))
    assert shape(cfg) == ["0 -> 1 fall", "1 -> 2 fall", "2 -> x exit", "3 -> x exit"]


def test_interprocedural_view_goes_there_and_back() -> None:
    cfg = build(ptxplus(CALLS), interprocedural=True)
    assert shape(cfg) == [
        "0 -> 3 call",
        "1 -> 3 call",
        "2 -> x exit",
        "3 -> 1 return",
        "3 -> 2 return",
    ]
    assert cfg.unreachable == ()


def test_a_return_in_the_kernel_itself_ends_the_thread() -> None:
    cfg = build(ptxplus("callp F; retp; F: @$p0.ne retp; mov.u32 $r2, $r3; retp;"), interprocedural=True)
    assert shape(cfg) == ["0 -> 2 call", "1 -> x exit", "2 -> 1 return", "2 -> 3 fall", "3 -> 1 return"]


def test_a_guarded_call_may_be_passed_over() -> None:
    cfg = build(ptxplus("@$p0.ne callp F; exit; F: retp;"), interprocedural=True)
    assert shape(cfg) == ["0 -> 2 call", "0 -> 1 fall", "1 -> x exit", "2 -> 1 return"]


def test_a_call_with_an_abi_does_not_end_a_block() -> None:
    assert len(build(ptx("call f; mov.b32 %r0, 1; ret;")).blocks) == 1


def test_the_same_label_in_two_blocks() -> None:
    cfg = build(ptx("{ L: @%p0 bra L; } { L: @%p0 bra L; } ret;"))
    assert shape(cfg) == ["0 -> 0 taken", "0 -> 1 fall", "1 -> 1 taken", "1 -> 2 fall", "2 -> x exit"]


def test_an_undeclared_label_has_a_place() -> None:
    with pytest.raises(PtxError) as caught:
        build(ptx("bra NOWHERE; ret;"))
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E202"
    assert "'NOWHERE'" in diagnostic.message
    assert diagnostic.line == 7


def test_an_empty_body_is_the_exit_alone() -> None:
    cfg = build(ptx(""))
    assert (cfg.blocks, cfg.entry, cfg.exit, cfg.reverse_postorder) == ((), 0, 0, (0,))


def test_text() -> None:
    cfg = build(ptx("@%p0 bra A;\nmov.b32 %r0, 1;\nA: ret;\nmov.b32 %r0, 1;"))
    assert str(cfg) == (
        "B0 instructions 0-0, line 7 -> B2 (taken), B1 (fall)\n"
        "B1 instructions 1-1, line 8 -> B2 (fall)\n"
        "B2 A: instructions 2-2, line 9 -> exit (exit)\n"
        "B3 instructions 3-3, line 10 -> exit (exit)  [unreachable]"
    )


def test_networkx_graph() -> None:
    graph = build(ptx("@%p0 bra A; mov.b32 %r0, 1; A: ret;")).graph
    assert sorted(graph.edges) == [(0, 1), (0, 2), (1, 2), (2, 3)]
    assert graph.edges[0, 2]["kind"] == "taken"
