"""Branches through tables, ends of functions, barriers, fences, votes."""

import pytest
from ptxplus_selection import HEAD, kernel, lower, refusals, virtual

from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite


def test_a_table_is_a_chain_of_comparisons() -> None:
    """PTX leaves an index beyond the table undefined: the last target takes it."""
    found = virtual("T: .branchtargets A, B, C; brx.idx %r1, T; A: mov.u32 %r2, 1; B: mov.u32 %r2, 2; C:")
    assert found[:5] == [
        *("set.eq.u32.u32 $p0/$o127, $v0, 0x00000000;", "@$p0.ne bra L0;"),
        *("set.eq.u32.u32 $p1/$o127, $v0, 0x00000001;", "@$p1.ne bra L1;"),
        "bra L2;",
    ]


def test_the_return_of_a_callee_goes_to_the_end_of_its_body() -> None:
    callee = ".func f() { .reg .pred %q; @%q ret; st.global.u32 [0], 1; ret; }\n"
    text = lower("call f, ();", before=callee)
    assert text.count("exit;") == 2  # the kernel's, and the converter's at the end
    assert text.count(".ne bra l0x") == 1


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("fence.acq_rel.cta;", ["membar.cta;"]),
        ("fence.sc.gpu;", ["membar.gl;"]),
        ("fence.sc.sys;", ["membar.sys;"]),
        ("bar.warp.sync -1;", []),
        ("nanosleep.u32 20;", []),
        ("barrier.sync 1;", ["bar.sync 0x00000001;"]),
        ("vote.sync.any.pred %p1, %p2, 0xffffffff;", ["vote.any.pred $p1, $p0;"]),
        ("activemask.b32 %r1;", ["mov.pred $p0, 0x00000001;", "vote.ballot.b32 $v0, $p0;"]),
    ],
)
def test_code(code: str, expected: list[str]) -> None:
    assert virtual(code) == [*expected, "exit;"]


def test_a_mask_in_a_register_that_is_always_full() -> None:
    vote = "vote.sync.all.pred %p1, %p2, %r1;"
    assert "vote.all.pred $p1, $p0;" in virtual(f"mov.u32 %r1, -1; {vote}")
    for mask in ("mov.u32 %r1, 15;", "mov.u32 %r1, -1; @%p3 mov.u32 %r1, 15;"):
        assert refusals(HEAD + kernel(mask + vote))[0][1].startswith("a vote of some lanes")


def test_a_uniform_vote_is_all_or_none() -> None:
    found = virtual("vote.sync.uni.pred %p1, %p2, -1;")
    assert sum(code.startswith("vote.all.pred") for code in found) == 2
    assert sum(code.startswith("not.pred") for code in found) == 1
    assert found[-2].startswith("or.pred $p1, ")


def test_barriers_of_unaligned_warps_are_reported() -> None:
    apart = "mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;"
    for code, is_reported in (
        ("barrier.sync 1;", False),  # no lane of a warp can be elsewhere
        (f"{apart} @%p1 bra A; barrier.sync 1; A:", True),
        (f"{apart} @%p1 barrier.sync 1;", True),
        ("mov.u32 %r1, %ctaid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; barrier.sync 1; A:", False),
        ("barrier.sync.aligned 1;", False),
        ("bar.sync 1;", False),
    ):
        result = rewrite(parse(HEAD + kernel(code)), "lower-ptxplus")
        assert ("waits for whole warps" in str(result)) == is_reported
