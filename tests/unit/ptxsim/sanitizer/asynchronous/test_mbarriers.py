"""Mbarriers that are used against their rules: found at the instruction, and the right kernels are clean."""

import pytest
from asynchronous_runs import OPEN, assert_found, wait

LOAD = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"

FAULTS = {
    "not initialised": (
        "the mbarrier at byte 0 of variable 'gate' (8 bytes) in shared memory, which has not been initialised",
        """
	@%p1 mbarrier.init.shared.b64 [gate], 32; // +
	bar.sync 0;
	mbarrier.arrive.shared.b64 %d4, [gate]; // E419
""",
    ),
    "used after it was invalidated": (
        "which has been invalidated",
        f"""{OPEN}
	@%p1 mbarrier.inval.shared.b64 [gate]; // -
	@%p1 mbarrier.arrive.shared.b64 %d4, [gate]; // E419
	@%p1 mbarrier.inval.shared.b64 [gate]; // +
""",
    ),
    "initialised again while it is in use": (
        "which is in use",
        """
	@%p1 mbarrier.init.shared.b64 [gate], 1; // note
	bar.sync 0;
	@%p1 mbarrier.inval.shared.b64 [gate]; // +
	@%p1 mbarrier.init.shared.b64 [gate], 2; // E419
""",
    ),
    "count of zero": (
        "with the count 0",
        """
	@%p1 mbarrier.init.shared.b64 [gate], 0; // - E419
	@%p1 mbarrier.init.shared.b64 [gate], 1; // +
""",
    ),
    "arrival count too large": (
        "arrives 3 times at the mbarrier",
        """
	@%p1 mbarrier.init.shared.b64 [gate], 2; // note
	bar.sync 0;
	@%p1 mbarrier.arrive.release.cta.shared::cta.b64 %d4, [gate], 3; // - E419
	@%p1 mbarrier.arrive.release.cta.shared::cta.b64 %d4, [gate], 2; // +
""",
    ),
    "transaction count too large": (
        "waits for 0 arrivals and 64 bytes",
        f"""{OPEN}
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 192; // -
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128; // +
	@%p1 {LOAD} [tile], [%d2], 128, [gate];
LOOP:
	mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0; // E407
	@!%p2 bra LOOP;
""",
    ),
    "transaction count too small": (
        "has got 128 bytes more than it expected",
        """
	@%p1 mbarrier.init.shared.b64 [gate], 1; // E419
	bar.sync 0;
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128; // -
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 256; // +
	@%p1 LOAD [tile], [%d2], 128, [gate];
	@%p1 LOAD [tile+128], [%d2], 128, [gate]; // note
	LOOP:
	mbarrier.try_wait.parity.shared.b64 %p2, [gate], 0;
	@!%p2 bra LOOP;
	ld.shared.u32 %r4, [tile+128]; // E410
	st.global.u32 [%d1], %r4;
""".replace("LOAD", LOAD),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name: str) -> None:
    says, body = FAULTS[name]
    assert_found(body, says)


def test_a_wait_for_the_phase_before_holds_at_once() -> None:
    """Where copies are late; where they are early, it never holds."""
    body = f"""{OPEN}
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [gate], 128;
	@%p1 {LOAD} [tile], [%d2], 128, [gate]; // note
{wait(parity=1, mark=" // -")}{wait(mark=" // +")}
	ld.shared.u32 %r4, [tile]; // E410
	st.global.u32 [%d1], %r4;
"""
    assert_found(body, "which an asynchronous copy writes", asynchronous="late")
