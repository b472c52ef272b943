"""The sides of branches, and the blocks that their lanes run before they rejoin, worked out by hand."""

from kernels import ptx, ptxplus

from ptxtool.analysis.flow.branch_sides import branch_sides
from ptxtool.base.bits import indices
from ptxtool.ir.nodes import Function


def sides(kernel: Function) -> tuple[list[tuple[int, int, tuple[int, ...]]], list[tuple[int, ...]]]:
    """Of every split its block, where its lanes rejoin, its sides; of every block the sides that reach it."""
    found = branch_sides(kernel)
    return [(s.block, s.rejoin, s.sides) for s in found.splits], [indices(bits) for bits in found.reaching]


def test_each_side_of_an_if_else_runs_its_own_block() -> None:
    kernel = ptx("@%p0 bra A; mov.b32 %r0, 1; bra B; A: mov.b32 %r0, 2; B: ret;")
    assert sides(kernel) == ([(0, 3, (2, 1))], [(), (1,), (0,), (), ()])


def test_lanes_that_stay_in_a_loop_run_its_branch_again() -> None:
    kernel = ptx("H: mov.b32 %r0, 1; @%p0 bra H; ret;")
    assert sides(kernel) == ([(0, 1, (0, 1))], [(0,), (), ()])


def test_a_place_that_both_sides_reach_before_the_end() -> None:
    # B1 goes to A as well: both sides of the first branch run A, and both of the second
    kernel = ptx("@%p0 bra A; @%p1 bra A; ret; A: mov.b32 %r0, 1; ret;")
    splits, reaching = sides(kernel)
    assert splits == [(0, 4, (3, 1)), (1, 4, (3, 2))]
    assert reaching[:4] == [(), (1,), (1, 3), (0, 1, 2)]


def test_a_guarded_return_of_ptxplus_is_a_split_and_calls_are_followed() -> None:
    kernel = ptxplus("callp F; exit; F: @$p0.ne retp; mov.u32 $r0, 0x1; retp;")
    splits, reaching = sides(kernel)
    assert splits == [(2, 4, (1, 3))]  # to the exit after the call, or on in F
    assert reaching[1] == (0, 1)  # lanes of both sides return there
    assert reaching[3] == (1,)


def test_a_branch_to_the_next_instruction_splits_nothing() -> None:
    assert sides(ptx("@%p0 bra A; A: ret;")) == ([], [(), (), ()])


def test_numbers_of_some_branches() -> None:
    found = branch_sides(ptx("@%p0 bra B; @%p1 bra B; mov.b32 %r0, 1; B: ret;"))
    first, second = (split.instruction for split in found.splits)
    assert indices(found.numbers({second})) == (2, 3)
    assert indices(found.numbers({first, second})) == (0, 1, 2, 3)
    assert found.numbers(()) == 0


def test_branches_with_one_list_have_their_sides_in_common() -> None:
    found = branch_sides(ptx("ts: .branchtargets A, B, C; A: brx.idx %r0, ts; B: brx.idx %r0, ts; C: ret;"))
    first, second = found.splits
    assert (first.block, first.rejoin, first.sides, first.first) == (0, 2, (0, 1, 2), 0)
    assert (second.block, second.rejoin, second.sides, second.first) == (1, 2, (0, 1, 2), 0)
    assert found.different({first.instruction, second.instruction}) == [first]
    assert found.numbers({second.instruction}) == 0b111
    assert [indices(bits) for bits in found.reaching] == [(0, 1), (0, 1), (), ()]
