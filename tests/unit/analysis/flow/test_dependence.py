"""What instructions read and write besides registers; the regions in which they may be reordered."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.flow.dependence import effects, scheduling_regions, split_region


def resources(text: str) -> tuple[set[str], set[str]]:
    """What an instruction reads and writes, registers by name, without the "order" that nearly all read."""
    kernel = (ptxplus if "$" in text or "s[" in text else ptx)(text)
    (effect, *_) = effects(kernel)
    reads, writes = ({r if isinstance(r, str) else kernel.registers[r].name for r in side} for side in effect)
    return reads - {"order"}, writes


@pytest.mark.parametrize(
    ("text", "reads", "writes"),
    [
        ("add.u32 %r1, %r2, 3;", "%r2", "%r1"),
        ("@%p1 mov.u32 %r1, %r2;", "%r1 %r2 %p1", "%r1"),
        ("add.cc.u32 %r1, %r2, 3;", "%r2", "%r1 cc"),
        ("ld.global.u32 %r1, [%rd1];", "%rd1 memory", "%r1"),
        ("ld.shared.u32 %r1, [%r2];", "%r2 shared", "%r1"),
        ("ld.u32 %r1, [%rd1];", "%rd1 memory shared", "%r1"),
        ("ld.const.u32 %r1, [%rd1];", "%rd1", "%r1"),
        ("ld.param.u64 %rd1, [a];", "", "%rd1"),
        ("ld.volatile.shared.u32 %r1, [%r2];", "%r2", "%r1 memory shared"),
        ("st.global.u32 [%rd1], %r1;", "%rd1 %r1", "memory"),
        ("st.shared.u32 [%r2], %r1;", "%r2 %r1", "shared"),
        ("mov.u32 %r1, %tid.x;", "", "%r1"),
        ("mov.u32 $r1, s[0x0010];", "shared", "$r1"),
        ("mov.u32 s[0x0010], $r1;", "$r1", "shared"),
        ("mov.u32 $r1, constant0[0x0010];", "", "$r1"),
    ],
)
def test_resources(text: str, reads: str, writes: str) -> None:
    assert resources(text) == (set(reads.split()), set(writes.split()))


@pytest.mark.parametrize(
    "text",
    [
        "bar.sync 0;",
        "ret;",
        "mov.u32 %r1, %clock;",
        "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;",
        "what.u32 %r1, %r2;",
    ],
)
def test_what_nothing_may_pass(text: str) -> None:
    (effect,) = effects(ptx(text))
    assert {"order", "memory", "shared", "cc", "param"} <= effect.writes


def test_regions_end_at_blocks_and_at_other_statements() -> None:
    """`.loc` may stand inside a region, but its first one begins a region."""
    body = """mov.u32 %r1, 1; mov.u32 %r2, 2; @%p1 bra L; mov.u32 %r1, 3; L: mov.u32 %r2, 4; .loc 1 2 3
mov.u32 %r1, 5; .loc 1 3 3
mov.u32 %r1, 6; { mov.u32 %r1, 7; } ret;"""
    assert [*scheduling_regions(ptx(body))] == [
        *(range(3), range(3, 4), range(4, 5), range(5, 7), range(7, 8), range(8, 9))
    ]


def test_what_can_come_before_all_late_instructions() -> None:
    """1 is late; 3 reads its result and 5 overwrites what 3 reads; 2 is independent of them; 4 is late by itself."""
    body = """mov.u32 %r1, 1; mov.u32 %r9, 2; mov.u32 %r2, 3; add.u32 %r3, %r9, %r1; mov.u32 %r8, 4;
mov.u32 %r1, 5; add.u32 %r4, %r2, 1;"""
    late = [False, True, False, False, True, False, False]
    assert split_region(range(7), effects(ptx(body)), late) == ([0, 2, 6], [1, 3, 4, 5], [1, 4])
