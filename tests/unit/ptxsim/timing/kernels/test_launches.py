"""When launches begin and end: places among those that run, launch latency, what they wait for."""

import numpy as np
import pytest
from stream_kernels import kernels, small_machine

import ptxsim
from ptxtool.results.concurrency import ConcurrentResult


def synchronized(machine: ptxsim.Machine) -> ConcurrentResult:
    found = machine.synchronize()
    assert found is not None
    return found


@pytest.mark.parametrize("skip", [True, False])
def test_a_launch_begins_its_latency_after_the_end_of_what_it_waits_for(skip: bool) -> None:
    # 100 cycles for a launch, and 7 for its CTA; the next one is made in the cycle after the end
    gpu = small_machine("dispatch.launch_cycles=100", "dispatch.cta_launch_cycles=7")
    machine = ptxsim.Machine(gpu, event_skip=skip)
    one, other = machine.stream(), machine.stream()
    spin = kernels()["spin"]
    done = one.launch(spin, 1, 32, [5])
    one.launch(spin, 1, 32, [5])
    other.wait(done)
    other.launch(spin, 1, 32, [9])
    first, second, third = synchronized(machine).launches
    assert (first.ready_cycle, first.first_cycle) == (107, 107)
    for later in (second, third):  # one on each SM
        assert (later.ready_cycle, later.first_cycle) == (first.end_cycle + 108, first.end_cycle + 108)
    assert (second.after, third.after) == ((1,), (1,))


def test_as_many_launches_run_as_there_are_places() -> None:
    """Two places: the third launch begins in the cycle after the first, shorter one has ended."""
    machine = ptxsim.Machine(small_machine("dispatch.concurrent_kernels=2", 'dispatch.kernels="leftover"'))
    for rounds in (5, 50, 5):
        machine.stream().launch(kernels()["spin"], 1, 32, [rounds])
    first, second, third = synchronized(machine).launches
    assert (first.first_cycle, second.first_cycle) == (0, 0)
    assert third.first_cycle == first.end_cycle + 1 < second.end_cycle


def test_the_shares_of_launches_are_the_whole() -> None:
    machine = ptxsim.Machine(small_machine('dispatch.kernels="leftover"'))
    x, y = np.zeros(96, np.uint32), np.zeros(70, np.uint32)
    machine.stream().launch(kernels()["add"], 3, 32, [x, 5])
    machine.stream().launch(kernels()["add"], 1, 70, [y, 7])
    found = synchronized(machine)
    one, other = found.launches
    # 12 instructions: 3 warps each, and of the second 70 threads
    assert (one.warp_instructions, other.warp_instructions) == (3 * 12, 3 * 12)
    assert (one.thread_instructions, other.thread_instructions) == (96 * 12, 70 * 12)
    whole = found.whole
    assert whole.warp_instructions == one.warp_instructions + other.warp_instructions
    assert whole.thread_instructions == one.thread_instructions + other.thread_instructions
    assert whole.cta_cycles == one.cta_cycles + other.cta_cycles
    assert whole.ctas_done == one.ctas_done + other.ctas_done == 4
    assert (x.tolist(), y.tolist()) == ([5] * 96, [7] * 70)


def test_targets_of_lanes_are_those_of_their_own_program() -> None:
    machine = ptxsim.Machine(small_machine())
    found = np.zeros(32, np.uint32)
    machine.stream().launch(kernels()["spin"], 1, 32, [5])
    machine.stream().launch(kernels()["chosen"], 1, 32, [found])
    synchronized(machine)
    assert found.tolist() == [10, 11, 12, 13] * 8
