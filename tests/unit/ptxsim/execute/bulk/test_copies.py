"""When bulk copies complete, and what is no bulk copy."""

import numpy as np
import pytest
from bulk_kernels import WAIT, kernel

from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError

EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
LOAD = "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%d2], 64, [bar];\n"
STORE = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 64;\n"
SEVEN = "mov.u32 %r2, 7;\n@%p1 st.shared.v4.u32 [tile], {%r2, %r2, %r2, %r2};\nfence.proxy.async;\n"
NINE = "mov.u32 %r2, 9;\n@%p1 st.shared.v4.u32 [tile], {%r2, %r2, %r2, %r2};\n"
COMMIT = "@%p1 cp.async.bulk.commit_group;\n"


def first_word(body: str, words: int, when: str) -> int:
    out = np.zeros(16, np.uint32)
    functional.run(kernel(body, words), 1, 32, [out, np.arange(100, 116, dtype=np.uint32)], asynchronous=when)
    return int(out[0])


@pytest.mark.parametrize(
    ("wait", "late"),
    [
        (WAIT, 100),
        ("", 0),  # read without a wait
        ("mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n", 0),  # a test whose result nothing looks at
    ],
)
def test_a_load_arrives_when_it_is_awaited(wait: str, late: int) -> None:
    assert first_word(EXPECT + LOAD + wait, 16, "early") == 100
    assert first_word(EXPECT + LOAD + wait, 16, "late") == late


@pytest.mark.parametrize(
    ("wait", "late"),
    [
        ("@%p1 cp.async.bulk.wait_group 0;\n", 7),
        ("@%p1 cp.async.bulk.wait_group.read 0;\n", 7),
        ("@%p1 cp.async.bulk.wait_group 1;\n", 9),  # the one group there is need not be complete
        ("", 0),  # a copy that nothing waits for does not happen
    ],
)
def test_a_store_reads_its_source_until_it_is_awaited(wait: str, late: int) -> None:
    """The source is 7 when the copy is issued, and overwritten with 9 after the wait."""
    body = SEVEN + STORE + COMMIT + wait + NINE
    after = "" if not wait or wait.endswith("0;\n") else "@%p1 cp.async.bulk.wait_group 0;\n"
    assert first_word(body + after, 0, "early") == 7
    assert first_word(body + after, 0, "late") == late


def test_a_group_that_is_not_committed_is_not_awaited() -> None:
    body = (
        SEVEN
        + STORE
        + "@%p1 cp.async.bulk.wait_group 0;\n"
        + NINE
        + COMMIT
        + "@%p1 cp.async.bulk.wait_group 0;\n"
    )
    assert first_word(body, 0, "early") == 7
    assert first_word(body, 0, "late") == 9


@pytest.mark.parametrize(
    ("code", "copy"),
    [
        ("E405", "[tile+8], [%d2], 16, [bar]"),
        ("E405", "[tile], [%d2+4], 16, [bar]"),
        ("E405", "[tile], [%d2], %r3, [bar]"),
        ("E405", "[tile], [%d2], 16, [tile+4]"),
        ("E404", "[tile], [%d2], 80, [bar]"),
        ("E404", "[tile+2040], [%d2], 32, [bar]".replace("2040", "2048")),
        ("E404", "[tile], [0], 16, [bar]"),
    ],
)
def test_what_is_no_bulk_copy(code: str, copy: str) -> None:
    """Addresses and sizes that are no multiples of 16, an mbarrier's of 8; memory that is not there."""
    body = f"mov.u32 %r3, 24;\n@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes {copy};\n"
    with pytest.raises(PtxError, match=code):
        first_word(body, 0, "early")


@pytest.mark.parametrize("when", ["early", "late"])
def test_bytes_that_never_come_are_a_deadlock(when: str) -> None:
    """80 bytes are expected, 64 copied."""
    with pytest.raises(PtxError, match="E407"):
        first_word(EXPECT.replace(" 64;", " 80;") + LOAD + WAIT, 0, when)
