"""The inputs of spilling: which instructions may guard loads and stores, and what an access costs."""

from kernels import ptx, ptxplus

from ptxtool.analysis.regalloc.live_ranges import live_ranges
from ptxtool.analysis.regalloc.spill_inputs import spill_inputs


def test_a_guarded_store_stands_under_the_guard_unless_a_predicate_is_written() -> None:
    body = "add.u32 %r1, %r2, 1; @%p1 add.u32 %r1, %r2, 1;"
    body += "@%p1 setp.eq.u32 %p1, %r1, 0; @%p1 st.global.u32 [%rd1], %r1; ret;"
    inputs = spill_inputs(live_ranges(ptx(body)), ())
    assert inputs.may_guard_load.tolist() == [False, True, True, True, False]
    assert inputs.may_guard_store.tolist() == [False, True, False, False, False]


def test_nothing_is_guarded_in_ptxplus() -> None:
    inputs = spill_inputs(live_ranges(ptxplus("@$p0.ne add.u32 $r1, $r2, $r3; exit;")), ())
    assert not inputs.may_guard_load.any()
    assert not inputs.may_guard_store.any()


def test_an_access_in_a_loop_costs_eight_times_as_much() -> None:
    body = "mov.u32 %r1, 1; L: add.u32 %r1, %r1, 1; M: add.u32 %r2, %r1, 1; @%p1 bra M; @%p2 bra L; ret;"
    assert spill_inputs(live_ranges(ptx(body)), ()).weights.tolist() == [1, 8, 64, 64, 8, 1]
