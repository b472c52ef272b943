"""A cycle of the memory side: nothing before its time, and a reply after the latency of a miss."""

from memory_machine import LINE, Machine, memory_cycle

from ptxsim.timing.memory.memory_state import FOREVER


def test_nothing_happens_before_the_next_event() -> None:
    machine = Machine()
    assert machine.m["next"] == FOREVER
    assert machine.send(LINE)
    before, event = machine.array.tobytes(), int(machine.m["next"])
    assert event == 1  # a request asks the network in the cycle after it was sent
    memory_cycle(machine.array, event - 1)
    assert machine.array.tobytes() == before
    memory_cycle(machine.array, event)
    assert machine.m["next"] > event


def test_a_miss_is_slower_than_a_hit() -> None:
    machine = Machine()
    miss = machine.latency(LINE)
    machine.finish()
    assert machine.latency(LINE) < miss
    assert machine.m["next"] == FOREVER
