"""The crossbar of packets: its two rules of who is first, its limits, and its delays."""

from collections import Counter
from typing import Any

import pytest
from memory_machine import Machine, on_array
from volta_memory import PACKETS, machine

from ptxsim.base.jit import uncached
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.memory_state import FOREVER, READ
from ptxsim.timing.memory.network import crossbar


@uncached
def _push(memory: Any, sm: int, target: int, packet: int, ready: int) -> None:
    memory.request[packet].sm, memory.request[packet].slice = sm, target
    crossbar.push(memory, memory.requests, sm, packet, ready)


@uncached
def _cycle(memory: Any, now: int) -> None:
    crossbar.crossbar_cycle(memory, memory.requests, now)


@uncached
def _take(memory: Any, target: int, wake: int) -> int:
    return crossbar.take(memory, memory.requests, target, wake)


push, cycle, take = on_array(_push), on_array(_cycle), on_array(_take)


def taken(memory: Any) -> dict[int, list[int]]:
    """The packets at the outputs, which are emptied."""
    net = memory[0]["requests"]
    return {
        k: [int(take(memory, k, 0)) for _ in range(int(net["output"][k]["count"]))]
        for k in range(int(net["n_out"]))
        if net["output"][k]["count"]
    }


def test_an_output_takes_one_packet_a_cycle_from_the_inputs_in_turn() -> None:
    memory = make_memory(machine(*PACKETS))
    for sm in (0, 5, 9):
        for k in range(2):
            push(memory, sm, 3, 10 * sm + k, 0)
    order = []
    for now in range(6):
        cycle(memory, now)
        order += taken(memory)[3]
    assert order == [0, 50, 90, 1, 51, 91]
    assert int(memory[0]["requests"]["next"]) == FOREVER


@pytest.mark.parametrize("skip", [True, False])
def test_two_sms_at_a_port_share_its_buffer_and_a_reply_a_cycle(skip: bool) -> None:
    """Reads of two lines that the L2 has, of SMs 0 and 1: at one port the second reply is a cycle later, and comes to
    its own SM."""

    def arrivals(per_port: int) -> list[tuple[int, int]]:
        system = Machine(machine(*PACKETS, f"icnt.sms_per_port={per_port}"), skip)
        for _ in range(2):
            system.got.clear()
            start = system.now
            assert all(system.send(256 * k, READ, 32, k) for k in range(2))
            system.finish()
        return [(when - start, sm) for when, sm, *_ in system.got]

    apart, together = arrivals(1), arrivals(2)
    assert {when for when, _ in apart} == {apart[0][0]}
    assert [sm for _, sm in together] == [0, 1]
    # the second request waits a cycle at its input, and its reply comes when it is there
    assert [when - apart[0][0] for when, _ in together] == [0, 1]


def test_an_input_may_send_to_a_later_output_in_the_same_cycle() -> None:
    # outputs are served in ascending order: 2, then 7, but not 4 after 7
    memory = make_memory(machine(*PACKETS))
    for packet, target in enumerate((2, 7, 4)):
        push(memory, 0, target, packet, 0)
    cycle(memory, 0)
    assert taken(memory) == {2: [0], 7: [1]}
    cycle(memory, 1)
    assert taken(memory) == {4: [2]}


def test_the_head_of_an_input_blocks_those_after_it() -> None:
    memory = make_memory(machine(*PACKETS))
    for packet, (sm, target) in enumerate(((0, 5), (1, 5), (1, 3))):
        push(memory, sm, target, packet, 0)
    cycle(memory, 0)
    assert taken(memory) == {5: [0]}
    cycle(memory, 1)
    assert taken(memory) == {5: [1]}  # output 3 was asked before the packet for 5 left
    cycle(memory, 2)
    assert taken(memory) == {3: [2]}


@pytest.mark.parametrize("settings", [(), ('icnt.arbiter="inputs-in-turn"',)])
def test_a_packet_of_an_sm_that_runs_ahead_waits_for_its_cycle(settings: tuple[str, ...]) -> None:
    memory = make_memory(machine(*PACKETS, *settings))
    push(memory, 1, 5, 10, 4)
    push(memory, 2, 5, 20, 1)
    left = {}
    for now in range(1, 6):
        if int(memory[0]["requests"]["next"]) <= now:
            cycle(memory, now)
            left[now] = taken(memory)
    assert left == {1: {5: [20]}, 4: {5: [10]}}


def test_inputs_in_turn_send_one_packet_each() -> None:
    # the turn begins at the number of the cycle, among 14 SMs and 12 slices
    memory = make_memory(machine(*PACKETS, 'icnt.arbiter="inputs-in-turn"'))
    for sm in (2, 4):
        push(memory, sm, 1, sm, 0)
    push(memory, 2, 3, 20, 0)
    cycle(memory, 3)  # input 4 is before input 2
    assert taken(memory) == {1: [4]}
    cycle(memory, 4)
    assert taken(memory) == {1: [2]}
    cycle(memory, 5)
    assert taken(memory) == {3: [20]}


def test_a_full_output_waits_until_a_packet_is_taken() -> None:
    memory = make_memory(machine(*PACKETS, "icnt.output_packets=2"))
    for packet in range(4):
        push(memory, 0, 6, packet, 0)
    net = memory[0]["requests"]
    for now in range(3):
        cycle(memory, now)
    assert int(net["output"][6]["count"]) == 2
    assert int(net["next"]) == FOREVER
    assert take(memory, 6, 8) == 0
    assert int(net["next"]) == 8


def test_an_unloaded_request_takes_two_cycles_and_a_reply_one() -> None:
    # injected in 0, moved in 1, at the slice in 2; ROP delay 120, a cycle to the tags; the reply moves in the next one
    gpu = machine(*PACKETS, "l2.copies_fill=false")
    machine_ = Machine(gpu)
    machine_.latency(0, size=32)
    machine_.run(100)
    assert machine_.latency(0, size=32) == 2 + 120 + 1 + 1


def test_every_packet_arrives_with_and_without_skipping() -> None:
    found = []
    for skip in (True, False):
        machine_ = Machine(machine(*PACKETS, "icnt.input_packets=6", "icnt.output_packets=3"), skip)
        for k in range(300):
            while not machine_.send(k * 7919 % 4096 * 32, size=32, sm=k % 3, tag=k):
                machine_.step()
        machine_.finish()
        found.append(sorted(machine_.got))
        assert Counter(got[4] for got in machine_.got) == Counter(range(300))
    assert found[0] == found[1]
