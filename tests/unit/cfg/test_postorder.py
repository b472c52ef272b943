"""Depth-first orders of small graphs, worked out by hand."""

from ptxtool.cfg.postorder import reverse_postorder


def test_first_successors_come_first() -> None:
    assert reverse_postorder([(1, 2), (3,), (3,), ()], [0]) == (0, 2, 1, 3)
    assert reverse_postorder([(1,), (0,), ()], [2, 0]) == (0, 1, 2)


def test_junctions_have_no_place_and_are_walked_once() -> None:
    edges = [(1, 2, 3), (1, 2, 3), (3,), ()]  # 0 and 1 lead to 1, 2 and 3
    with_junction = [(4,), (4,), (3,), (), (1, 2, 3)]
    assert reverse_postorder(with_junction, [0], 4) == reverse_postorder(edges, [0]) == (0, 1, 2, 3)
