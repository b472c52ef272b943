"""The solver on graphs small enough to solve by hand."""

from ptxtool.analysis.flow.dataflow import solve

DIAMOND = ((1, 2), (3,), (3,), ())
LOOP = ((1,), (2, 3), (1,), ())


def test_backward_union_is_liveness() -> None:
    # node 1 reads a (bit 0), node 2 overwrites a and reads b (bit 1), node 3 reads a
    found = solve(DIAMOND, [0, 0b01, 0b10, 0b01], [0, 0, 0b01, 0], direction="backward")
    assert found.entry == (0b11, 0b01, 0b10, 0b01)
    assert found.exit == (0b11, 0b01, 0b01, 0)


def test_forward_union_is_reaching_definitions() -> None:
    # nodes 0 and 2 define the same variable (bits 0 and 1)
    found = solve(LOOP, [0b01, 0, 0b10, 0], [0b10, 0, 0b01, 0], direction="forward")
    assert found.entry == (0, 0b11, 0b11, 0b11)
    assert found.exit == (0b01, 0b11, 0b10, 0b11)


def test_forward_intersection_is_available_expressions() -> None:
    # one side of the diamond makes bit 1 only, both keep bit 0
    found = solve(
        DIAMOND, [0b01, 0b10, 0, 0], [0] * 4, direction="forward", meet="intersection", universe=0b11
    )
    assert found.entry == (0, 0b01, 0b01, 0b01)
    assert found.exit == (0b01, 0b11, 0b01, 0b01)


def test_intersection_in_a_loop_takes_the_greatest_fixed_point() -> None:
    found = solve(LOOP, [0b1, 0, 0, 0], [0] * 4, direction="forward", meet="intersection", universe=0b1)
    assert found.entry == (0, 0b1, 0b1, 0b1)


def test_boundaries() -> None:
    found = solve(LOOP, [0] * 4, [0] * 4, direction="backward", boundary=0b01)
    assert found.entry == (0b01,) * 4
    found = solve(LOOP, [0] * 4, [0] * 4, direction="backward", boundaries={3: 0b10})
    assert found.entry == (0b10,) * 4


def test_no_nodes() -> None:
    assert solve((), [], [], direction="forward").entry == ()


def test_a_junction_passes_on_what_it_gets() -> None:
    successors = [(3,), (3,), (), (1, 2)]  # 0 and 1 lead to 1 and 2
    found = solve(successors, [0b01, 0b10, 0], [0, 0, 0], direction="forward")
    assert found.entry == (0, 0b11, 0b11)
    found = solve(successors, [0, 0, 0b1], [0, 0, 0], direction="backward")
    assert found.entry == (0b1, 0b1, 0b1)
