"""The two crossbars between SMs and L2 slices (requests, replies), as servers of packets. For `system.py` and `l2.py`.

Every input has one FIFO, as an input of GPGPU-Sim's network has one virtual channel. Its head asks for its output and
is granted when the output is free and has room behind it, in the order of asking; only then can the packet behind it
ask (head-of-line blocking, which costs random traffic about a third of the rate). A packet of f flits holds its input
and its output for f + gap cycles and arrives `unloaded[f]` cycles after the grant.

A packet is an index into `m.request`; its `due` becomes the cycle of arrival. What stands behind an output is taken
with `take` by the slice or the SM that owns it.

With a gap of 0 and packets of one flit this is the input-queued crossbar whose rate head-of-line blocking limits to
0.59 of its ports, which is what is measured of GPGPU-Sim 4.2 (timing-model-42 section 3.4).

Without head-of-line blocking (`by_output`) a FIFO belongs to an output instead, and packets of all inputs wait there in
the order in which they came; how many an input may have in them is as before.

Handled simply: the queues before the crossbar are one FIFO of as many flits; a packet leaves its input at the grant.
Reference: timing-model section 3.4.
"""

from typing import Any

import numpy as np

from ptxsim.jit import ctz, inline, njit
from ptxsim.memory.state import FIFO, FOREVER, MAX_PORTS


@njit
def has_room(net: Any, source: int, flits: int) -> bool:
    """Whether a packet can enter the FIFO of an input."""
    return net.in_flits[source] + flits <= net.input_flits


@njit
def push(net: Any, source: int, target: int, packet: int, flits: int, ready: int) -> None:
    """Put a packet into an input's FIFO; it asks for its output in cycle `ready` at the earliest."""
    lane = target if net.by_output else source
    tail = (net.in_head[lane] + net.in_count[lane]) & (FIFO - 1)
    net.fifo[lane, tail] = packet
    net.fifo_out[lane, tail] = target
    net.fifo_flits[lane, tail] = flits
    if net.in_count[lane] == 0:
        when = max(ready, net.in_free[lane])
        net.in_next[lane] = when
        net.asking = min(net.asking, when)
        net.next = min(net.next, when)
    net.in_count[lane] += 1
    net.in_flits[source] += flits
    net.packets += 1
    net.flits += flits


@njit
def take(m: Any, net: Any, target: int, wake: int) -> int:
    """Take the oldest packet behind an output, which has arrived; the room it leaves can be used from cycle `wake`."""
    head = net.out_head[target]
    packet: Any = np.int64(net.queue[target, head])
    head = (head + 1) & (FIFO - 1)
    net.out_head[target] = head
    net.out_count[target] -= 1
    net.out_due[target] = m.request[net.queue[target, head]].due if net.out_count[target] > 0 else FOREVER
    if net.out_next[target] == FOREVER and net.wait_count[target] > 0:
        when = max(wake, net.out_free[target])
        net.out_next[target] = when
        net.next = min(net.next, when)
    return packet


@inline
def _grant(m: Any, net: Any, target: int, now: int) -> None:
    """Send the head of the input that has asked first; see who can go next at this input and this output."""
    lane = np.int64(net.wait[target, net.wait_head[target]])
    net.wait_head[target] = (net.wait_head[target] + 1) & (MAX_PORTS - 1)
    net.wait_count[target] -= 1
    head = net.in_head[lane]
    packet = np.int64(net.fifo[lane, head])
    flits = np.int64(net.fifo_flits[lane, head])
    net.in_head[lane] = (head + 1) & (FIFO - 1)
    net.in_count[lane] -= 1
    source = lane
    if net.by_output:
        source = np.int64(m.request[packet].slice if net.is_reply else m.request[packet].sm)
    if net.is_reply and not has_room(net, source, net.longest):  # the slice waits for room
        m.slice_next[source] = min(m.slice_next[source], now + 1)
    net.in_flits[source] -= flits
    free = now + flits + net.gap
    net.in_free[lane] = free
    net.out_free[target] = free
    if net.in_count[lane] > 0:
        net.in_next[lane] = free
        net.asking = min(net.asking, free)
    net.out_next[target] = free if net.wait_count[target] > 0 else FOREVER
    arrival = now + net.unloaded[flits]
    if net.out_count[target] > 0:  # a short packet does not overtake a long one
        arrival = max(arrival, net.out_last[target] + 1)
    else:
        net.out_due[target] = arrival
    net.out_last[target] = arrival
    net.queue[target, (net.out_head[target] + net.out_count[target]) & (FIFO - 1)] = packet
    net.out_count[target] += 1
    m.request[packet].due = arrival
    if not net.is_reply:
        m.slice_next[target] = min(m.slice_next[target], net.out_due[target])


@inline
def _due(times: Any, n: int, now: int) -> int:
    """Which of the first n times have come, one bit each: a loop without branches."""
    mask: Any = np.int64(0)
    for k in range(n):
        mask |= np.int64(times[k] <= now) << k
    return mask


@inline
def first_of(times: Any, n: int) -> int:
    """The least of the first n times; FOREVER if there is none."""
    first = FOREVER
    for k in range(n):
        first = min(first, times[k])
    return first


@inline
def _ask(net: Any, now: int) -> int:
    """Let the heads that are ready ask for their outputs; when the next one will be ready."""
    ready = _due(net.in_next, net.n_in, now)
    while ready:
        source = ctz(ready)
        ready &= ready - 1
        net.in_next[source] = FOREVER
        target = np.int64(net.fifo_out[source, net.in_head[source]])
        net.wait[target, (net.wait_head[target] + net.wait_count[target]) & (MAX_PORTS - 1)] = source
        net.wait_count[target] += 1
        if net.wait_count[target] == 1:
            net.out_next[target] = max(now, net.out_free[target])
    return first_of(net.in_next, net.n_in)


@njit
def network_cycle(m: Any, net: Any, now: int) -> None:
    """Let heads ask and outputs grant; leaves in `net.next` when there is more to do."""
    if net.asking <= now:
        net.asking = _ask(net, now)
    ready = _due(net.out_next, net.n_out, now)
    while ready:
        target = ctz(ready)
        ready &= ready - 1
        if net.out_count[target] < net.output_packets:
            _grant(m, net, target, now)
        else:
            net.out_next[target] = FOREVER  # until `take` makes room
    net.next = min(first_of(net.out_next, net.n_out), net.asking)
