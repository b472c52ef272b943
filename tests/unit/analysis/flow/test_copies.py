"""Which instructions only copy a register."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.flow.copies import is_copy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov.u32 %r1, %r2;", True),
        ("mov.b32 %r1, %f2;", True),
        ("mov.pred %p1, %p2;", True),
        ("mov.b64 %rd1, %rd2;", True),
        ("@%p1 mov.u32 %r1, %r2;", False),
        ("mov.u32 %r1, 7;", False),
        ("mov.u32 %r1, %tid.x;", False),
        ("mov.u32 %r1, %laneid;", False),
        ("mov.b64 %rd1, {%r1, %r2};", False),
        ("mov.u32 %rd1, %rd2;", False),  # half of it
        ("cvt.u32.u32 %r1, %r2;", False),
    ],
)
def test_ptx(text: str, expected: bool) -> None:
    assert is_copy(ptx(text), 0) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mov.u32 $r1, $r2;", True),
        ("mov.half.u32 $r1, $r2;", True),
        ("mov.u32 $ofs1, $ofs2;", True),
        ("mov.u32 $ofs1, $r2;", False),  # of another file
        ("mov.u32 $r1, $r124;", False),  # zero
        ("mov.u32 $r1.lo, $r2.lo;", False),
        ("mov.u16 $r1, $r2;", False),
        ("mov.u32 $r1, s[0x0010];", False),
    ],
)
def test_ptxplus(text: str, expected: bool) -> None:
    assert is_copy(ptxplus(text), 0) == expected
