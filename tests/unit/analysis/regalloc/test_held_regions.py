"""Held regions: where more registers are live than the base set has, and what has to be held with them."""

from collections.abc import Sequence

import pytest
from kernels import ptx

from ptxtool.analysis.regalloc.held_regions import HeldRegions, MustNotHold, RegionFinder, never_held
from ptxtool.cfg.blocks import build

MOV = "mov.u32 %r1, 1; "


def regions(body: str, demand: Sequence[int], base: int = 2, gap: int = 0) -> HeldRegions:
    return RegionFinder(build(ptx(body)), demand, gap).regions(base)


def crowded(n: int, *points: int) -> list[int]:
    """Three units at some points of n instructions, none at the others."""
    return [3 if point in points else 0 for point in range(2 * n)]


def test_what_crosses_a_crowded_place_is_held_on_both_sides() -> None:
    """Three units between instructions 2 and 3, so that both hold."""
    found = regions(MOV * 5 + "ret;", [0, 1, 1, 2, 2, 3, 3, 2, 2, 1, 0, 0])
    assert found == HeldRegions((-1, -1, 0, 0, -1, -1), {2: 0}, {4: 0})
    found = regions(MOV * 5 + "ret;", crowded(6, 6))
    assert found == HeldRegions((-1, -1, 0, 0, -1, -1), {2: 0}, {4: 0})


def test_a_larger_base_needs_no_region() -> None:
    assert regions(MOV * 5 + "ret;", crowded(6, 6), base=3) == HeldRegions((-1,) * 6, {}, {})


def test_short_gaps_are_held() -> None:
    demand = crowded(8, 3, 11)
    assert regions(MOV * 7 + "ret;", demand, gap=2).region == (-1, 0, -1, -1, -1, 1, -1, -1)
    assert regions(MOV * 7 + "ret;", demand, gap=3).region == (-1, 0, 0, 0, 0, 0, -1, -1)
    with_barrier = f"{MOV * 3}bar.sync 0; {MOV * 3}ret;"
    assert regions(with_barrier, demand, gap=3).region == (-1, 0, -1, -1, -1, 1, -1, -1)


@pytest.mark.parametrize("what", ["bar.sync 0;", "@%p1 exit;", "call f;", "barrier.arrive 0, 64;"])
def test_none_are_held_where_a_warp_waits_or_leaves(what: str) -> None:
    body = f"{MOV * 2}{what} {MOV}ret;"
    assert never_held(ptx(body)) == {2, 4}
    with pytest.raises(MustNotHold) as caught:
        regions(body, crowded(5, 4))
    assert caught.value.instruction == 2
    assert regions(body, crowded(5, 7)).acquires == {3: 0}


def test_an_edge_has_no_marks() -> None:
    """Three units live into L: the branch there holds, and what else it may go to begins with a release."""
    body = f"setp.eq.u32 %p1, 1, 2; @%p1 bra L; {MOV}ret; L: {MOV}ret;"
    found = regions(body, crowded(6, 8))
    assert found == HeldRegions((-1, 0, -1, -1, 0, -1), {1: 0}, {2: 0, 5: 0})


def test_a_loop_acquires_in_every_round() -> None:
    found = regions(f"{MOV}L: {MOV * 3}@%p1 bra L; ret;", crowded(6, 5))
    assert (found.acquires, found.releases) == ({2: 0}, {3: 0})


def test_lanes_that_wait_at_the_reconvergence_point_keep_their_registers() -> None:
    """The lanes that jump to E wait there and hold, so that the others may not release: all hold from the branch on."""
    tid = "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; "
    found = regions(f"{tid}@%p1 bra E; {MOV * 3}E: {MOV}ret;", crowded(8, 12))
    assert found.region == (-1, -1, 0, 0, 0, 0, 0, -1)
    same = tid.replace("%tid.x", "%ctaid.x")
    found = regions(f"{same}@%p1 bra E; {MOV * 3}E: {MOV}ret;", crowded(8, 12))
    assert found.region == (-1, -1, 0, -1, -1, 0, 0, -1)


def test_each_side_of_a_branch_may_hold_alone() -> None:
    tid = "mov.u32 %r2, %tid.x; setp.eq.u32 %p1, %r2, 0; "
    found = regions(f"{tid}@%p1 bra E; {MOV * 3}bra J; E: {MOV * 3}J: ret;", crowded(11, 9, 17))
    assert (found.acquires, found.releases) == ({4: 0, 8: 1}, {5: 0, 9: 1})
