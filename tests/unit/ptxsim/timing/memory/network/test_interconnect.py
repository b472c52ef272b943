"""The crossbars: rates, and queues that a packet blocks (timing-model section 3.4)."""

import random
from itertools import pairwise
from typing import Any

import pytest
from memory_machine import LINE, Machine, mixed
from microkernels.memory import network

from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

C2050, GPGPUSIM42 = load_gpu("tesla-c2050"), load_gpu("gpgpusim42-c2050")


@pytest.mark.parametrize(
    ("flits", "scattered", "in_turn"), [(1, 3.9, 6.0), (2, 2.6, 4.0), (3, 1.95, 3.0), (5, 1.30, 2.0)]
)
def test_packets_a_cycle_of_the_saturated_network(flits: int, scattered: float, in_turn: float) -> None:
    assert network("random", flits) == pytest.approx(scattered, rel=0.03)
    assert network("turn", flits) == pytest.approx(in_turn, rel=0.01)


class TestHeadOfLine:
    @pytest.mark.parametrize(("setting", "blocked"), [("true", True), ("false", False)])
    def test_only_a_queue_of_its_own_passes_a_blocked_packet(self, setting: str, blocked: bool) -> None:
        """Thirteen SMs keep slice 0 busy with stores; the last SM's store to it is before its read of slice 2."""
        machine = Machine(with_settings(C2050, [f"icnt.head_of_line={setting}"]))
        machine.latency(256)  # a line of slice 2 (channel 1), now in the L2
        machine.run(2000)
        for sm in range(13):
            assert machine.send(0, 1, LINE, sm)
        assert machine.send(0, 1, LINE, 13)
        assert machine.send(256, 0, LINE, 13, tag=7)
        start = machine.now
        while not any(reply[4] == 7 for reply in machine.got):
            machine.step()
        # alone the read takes 140 cycles; 13 stores of 5 flits before its own SM's hold slice 0's port 6 cycles each,
        # and that store its input for 6 more
        assert machine.now - start == (140 + 13 * 6 + 6 if blocked else 140)

    @pytest.mark.parametrize("gpu", [C2050, GPGPUSIM42], ids=lambda g: g.name)
    def test_random_reads_come_closer_to_what_the_ports_can(self, gpu: Any) -> None:
        def rate(setting: str) -> float:
            machine = Machine(with_settings(gpu, [f"icnt.head_of_line={setting}"]))
            numbers = random.Random(3)
            lines = [numbers.randrange(1536) for _ in range(40000)]
            return machine.stream(4000, lambda sm, n: lines[n * 14 + sm] * LINE, 32) / 4000

        blocked, free = rate("true"), rate("false")
        ports = gpu.l2.slices / (6 if gpu is C2050 else 1)  # replies a cycle: 5 flits and a gap, or 1 flit
        assert blocked * 1.15 < free <= ports

    @pytest.mark.parametrize("gpu", [C2050, GPGPUSIM42], ids=lambda g: g.name)
    @pytest.mark.parametrize("skip", [True, False])
    def test_every_request_is_answered_once(self, gpu: Any, skip: bool) -> None:
        machine = Machine(with_settings(gpu, ["icnt.head_of_line=false"]), skip)
        expected = mixed(machine, 1500, 64, 5)
        found = {(sm, line, tag) for _, sm, line, _, tag in machine.got}
        if gpu is C2050:  # with sectors there are several replies, at the sectors' addresses
            assert found == set(expected)
        else:
            assert {(sm, tag) for sm, _, tag in found} == {(sm, tag) for sm, _, tag in expected}


@pytest.mark.parametrize("skip", [True, False])
def test_more_ports_than_a_word_has_bits(skip: bool) -> None:
    """128 SMs read a line of one slice, the last SMs first."""
    machine = Machine(with_settings(C2050, ["sm.count=128"]), skip)
    machine.latency(0)
    first = len(machine.got)
    for sm in reversed(range(128)):
        assert machine.send(0, 0, LINE, sm)
    machine.finish()
    # all ask at once and are granted in their order; the slice answers with 5 flits and a gap
    replies = [(cycle, sm) for cycle, sm, *_ in machine.got[first:]]
    assert [sm for _, sm in replies] == list(range(128))
    assert min(b - a for (a, _), (b, _) in pairwise(replies)) == 6
