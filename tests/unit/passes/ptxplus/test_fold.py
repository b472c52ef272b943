"""Loads that become operands: where they move, and in which place an instruction takes one."""

import pytest
from ptxplus_selection import virtual


@pytest.mark.parametrize(
    ("code", "folded"),
    [
        ("sub.s32 %r3, %r1, %r4;", "sub.s32 $v2, s[$v1], $v3;"),
        ("sub.s32 %r3, %r4, %r1;", ""),  # the operands of a difference do not trade places
        ("add.s32 %r3, %r1, 5;", ""),  # no constant beside a memory operand
        ("add.s32 %r3, %r1, %r1;", ""),  # read twice
        ("mad.lo.s32 %r3, %r4, %r5, %r1;", ""),  # the third operand is none from memory
        ("setp.le.s32 %p1, %r4, %r1;", "set.ge.u32.s32 $p0/$o127, s[$v1], $v2;"),
        ("setp.ne.s32 %p1, %r4, %r1;", "set.ne.u32.s32 $p0/$o127, s[$v1], $v2;"),
        ("shl.b32 %r3, %r1, %r4;", ""),  # a shift takes none
    ],
)
def test_which_operand_is_taken_from_memory(code: str, folded: str) -> None:
    found = virtual(f"ld.shared.u32 %r1, [%r2]; {code}")
    assert found[0] == (folded or "mov.u32 $v0, s[$v1];")


def test_a_constant_operand_comes_second() -> None:
    found = virtual(".const .u32 c[2]; ld.const.u32 %r1, [c+4]; add.s32 %r3, %r1, %r4;")
    assert found[0] == "add.s32 $v1, $v2, constant0[0x0004];"


def test_operands_are_folded_once_and_not_past_a_store() -> None:
    assert virtual("ld.shared.u32 %r1, [%r2]; add.s32 %r3, %r4, %r1;")[0] == "add.s32 $v2, s[$v1], $v3;"
    stored = virtual("ld.shared.u32 %r1, [%r2]; st.shared.u32 [%r5], %r5; add.s32 %r3, %r4, %r1;")
    assert stored[0] == "mov.u32 $v0, s[$v1];"
    twice = virtual("ld.shared.u32 %r1, [%r2]; add.s32 %r3, %r4, %r1; add.s32 %r5, %r4, %r1;")
    assert twice[0] == "mov.u32 $v0, s[$v1];"
    moved = virtual("ld.shared.u32 %r1, [%r2]; add.s32 %r2, %r2, 4; add.s32 %r3, %r4, %r1;")
    assert moved[0] == "mov.u32 $v0, s[$v1];"
    barrier = virtual("ld.shared.u32 %r1, [%r2]; bar.sync 0; add.s32 %r3, %r4, %r1;")
    assert barrier[0] == "mov.u32 $v0, s[$v1];"


def test_a_parameter_is_folded_past_everything_but_a_label() -> None:
    body = "ld.param.u32 %r1, [p]; bar.sync 0; st.shared.u32 [%r5], %r5; setp.gt.s32 %p1, %r4, %r1;"
    assert virtual(body)[2] == "set.lt.u32.s32 $p0/$o127, s[0x0010], $v2;"
    assert virtual("ld.param.u32 %r1, [p]; L: add.s32 %r2, %r2, %r1; bra L;")[0] == "mov.u32 $v0, s[0x0010];"
