"""The check of kernels whose accesses to slots changed: what it accepts, and planted faults that it finds."""

import pytest
from demoted_kernel import ENTRY, SLOTS, kernel, plus_text, text

from ptxtool.parse import parse
from ptxtool.validate.assignment.private_slots import PrivateSlots, private_slots
from ptxtool.validate.slot_accesses import check_slot_accesses, is_provable

BODY = """\
mov.u32 %r0, 3;
mov.u32 %r7, 5;
st.shared.b32 [%r6], %r7;
mov.u32 %r7, 9;
st.shared.b32 [%r6+128], %r7;
setp.eq.u32 %p0, %r0, 3;
setp.eq.u32 %p1, %r0, 4;
@%p0 ld.shared.b32 %r7, [%r6];
@%p0 add.u32 %r7, %r7, 1;
@%p0 st.shared.b32 [%r6], %r7;
bar.sync 0;
ld.shared.b32 %r7, [%r6];
st.shared.u32 [0], %r7;
ld.shared.b32 %r7, [%r6+128];
st.shared.u32 [4], %r7;
ld.shared.b32 %r7, [%r6];
st.shared.u32 [8], %r7;"""


def problems(old: str, new: str, body: str = BODY) -> str:
    """The diagnostics where a part of the text, which occurs once, was replaced."""
    before = text(body)
    assert before.count(old) == 1, old
    found = check_slot_accesses(parse(before), parse(before.replace(old, new)))
    return "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bar.sync 0;\nld.shared.b32 %r7, [%r6];\n", "ld.shared.b32 %r7, [%r6];\nbar.sync 0;\n"),  # hoisted
        (
            "%r7, [%r6+128];\nst.shared.u32 [4], %r7",
            "%r3, [%r6+128];\nst.shared.u32 [4], %r3",
        ),  # another register
        (  # the guarded ones too
            "@%p0 ld.shared.b32 %r7, [%r6];\n@%p0 add.u32 %r7, %r7, 1;\n@%p0 st.shared.b32 [%r6], %r7;\n",
            "@%p0 ld.shared.b32 %r2, [%r6];\n@%p0 add.u32 %r2, %r2, 1;\n@%p0 st.shared.b32 [%r6], %r2;\n",
        ),
        ("@%p0 ld.shared.b32", "ld.shared.b32"),  # the value in all lanes
        (  # a value that stays in a register is not loaded again
            "st.shared.u32 [0], %r7;\nld.shared.b32 %r7, [%r6+128];\nst.shared.u32 [4], %r7;\n"
            "ld.shared.b32 %r7, [%r6];\n",
            "st.shared.u32 [0], %r7;\nld.shared.b32 %r4, [%r6+128];\nst.shared.u32 [4], %r4;\n",
        ),
        ("bar.sync 0;\n", "bar.sync 0;\nst.shared.b32 [%r6+256], %r0;\n"),  # a slot that nothing loads
    ],
)
def test_accepted(old: str, new: str) -> None:
    assert problems(old, new) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("@%p0 ld.shared.b32 %r7, [%r6];", "@%p0 ld.shared.b32 %r7, [%r6+128];"),  # a wrong slot
        ("%r7, [%r6+128];\nst.shared.u32 [4]", "%r7, [%r6];\nst.shared.u32 [4]"),
        ("ld.shared.b32 %r7, [%r6+128];\n", ""),  # a reload that is needed
        ("@%p0 ld.shared.b32 %r7, [%r6];\n", ""),
        ("@%p0 st.shared.b32 [%r6], %r7;\n", ""),  # a store that is needed
        ("st.shared.b32 [%r6+128], %r7;\n", ""),
        ("@%p0 st.shared", "st.shared"),  # a dropped guard: the value register is another slot's elsewhere
        ("@%p0 ld.shared", "@!%p0 ld.shared"),
        ("@%p0 ld.shared", "@%p1 ld.shared"),
        ("@%p0 st.shared", "@%p1 st.shared"),
        (  # a load hoisted over a store of its slot
            "@%p0 st.shared.b32 [%r6], %r7;\nbar.sync 0;\nld.shared.b32 %r7, [%r6];\n",
            "ld.shared.b32 %r3, [%r6];\n@%p0 st.shared.b32 [%r6], %r7;\nbar.sync 0;\nmov.b32 %r7, %r3;\n",
        ),
        (  # a load hoisted over a use of its register
            "st.shared.u32 [0], %r7;\nld.shared.b32 %r7, [%r6+128];\n",
            "ld.shared.b32 %r7, [%r6+128];\nst.shared.u32 [0], %r7;\n",
        ),
        ("ld.shared.b32 %r7, [%r6+128];", "ld.shared.b16 %rs7, [%r6+128];"),  # half a slot
        ("@%p0 add.u32 %r7, %r7, 1;", "@%p0 add.u32 %r7, %r7, 2;"),  # another instruction
        ("mov.u32 %r0, 3;\n", ""),
        ("bar.sync 0;\n", "bar.sync 0;\nbar.sync 0;\n"),
        ("st.shared.u32 [0], %r7;", "st.shared.u32 [%r6], %r7;"),  # the address of the slots elsewhere
        ("mov.u32 %r7, 9;", "mov.u32 %r6, 9;"),
        (".reqntid 32", ".reqntid 64"),
        ("__ptxtool_demoted[512]", "__ptxtool_demoted[128]"),
    ],
)
def test_planted_faults_are_found(old: str, new: str) -> None:
    assert "E303" in problems(old, new)


