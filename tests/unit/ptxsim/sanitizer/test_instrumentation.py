"""What the checks know of instructions: registers, pieces, order, asynchronous copies."""

from typing import Any

import pytest
from small_lowering import PTX, PTXPLUS, lowered

from ptxsim.base.program import ATOMIC, LOAD, NO_ACCESS, STORE
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.instrumentation import Tables

RELEASES_ALL = state.RELEASES | state.RELEASES_CLUSTER


def checked(body: str, text: str = PTX) -> Any:
    return Tables.of(lowered(body, text)).checked[0]


@pytest.mark.parametrize(
    ("text", "orders", "strong"),
    [
        ("membar.gl;", RELEASES_ALL | state.ACQUIRES | state.FENCES_GRID, 0),
        ("fence.acq_rel.cta;", state.RELEASES | state.ACQUIRES, state.STRONG_IN_CTA),
        ("fence.proxy.alias;", 0, 0),
        ("bar.warp.sync -1;", state.ORDERS_WARP, 0),
        ("ld.acquire.gpu.global.u32 %r1, [%rd1];", state.ACQUIRES, state.STRONG_IN_GRID),
        ("fence.acq_rel.cluster;", RELEASES_ALL | state.ACQUIRES, state.STRONG_IN_CTA),
        ("fence.mbarrier_init.release.cluster;", RELEASES_ALL | state.ACQUIRES, state.STRONG_IN_CTA),
        ("barrier.cluster.arrive.aligned;", RELEASES_ALL, 0),
        ("barrier.cluster.arrive.relaxed.aligned;", 0, state.STRONG_IN_CTA),
        ("st.release.gpu.global.u32 [%rd1], %r1;", RELEASES_ALL, state.STRONG_IN_GRID),
        ("ld.volatile.global.u32 %r1, [%rd1];", 0, state.STRONG_IN_GRID),
        ("ld.global.u32 %r1, [%rd1];", 0, 0),
        (
            "atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1;",
            RELEASES_ALL | state.ACQUIRES,
            state.STRONG_IN_GRID,
        ),
        ("red.global.add.u32 [%rd1], 1;", 0, state.STRONG_IN_GRID),
        ("red.relaxed.cta.global.add.u32 [%rd1], 1;", 0, state.STRONG_IN_CTA),
        ("mbarrier.arrive.shared.b64 %rd1, [%r1];", state.RELEASES, state.STRONG_IN_CTA),
        ("mbarrier.init.shared.b64 [%r1], 1;", state.RELEASES, 0),
    ],
)
def test_order(text: str, orders: int, strong: int) -> None:
    record = checked(text)
    assert (record["orders"], record["strong"]) == (orders, strong)


@pytest.mark.parametrize(
    ("text", "access", "n_bytes"),
    [
        ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];", LOAD, 16),
        ("st.shared.u16 [%r1], %h1;", STORE, 2),
        ("atom.global.add.u64 %rd1, [%rd2], 1;", ATOMIC, 8),
        ("add.u32 %r1, %r2, %r3;", NO_ACCESS, 0),
    ],
)
def test_accesses(text: str, access: int, n_bytes: int) -> None:
    record = checked(text)
    assert (record["access"], record["bytes"]) == (access, n_bytes)


def test_operands_of_ptxplus_in_memory_are_pieces() -> None:
    tables = Tables.of(lowered("add.u32 $r1, s[0x0010], s[0x0014];", PTXPLUS))
    record = tables.checked[0]
    assert record["pieces_end"] - record["pieces"] == 2
    pieces = tables.checked[record["pieces"] : record["pieces_end"]]
    assert [(int(piece["access"]), int(piece["bytes"])) for piece in pieces] == [(LOAD, 4), (LOAD, 4)]
    assert tables.pieces[0]["uop_end"] == tables.pieces[1]["uop_start"]


def test_copies_and_the_groups_that_are_waited_for() -> None:
    record = checked("cp.async.ca.shared.global [%r1], [%rd1], 8;")
    assert (record["copies"], record["access"], record["copied_bytes"]) == (state.COPIES, STORE, 8)
    assert checked("cp.async.ca.shared.global [%r1], [%rd1], 8, %r2;")["copied_bytes"] == 0
    record = checked("cp.async.wait_group 2;")
    assert (record["copies"], record["groups"]) == (state.AWAITS, 2)
    assert checked("cp.async.wait_all;")["groups"] == -1


def test_lanes_that_no_other_lane_reads_need_not_have_written_what_a_shuffle_passes() -> None:
    program = lowered("shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1;")
    assert program.register_names[Tables.of(program).checked[0]["passed"]] == "%r2"
    assert checked("shfl.sync.idx.b32 %r1, %r2, %r2, 31, -1;")["passed"] == -1
    assert checked("mov.u32 %r1, %r2;")["passed"] == -1
