"""The checks of a run: every planted fault is found, at its line and with its other line; clean kernels are clean.

The cases are written as `checked_runs.py` says. Asynchronous copies have cases of their own in `test_copies.py`.
"""

import numpy as np
import pytest
from checked_runs import ALL, HEAD, assert_found_where_marked, check

import ptxsim
import ptxtool
from ptxtool.base.diag import PtxError

FAULTS = {
    "read after a buffer": """
        ld.global.u32 %r5, [%rd3+4]; // E404
        bar.sync 0;
        st.global.u32 [%rd3], %r5;
    """,
    "write before a buffer": """
        st.global.u32 [%rd3+-4], %r1; // E404
    """,
    "write far from any buffer": """
        mov.u64 %rd6, 0x123456780;
        st.global.u32 [%rd6], %r1; // E404
    """,
    "null pointer": """
        mov.u64 %rd6, 0;
        ld.global.u32 %r5, [%rd6]; // E404
    """,
    "after shared memory": """
        st.shared.u32 [%r4+256], %r1; // E404
    """,
    "after local memory": """
        st.local.u64 [mine+16], %rd1; // E404
    """,
    "misaligned": """
        ld.global.u32 %r5, [%rd1+2]; // E405
    """,
    "misaligned vector": """
        st.shared.u32 [%r4], %r1;
        bar.sync 0;
        ld.shared.v2.u32 {%r5, %r6}, [%r3+4]; // E405
    """,
    "unwritten register": """
        add.s32 %r5, %r6, 1;
        mov.u32 %r7, %r5;
        st.global.u32 [%rd3], %r7; // E411
    """,
    "branch on an unwritten register": """
        setp.lt.u32 %p1, %r6, 7;
    @%p1 bra DONE; // E411
    DONE:
    """,
    "address from an unwritten register": """
        mul.wide.u32 %rd6, %r6, 0;
        add.s64 %rd6, %rd6, %rd1;
        ld.global.u32 %r5, [%rd6]; // E411
    """,
    "register written on one path only": """
        setp.lt.u32 %p1, %r1, 7;
    @%p1 mov.u32 %r5, 3;
        st.global.u32 [%rd3], %r5; // E411
    """,
    "shuffle of what no lane has written": """
        shfl.sync.idx.b32 %r5, %r6, 0, 31, -1;
        st.global.u32 [%rd3], %r5; // E411
    """,
    "unwritten guard": """
    @%p2 st.global.u32 [%rd3], %r1; // E411
    """,
    "unwritten shared memory": """
        setp.lt.u32 %p1, %r1, 32;
    @%p1 st.shared.u32 [%r4], %r1;
        bar.sync 0;
        ld.shared.u32 %r5, [%r4]; // E411
    """,
    "unwritten local memory": """
        st.local.u32 [mine], %r1;
        ld.local.u64 %rd6, [mine]; // E411
    """,
    "buffer without contents": """
        ld.global.u32 %r5, [%rd5]; // E411
    """,
    "race: read without a barrier": """
        st.shared.u32 [%r4], %r1; // note
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // E410
        st.global.u32 [%rd3], %r6;
    """,
    "a row of ldmatrix after shared memory": """
        st.shared.u32 [%r4], %r1;
        bar.sync 0;
        shl.b32 %r5, %r1, 4;
        and.b32 %r5, %r5, 255;
        add.s32 %r5, %r5, %r3;
        ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r6, %r7}, [%r5+16]; // E404
    """,
    "no row of ldmatrix in shared memory": """
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r6}, [%r4+0x10000000]; // E404
    """,
    "rows of stmatrix misaligned": """
        stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%r1}; // E405
    """,
    "race: ldmatrix without a barrier": """
        st.shared.u32 [%r4], %r1; // note
        shl.b32 %r5, %r1, 4;
        and.b32 %r5, %r5, 255;
        add.s32 %r5, %r5, %r3;
        ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5]; // E410
    """,
    "wmma.load of what half of the threads wrote": """
        .shared .align 32 .b8 matrix[512];
        mov.u32 %r5, matrix;
        add.s32 %r5, %r5, %r2;
        st.shared.u32 [%r5], %r1;
        bar.sync 0;
        mov.u32 %r5, matrix;
        .reg .b32 %a<8>;
        wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7}, [%r5]; // E411
    """,
    "the first of wmma.store's rows before the buffer": """
        .reg .b32 %a;
        mov.b32 %a, 0;
        wmma.store.d.sync.aligned.row.m8n32k16.global.f32 [%rd1+-64], {%a, %a, %a, %a, %a, %a, %a, %a}, 2; // E404
    """,
    "race: wmma.store and a plain read": """
        .shared .align 32 .b8 matrix[1024];
        mov.u32 %r5, matrix;
        setp.lt.u32 %p1, %r1, 32;
    @%p1 bra storing;
        ld.volatile.shared.u32 %r6, [matrix+68]; // note
        ret;
    storing:
        wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%r5], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}; // E410
    """,
    "a copy of unwritten bytes": """
        cp.async.ca.shared.global [%r4], [%rd5], 4; // E411
        cp.async.wait_all;
    """,
    "a copy from after a buffer": """
        cp.async.ca.shared.global [%r4], [%rd3+4], 4; // E404
        cp.async.wait_all;
    """,
    "race: relaxed flag": """
        .shared .align 4 .b32 flag;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [flag], 0;
        bar.sync 0;
        setp.gt.u32 %p1, %r1, 31;
    @%p1 bra reader;
        st.shared.u32 [%r4], %r1; // note
        st.relaxed.cta.shared.u32 [flag], 1;
        ret;
    reader:
        ld.relaxed.cta.shared.u32 %r5, [flag];
        setp.eq.u32 %p1, %r5, 0;
    @%p1 bra reader;
        ld.shared.u32 %r6, [%r4+-128]; // E410
        st.global.u32 [%rd3], %r6;
    """,
    "race: write after read": """
        st.shared.u32 [%r4], %r1;
        bar.sync 0;
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // note
        st.shared.u32 [%r4], %r6; // E410
    """,
    "race: two writers": """
        shr.u32 %r5, %r2, 1;
        and.b32 %r5, %r5, 124;
        add.s32 %r5, %r3, %r5;
        setp.lt.u32 %p1, %r1, 32;
    @%p1 st.shared.u32 [%r5], %r1; // note
    @!%p1 st.shared.u32 [%r3], %r1; // E410
    """,
    "race: within a warp": """
        st.shared.u32 [%r4], %r1; // note
        xor.b32 %r5, %r2, 4;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // E410
    """,
    "race: atomic against plain": """
        st.shared.u32 [%r4], 0;
        bar.sync 0;
        atom.shared.add.u32 %r5, [tile], 1; // note
        ld.shared.u32 %r6, [tile]; // E410
    """,
    "race: bytes of a word are apart, words are not": """
        cvt.u16.u32 %h1, %r1;
        add.s32 %r5, %r3, %r1;
        st.shared.u8 [%r5], %h1; // note
        and.b32 %r6, %r1, 60;
        add.s32 %r6, %r3, %r6;
        ld.shared.u32 %r7, [%r6]; // E410
    """,
    "barrier in one arm of a branch": """
        setp.lt.u32 %p1, %r1, 40;
    @!%p1 bra L;
        bar.sync 0; // E412
    L:
        add.s32 %r5, %r1, 1;
    """,
    "guarded barrier": """
        and.b32 %r5, %r1, 1;
        setp.eq.u32 %p1, %r5, 0;
    @%p1 bar.sync 0; // E412
    """,
}

