"""The two crossbars between SMs and L2 slices (requests, replies), as servers of packets. For `system.py` and `l2.py`.

Every input has one FIFO, as an input of GPGPU-Sim's network has one virtual channel. Its head asks for its output and
is granted when the output is free and its queue has room, in the order of asking; only then can the next packet of the
FIFO ask (head-of-line blocking, which costs random traffic about a third of the rate). A packet of f flits holds its
input and its output for f + gap cycles and arrives `unloaded[f]` cycles after the grant.

A packet is an index into `memory.request`; its `due` becomes the cycle of arrival. The slice or the SM at an output
takes packets from the output's queue with `take`.

With a gap of 0 and packets of one flit this is the input-queued crossbar whose rate head-of-line blocking limits to
0.59 of its ports, as measured of GPGPU-Sim 4.2 (timing-model-42 section 3.4).

Without head-of-line blocking (`by_output`) a FIFO belongs to an output instead, and packets of all inputs wait in it in
the order of arrival; the limit on the packets of an input is the same.

Handled simply: the queues before the crossbar are one FIFO of as many flits; a packet leaves its input at the grant.
Reference: timing-model section 3.4.
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import bit, ctz, inline, njit
from ptxsim.timing.memory.memory_state import FIFO, FOREVER, MAX_PORTS
from ptxsim.timing.memory.network import crossbar
from ptxsim.timing.memory.team.ports import note_passed


@inline
def has_room(net: Any, source: int, flits: int) -> bool:
    """Whether a packet can enter the FIFO of an input."""
    return net.input[source & (MAX_PORTS - 1)].flits + flits <= net.input_flits


@inline
def push(memory: Any, net: Any, source: int, target: int, packet: int, flits: int, ready: int) -> None:
    """Put a packet into an input's FIFO; it asks for its output in cycle `ready` at the earliest."""
    if net.of_packets:
        crossbar.push(memory, net, source, packet, ready)
        return
    lane = (np.int64(target) if net.by_output else np.int64(source)) & (MAX_PORTS - 1)
    fifo = net.input[lane]
    if fifo.count == 0:
        fifo.head = 0
        fifo.next = max(ready, fifo.free)
        net.heads[lane >> 6] |= bit(lane & 63)
        net.asking = min(net.asking, fifo.next)
        net.next = min(net.next, fifo.next)
    entry = net.fifo[lane, (fifo.head + fifo.count) & (FIFO - 1)]
    entry.request = packet
    entry.output = target
    entry.flits = flits
    fifo.count += 1
    net.input[source & (MAX_PORTS - 1)].flits += flits
    net.packets += 1
    net.flits += flits


@inline
def take(memory: Any, net: Any, target: int, wake: int) -> int:
    """Take the oldest packet of an output's queue, which has arrived; its room can be used from cycle `wake` on."""
    if net.of_packets:
        return crossbar.take(memory, net, target, wake)
    target = target & (MAX_PORTS - 1)
    output = net.output[target]
    packet: Any = np.int64(net.queue[target, output.head])
    output.head = (output.head + 1) & (FIFO - 1)
    output.count -= 1
    net.out_due[target] = memory.request[net.queue[target, output.head]].due if output.count > 0 else FOREVER
    if output.wait_count > 0 and not net.granting[target >> 6] & bit(target & 63):
        output.next = max(wake, output.free)
        net.granting[target >> 6] |= bit(target & 63)
        net.next = min(net.next, output.next)
    return packet


@inline
def _ask(net: Any, word: int, now: int) -> int:
    """Let the heads of 64 inputs that are ready ask for their outputs; returns when the next one will be ready."""
    following = FOREVER
    left = net.heads[word]
    while left:
        lane = (64 * word + ctz(left)) & (MAX_PORTS - 1)
        left &= left - 1
        fifo = net.input[lane]
        if fifo.next > now:
            following = min(following, fifo.next)
            continue
        net.heads[word] &= ~bit(lane & 63)
        target = np.int64(net.fifo[lane, fifo.head].output) & (MAX_PORTS - 1)
        output = net.output[target]
        output.wait[(output.wait_head + output.wait_count) & (MAX_PORTS - 1)] = lane
        output.wait_count += 1
        if output.wait_count == 1:
            output.next = max(now, output.free)
            net.granting[target >> 6] |= bit(target & 63)
    return following


