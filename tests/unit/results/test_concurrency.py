"""Shares of launches added up by stream, and the cycles in which several ran."""

import json
from dataclasses import replace

from sim_results import sim_result

from ptxtool.results.concurrency import ConcurrentResult, LaunchCounts

LAUNCH = LaunchCounts(
    kernel="k",
    stream=1,
    after=(),
    grid=(2, 1, 1),
    block=(32, 1, 1),
    registers=4,
    scratchpad_bytes=0,
    n_ctas=2,
    ctas_done=2,
    ready_cycle=0,
    first_cycle=0,
    end_cycle=100,
    cycles=100,
    warp_instructions=10,
    thread_instructions=320,
    cta_cycles=180,
)


def several(*launches: LaunchCounts) -> ConcurrentResult:
    return ConcurrentResult("leftover", launches, sim_result())


def test_a_stream_is_its_launches() -> None:
    later = replace(LAUNCH, first_cycle=150, end_cycle=400, cycles=250, thread_instructions=80)
    one, other = several(LAUNCH, replace(LAUNCH, stream=2), later).streams
    assert (one.stream, one.launches, one.ctas_done, one.warp_instructions) == (1, 2, 4, 20)
    # from the first CTA to the end of the last: 400 lanes in 400 cycles
    assert (one.cycles, one.thread_ipc) == (400, 1.0)
    assert (other.stream, other.cycles, other.thread_ipc) == (2, 100, 3.2)


def test_cycles_of_several_launches_are_counted_once() -> None:
    """0 to 100, 50 to 150 and 60 to 90: two or more from 50 to 100. One that has not begun counts for nothing."""
    found = several(
        LAUNCH,
        replace(LAUNCH, first_cycle=50, end_cycle=150),
        replace(LAUNCH, first_cycle=60, end_cycle=90, cycles=30),
        replace(LAUNCH, first_cycle=-1, end_cycle=-1, cycles=0),
    )
    assert found.overlap_cycles == 50
    assert several(LAUNCH, replace(LAUNCH, first_cycle=100, end_cycle=200)).overlap_cycles == 0


def test_the_result_as_data_and_as_text() -> None:
    found = several(LAUNCH, replace(LAUNCH, stream=2, after=(1,)))
    data = json.loads(found.to_json())
    assert [each["launch"] for each in data["launches"]] == [1, 2]
    assert data["launches"][1]["after"] == [1]
    assert data["launches"][0]["thread_ipc"] == 3.2
    assert (data["policy"], data["overlap_cycles"]) == ("leftover", 100)
    assert "  2 k on stream 2: cycles 0 to 100, 2 CTAs, 10 warp instructions, thread IPC 3.20" in str(found)
