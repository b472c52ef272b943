"""Webs of PTXPlus that must stay in adjacent registers."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.regalloc.live_ranges import live_ranges
from ptxtool.analysis.regalloc.register_tuples import register_tuples
from ptxtool.ir.nodes import Function


def tuples(function: Function) -> set[tuple[tuple[str, ...], int]]:
    """The registers of each tuple in ascending order, a web each, and its alignment."""
    ranges = live_ranges(function)
    names = function.registers.name_of
    return {
        (tuple(sorted(names(ranges.register[web]) for web in found.numbers)), found.alignment)
        for found in register_tuples(ranges).values()
    }


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.global.v2.u32 {$r2,$r3}, [$r0]; st.global.v2.u32 [$r0], {$r2,$r3};", {(("$r2", "$r3"), 2)}),
        ("ld.global.v2.u32 {$r1,$r2}, [$r0]; st.global.v2.u32 [$r0], {$r1,$r2};", {(("$r1", "$r2"), 1)}),
        ("ld.global.v4.u32 {$r4,$r5,$r6,$r7}, [$r0];", {(("$r4", "$r5", "$r6", "$r7"), 4)}),
        ("add.u32 $r1, $r2, $r3;", set()),
    ],
)
def test_braces(body: str, expected: set[tuple[tuple[str, ...], int]]) -> None:
    assert tuples(ptxplus(f"{body} exit;")) == expected


def test_tuples_with_a_common_web_are_one() -> None:
    """The second pair takes the upper register of the first along; the larger alignment holds."""
    body = "ld.global.v2.u32 {$r2,$r3}, [$r0]; mov.u32 $r4, 0x1; st.global.v2.u32 [$r0], {$r3,$r4};"
    body += "st.global.v2.u32 [$r0], {$r2,$r3}; exit;"
    assert tuples(ptxplus(body)) == {(("$r2", "$r3", "$r4"), 2)}


def test_an_incremented_register_is_the_same_before_and_after() -> None:
    body = (
        "mov.u32 $ofs1, 0x10; mov.u32 $r1, s[$ofs1+=0x4]; mov.u32 $r2, s[$ofs1]; mov.u32 s[0x10], $r1; exit;"
    )
    assert tuples(ptxplus(body)) == {(("$ofs1", "$ofs1"), 1)}


def test_ptx_has_none() -> None:
    assert (
        tuples(ptx("ld.global.v2.u32 {%r2, %r3}, [%rd1]; st.global.v2.u32 [%rd1], {%r2, %r3}; ret;")) == set()
    )