CLEAN = {
    "with barriers": """
        ld.global.u32 %r5, [%rd3];
        st.shared.u32 [%r4], %r5;
        bar.sync 0;
        xor.b32 %r6, %r2, 252;
        add.s32 %r6, %r3, %r6;
        ld.shared.u32 %r7, [%r6];
        bar.sync 0;
        st.shared.u32 [%r4], %r7;
        st.global.u32 [%rd3], %r7;
    """,
    "own elements": """
        st.shared.u32 [%r4], %r1;
        ld.shared.u32 %r5, [%r4];
        st.shared.u32 [%r4], %r5;
        st.local.u32 [mine], %r5;
        ld.local.u32 %r6, [mine];
        st.global.u32 [%rd5], %r6;
        ld.global.u32 %r7, [%rd5];
    """,
    "a warp that synchronises": """
        st.shared.u32 [%r4], %r1;
        bar.warp.sync 0xffffffff;
        xor.b32 %r5, %r2, 4;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5];
        bar.warp.sync 0xffffffff;
        st.shared.u32 [%r4], %r6;
    """,
    "a shuffle from the lane that has a value": """
        setp.eq.u32 %p1, %r1, 35;
    @%p1 mov.u32 %r5, 7;
        setp.lt.u32 %p1, %r1, 32;
    @%p1 mov.u32 %r5, 8;
        shfl.sync.idx.b32 %r6, %r5, 3, 31, -1;
        st.global.u32 [%rd3], %r6;
    """,
    "a flag that is released and acquired": """
        .shared .align 4 .b32 flag;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [flag], 0;
        bar.sync 0;
        setp.gt.u32 %p1, %r1, 31;
    @%p1 bra reader;
        st.shared.u32 [%r4], %r1;
        st.release.cta.shared.u32 [flag], 1;
        ret;
    reader:
        ld.acquire.cta.shared.u32 %r5, [flag];
        setp.eq.u32 %p1, %r5, 0;
    @%p1 bra reader;
        ld.shared.u32 %r6, [%r4+-128];
        st.global.u32 [%rd3], %r6;
    """,
    "a flag between fences": """
        .shared .align 4 .b32 flag;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [flag], 0;
        bar.sync 0;
        setp.gt.u32 %p1, %r1, 31;
    @%p1 bra reader;
        st.shared.u32 [%r4], %r1;
        membar.cta;
        st.volatile.shared.u32 [flag], 1;
        ret;
    reader:
        ld.volatile.shared.u32 %r5, [flag];
        setp.eq.u32 %p1, %r5, 0;
    @%p1 bra reader;
        membar.cta;
        ld.shared.u32 %r6, [%r4+-128];
        st.global.u32 [%rd3], %r6;
    """,
    "an mbarrier": """
        .shared .align 8 .b64 gate;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
        bar.sync 0;
        st.shared.u32 [%r4], %r1;
        mbarrier.arrive.shared.b64 %rd6, [gate];
    wait:
        mbarrier.test_wait.shared.b64 %p1, [gate], %rd6;
    @!%p1 bra wait;
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5];
        st.global.u32 [%rd3], %r6;
    """,
    "what is computed from nothing and never used": """
        setp.lt.u32 %p1, %r1, 4;
    @%p1 mov.u32 %r5, %r1;
        shfl.sync.bfly.b32 %r6, %r5, 2, 31, -1;
        add.u32 %r5, %r5, %r6;
        mov.u32 %r5, %r1;
        st.global.u32 [%rd3], %r5;
    """,
    "atomics": """
        setp.eq.u32 %p1, %r1, 0;
    @%p1 st.shared.u32 [tile], 0;
        bar.sync 0;
        atom.shared.add.u32 %r5, [tile], 1;
        bar.sync 0;
        ld.shared.u32 %r6, [tile];
        st.global.u32 [%rd3], %r6;
    """,
    "all write one value": """
        st.shared.u32 [tile], 1;
        bar.sync 0;
        ld.shared.u32 %r5, [tile];
    """,
    "bytes apart": """
        cvt.u16.u32 %h1, %r1;
        add.s32 %r5, %r3, %r1;
        st.shared.u8 [%r5], %h1;
        ld.shared.u8 %h2, [%r5];
    """,
    "accesses under a guard": """
        setp.lt.u32 %p1, %r1, 63;
    @%p1 ld.global.u32 %r5, [%rd3+4];
        bar.sync 0;
    @%p1 st.global.u32 [%rd3], %r5;
    """,
    "threads that ended do not miss a barrier": """
        setp.gt.u32 %p1, %r1, 40;
    @%p1 ret;
        bar.sync 0;
        add.s32 %r5, %r1, 1;
    """,
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name):
    assert_found_where_marked(FAULTS[name])