def test_a_store_that_a_loop_misses() -> None:
    """The slot is loaded in the next iteration."""
    body = """mov.u32 %r7, 0;
st.shared.b32 [%r6], %r7;
L:
ld.shared.b32 %r7, [%r6];
add.u32 %r7, %r7, 1;
st.shared.b32 [%r6], %r7; // again
setp.lt.u32 %p0, %r7, 5;
@%p0 bra L;
ld.shared.b32 %r7, [%r6];
st.shared.u32 [0], %r7;"""
    assert "E303" in problems("st.shared.b32 [%r6], %r7; // again\n", "", body)
    assert problems("@%p0 bra L;\nld.shared.b32 %r7, [%r6];\n", "@%p0 bra L;\n", body) == ""


def test_kernels_without_slots_stay_as_they_are() -> None:
    one, other = kernel("mov.u32 %r0, 1;", "", declared=""), kernel("mov.u32 %r0,  2;", "", declared="")
    assert "has no slots" in str(check_slot_accesses(one, other)[0])
    assert check_slot_accesses(one, kernel("mov.u32 %r0,   1;", "", declared="")) == ()


def test_slots_of_both_texts_are_private() -> None:
    leaks = "add.u32 %r5, %r6, 4;\n" + BODY
    found = check_slot_accesses(kernel(leaks), kernel(leaks.replace("%r0, 3", "%r1, 3")))
    assert "uses the address of the slots" in str(found[0])


def test_what_is_provable() -> None:
    """A pair's other name is written between: its low half is lost where the guard is false."""
    body = "mov.u32 %r0, 1;\nsetp.eq.u32 %p0, %r0, 1;\n{}\n@%p0 mov.u32 %r0, 2;\nst.shared.b32 [%r6], %r0;"
    for between, expected in (("", True), ("mov.u64 %rd0, 0;", False)):
        one = kernel(body.format(between) + "\nst.shared.u32 [0], %r0;").kernels["k"]
        assert isinstance(private_slots(one), PrivateSlots)
        assert is_provable(one) == expected


def test_the_text_of_the_tests_is_one() -> None:
    assert problems(SLOTS, SLOTS + "\n") == ""
    assert problems(ENTRY, ENTRY + "\n") == ""


