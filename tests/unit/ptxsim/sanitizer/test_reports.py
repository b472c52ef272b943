"""The findings of the checks as messages: which thread of which CTA, what it accesses, and the other access."""

from checked_runs import check

TWO_WRITERS = """
    shr.u32 %r5, %r2, 1;
    and.b32 %r5, %r5, 124;
    add.s32 %r5, %r3, %r5;
    setp.lt.u32 %p1, %r1, 32;
@%p1 st.shared.u32 [%r5], %r1;
@!%p1 st.shared.u32 [%r3], %r1;
"""


def test_messages_say_who_where_and_what() -> None:
    (found,) = check("ld.global.u32 %r5, [%rd3+4];\nbar.sync 0;\nst.global.u32 [%rd3], %r5;\n")[1]
    assert found.message == (
        "thread (63,0,0) of CTA (1,0,0) reads 4 bytes right after buffer 'p' (768 bytes)"
    )
    (found,) = check(TWO_WRITERS)[1]
    assert found.message == (
        "race: thread (32,0,0) of CTA (0,0,0) writes byte 0 of variable 'tile' (256 bytes) in shared memory, "
        "which another thread writes (2 times in all)"
    )
    assert found.note.message == "thread (1,0,0) writes it here, and no barrier is between"


def test_messages_name_the_register_that_no_thread_wrote() -> None:
    (found,) = check("add.s32 %r5, %r6, 1;\nmov.u32 %r7, %r5;\nst.global.u32 [%rd3], %r7;\n")[1]
    assert found.message == (
        "thread (0,0,0) of CTA (0,0,0) uses '%r7', computed from '%r6', which it has not written (128 times in all)"
    )
