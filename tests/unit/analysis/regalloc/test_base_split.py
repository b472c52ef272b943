"""Base and extended sets: what lies where, and which values move between them."""

import pytest
from kernels import ptx

from ptxtool.analysis.regalloc.base_split import BaseSplit, BaseSplitter, BaseTooSmall
from ptxtool.analysis.regalloc.live_ranges import live_ranges

FOUR = """
ld.global.u32 %r1, [0]; ld.global.u32 %r2, [4]; add.u32 %r3, %r1, 1; add.u32 %r4, %r2, 1; add.u32 %r5, %r1, %r2;
st.global.u32 [0], %r5; st.global.u32 [4], %r3; st.global.u32 [8], %r4; ret;
"""
"""Instructions 2 to 5 hold with a base of 2: four values at once, of which two come and two go on."""
INSIDE = """
ld.global.u32 %r1, [0]; ld.global.u32 %r2, [4]; ld.global.u32 %r3, [8]; ld.global.u32 %r4, [12];
add.u32 %r3, %r3, %r4; add.u32 %r2, %r2, %r3; add.u32 %r1, %r1, %r2; st.global.u32 [0], %r1; ret;
"""


def split(body: str, base: int, gap: int = 0) -> BaseSplit:
    return BaseSplitter(live_ranges(ptx(body)), gap).split(base)


def insertions(found: BaseSplit) -> list[tuple[int, str]]:
    return [(one.instruction, one.kind) for one in found.assignment.spills.insertions]


def test_values_that_live_inside_need_no_moves() -> None:
    """With a base of 2 the first two values have it, the other two live inside: three are live before instruction 5."""
    found = split(INSIDE, 2)
    assert (found.base, found.extended, found.n_moves) == (2, 2, 0)
    assert insertions(found) == [(2, "acquire"), (6, "release")]
    assert found.assignment.registers == 4


def test_values_that_go_on_move_before_the_release() -> None:
    found = split(FOUR, 2)
    assert (found.base, found.extended, found.n_moves) == (2, 2, 2)
    assert insertions(found) == [(2, "acquire"), (6, "copy-back"), (6, "copy-back"), (6, "release")]
    outside = [unit for web, unit in found.assignment.unit.items() if web < len(found.assignment.ranges)]
    assert sorted(outside) == [0, 0, 0, 1, 1], "the fifth value lies where the first one was"


def test_a_base_for_everything_has_no_marks() -> None:
    found = split(FOUR, 4)
    assert (found.extended, insertions(found)) == (0, [])


def test_pairs_are_aligned_in_the_base_set() -> None:
    """A word is live beside a pair: three units, but a base of 3 has no aligned pair left beside unit 1 and 2."""
    body = """
    ld.global.u32 %r1, [0]; ld.global.u64 %rd1, [8]; ld.global.u32 %r2, [16]; ld.global.u32 %r3, [20];
    add.u32 %r2, %r2, %r3; add.u32 %r1, %r1, %r2; st.global.u32 [0], %r1; st.global.u64 [8], %rd1; ret;
    """
    found = split(body, 3)
    units = {found.assignment.ranges.register[w]: u for w, u in found.assignment.unit.items()}
    registers = found.assignment.ranges.function.registers
    assert units[registers.resolve_index("%rd1", 0)] % 2 == 0
    assert (found.base, found.extended, found.n_moves) == (3, 2, 0)


def test_what_no_move_copies_keeps_its_place() -> None:
    """So the values that come move after the acquire."""
    registers = ".reg .b8 %b<4>; .reg .b32 %r<4>;"
    body = FOUR.replace("add.u32 %r3, %r1, 1", "ld.global.u8 %b3, [0]").replace(
        "add.u32 %r4, %r2, 1", "ld.global.u8 %b4, [4]"
    )
    body = body.replace("u32 [4], %r3", "u8 [4], %b3").replace("u32 [8], %r4", "u8 [8], %b4")
    function = ptx(body, registers.replace("<4>", "<6>"))
    found = BaseSplitter(live_ranges(function), 0).split(2)
    assert insertions(found) == [(2, "acquire"), (2, "copy"), (2, "copy"), (6, "release")]


def test_a_base_that_alignment_makes_too_small() -> None:
    """Three units are live at the barrier, but two pairs of halves leave no aligned pair in 3 units."""
    body = """
    ld.global.u64 %rd1, [0]; ld.global.u32 %r1, [8]; bar.sync 0; st.global.u64 [0], %rd1;
    ld.global.u32 %r2, [4]; bar.sync 0; ld.global.u64 %rd2, [8]; st.global.u32 [0], %r1; bar.sync 0;
    st.global.u64 [0], %rd2; st.global.u32 [0], %r2; ret;
    """
    assert split(body, 4).extended == 0
    with pytest.raises(BaseTooSmall):
        split(body, 3)
