"""Proxy fences: a write that a copy or a product reads needs one on the way, in the writing thread or a later one."""

import pytest
from asynchronous_runs import OPEN, assert_found, problems, texts, wait

STORE = "cp.async.bulk.global.shared::cta.bulk_group"
END = """
	@%p1 cp.async.bulk.commit_group;
	@%p1 cp.async.bulk.wait_group.read 0;
"""
WRITE = """
	shl.b32 %r4, %r1, 2;
	add.u32 %r4, %r4, %r3;
	st.shared.u32 [%r4], %r1; // note
"""


def test_a_store_of_what_threads_have_written() -> None:
    body = f"""{WRITE}
	fence.proxy.async.shared::cta; // +
	bar.sync 0;
	@%p1 {STORE} [%d1], [tile], 256; // E410
{END}"""
    assert_found(body, "the asynchronous proxy reads byte 0 of variable 'tile'", threads=64)


def test_a_fence_before_the_write_does_not_help() -> None:
    body = f"""
	fence.proxy.async.shared::cta; // -
{WRITE}
	fence.proxy.async.shared::cta; // +
	bar.sync 0;
	@%p1 {STORE} [%d1], [tile], 256; // E410
{END}"""
    assert_found(body, "with no proxy fence between", threads=64)


def test_the_fence_of_another_space_does_not_help() -> None:
    body = f"""{WRITE}
	fence.proxy.async.global; // -
	fence.proxy.async; // +
	bar.sync 0;
	@%p1 {STORE} [%d1], [tile], 128; // E410
{END}"""
    assert_found(body, "with no proxy fence between")


def test_global_memory() -> None:
    load = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
    body = f"""{OPEN}
	@%p1 st.global.u32 [%d2+4], 7; // note
	fence.proxy.async.global; // +
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128;
	@%p1 {load} [tile], [%d2], 128, [gate]; // E410
{wait()}"""
    assert_found(body, "reads byte 4 of buffer 'in'")


@pytest.mark.parametrize(
    "way",
    [
        "bar.sync 0;\n\tfence.proxy.async.shared::cta;",  # by the thread that copies
        """fence.proxy.async.shared::cta;
	mbarrier.arrive.shared.b64 %d4, [gate];
AGAIN:
	mbarrier.test_wait.shared.b64 %p2, [gate], %d4;
	@!%p2 bra AGAIN;""",
    ],
)
def test_every_way_of_order_will_do(way: str) -> None:
    body = f"""
	@%p1 mbarrier.init.shared.b64 [gate], 64;
	bar.sync 0;
{WRITE}
	{way}
	@%p1 {STORE} [%d1], [tile], 256;
{END}"""
    assert problems(texts(body)[1], threads=64) == ()
