"""When bulk copies complete, and what is no bulk copy."""

import numpy as np
import pytest
from bulk_kernels import WAIT, kernel

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
LOAD = "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%d2], 64, [bar];\n"
STORE = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 64;\n"
SEVEN = "mov.u32 %r2, 7;\n@%p1 st.shared.v4.u32 [tile], {%r2, %r2, %r2, %r2};\nfence.proxy.async;\n"
NINE = "mov.u32 %r2, 9;\n@%p1 st.shared.v4.u32 [tile], {%r2, %r2, %r2, %r2};\n"
TO_PAIRS = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2"
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


@pytest.mark.parametrize("named", [0, 1, 3], ids=["own", "even", "odd"])
@pytest.mark.parametrize("issuer", [0, 1])
def test_pairs_are_told_by_parity(issuer: int, named: int) -> None:
    """Copies to the CTAs 0 and 3 of four tell one of each pair: those with the parity of the mbarrier's rank."""
    text = f""".version 9.0
.target sm_100a
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) .reqnctapercluster 4
{{
	.shared .align 128 .b8 tile[128];
	.shared .align 8 .b64 bar;
	.reg .pred %p<3>;
	.reg .b64 %d<4>;
	.reg .b32 %r<6>;
	.reg .b16 %h;
	ld.param.u64 %d1, [out];
	mov.b64 %d2, map;
	cvta.param.u64 %d2, %d2;
	mov.u32 %r1, %cluster_ctarank;
	mov.b16 %h, 9;
	mov.u32 %r2, bar;
	mbarrier.init.shared.b64 [bar], 1;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	setp.eq.u32 %p1, %r1, {issuer};
	{f"mapa.shared::cluster.u32 %r2, %r2, {named - 1};" if named else ""}
	@%p1 {TO_PAIRS} [tile], [%d2, {{0}}], [%r2], %h;
	barrier.cluster.arrive.aligned;
	barrier.cluster.wait.aligned;
	ld.shared.u64 %d3, [bar];
	shr.u64 %d3, %d3, 40;
	cvt.u32.u64 %r3, %d3;
	mul.wide.u32 %d3, %r1, 4;
	add.u64 %d1, %d1, %d3;
	st.global.u32 [%d1], %r3;
	ret;
}}
"""
    data = np.arange(4, dtype=np.uint32)
    out = np.zeros(4, np.uint32)
    functional.run(parse(text).kernels["k"], 4, 1, [out, ptxsim.TensorMap(data, box=(4,))])
    parity = (named - 1 if named else issuer) & 1
    missing = -16 & 0x3FFFFF
    assert out.tolist() == [missing if rank % 2 == parity else 0 for rank in range(4)]
