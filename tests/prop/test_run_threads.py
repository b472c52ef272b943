"""Random accesses of many CTAs to the same words: several threads leave the memory that one leaves."""

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ptxsim
from ptxsim.base.jit import JIT_DISABLED
from ptxsim.functional import threads
from ptxtool.parse import parse

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")

WORDS, CTAS = 1 << 13, 40
KINDS = {
    "ld.global.u32 %r9, [%rd3];": 1,
    "ld.u8 %r9, [%rd3];": 1,
    "ld.global.v2.u32 {%r9, %r8}, [%rd3];": 2,
    "st.global.u32 [%rd3], %r4;": 1,
    "st.global.u16 [%rd3+2], %h1;": 1,
    "st.v4.u32 [%rd3], {%r4, %r1, %r2, %r4};": 4,
    "red.global.add.u32 [%rd3], %r4;": 1,
    "red.global.add.f32 [%rd3], %f1;": 1,
    "red.global.max.u64 [%rd3], %rd4;": 2,
    "atom.global.exch.b32 %r7, [%rd3], %r4;": 1,
    "atom.add.u32 %r7, [%rd3], %r4;": 1,
}
"""Accesses, and the words that they are aligned to."""
HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<4>;
    .reg .b16 %h<2>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r4, %r2;
    mov.u32 %r9, 0;
    mov.u32 %r10, 0;
L:
    add.u32 %r10, %r10, 1;
    setp.lt.u32 %p1, %r10, 30;
    @%p1 bra L;
"""


@dataclass(frozen=True)
class Access:
    """Of word `of_thread * thread + of_cta * CTA + start` of the buffer, by lanes with a bit of the thread's number."""

    kind: str
    of_thread: int
    of_cta: int
    start: int
    bit: int | None

    def text(self) -> str:
        guard = (
            "" if self.bit is None else f"and.b32 %r6, %r1, {1 << self.bit};\nsetp.ne.u32 %p2, %r6, 0;\n@%p2 "
        )
        return (
            f"mul.lo.u32 %r5, %r1, {self.of_thread};\nmad.lo.u32 %r5, %r2, {self.of_cta}, %r5;\n"
            f"add.u32 %r5, %r5, {self.start};\nand.b32 %r5, %r5, {WORDS - KINDS[self.kind]};\n"
            f"mad.wide.u32 %rd3, %r5, 4, %rd1;\ncvt.u16.u32 %h1, %r4;\ncvt.rn.f32.u32 %f1, %r4;\n"
            f"cvt.u64.u32 %rd4, %r4;\n{guard}{self.kind}\nmad.lo.u32 %r4, %r4, 7, %r9;"
        )


accesses = st.builds(
    Access,
    st.sampled_from(list(KINDS)),
    st.sampled_from([0, 1, 1, 2, 4, 5]),
    st.sampled_from([0, 64, 64, 128, 130]),
    st.sampled_from([0, 1, 4096, 7000]),
    st.sampled_from([None, None, 0, 5]),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(accesses, min_size=1, max_size=4), st.sampled_from([2, 3, 8]))
def test_memory_is_that_of_one_thread(found: list[Access], n: int) -> None:
    body = "\n".join(access.text() for access in found)
    kernel = parse(f"{HEAD}{body}\nret;\n}}\n").kernels["k"]
    results = []
    with patch.object(threads, "_LEAST", 1000):
        for count in (1, n):
            memory = np.arange(WORDS, dtype=np.uint32) * 2654435761 & 0x3FFFFFFF
            memory = memory.astype(np.uint32)
            result = ptxsim.run(kernel, CTAS, 64, [memory], threads=count)
            results.append((result.warp_instructions, memory.tobytes()))
    assert results[0] == results[1]
