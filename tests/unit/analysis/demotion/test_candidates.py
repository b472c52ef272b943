"""Candidates for demotion and the order of the rules, counted by hand."""

import pytest
from kernels import ptxplus

from ptxtool.analysis.demotion.candidates import candidates, demotion_order
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = ".version 8.0\n.target sm_90a\n.address_size 64\n"


def kernel(body: str) -> Function:
    declared = ".reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .b16 %rs<20>; .reg .pred %p<2>;"
    return parse(f"{HEAD}.entry k() {{\n{declared}\n{body} ret; }}").kernels["k"]


LOOP = """
    mov.u32 %r0, 0;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, 5;
L:  add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 9;
    @%p0 bra L;
    add.u32 %r1, %r1, %r1;
    add.u32 %r2, %r1, %r2;
    st.shared.u32 [%r2], %r2;
"""


def test_costs() -> None:
    """%r0 is written twice and read twice, of which three times in the loop; %r1: written twice, read by two."""
    static = {c.first: c.cost for c in candidates(kernel(LOOP), "accesses")}
    assert static == {0: 4, 1: 4, 2: 4}
    weighted = {c.first: c.cost for c in candidates(kernel(LOOP), "frequency")}
    assert weighted == {0: 1 + 3 * 10, 1: 4, 2: 4}


def test_measured_counts_replace_those_of_loops() -> None:
    """%r0 is written once, and read and written in the loop, which ran twice; %r1 and %r2 are written once more."""
    issues = [1, 1, 1, 2, 2, 2, 7, 1, 1, 1]
    found = {c.first: c.cost for c in candidates(kernel(LOOP), "frequency", issues)}
    assert found == {0: 1 + 2 + 2 + 2, 1: 1 + 7 + 7 + 1, 2: 1 + 1 + 1 + 1}
    assert next(demotion_order(kernel(LOOP), "frequency", issues)).first == 2


def test_what_shares_an_instruction_with_a_demoted_register_is_dropped() -> None:
    """%r1 and %r2 are added; of equal costs the lowest number is first."""
    assert [c.first for c in demotion_order(kernel(LOOP), "accesses")] == [0, 1]
    assert [c.first for c in demotion_order(kernel(LOOP), "frequency")] == [1, 0]
    assert [c.first for c in demotion_order(kernel(LOOP), "conflicts")] == [0, 1]


def test_fewest_conflicts_first() -> None:
    """%r5 occurs with %r6 and %r7, each of which occurs with it alone, and is accessed least."""
    star = "mov.u32 %r6, 1; mov.u32 %r7, 2; mov.u32 %r6, %r6; mov.u32 %r7, %r7; add.u32 %r5, %r6, %r7;"
    star = star.replace("add.u32 %r5, %r6, %r7;", "mov.u32 %r5, %r6; add.u32 %r7, %r7, %r5;")
    assert [c.first for c in demotion_order(kernel(star), "accesses")] == [5]
    assert [c.first for c in demotion_order(kernel(star), "conflicts")] == [6, 7]


def test_the_names_of_a_unit_are_one_candidate_and_pairs_come_last() -> None:
    body = """
        mov.u32 %r4, 1; cvt.u16.u32 %rs4, %r4; st.shared.u16 [0], %rs4;
        mov.u64 %rd3, 2; mov.u32 %r7, 3; st.shared.u64 [%r7], 4; st.shared.u64 [0], %rd3;
    """
    found = [(c.first, c.units, len(c.registers)) for c in demotion_order(kernel(body), "accesses")]
    assert found == [(4, 1, 2), (6, 2, 2)], "%rd3 means units 6 and 7, %r7 is its second half"


@pytest.mark.parametrize(
    "body",
    [
        "setp.eq.u32 %p0, 1, 1; selp.u32 %r1, 1, 0, %p0; .reg .b128 %rq<2>; mov.b128 %rq0, {%rd0, %rd1};",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, %rd4, %rd5, 1, 1, 1, 0, 0;",
    ],
)
def test_never_demoted(body: str) -> None:
    """Predicates; what shares units with a register of 128 bits; what an instruction in flight uses."""
    assert candidates(kernel(body), "accesses") == ()


def test_nothing_to_demote() -> None:
    assert [*demotion_order(kernel(""), "conflicts")] == []


@pytest.mark.parametrize(
    ("body", "firsts", "pairs"),
    [
        ("mov.u32 $r1, $r2; mov.u16 $r3.hi, $r2.lo;", [1, 2, 3], []),
        ("cvt.u32.u16 $r1, $r0.lo;", [1], []),  # the thread id
        ("add.ff64 {$r4,$r5}, {$r2,$r3}, {$r6,$r7}; mov.u32 $r1, $r5;", [1, 2, 4, 6], [2, 4, 6]),
        ("add.ff64 {$r3,$r4}, {$r6,$r7}, {$r6,$r7};", [6], [6]),  # from an odd number on
        ("cvt.ff64.s32 $r4, $r6;", [4, 6], [4]),  # a pair by its first register
        ("ld.global.v4.u32 {$r4,$r5,$r6,$r7}, [$r1];", [1], []),
        ("mov.u32 $r1, s[$ofs1+=0x0004]; @$p0.ne add.u32 $r2, $r1, $r124;", [1, 2], []),
    ],
)
def test_ptxplus(body: str, firsts: list[int], pairs: list[int]) -> None:
    found = candidates(ptxplus(f"{body} exit;"), "accesses")
    assert [c.first for c in found] == firsts
    assert [c.first for c in found if c.units == 2] == pairs
