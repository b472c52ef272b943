"""The registers of plain kept instructions, in pairs; what is left to the check of single ones."""

from collections.abc import Callable

import pytest
from kernels import ptx, ptxplus

from ptxtool.ir.nodes import Function
from ptxtool.validate.assignment.plain import plain_pairs

Names = tuple[tuple[str, str], ...]


def pairs(before: str, after: str, kernel: Callable[[str], Function] = ptx) -> list[tuple[int, Names, Names]]:
    """The pairs of two bodies with the same number of instructions, by names."""
    old, new = kernel(before), kernel(after)
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


def test_ptxplus_writes_to_memory_and_to_the_sink() -> None:
    """Zero and sink hold no values; an address is read, also where the instruction writes to memory."""
    assert pairs(
        "set.eq.u32.u32 $p0/$o127, $r1, $r124; mov.u32 s[$r2+0x0010], $r3; add.u32 $r1, $r2, $r124;",
        "set.eq.u32.u32 $p1/$o127, $r4, $r124; mov.u32 s[$r1+0x0010], $r2; add.u32 $r3, $r3, $r124;",
        ptxplus,
    ) == [
        (0, (("$p0", "$p1"),), (("$r1", "$r4"),)),
        (1, (), (("$r2", "$r1"), ("$r3", "$r2"))),
        (2, (("$r1", "$r3"),), (("$r2", "$r3"),)),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("add.u32 $r1, $r2, $r124;", "add.u32 $r1, $r2, $r3;"),
        ("add.u32 $r1, $r2, $r3;", "add.u32 $r1, $r2, $r124;"),
        ("set.eq.u32.u32 $p0/$o127, $r1, $r2;", "set.eq.u32.u32 $p0/$r3, $r1, $r2;"),
        ("mov.u32 $r1, s[$ofs1+0x0010];", "mov.u32 $r1, s[$r2+0x0010];"),
        ("mov.u32 s[$ofs1+=0x0010], $r1;", "mov.u32 s[$ofs1+=0x0010], $r1;"),  # written as well
        ("mov.u32 $r1.lo, $r2;", "mov.u32 $r1.lo, $r2;"),  # a part
        (
            "add.rn.ff64 {$r0,$r1}, {$r2,$r3}, {$r0,$r1};",
            "add.rn.ff64 {$r0,$r1}, {$r2,$r3}, {$r0,$r1};",
        ),  # wide
    ],
)
def test_what_is_left_out_of_ptxplus(old: str, new: str) -> None:
    assert pairs(f"{old} nop;", f"{new} nop;", ptxplus) == [(1, (), ())]


def test_a_sink_that_is_no_longer_declared_is_left_out() -> None:
    body = "set.eq.u32.u32 $p0/$o127, $r1, $r2; nop;"
    old, new = ptxplus(body), ptxplus(body, ".reg .u32 $r<10>; .reg .pred $p<3>;")
    assert [n for n, *_ in plain_pairs(old, new, [(0, 0), (1, 1)], lambda _: None)] == [1]
