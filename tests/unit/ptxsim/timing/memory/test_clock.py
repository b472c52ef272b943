"""The memory system does not see where its clock begins: rewound in the middle of traffic, it goes on as before."""

import random
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from memory_machine import LINE, Machine

from ptxsim.base.jit import for_python
from ptxsim.timing.memory.clock import rewind_l1, rewind_memory
from ptxsim.timing.memory.counts import l1_counts, memory_counts
from ptxsim.timing.memory.l1 import l1_fill, l1_forget, l1_load, l1_next_waiter
from ptxsim.timing.memory.memory_setup import make_l1
from ptxsim.timing.memory.memory_state import ATOMIC, CONSTANT, MISS, READ, WRITE, WRITEBACK
from ptxtool.formats.gpu import Gpu, load_gpu


def one_clock(name: str) -> Gpu:
    """A machine whose DRAM runs at the core's clock: then no phase between them is lost when both begin at 0.

    Its L2 is so small that lines are written back.
    """
    gpu = load_gpu(name)
    clocks = msgspec.structs.replace(gpu.clocks, dram_mhz=gpu.clocks.core_mhz)
    return msgspec.structs.replace(gpu, clocks=clocks, l2=msgspec.structs.replace(gpu.l2, sets=4))


def traffic(
    machine: Machine, cycles: int, rewound_at: tuple[int, ...]
) -> tuple[list[tuple[int, ...]], dict[str, int]]:
    """Random requests; the replies as if the clock had never been rewound, and the sums of the counters."""
    source, gone, counts = random.Random(7), 0, dict[str, int]()
    replies: list[tuple[int, ...]] = []

    def note() -> None:
        replies.extend((gone + when, *rest) for when, *rest in machine.got)
        machine.got.clear()
        for name, n in memory_counts(machine.array).items():
            counts[name] = counts.get(name, 0) + n

    for cycle in range(1, cycles):
        if cycle in rewound_at:
            note()
            rewind_memory(machine.array, machine.now + 1)
            gone += machine.now + 1
            machine.now = -1
        machine.step()
        for sm in range(14):
            if source.random() < 0.3 and cycle < cycles - 1500:
                line = source.randrange(*source.choice(((8,), (30000,)))) * LINE
                kind = source.choice((READ, READ, WRITE, WRITE, ATOMIC, CONSTANT, WRITEBACK))
                size = 128 if kind in (READ, WRITEBACK) else source.choice((32, 64, 128))
                machine.send(line, kind, size, sm, cycle)
    note()
    return replies, counts


@pytest.mark.parametrize("name", ["tesla-c2050", "gpgpusim42-c2050"])
def test_memory_that_is_rewound_in_full_traffic_answers_at_the_same_times(name: str) -> None:
    """Every time that the records keep is shifted; one that was forgotten lies hundreds of cycles off."""
    gpu = one_clock(name)
    expected, counts = traffic(Machine(gpu), 2600, ())
    found, sums = traffic(Machine(gpu), 2600, (500, 900))
    assert len(expected) > 1000
    assert found == expected
    assert sums == counts
    assert counts["dram_writes"]
    assert counts["l2_pending_hits"]


def l1_calls() -> Iterator[int]:
    """Loads of nine lines of one set in turn, so that it matters which was used last."""
    source = random.Random(3)
    for _ in range(200):
        yield source.randrange(9) * 32 * LINE


def test_an_l1_that_is_rewound_replaces_the_same_lines() -> None:
    load, fill, waiter = for_python(l1_load), for_python(l1_fill), for_python(l1_next_waiter)
    outcomes: list[list[int]] = []
    for rewound in (False, True):
        array, now, found = make_l1(load_gpu("tesla-c2050"), 1), 0, list[int]()
        l1 = array[0]
        for k, address in enumerate(l1_calls()):
            now += 10
            found.append(load(l1, address, k, now))
            if found[-1] == MISS:
                fill(l1, int(l1["miss_tag"][l1["miss_head"]]))
            waiter(l1)
            l1["miss_count"] = 0
            if rewound and k == 100:
                rewind_l1(array, now + 1)
                now = -1
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]
    assert len(set(outcomes[0])) > 1


def test_an_l1_is_forgotten_behind_a_rewound_clock_too() -> None:
    """Lines that were there before the counters began anew are forgotten, though nothing was accessed since."""
    load, fill, forget = for_python(l1_load), for_python(l1_fill), for_python(l1_forget)
    array = make_l1(load_gpu("gpgpusim42-c2050"), 1)
    l1 = array[0]
    load(l1, 0, 1, 5)
    for _ in range(4):
        fill(l1, int(l1["miss_tag"][l1["miss_head"]]))
    assert l1_counts(array)["accesses"] == 1
    rewind_l1(array, 20)
    assert l1_counts(array)["accesses"] == 0
    forget(l1)
    assert not np.any(l1["cache"]["state"])
