"""What orders accesses of different CTAs for the check of races: fences with strong accesses, releases with acquires.

The cases are written as `checked_runs.py` says: CTA 0 writes words of p and raises a flag, p[127]; CTA 1 waits for it.
"""

import pytest
from checked_runs import assert_found_where_marked, check


def message(
    write: str,
    read: str,
    *,
    before: str = "bar.sync 0;",
    after: str = "bar.sync 0;",
    data: str = "",
    then: str = "",
) -> str:
    """CTA 0 writes 64 words, and its thread 0 executes `write`; CTA 1 waits with `read` and reads them."""
    return f"""
    mul.wide.u32 %rd6, %r1, 4;
    setp.eq.u32 %p2, %r1, 0;
    setp.eq.u32 %p1, %r0, 1;
@%p1 bra READER;
    st.global.u32 [%rd3], %r1; {then}
    {before}
@!%p2 ret;
    {write}
    ret;
READER:
@!%p2 bra READY;
AGAIN:
    {read}
    setp.ne.u32 %p1, %r5, 1;
@%p1 bra AGAIN;
    {data}
READY:
    {after}
    sub.s64 %rd8, %rd3, 512;
    ld.global.u32 %r6, [%rd8];{" // E410" if then else ""}
"""


FENCE, RAISE = "membar.gl;", "st.volatile.global.u32 [%rd7+252], 1;"
WAIT = "ld.volatile.global.u32 %r5, [%rd7+252];"
LOWER = "st.volatile.global.u32 [%rd7+252], 0;"
ORDERED = {
    "fences and a volatile flag": message(FENCE + RAISE, WAIT, data=FENCE),
    "a release and an acquire": message(
        "st.release.gpu.global.u32 [%rd7+252], 1;", "ld.acquire.gpu.global.u32 %r5, [%rd7+252];"
    ),
    "an atomic of both kinds": message(
        "atom.acq_rel.gpu.global.exch.b32 %r5, [%rd7+252], 1;",
        "atom.acq_rel.sys.global.cas.b32 %r5, [%rd7+252], 1, 1;",
    ),
    "fences of all threads before and after the barriers": message(
        RAISE, WAIT, before=FENCE + "bar.sync 0;", after="bar.sync 0;" + FENCE
    ),
    "many releases before": message(20 * (FENCE + LOWER) + FENCE + RAISE, WAIT, data=FENCE),
}
RACES = {
    "no fence of the writer": message(RAISE, WAIT, data=FENCE, then="// note"),
    "no fence of the reader": message(FENCE + RAISE, WAIT, then="// note"),
    "fences of a CTA's scope": message("membar.cta;" + RAISE, WAIT, data="membar.cta;", then="// note"),
    "no barrier before the flag is raised": message(
        FENCE + RAISE, WAIT, before="", data=FENCE, then="// note"
    ),
    "no barrier after waiting": message(FENCE + RAISE, WAIT, after="", data=FENCE, then="// note"),
    "a release and an acquire at different places": message(
        "st.release.gpu.global.u32 [%rd7+248], 1; st.relaxed.gpu.global.u32 [%rd7+252], 1;",
        "ld.acquire.gpu.global.u32 %r5, [%rd7+252];",
        then="// note",
    ),
    "a release after the flag": message(RAISE + FENCE, WAIT, data=FENCE, then="// note"),
}


@pytest.mark.parametrize("name", ORDERED)
def test_an_order_is_seen(name: str) -> None:
    assert check(ORDERED[name])[1] == ()


@pytest.mark.parametrize("name", RACES)
def test_what_orders_nothing(name: str) -> None:
    assert_found_where_marked(RACES[name])


def test_a_cta_that_waits_for_a_later_one_is_ordered_too() -> None:
    swapped = ORDERED["fences and a volatile flag"].replace("%p1, %r0, 1;", "%p1, %r0, 0;", 1)
    assert check(swapped.replace("sub.s64", "add.s64"))[1] == ()


CHAIN = """
    setp.ne.u32 %p1, %r1, 0;
@%p1 ret;
    setp.eq.u32 %p1, %r0, 0;
@%p1 bra WRITE;
AGAIN:
    ld.acquire.gpu.global.u32 %r5, [%rd7+252];
    setp.ne.u32 %p1, %r5, %r0;
@%p1 bra AGAIN;
    setp.eq.u32 %p1, %r0, 2;
@%p1 ld.global.u32 %r6, [%rd7];
    bra PASS;
WRITE:
    st.global.u32 [%rd7], 5;
PASS:
    add.u32 %r6, %r0, 1;
    st.release.gpu.global.u32 [%rd7+252], %r6;
"""


def test_order_passes_through_a_third_cta() -> None:
    assert check(CHAIN, ctas=3)[1] == ()
    broken = CHAIN.replace("st.release", "st.relaxed")
    assert {d.code for d in check(broken, ctas=3)[1]} == {"E410"}


def test_a_barrier_of_the_grid_orders_all_ctas() -> None:
    """As `cg::grid.sync()`: thread 0 adds to a counter between fences and waits until all have."""
    body = """
    mul.wide.u32 %rd6, %r1, 4;
    sub.s64 %rd8, %rd7, 256;
    setp.ne.u32 %p1, %r1, 0;
    st.global.u32 [%rd3], %r1;
    bar.sync 0;
@%p1 bra PASSED;
    membar.gl;
    atom.global.add.u32 %r5, [%rd7+252], 1;
WAIT:
    ld.volatile.global.u32 %r5, [%rd7+252];
    and.b32 %r5, %r5, 1;
    setp.eq.u32 %p2, %r5, 0;
@%p2 bra WAIT;
    membar.gl;
PASSED:
    bar.sync 0;
    xor.b32 %r5, %r0, 1;
    mul.wide.u32 %rd4, %r5, 512;
    add.s64 %rd8, %rd8, %rd4;
    add.s64 %rd8, %rd8, %rd6;
    ld.global.u32 %r6, [%rd8];
"""
    assert check(body)[1] == ()  # p[127] is 127 at first: odd after two more
    assert {d.code for d in check(body.replace("membar.gl;", ""))[1]} == {"E410"}
