"""A cycle of the memory side: DRAM, slices, networks (timing-model sections 1.1 and 3.4 to 3.6)."""

from typing import Any

from ptxsim.base.jit import ctz, njit
from ptxsim.timing.memory.dram import channel_cycle, core_cycle, dram_cycles
from ptxsim.timing.memory.l2 import slice_cycle
from ptxsim.timing.memory.memory_state import FOREVER
from ptxsim.timing.memory.network.crossbar import crossbar_cycle
from ptxsim.timing.memory.network.interconnect import due, first_of, network_cycle


@njit
def memory_cycle(memory: Any, now: int) -> None:
    """Do everything that is due in cycle `now`, and note in `memory.next` when there is more to do."""
    if memory.next > now:
        return
    before, over = dram_cycles(memory, now - 1), dram_cycles(memory, now)
    left = due(memory.channel_next, 0, memory.n_channels, now) | due(
        memory.dram_next, 0, memory.n_channels, over
    )
    while left:
        channel_cycle(memory, ctz(left), now, before, over)
        left &= left - 1
    if memory.replies.of_packets and memory.replies.next <= now:
        crossbar_cycle(memory, memory.replies, now)
    for first in range(0, memory.n_slices, 64):
        left = due(memory.slice_next, first, min(memory.n_slices, first + 64), now)
        while left:
            slice_cycle(memory, first + ctz(left), now)
            left &= left - 1
    if memory.requests.of_packets:
        if memory.requests.next <= now:
            crossbar_cycle(memory, memory.requests, now)
    else:
        if memory.requests.next <= now:
            network_cycle(memory, memory.requests, now)
        if memory.replies.next <= now:
            network_cycle(memory, memory.replies, now)
    following = min(memory.requests.next, memory.replies.next)
    if following > now + 1:
        following = min(following, first_of(memory.slice_next, memory.n_slices))
        following = min(following, first_of(memory.channel_next, memory.n_channels))
        in_dram = first_of(memory.dram_next, memory.n_channels)
        if in_dram < FOREVER:
            following = min(following, core_cycle(memory, in_dram))
    memory.next = following