@inline
def next_grant(net: Any, lane: int) -> int:
    """The earliest cycle in which the first packet of an input, which has one, may leave."""
    fifo = net.input[lane]
    if net.heads[lane >> 6] & bit(lane & 63):
        return fifo.next
    output = net.output[np.int64(net.fifo[lane, fifo.head].output) & (MAX_PORTS - 1)]
    following: int = output.next
    for k in range(output.wait_count):
        if output.wait[(output.wait_head + k) & (MAX_PORTS - 1)] == lane:
            break
        following += 1 + net.gap  # the shortest packet before it
    return following


@inline
def _grant(memory: Any, net: Any, target: int, now: int) -> None:
    """Send the head of the input that has asked first, and note when this input and this output are free again."""
    output = net.output[target]
    lane = np.int64(output.wait[output.wait_head]) & (MAX_PORTS - 1)
    output.wait_head = (output.wait_head + 1) & (MAX_PORTS - 1)
    output.wait_count -= 1
    fifo = net.input[lane]
    entry = net.fifo[lane, fifo.head]
    packet = np.int64(entry.request)
    flits = np.int64(entry.flits)
    fifo.head = (fifo.head + 1) & (FIFO - 1)
    fifo.count -= 1
    q = memory.request[packet]
    source = lane
    if net.by_output:
        source = (np.int64(q.slice) if net.is_reply else np.int64(q.sm) >> memory.port_sms_shift) & (
            MAX_PORTS - 1
        )
    if net.is_reply and not has_room(net, source, net.longest):  # the slice waits for room
        memory.slice_next[source] = min(memory.slice_next[source], now + 1)
    net.input[source].flits -= flits
    free = now + flits + net.gap
    fifo.free = free
    output.free = free
    if fifo.count > 0:
        fifo.next = free
        net.heads[lane >> 6] |= bit(lane & 63)
        net.asking = min(net.asking, free)
    output.next = free
    if output.wait_count == 0:
        net.granting[target >> 6] &= ~bit(target & 63)
    arrival = now + net.unloaded[flits]
    if output.count > 0:  # a short packet does not overtake a long one
        arrival = max(arrival, output.last + 1)
    else:
        output.head = 0
        net.out_due[target] = arrival
    output.last = arrival
    net.queue[target, (output.head + output.count) & (FIFO - 1)] = packet
    output.count += 1
    q.due = arrival
    note_passed(memory, net.is_reply, source, target, packet, flits, arrival)
    if not net.is_reply:
        memory.slice_next[target] = min(memory.slice_next[target], net.out_due[target])


@inline
def due(times: Any, first: int, end: int, now: int) -> int:
    """Which of the times `first` to `end - 1`, at most 64, are reached, one bit each: a loop without branches."""
    mask: Any = np.int64(0)
    for k in range(first, end):
        mask |= np.int64(times[k] <= now) << (k - first)
    return mask


@inline
def first_of(times: Any, n: int) -> int:
    """The least of the first n times; FOREVER if there is none."""
    first = FOREVER
    for k in range(n):
        first = min(first, times[k])
    return first


@inline
def _grant_due(memory: Any, net: Any, word: int, now: int) -> int:
    """Let 64 outputs grant; returns when the next of them can."""
    following = FOREVER
    left = net.granting[word]
    while left:
        target = (64 * word + ctz(left)) & (MAX_PORTS - 1)
        left &= left - 1
        output = net.output[target]
        if output.next <= now:
            if output.count >= net.output_packets:
                net.granting[word] &= ~bit(target & 63)  # until `take` makes room
                continue
            _grant(memory, net, target, now)
            if output.wait_count == 0:
                continue
        following = min(following, output.next)
    return following


@njit
def _ask_rest(net: Any, now: int) -> int:
    """`_ask` for the inputs from 64 on."""
    following = FOREVER
    for word in range(1, net.words):
        following = min(following, _ask(net, word, now))
    return following


@njit
def _grant_rest(memory: Any, net: Any, now: int) -> int:
    """`_grant_due` for the outputs from 64 on."""
    following = FOREVER
    for word in range(1, net.words):
        following = min(following, _grant_due(memory, net, word, now))
    return following


@inline
def network_cycle(memory: Any, net: Any, now: int) -> None:
    """Let heads ask and outputs grant; notes in `net.next` when there is more to do."""
    if net.asking <= now:
        net.asking = _ask(net, 0, now)
        if net.words > 1:
            net.asking = min(net.asking, _ask_rest(net, now))
    following = _grant_due(memory, net, 0, now)
    if net.words > 1:
        following = min(following, _grant_rest(memory, net, now))
    net.next = min(following, net.asking)
