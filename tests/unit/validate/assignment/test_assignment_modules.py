"""The proof of register assignment beyond straight PTX kernels: heads, functions, calls, PTXPlus."""

from collections.abc import Mapping, Sequence

import pytest

from ptxtool.parse import parse
from ptxtool.validate.assignment import check_assignment

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n"
FUNCTION = (
    PTX
    + """.global .u32 g;
.func (.reg .u32 %sum) f (.reg .u32 %a, .reg .u32 %b)
{
	.reg .u32 %t<3>;
	add.u32 %t1, %a, %b;
	mov.u32 %sum, %t1;
	ret;
}
.visible .entry k()
{
	.reg .u32 %v<4>;
	mov.u32 %v1, %clock;
	call (%v2), f, (%v1, %v1);
	add.u32 %v3, %v1, %v2;
	st.global.u32 [g], %v3;
	ret;
}
"""
)
ALL = {"f": range(3), "k": range(5)}


def problems(before: str, after: str, origins: Mapping[str, Sequence[int]]) -> list[str]:
    found = check_assignment(parse(before), parse(after), origins)
    assert {d.code for d in found} <= {"E303"}
    return [d.message for d in found]


def test_the_same_text_holds() -> None:
    assert problems(FUNCTION, FUNCTION, {}) == []


@pytest.mark.parametrize(
    "edits",
    [
        [("%v3", "%v0")],
        [(".reg .u32 %t<3>;", ".reg .u32 %r<9>;"), ("%t1", "%r8")],
        [(", %v1, %v2", ", %v1, %v0"), ("(%v2)", "(%v0)")],
    ],
)
def test_calls_and_functions_with_register_parameters(edits: list[tuple[str, str]]) -> None:
    after = FUNCTION
    for old, new in edits:
        after = after.replace(old, new)
    assert after != FUNCTION
    assert problems(FUNCTION, after, ALL) == []


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        (".global .u32 g;", ".global .s32 g;", "text outside functions changed"),
        (".visible .entry k()", ".entry k()", "the head of 'k' changed"),
        ("%a, %b;", "%b, %a;", "'%b' does not hold '%a' here on every path"),
        ("mov.u32 %sum", "mov.u32 %t2", "'%sum' does not hold '%sum' here on every path"),
        ("call (%v2), f", "call (%v1), f", "'%v1' does not hold '%v1' here on every path"),
        ("(%v1, %v1)", "(%v1, %v2)", "'%v2' does not hold '%v1' here on every path"),
        ("(%v1, %v1)", "(%v1)",
         "'call (%v2), f, (%v1);' differs from 'call (%v2), f, (%v1, %v1);' in more than registers"),
    ],
)  # fmt: skip
def test_what_else_may_not_change(old: str, new: str, reported: str) -> None:
    assert old in FUNCTION
    assert problems(FUNCTION, FUNCTION.replace(old, new), ALL)[:1] == [reported]


def test_a_result_is_read_at_the_end() -> None:
    after = FUNCTION.replace("%t1, %a", "%sum, %a").replace("\tmov.u32 %sum, %t1;\n", "")
    assert problems(FUNCTION, after, {"f": [0, 2], "k": range(5)}) == []
    lost = FUNCTION.replace("\tmov.u32 %sum, %t1;\n", "")
    assert problems(FUNCTION, lost, {"f": [0, 2], "k": range(5)}) == [
        "'%sum' does not hold '%sum' here on every path"
    ]


def test_the_end_may_be_where_the_text_ends() -> None:
    before = FUNCTION.replace("\tret;\n}\n.visible", "}\n.visible")
    lost = before.replace("\tmov.u32 %sum, %t1;\n", "")
    assert problems(before, lost, {"f": [0], "k": range(5)}) == [
        "'%sum' does not hold '%sum' here on every path"
    ]
    without = lost.replace("\tadd.u32 %t1, %a, %b;\n", "")
    assert problems(before, without, {"f": [], "k": range(5)}) == [
        "'add.u32 %t1, %a, %b;' is missing, and it is neither a copy of a register nor a constant"
    ]


def test_functions_without_a_claim_stand_as_they_were() -> None:
    after = FUNCTION.replace("%v3", "%v0")
    assert problems(FUNCTION, after, {"f": range(3)}) == ["'k' changed, and no origins are claimed for it"]


@pytest.mark.parametrize(
    ("claim", "reported"),
    [
        ([0, 1, 2, 3], "4 origins for the 5 instructions of 'k'"),
        ([0, 1, 2, 2, 4], "instruction 2 of 'k' stands in another place or twice"),
        ([0, 1, 2, 3, 9], "instruction 9 of 'k' stands in another place or twice"),
        ([0, 1, -1, 3, 4],
         "'add.u32 %v3, %v1, %v2;' is missing, and it is neither a copy of a register nor a constant"),
    ],
)  # fmt: skip
def test_claims_that_cannot_be(claim: list[int], reported: str) -> None:
    assert reported in problems(FUNCTION, FUNCTION, {"f": range(3), "k": claim})


