"""The registers of plain kept instructions, in pairs; what is left to the check of single ones."""

import pytest
from kernels import ptx

from ptxtool.validate.assignment.plain import plain_pairs

Names = tuple[tuple[str, str], ...]


def pairs(before: str, after: str) -> list[tuple[int, Names, Names]]:
    """The pairs of two bodies with the same number of instructions, by names."""
    old, new = ptx(before), ptx(after)
    items = [(i, i) for i in range(len(old.instructions))]
    taken: set[int] = set()

    def named(found: tuple[tuple[int, int], ...]) -> Names:
        return tuple((old.registers.name_of(a), new.registers.name_of(b)) for a, b in found)

    found = [(n, named(writes), named(reads)) for n, writes, reads in plain_pairs(old, new, items, taken.add)]
    assert {new.registers.name_of(k) for k in taken} == {
        b for _, *sides in found for side in sides for _, b in side
    }
    return found


def test_the_first_operand_is_written_and_the_others_are_read() -> None:
    assert pairs(
        "add.u32 %r1, %r2, 3; st.global.u32 [%rd1+4], %r1; ret;",
        "add.u32 %r4, %r5, 3; st.global.u32 [%rd2+4], %r4; ret;",
    ) == [
        (0, (("%r1", "%r4"),), (("%r2", "%r5"),)),
        (1, (), (("%rd1", "%rd2"), ("%r1", "%r4"))),
        (2, (), ()),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add.u32 %r1, %r2, 3;", "add.u32 %r1, %r2, 4;"),
        ("add.u32 %r1, %r2, 3;", "add.s32 %r1, %r2, 3;"),
        ("add.u32 %r1, %r2, 3;", "add.u32 %r1, %rd2, 3;"),  # of another class
        ("add.u32 %r1, %r2, 3;", "add.u32 %r1, %p2, 3;"),
        ("st.global.u32 [%rd1+4], %r1;", "st.global.u32 [%rd1+8], %r1;"),
        ("@%p1 add.u32 %r1, %r2, 3;", "@!%p1 add.u32 %r1, %r2, 3;"),
        ("mov.u32 %r1, tile;", "mov.u32 %r1, other;"),
        ("setp.lt.u32 %p1|_, %r1, 3;", "setp.lt.u32 %p1|%p2, %r1, 3;"),
    ],
)
def test_what_differs_in_more_than_registers_is_left_out(old: str, new: str) -> None:
    assert pairs(f"{old} ret;", f"{new} ret;") == [(1, (), ())]


def test_a_name_with_two_meanings_is_left_out() -> None:
    body = "mov.u32 %r1, 1; { .reg .b32 %r1; mov.u32 %r1, 2; } mov.u32 %r2, %r3;"
    assert [n for n, *_ in pairs(body, body)] == [2]