PLUS_BODY = """\
mov.u32 $r7, 0x05;
st.shared.u32 [$r6], $r7;
mov.u32 $r7, 0x09;
st.shared.u32 [$r6+0x0080], $r7;
set.ne.u32.u32 $p0/$o127, $r0, $r1;
@$p0.ne ld.shared.u32 $r7, [$r6];
@$p0.ne add.u32 $r7, $r7, 0x01;
@$p0.ne st.shared.u32 [$r6], $r7;
bar.sync 0x00000000;
ld.shared.u32 $r7, [$r6];
mov.u16 $r7.lo, $r2.hi;
st.shared.u32 [$r6], $r7;
mov.u32 $r2, s[0x0010];
ld.shared.u32 $r8, [$r6];
ld.shared.u32 $r9, [$r6+0x0080];
st.global.bb64 [$r1], $r8;"""


def plus_problems(old: str, new: str) -> str:
    """`problems` in PTXPlus."""
    before = plus_text(PLUS_BODY)
    assert before.count(old) == 1, old
    found = check_slot_accesses(parse(before), parse(before.replace(old, new)))
    return "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "bar.sync 0x00000000;\nld.shared.u32 $r7, [$r6];",
            "ld.shared.u32 $r7, [$r6];\nbar.sync 0x00000000;",
        ),
        (  # the value of the halves stays in the register
            "$r7, [$r6];\nmov.u16 $r7.lo, $r2.hi;\nst.shared.u32 [$r6], $r7;\nmov.u32 $r2, s[0x0010];\n"
            "ld.shared.u32 $r8, [$r6];\n",
            "$r8, [$r6];\nmov.u16 $r8.lo, $r2.hi;\nmov.u32 $r2, s[0x0010];\n",
        ),
        (
            "$r8, [$r6];\nld.shared.u32 $r9, [$r6+0x0080];\nst.global.bb64 [$r1], $r8",
            "$r4, [$r6];\nld.shared.u32 $r5, [$r6+0x0080];\nst.global.bb64 [$r1], $r4",
        ),
        ("@$p0.ne ld.shared", "ld.shared"),
    ],
)
def test_accepted_in_ptxplus(old: str, new: str) -> None:
    assert plus_problems(old, new) == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("$r9, [$r6+0x0080]", "$r9, [$r6+0x0100]"),  # a wrong slot
        ("@$p0.ne ld.shared.u32 $r7, [$r6];\n", ""),  # a reload that is needed
        ("ld.shared.u32 $r9, [$r6+0x0080];\n", ""),
        ("@$p0.ne st.shared.u32 [$r6], $r7;\n", ""),  # a store that is needed
        ("@$p0.ne st.shared", "st.shared"),  # a dropped guard
        ("@$p0.ne ld.shared", "@$p0.eq ld.shared"),  # another condition
        ("@$p0.ne st.shared", "@$p0.lt st.shared"),
        ("@$p0.ne st.shared", "@!$p0.ne st.shared"),
        ("bar.sync 0x00000000;\nld.shared.u32 $r7, [$r6];\n", "bar.sync 0x00000000;\n"),  # half of it is read
        ("mov.u16 $r7.lo, $r2.hi", "mov.u16 $r7.hi, $r2.hi"),  # the other half
        ("$r9, [$r6+0x0080];\nst.global.bb64 [$r1], $r8", "$r5, [$r6+0x0080];\nst.global.bb64 [$r1], $r8"),
        ("st.global.bb64 [$r1], $r8", "st.global.bb64 [$r1], $r9"),  # half a pair
        ("mov.u32 $r2, s[0x0010]", "mov.u32 $r2, s[0x0014]"),  # other memory
        ("mov.u32 $r2, s[0x0010]", "mov.u32 $r2, s[0x0020]"),  # that of the slots
        ("$r6, $r7, 0x20", "$r6, $r7, 0x24"),
        ("__ptxtool_demoted[512]", "__ptxtool_demoted[640]"),
    ],
)
def test_planted_faults_in_ptxplus_are_found(old: str, new: str) -> None:
    assert "E303" in plus_problems(old, new)
