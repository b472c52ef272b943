"""Dominators and post-dominators of small graphs, worked out by hand."""

import networkx
from hypothesis import given
from hypothesis import strategies as st
from kernels import ptx

from ptxtool.cfg.blocks import build
from ptxtool.cfg.dominance import dominators, immediate_dominators, post_dominators

# 0 -> 1, 2;  1 -> 3;  2 -> 3;  3 -> 0, 4;  4 -> exit (5)
LOOP_WITH_IF = """
H:  @%p0 bra A;
    mov.b32 %r0, 1; bra J;
A:  mov.b32 %r0, 2;
J:  @%p1 bra H;
    ret;
"""


def test_if_in_a_loop() -> None:
    cfg = build(ptx(LOOP_WITH_IF))
    assert dominators(cfg).idom == (None, 0, 0, 0, 3, 4)
    assert post_dominators(cfg).idom == (3, 3, 3, 4, 5, None)


def test_queries() -> None:
    tree = dominators(build(ptx(LOOP_WITH_IF)))
    assert tree.dominates(0, 4)
    assert tree.dominates(3, 3)
    assert not tree.dominates(1, 3)
    assert tree.dominators_of(4) == (4, 3, 0)
    assert tree.children[0] == (1, 2, 3)


def test_an_unreachable_block_has_no_dominator_and_dominates_nothing() -> None:
    cfg = build(ptx("bra E; mov.b32 %r0, 1; E: ret;"))
    tree = dominators(cfg)
    assert tree.idom == (None, None, 0, 2)
    assert 1 not in tree
    assert not tree.dominates(1, 1)
    assert tree.dominators_of(1) == ()
    # it still runs into the end
    assert post_dominators(cfg).idom == (2, 2, 3, None)


def test_an_if_in_an_endless_loop_joins_inside_it() -> None:
    # 0 -> 1, 2;  1 -> 3;  2 -> 3;  3 -> 0
    cfg = build(ptx("H: @%p0 bra A; mov.b32 %r0, 1; bra J; A: mov.b32 %r0, 2; J: mov.b32 %r1, 1; bra H;"))
    assert post_dominators(cfg).idom == (3, 3, 3, 4, None)


def test_an_endless_loop_on_one_side_only() -> None:
    # 0 -> 1 (endless), 2;  2 -> exit: only the end is after both
    cfg = build(ptx("@%p0 bra E; L: bra L; E: ret;"))
    assert post_dominators(cfg).idom == (3, 3, 3, None)


def test_branches_with_one_list_of_targets() -> None:
    # 0 -> 1, 2, 3;  1 -> 1, 2, 3;  2 -> 1, 2, 3, 3 after it;  3 -> exit
    cfg = build(
        ptx(
            "ts: .branchtargets A, B, C; brx.idx %r0, ts; A: brx.idx %r0, ts; B: @%p0 brx.idx %r0, ts; C: ret;"
        )
    )
    assert dominators(cfg).idom == (None, 0, 0, 0, 3)
    assert post_dominators(cfg).idom == (3, 3, 3, 4, None)


def test_an_endless_loop_of_branches_with_one_list() -> None:
    cfg = build(ptx("ts: .branchtargets A, B; A: brx.idx %r0, ts; B: brx.idx %r0, ts; ret;"))
    assert dominators(cfg).idom == (None, 0, None, None)
    assert post_dominators(cfg).idom == (1, 3, 3, None)


def test_an_empty_function() -> None:
    cfg = build(ptx(""))
    assert dominators(cfg).idom == (None,)
    assert post_dominators(cfg).idom == (None,)


def test_text() -> None:
    assert (
        str(dominators(build(ptx("@%p0 bra E; mov.b32 %r0, 1; E: ret;"))))
        == "B0: -\nB1: B0\nB2: B0\nexit: B2"
    )


@given(st.lists(st.lists(st.integers(0, 11), max_size=4), min_size=12, max_size=12), st.integers(0, 11))
def test_immediate_dominators_of_any_graph_are_those_of_networkx(edges: list[list[int]], root: int) -> None:
    graph = networkx.DiGraph([(a, b) for a, targets in enumerate(edges) for b in targets])
    graph.add_nodes_from(range(12))
    expected = networkx.immediate_dominators(graph, root)
    assert immediate_dominators(edges, root) == [None if n == root else expected.get(n) for n in range(12)]
