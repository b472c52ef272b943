"""Caches, networks and DRAM between two launches: their clocks start again at 0, their contents stay.

For `timing/machine_state.py`. Every kernel counts its cycles from 0, so all times that are kept move by the cycles of
the launch that has ended: times of lines (for LRU), of ports, queues and banks, and of write-backs that are still on
their way to DRAM, for which a kernel does not wait. The first DRAM cycle of a launch follows the last one of the
previous launch.

Reference: timing-model-42 section 4.2.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from ptxsim.timing.memory.copied import ages
from ptxsim.timing.memory.counts import (
    CACHE_COUNTS,
    CHANNEL_COUNTS,
    L1_COUNTS,
    NETWORK_COUNTS,
    NETWORKS,
    READONLY_COUNTS,
)
from ptxsim.timing.memory.memory_state import FOREVER

# the times of each record; the lists are complete: test_clock.py shifts a memory in full traffic
_MEMORY = ("next", "slice_next", "channel_next")
_NETWORK = ("next", "asking", "out_due")
_INPUT = ("next", "free")
_OUTPUT = ("next", "free", "last")
_SLICE = ("stuck_since", "ripe_next", "port_free", "fill_free")
_CHANNEL = (
    "next",
    "return_due",
    "return_last",
    "unripe_next",
    "cas_free",
    "turn_free",
    "activate_free",
    "group_free",
    "group_precharge",
)
_BANK = ("due", "activate", "read", "write", "precharge")
"""In DRAM cycles."""
ALL = slice(None)


def rewind_memory(memory: Any, cycles: int, used: Any = ALL) -> None:
    """Cycle `cycles`, the first after a launch, becomes cycle 0 of a `MEMORY` array; its counters are set to zero. No
    access has ever entered a slice that is not among the `used` ones."""
    m = memory[0]
    core, dram = int(m["core_mhz"]), int(m["dram_mhz"])
    dram_cycles = (cycles - 1) * dram // core + 1
    _earlier(m, _MEMORY, cycles)
    _earlier(m, ("dram_next",), dram_cycles)
    for side in NETWORKS:
        _earlier(m[side], _NETWORK, cycles)
        _earlier(m[side]["input"][: m[side]["n_in"]], _INPUT, cycles)
        _earlier(m[side]["output"][: m[side]["n_out"]], _OUTPUT, cycles)
        m[side]["first_input"] += cycles
        _zero(m[side], NETWORK_COUNTS)
    slices, channels = m["slice"][: m["n_slices"]], m["channel"][: m["n_channels"]]
    _earlier(slices, _SLICE, cycles)
    ages(slices["cache"])[used] -= cycles
    _zero(slices["cache"], CACHE_COUNTS)
    if m["n_free"] < m["pool"]:
        m["request"]["due"][: m["pool"]] -= cycles
        for channel in channels:  # returning requests are due in DRAM cycles
            places = (int(channel["return_head"]) + np.arange(int(channel["return_count"]))) & m["ring_mask"]
            m["request"]["due"][channel["returned"][places]] += cycles - dram_cycles
    _earlier(channels, ("entry_due",), cycles)
    _earlier(channels, _CHANNEL, dram_cycles)
    _earlier(channels["bank"], _BANK, dram_cycles)
    requests = channels["requests"][:, np.newaxis, np.newaxis]
    channels["queue"]["place"]["age"] -= requests  # ages are numbers of requests
    _zero(channels, CHANNEL_COUNTS)


def rewind_l1(caches: Any, cycles: int, used: Any = ALL) -> None:
    """The same for an array of `L1` records, of which only these were ever used."""
    cache = caches["cache"]
    clean = caches["flushed_at"] == cache["accesses"]
    caches["flushed_at"] = np.where(clean, 0, -1)  # in accesses, which are counted from 0 again
    ages(cache)[used] -= cycles
    pipes = int(caches["n_banks"][0]) if caches["pipe_cycles"].any() else 0
    for name in ("due", "entered"):
        caches["pipe"][name][used, :pipes] -= cycles
    _zero(cache, CACHE_COUNTS)
    _zero(caches, L1_COUNTS)


def rewind_readonly(caches: Any, cycles: int, used: Any = ALL) -> None:
    """The same for an array of `READONLY` records."""
    ages(caches)[used] -= cycles
    _zero(caches, READONLY_COUNTS)


def _earlier(record: Any, names: Iterable[str], cycles: int) -> None:
    for name in names:
        times = np.asarray(record[name])
        record[name] = np.where(times < FOREVER, times - cycles, times)


def _zero(record: Any, names: Iterable[str]) -> None:
    for name in names:
        record[name] = 0
