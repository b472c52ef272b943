"""Instructions across a warp by hand, in all three runs: `redux` of floats, and every spelling of the others."""

import math

import numpy as np
import pytest
from three_ways import kernel_text, three_ways, words

NAN = float("nan")


def bits(value: float) -> int:
    return 0x7FFFFFFF if math.isnan(value) else int(np.float32(value).view(np.uint32))


@pytest.mark.parametrize(
    ("operation", "values", "expected"),
    [
        ("min", [3.0, -2.5, 7.0], -2.5),
        ("max", [3.0, -2.5, 7.0], 7.0),
        ("min", [0.0, -0.0], -0.0),
        ("max", [-0.0, 0.0], 0.0),
        ("max.abs", [3.0, -8.5, 7.0], 8.5),
        ("min.abs", [-3.0, -8.5, 7.0], 3.0),
        ("min", [NAN, 4.0, 5.0], 4.0),
        ("max", [NAN, -4.0, -5.0], -4.0),
        ("min.NaN", [NAN, 4.0, 5.0], NAN),
        ("max.NaN", [4.0, 5.0], 5.0),
        ("max.abs.NaN", [4.0, -5.0, NAN], NAN),
        ("min", [NAN], NAN),
        ("min", [math.inf, -math.inf, 1e-45], -math.inf),
    ],
)
def test_redux(operation: str, values: list[float], expected: float) -> None:
    body = f"ld.global.f32 %f1, [%d5]; redux.sync.{operation}.f32 %f2, %f1, -1; mov.b32 %r6, %f2;"
    assert words(body, 32, np.resize([bits(v) for v in values], 32)) == [bits(expected)] * 32


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # %r1 is the lane
        ("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r6, %p1, -1;", [31] * 32),
        ("setp.lt.u32 %p1, %r1, 5; vote.ballot.sync.b32 %r6, %p1, -1;", [31] * 32),
        ("setp.lt.u32 %p1, %r1, 5; vote.any.sync.pred %p2, %p1, -1; selp.u32 %r6, 1, 2, %p2;", [1] * 32),
        ("setp.lt.u32 %p1, %r1, 5; vote.sync.all.pred %p2, !%p1, -1; selp.u32 %r6, 1, 2, %p2;", [2] * 32),
        ("shr.u32 %r7, %r1, 4; match.any.sync.b32 %r6, %r7, -1;", [0xFFFF] * 16 + [0xFFFF0000] * 16),
        ("shr.u32 %r7, %r1, 4; match.sync.any.b32 %r6, %r7, -1;", [0xFFFF] * 16 + [0xFFFF0000] * 16),
        ("mov.u32 %r7, 9; match.all.sync.b32 %r6|%p1, %r7, -1; @!%p1 mov.u32 %r6, 1;", [0xFFFFFFFF] * 32),
        ("match.all.sync.b32 %r6|%p1, %r1, -1; @!%p1 add.u32 %r6, %r6, 5;", [5] * 32),
        ("cvt.u64.u32 %d6, %r1; match.sync.all.b64 %r6|%p1, %d6, -1; @%p1 mov.u32 %r6, 1;", [0] * 32),
        ("redux.sync.and.b32 %r6, %r1, -1;", [0] * 32),
        ("or.b32 %r7, %r1, 64; redux.and.sync.b32 %r6, %r7, -1;", [64] * 32),
        ("redux.sync.or.b32 %r6, %r1, -1;", [31] * 32),
        ("redux.xor.sync.b32 %r6, %r1, -1;", [0] * 32),
        ("redux.add.sync.u32 %r6, %r1, -1;", [496] * 32),
        ("sub.u32 %r7, 7, %r1; redux.min.sync.s32 %r6, %r7, -1;", [0xFFFFFFE8] * 32),
        ("redux.max.sync.abs.f32 %f1, 0fC0000000, -1; mov.b32 %r6, %f1;", [0x40000000] * 32),
        ("elect.sync %r6|%p1, -1; @%p1 mov.u32 %r6, 77;", [77] + [0] * 31),
    ],
)
def test_spellings(body: str, expected: list[int]) -> None:
    assert words(body, 32) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # a lane votes that the mask does not name: those before it that are odd
        (
            "and.b32 %r7, %r1, 1; setp.ne.u32 %p1, %r7, 0; mov.u32 %r8, %lanemask_lt;"
            "vote.sync.ballot.b32 %r6, %p1, %r8;",
            [0xAAAAAAAA & ((1 << lane) - 1) for lane in range(32)],
        ),
        ("setp.lt.u32 %p1, %r1, 5; vote.sync.ballot.b32 %r6, %p1, 0x14;", [0x14] * 32),
        (
            "setp.eq.u32 %p1, %r1, 3; mov.u32 %r8, %lanemask_lt;"
            "vote.sync.any.pred %p2, %p1, %r8; selp.u32 %r6, 1, 0, %p2;",
            [0] * 4 + [1] * 28,
        ),
        (
            "setp.lt.u32 %p1, %r1, 3; mov.u32 %r8, %lanemask_le;"
            "vote.sync.all.pred %p2, %p1, %r8; selp.u32 %r6, 1, 0, %p2;",
            [1] * 3 + [0] * 29,
        ),
        (
            "setp.lt.u32 %p1, %r1, 3; mov.u32 %r8, %lanemask_ge;"
            "vote.sync.uni.pred %p2, %p1, %r8; selp.u32 %r6, 1, 0, %p2;",
            [0] * 3 + [1] * 29,
        ),
        # a lane outside of the mask is read, one that does not execute is not
        ("mov.u32 %r8, %lanemask_eq; shfl.sync.idx.b32 %r6, %r1, 9, 31, %r8;", [9] * 32),
        (
            "mov.u32 %r6, 7; setp.lt.u32 %p1, %r1, 8; @%p1 shfl.sync.down.b32 %r6, %r1, 4, 31, 0xff;",
            [4, 5, 6, 7, 0, 0, 0, 0] + [7] * 24,
        ),
    ],
)
def test_lanes_that_take_no_part(body: str, expected: list[int]) -> None:
    """What PTX leaves undefined, as GPUs do it (sm_75: VOTE and SHFL of all active lanes, the vote cut to the mask)."""
    assert words(body, 32) == expected


def test_without_sync() -> None:
    """The forms that ended with sm_70."""
    body = """
	setp.lt.u32 %p1, %r1, 5;
	vote.ballot.b32 %r7, %p1;
	vote.all.pred %p2, %p1;
	selp.u32 %r8, 1000, 2000, %p2;
	shfl.bfly.b32 %r9|%p3, %r1, 1, 31;
	mad.lo.u32 %r6, %r9, 10000, %r7;
	add.u32 %r6, %r6, %r8;"""
    text = kernel_text(body).replace(".version 8.7", ".version 6.0").replace("sm_90", "sm_60")
    found = three_ways(text, 32, lambda: [np.zeros(32, np.uint32), np.zeros(32, np.uint32)])[0][0]
    assert list(found) == [10000 * (t ^ 1) + 31 + 2000 for t in range(32)]