@pytest.mark.parametrize("name", CLEAN)
def test_clean_kernels_are_clean(name):
    _, problems = check(CLEAN[name])
    assert problems == ()


def test_lanes_in_step_do_not_race():
    """Before sm_70 a warp's lanes run in step: what one wrote, the others may read after it."""
    assert check(FAULTS["race: within a warp"], target="sm_60")[1] == ()
    assert check(FAULTS["race: read without a barrier"], target="sm_60")[1]


@pytest.mark.parametrize(
    ("name", "check_name"),
    [
        ("read after a buffer", "memory"),
        ("unwritten register", "init"),
        ("race: two writers", "races"),
        ("guarded barrier", "barriers"),
    ],
)
def test_each_check_by_itself(name, check_name):
    assert check(FAULTS[name], [check_name])[1]
    others = [other for other in ALL if other != check_name]
    if check_name == "memory":  # without this check a bad access ends the run
        with pytest.raises(PtxError, match="E404"):
            check(FAULTS[name], others)
    else:
        assert check(FAULTS[name], others)[1] == ()


def test_results_are_those_of_an_unchecked_run():
    kernel = ptxtool.parse(HEAD.format(target="sm_80") + CLEAN["with barriers"] + "ret;\n}\n").kernels["k"]
    buffers = [np.arange(64, dtype=np.uint32) for _ in range(2)]
    other = np.zeros(64, np.uint32)
    plain = ptxsim.run(kernel, 1, 64, [buffers[0], other])
    checked = ptxsim.run(kernel, 1, 64, [buffers[1], other], check=ALL)
    assert plain.warp_instructions == checked.warp_instructions
    assert (buffers[0] == buffers[1]).all()
    assert buffers[0].tolist() == list(range(63, -1, -1))


def test_a_check_that_does_not_exist():
    with pytest.raises(PtxError, match="did you mean 'races'"):
        check(CLEAN["own elements"], ["race"])


def test_a_warp_s_bad_lanes_do_nothing_and_the_others_go_on():
    text = FAULTS["read after a buffer"]
    kernel = ptxtool.parse(HEAD.format(target="sm_80") + text + "ret;\n}\n").kernels["k"]
    p = np.arange(64, dtype=np.uint32)
    ptxsim.run(kernel, 1, 64, [p, np.zeros(64, np.uint32)], check=["memory"])
    assert p.tolist() == [*range(1, 64), 0]