def test_items_are_counted() -> None:
    assert problems(FUNCTION, FUNCTION + ".global .u32 h;\n", ALL) == ["6 items became 7"]


def test_a_constant_is_not_taken_from_a_name_that_means_two_things() -> None:
    before = PTX + (
        ".visible .entry k(.param .u64 p)\n{\n.reg .u64 %d<3>; .shared .b32 t;\n"
        "mov.u64 %d1, t;\n{ .shared .b32 t; st.global.u64 [%d2], %d1; }\nexit;\n}\n"
    )
    after = before.replace("mov.u64 %d1, t;\n", "").replace("st.global.u64", "mov.u64 %d1, t; st.global.u64")
    assert problems(before, after, {"k": [-1, 1, 2]})[0].startswith("'mov.u64 %d1, t;' is missing")


# ---- PTXPlus

PTXPLUS = """.version 1.4+
.target sm_10
.entry k (.param .u32 a)
{
	.reg .u32 $r<12>;
	.reg .u32 $ofs<5>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
BODY
}
"""


def ptxplus(before: str, after: str, inserted: Sequence[int] = (), dropped: Sequence[int] = ()) -> list[str]:
    old, new = (PTXPLUS.replace("BODY", body) for body in (before, after))
    n_old, n_new = (len(parse(text).kernels["k"].instructions) for text in (old, new))
    kept = iter(i for i in range(n_old) if i not in dropped)
    return problems(old, new, {"k": [-1 if j in inserted else next(kept) for j in range(n_new)]})


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # the thread id
        ("mov.u32 s[0x0020], $r0; exit;", "mov.u32 s[0x0020], $r0; exit;"),
        ("cvt.u32.u16 $r1, $r0.lo; mov.u32 s[0x0020], $r1; exit;",
         "cvt.u32.u16 $r0, $r0.lo; mov.u32 s[0x0020], $r0; exit;"),
        # pairs by their first register
        ("cvt.ff64.s32 $r2, $r0; st.global.bb64 [$r4], $r2; exit;",
         "cvt.ff64.s32 $r6, $r0; st.global.bb64 [$r4], $r6; exit;"),
        ("mul.ff64 {$r2,$r3}, {$r2,$r3}, -{$r4,$r5}; exit;",
         "mul.ff64 {$r4,$r5}, {$r4,$r5}, -{$r6,$r7}; exit;"),
        # halves
        ("mov.u16 $r1.lo, %ntid.x; mov.u16 $r1.hi, %ntid.y; mov.u32 s[0x0020], $r1; exit;",
         "mov.u16 $r7.lo, %ntid.x; mov.u16 $r7.hi, %ntid.y; mov.u32 s[0x0020], $r7; exit;"),
        # both destinations, the sink and the zero register
        ("set.ne.u32.u32 $p0/$o127, $r0, $r124; @$p0.ne bra L; L: exit;",
         "set.ne.u32.u32 $p1/$o127, $r0, $r124; @$p1.ne bra L; L: exit;"),
        ("add.u32 $p0|$r1, $r0, $r124; @$p0.ne mov.u32 s[0x0020], $r1; exit;",
         "add.u32 $p2|$r0, $r0, $r124; @$p2.ne mov.u32 s[0x0020], $r0; exit;"),
        # address registers
        ("shl.b32 $ofs1, $r0, 0x2; mov.u32 $r1, s[$ofs1+=0x0004]; mov.u32 s[$ofs1], $r1; exit;",
         "shl.b32 $ofs3, $r0, 0x2; mov.u32 $r0, s[$ofs3+=0x0004]; mov.u32 s[$ofs3], $r0; exit;"),
        # registers shared with the code that is called
        ("mov.u32 $r1, %clock; callp F; mov.u32 s[0x0020], $r2; exit; F: add.u32 $r2, $r1, $r0; retp;",
         "mov.u32 $r3, %clock; callp F; mov.u32 s[0x0020], $r5; exit; F: add.u32 $r5, $r3, $r0; retp;"),
        ("mov.u32 $r1, %clock; callp F; mov.u32 $r1, %clock; callp F; exit; F: mov.u32 s[0x0020], $r1; retp;",
         "mov.u32 $r3, %clock; callp F; mov.u32 $r3, %clock; callp F; exit; F: mov.u32 s[0x0020], $r3; retp;"),
    ],
)  # fmt: skip
def test_ptxplus_holds(before: str, after: str) -> None:
    assert ptxplus(before, after) == []


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        ("mov.u32 s[0x0020], $r0; exit;",
         "mov.u32 s[0x0020], $r1; exit;",
         "'$r1' does not hold '$r0' here on every path"),
        ("mov.u32 $r1, %clock; mov.u32 s[0x0020], $r0; mov.u32 s[0x0020], $r1; exit;",
         "mov.u32 $r0, %clock; mov.u32 s[0x0020], $r0; mov.u32 s[0x0020], $r0; exit;",
         "'$r0' does not hold '$r0' here on every path"),
        ("mov.u32 $r5, %clock; cvt.ff64.s32 $r2, $r0; st.global.bb64 [$r5], $r2; exit;",
         "mov.u32 $r5, %clock; cvt.ff64.s32 $r4, $r0; st.global.bb64 [$r5], $r4; exit;",
         "'$r5' does not hold '$r5' here on every path"),
        ("mov.u16 $r1.lo, %ntid.x; mov.u16 $r1.hi, %ntid.y; mov.u32 s[0x0020], $r1; exit;",
         "mov.u16 $r7.lo, %ntid.x; mov.u16 $r6.hi, %ntid.y; mov.u32 s[0x0020], $r6; exit;",
         "'$r6' does not hold '$r1' here on every path"),
        ("set.ne.u32.u32 $p0/$r1, $r0, $r124; exit;", "set.ne.u32.u32 $p0/$o127, $r0, $r124; exit;",
         "'set.ne.u32.u32 $p0/$o127, $r0, $r124;' differs from 'set.ne.u32.u32 $p0/$r1, $r0, $r124;'"
         " in more than registers"),
        ("add.u32 $r1, $r0, $r124; exit;", "add.u32 $r1, $r0, $r3; exit;",
         "'add.u32 $r1, $r0, $r3;' differs from 'add.u32 $r1, $r0, $r124;' in more than registers"),
        ("shl.b32 $ofs1, $r0, 0x2; exit;", "shl.b32 $r1, $r0, 0x2; exit;",
         "'shl.b32 $r1, $r0, 0x2;' differs from 'shl.b32 $ofs1, $r0, 0x2;' in more than registers"),
        ("shl.b32 $ofs1, $r0, 0x2; mov.u32 $r1, s[$ofs1+=0x0004]; mov.u32 $r2, s[$ofs1]; exit;",
         "shl.b32 $ofs3, $r0, 0x2; mov.u32 $r1, s[$ofs3]; mov.u32 $r2, s[$ofs3]; exit;",
         "'mov.u32 $r1, s[$ofs3];' differs from 'mov.u32 $r1, s[$ofs1+=0x0004];' in more than registers"),
        ("mov.u32 $r1, %clock; callp F; mov.u32 s[0x0020], $r1; exit;"
         "F: mov.u32 $r2, %clock; mov.u32 s[0x0020], $r2; retp;",
         "mov.u32 $r1, %clock; callp F; mov.u32 s[0x0020], $r1; exit;"
         "F: mov.u32 $r1, %clock; mov.u32 s[0x0020], $r1; retp;",
         "'$r1' does not hold '$r1' here on every path"),
        ("@$p0.ne bra L; L: exit;",
         "@$p0.equ bra L; L: exit;", "'@$p0.equ bra L;' is another operation than '@$p0.ne bra L;'"),
    ],
)  # fmt: skip
def test_ptxplus_fails(before: str, after: str, reported: str) -> None:
    assert ptxplus(before, after)[:1] == [reported]


