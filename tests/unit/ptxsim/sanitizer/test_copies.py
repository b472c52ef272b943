"""Races with asynchronous copies: found unless the copying thread has waited and a barrier follows, and not otherwise.

The cases are written as `checked_runs.py` says.
"""

import pytest
from checked_runs import assert_found_where_marked, check

FAULTS = {
    "race: asynchronous copy without a barrier": """
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        cp.async.wait_all;
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // E410
        st.global.u32 [%rd3], %r6;
    """,
    "race: asynchronous copy that is not waited for": """
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        cp.async.commit_group;
        ld.shared.u32 %r6, [%r4]; // E410
        st.global.u32 [%rd3], %r6;
    """,
    "race: a barrier is no wait": """
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        bar.sync 0;
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // E410
        st.global.u32 [%rd3], %r6;
    """,
    "race: waits for the group before": """
        cp.async.commit_group;
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        cp.async.commit_group;
        cp.async.wait_group 1;
        st.shared.u32 [%r4], %r2; // E410
    """,
    "race: waits for groups, the copy is in none": """
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        cp.async.wait_group 0;
        ld.shared.u32 %r6, [%r4]; // E410
    """,
    "race: two copies to one place": """
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        cp.async.ca.shared.global [%r4], [%rd1], 4; // E410
        cp.async.wait_all;
    """,
    "race: waits only in one warp": """
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        setp.lt.u32 %p1, %r1, 32;
    @%p1 cp.async.wait_all;
        bar.sync 0;
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // E410
    """,
    "race: an mbarrier tracks the copies, its test is missing": """
        .shared .align 8 .b64 gate;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
        bar.sync 0;
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        cp.async.mbarrier.arrive.noinc.shared.b64 [gate];
        ld.shared.u32 %r6, [%r4]; // E410
    """,
    "race: the mbarrier does not track the copies": """
        .shared .align 8 .b64 gate;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
        bar.sync 0;
        cp.async.ca.shared.global [%r4], [%rd3], 4; // note
        mbarrier.arrive.shared.b64 %rd6, [gate];
    wait:
        mbarrier.test_wait.shared.b64 %p1, [gate], %rd6;
    @!%p1 bra wait;
        ld.shared.u32 %r6, [%r4]; // E410
    """,
    "race: an asynchronous store that is not waited for": """
        .shared .align 8 .b64 gate;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
        bar.sync 0;
        mbarrier.arrive.expect_tx.shared.b64 %rd6, [gate], 4;
        st.async.weak.shared::cta.mbarrier::complete_tx::bytes.u32 [%r4], %r1, [gate]; // note
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5]; // E410
    """,
}

CLEAN = {
    "asynchronous copies, some of nothing but zeros": """
        and.b32 %r5, %r1, 1;
        shl.b32 %r5, %r5, 2;
        cp.async.ca.shared.global [%r4], [%rd3], 4, %r5;
        cp.async.wait_all;
        bar.sync 0;
        xor.b32 %r5, %r2, 252;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5];
        st.global.u32 [%rd3], %r6;
    """,
    "groups of copies, two stages": """
        .shared .align 16 .b8 stages[512];
        mov.u32 %r7, 0;
        mov.u32 %r3, stages;
        add.u32 %r4, %r3, %r2;
        cp.async.ca.shared.global [%r4], [%rd3], 4;
        cp.async.commit_group;
    loop:
        add.u32 %r7, %r7, 1;
        and.b32 %r8, %r7, 1;
        shl.b32 %r8, %r8, 8;
        add.u32 %r9, %r8, %r4;
        setp.gt.u32 %p1, %r7, 40;
    @%p1 bra last;
        cp.async.ca.shared.global [%r9], [%rd3], 4;
    last:
        cp.async.commit_group;
        cp.async.wait_group 1;
        bar.sync 0;
        xor.b32 %r10, %r8, 256;
        add.u32 %r10, %r10, %r3;
        xor.b32 %r11, %r2, 252;
        add.u32 %r10, %r10, %r11;
        ld.shared.u32 %r6, [%r10];
        bar.sync 0;
    @!%p1 bra loop;
        st.global.u32 [%rd3], %r6;
    """,
    "an mbarrier that tracks copies": """
        .shared .align 8 .b64 gate;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
        bar.sync 0;
        cp.async.ca.shared.global [%r4], [%rd3], 4;
        cp.async.mbarrier.arrive.noinc.shared.b64 [gate];
    wait:
        mbarrier.test_wait.parity.shared.b64 %p1, [gate], 0;
    @!%p1 bra wait;
        xor.b32 %r5, %r2, 252;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5];
        st.global.u32 [%rd3], %r6;
    """,
    "an mbarrier that waits for asynchronous stores": """
        .shared .align 8 .b64 gate;
        setp.eq.u32 %p1, %r1, 0;
    @%p1 mbarrier.init.shared.b64 [gate], 64;
        bar.sync 0;
        mbarrier.arrive.expect_tx.shared.b64 %rd6, [gate], 4;
        st.async.weak.shared::cta.mbarrier::complete_tx::bytes.u32 [%r4], %r1, [gate];
    wait:
        mbarrier.test_wait.shared.b64 %p1, [gate], %rd6;
    @!%p1 bra wait;
        xor.b32 %r5, %r2, 128;
        add.s32 %r5, %r3, %r5;
        ld.shared.u32 %r6, [%r5];
        st.global.u32 [%rd3], %r6;
    """,
    "a copy that is never read": """
        cp.async.ca.shared.global [%r4], [%rd3], 4;
        cp.async.commit_group;
    """,
}


@pytest.mark.parametrize("name", FAULTS)
def test_an_access_during_a_copy_is_found(name: str) -> None:
    assert_found_where_marked(FAULTS[name])


@pytest.mark.parametrize("name", CLEAN)
def test_a_copy_that_was_waited_for_is_no_race(name: str) -> None:
    assert check(CLEAN[name])[1] == ()
