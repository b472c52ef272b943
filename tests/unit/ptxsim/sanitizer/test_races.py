"""Races on global memory: between CTAs and within one, and what is none. (On shared memory: `test_inspect.py`.)

The cases are written as `checked_runs.py` says. What orders accesses of two CTAs is tested in `test_order.py`.
"""

import numpy as np
import pytest
from checked_runs import assert_found_where_marked, check

import ptxsim
from ptxtool.parse import parse

RACES = {
    "a read of what another CTA writes": """
        setp.eq.u32 %p1, %r0, 1;
    @%p1 bra READER;
        st.global.u32 [%rd7], 7; // note
        ret;
    READER:
        ld.global.u32 %r5, [%rd7]; // E410
    """,
    "a write after a read by another CTA": """
        setp.eq.u32 %p1, %r0, 1;
    @%p1 bra WRITER;
        ld.global.u32 %r5, [%rd7]; // note
        ret;
    WRITER:
        st.global.u32 [%rd7], %r0; // E410
    """,
    "an atomic and a plain write": """
        setp.eq.u32 %p1, %r0, 1;
    @%p1 bra ATOMIC;
        st.global.u32 [%rd7], 5; // note
        ret;
    ATOMIC:
        atom.global.add.u32 %r5, [%rd7], 1; // E410
    """,
    "atomics whose scope is a CTA": """
        setp.eq.u32 %p1, %r0, 1;
    @%p1 bra OTHER;
        red.relaxed.gpu.global.add.u32 [%rd7], 1; // note
        ret;
    OTHER:
        red.relaxed.cta.global.add.u32 [%rd7], 1; // E410
    """,
    "two warps of a CTA": """
        st.global.u32 [%rd3], %r1; // note
        xor.b32 %r5, %r2, 128;
        cvt.u64.u32 %rd6, %r5;
        add.s64 %rd6, %rd6, %rd1;
        ld.global.u32 %r5, [%rd6]; // E410
    """,
    "a copy of what another CTA writes": """
        setp.eq.u32 %p1, %r0, 1;
    @%p1 bra READER;
        st.global.u32 [%rd7], 7; // note
        ret;
    READER:
        cp.async.ca.shared.global [%r4], [%rd7], 4; // E410
        cp.async.wait_all;
    """,
    "one byte of a word": """
        setp.eq.u32 %p1, %r0, 1;
    @%p1 bra READER;
        cvt.u16.u32 %h1, %r0;
        st.global.u8 [%rd7+3], %h1; // note
        ret;
    READER:
        ld.global.u32 %r5, [%rd7]; // E410
    """,
}
CLEAN = {
    "atomics of all CTAs": """
        atom.global.add.u32 %r5, [%rd7], 1;
        red.global.max.u32 [%rd7], %r5;
    """,
    "volatile accesses of all CTAs": """
        ld.volatile.global.u32 %r5, [%rd7];
        st.volatile.global.u32 [%rd7], %r1;
    """,
    "one value from all CTAs": """
        st.global.u32 [%rd7], 7;
    """,
    "reads of all CTAs": """
        ld.global.u32 %r5, [%rd7];
    """,
    "bytes apart": """
        cvt.u16.u32 %h1, %r0;
        cvt.u64.u32 %rd6, %r0;
        add.s64 %rd6, %rd6, %rd7;
        st.global.u8 [%rd6], %h1;
    """,
    "a barrier between two warps": """
        st.global.u32 [%rd3], %r1;
        xor.b32 %r5, %r2, 128;
        cvt.u64.u32 %rd6, %r5;
        add.s64 %rd6, %rd6, %rd1;
        bar.sync 0;
        ld.global.u32 %r5, [%rd6];
    """,
    "atomics of one CTA, of its scope": """
        red.relaxed.cta.global.add.u32 [%rd1], 1;
    """,
}


@pytest.mark.parametrize("name", RACES)
def test_a_race_is_found_with_both_places(name: str) -> None:
    assert_found_where_marked(RACES[name])


@pytest.mark.parametrize("name", CLEAN)
def test_what_is_no_race(name: str) -> None:
    assert check(CLEAN[name])[1] == ()


def test_the_message_has_both_threads_and_both_ctas() -> None:
    (found,) = check("st.global.u32 [%rd7+4], %r0;\n", threads=3)[1]
    assert found.message == (
        "race: thread (0,0,0) of CTA (1,0,0) writes byte 260 of buffer 'p' (768 bytes), "
        "which another thread writes"
    )
    assert found.note.message == "thread (2,0,0) of CTA (0,0,0) writes it here, and nothing orders the CTAs"
    assert "two launches" in found.help


SUMS = """.version 7.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 x, .param .u64 a)
{
	.reg .pred %p; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %x, %a, %rd;
	ld.param.u64 %x, [x];
	ld.param.u64 %a, [a];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd, %r1, 4;
	add.u64 %x, %x, %rd;
	BEFORE
	mov.u32 %r2, 0;
LOOP:
	ld.global.f32 %f1, [%a];
	INSIDE
	add.f32 %f2, %f2, %f1;
	st.global.f32 [%x], %f2;
	add.u64 %a, %a, 4;
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p, %r2, 12;
	@%p bra LOOP;
	ret;
}
"""
LOAD = "ld.global.f32 %f2, [%x];"


@pytest.mark.parametrize("where", ["BEFORE", "INSIDE"])
def test_warps_that_store_the_same_sum_give_it_once_and_race(where: str) -> None:
    """As PolyBench's `mvt`: eight warps run `x[i] += a[j]` for the same i. Warps that proceed in step, as on hardware
    and in a timed run, read one value and store one; one warp after the other would give eight times the sum."""
    text = SUMS.replace(where, LOAD)
    kernel = parse(text.replace("BEFORE", "").replace("INSIDE", "")).kernels["sums"]
    a = np.arange(12, dtype=np.float32)
    for run in (ptxsim.run, ptxsim.launch):
        x = np.zeros(32, np.float32)
        run(kernel, 1, (32, 8), [x, a])
        assert (x == a.sum()).all()
    found = ptxsim.run(kernel, 1, (32, 8), [np.zeros(32, np.float32), a], check="races").problems
    assert {d.code for d in found} == {"E410"}
    texts = [kernel.source.text[d.start : d.end] for d in found]
    assert set(texts) == {"st.global.f32 [%x], %f2;"}
    assert any(kernel.source.text[d.note.start : d.note.end] == LOAD for d in found if d.note)


HEAP = """.version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b64 r) malloc(.param .b64 n);
.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r; .reg .b64 %p<2>;
	mov.u32 %r, %ctaid.x;
	call (%p1), malloc, (16);
	st.u32 [%p1+4], %r;
	call free, (%p1);
	ret;
}
"""


def test_a_block_of_the_heap_that_is_taken_again_is_a_new_one() -> None:
    kernel = parse(HEAP).kernels["k"]
    assert ptxsim.run(kernel, 3, 1, [np.zeros(1, np.uint32)], check="races").problems == ()
    without = parse(HEAP.replace("call free, (%p1);", "")).kernels["k"]
    assert ptxsim.run(without, 3, 1, [np.zeros(1, np.uint32)], check="races").problems == ()