def test_ptxplus_spills_to_local_memory_that_nobody_else_uses() -> None:
    before = "mov.u32 $r1, %clock; mov.u32 $r2, %clock; mov.u32 s[0x0020], $r1; mov.u32 s[0x0024], $r2; exit;"
    after = (
        ".local .b8 l0[8]; mov.u32 $r1, %clock; st.local.u32 [0x0004], $r1; mov.u32 $r1, %clock;"
        "ld.local.u32 $r2, [0x0004]; mov.u32 s[0x0020], $r2; mov.u32 s[0x0024], $r1; exit;"
    )
    assert ptxplus(before, after, inserted=(1, 3)) == []
    assert ptxplus(before, after.replace("$r2, [0x0004]", "$r2, [0x0000]"), inserted=(1, 3)) == [
        "'$r2' does not hold '$r1' here on every path"
    ]
    local = "st.local.u32 [0x0000], $r0; "
    assert ptxplus(local + before, after.replace("mov", local + "mov", 1), inserted=(2, 4)) == [
        "'.local .b8 l0[8];' is new"
    ]


def test_ptxplus_saves_all_flags_of_a_predicate() -> None:
    before = "add.u32 $p1|$r1, $r0, $r2; add.u32 $p2|$r3, $r0, $r2; @$p1.cf bra L; @$p2.ne bra L; L: exit;"
    after = (
        "add.u32 $p1|$r1, $r0, $r2; mov.u32 $r5, $p1; add.u32 $p1|$r3, $r0, $r2; mov.pred $p2, $r5;"
        "@$p2.cf bra L; @$p1.ne bra L; L: exit;"
    )
    assert ptxplus(before, after, inserted=(1, 3)) == []
    assert ptxplus(before, after.replace("mov.u32 $r5, $p1", "selp.u32 $r5, 1, 0, $p1"), inserted=(1, 3)) == [
        "the inserted 'selp.u32 $r5, 1, 0, $p1;' is no copy, spill, reload or constant of the original"
    ]
