"""Registers that asynchronous instructions use until a wait for them; instruction i reads at point 2i."""

from kernels import ptx

from ptxtool.analysis.flow.accesses import Interval
from ptxtool.analysis.regalloc.in_flight import in_flight_intervals
from ptxtool.analysis.regalloc.live_ranges import live_ranges

LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];"
WAIT = "tcgen05.wait::ld.sync.aligned;"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"
COMMIT = "wgmma.commit_group.sync.aligned;"


def intervals(body: str) -> dict[str, tuple[Interval, ...]]:
    """By register, the intervals of its web in flight."""
    ranges = live_ranges(ptx(body))
    found = in_flight_intervals(ranges)
    return {ranges.function.registers[ranges.register[web]].name: some for web, some in found.items()}


def test_a_result_is_in_flight_until_the_wait_of_its_kind() -> None:
    """The address is read at once; the wait for stores waits for no load."""
    body = f"{LOAD} tcgen05.wait::st.sync.aligned; bar.sync 0; {WAIT} st.shared.u32 [0], %r1; ret;"
    assert intervals(body) == {"%r1": ((0, 9),)}


def test_a_value_that_is_stored_is_in_flight_too() -> None:
    body = (
        "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r2], {%r1}; bar.sync 0; tcgen05.wait::st.sync.aligned; ret;"
    )
    ((name, ((start, end),)),) = intervals(f"mov.u32 %r1, 1; {body}").items()
    assert (name, start, end) == ("%r1", 1, 7)  # written by instruction 0, waited for by instruction 3


def test_without_a_wait_it_is_in_flight_to_the_end_on_all_paths() -> None:
    body = f"{LOAD} @%p1 bra L; {WAIT} ret; L: bar.sync 0; ret;"
    assert intervals(body) == {"%r1": ((0, 5), (8, 12))}


def test_groups_that_may_be_pending() -> None:
    """`wait_group 1` waits for the first of two groups only."""
    body = f"{WGMMA} {COMMIT} @ wgmma.wait_group.sync.aligned 1; bar.sync 0; ret;"
    assert intervals(body.replace("@", COMMIT))["%f0"][-1][1] == 7  # instruction 3
    assert intervals(body.replace("@", "bar.sync 0;"))["%f0"][-1][1] == 12  # the end
