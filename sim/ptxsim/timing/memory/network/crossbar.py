"""A crossbar of packets: a packet is one unit, whatever its bytes, and moves from its input to its output in a cycle.

Inputs and outputs are FIFOs with limits; in a cycle an output with room takes one packet, a head of an input. Two rules
for who is first:

* outputs one after the other (`iSLIP`, one iteration): each takes the first asking input from its own turn on, which
  then passes to the next input. An input that was served is not excluded: its next packet may leave in the same cycle
  for a later output.
* inputs in turn (`in_turn`): from an input that advances by one in every cycle, each may send one packet.

Packets of a FIFO are chained by `following` in their requests, so that limits of hundreds of packets cost no memory.
Reference: timing-model section 3.4; GPGPU-Sim 4.2, local_interconnect.cc (`network_mode 2`).
"""

from typing import Any

import numpy as np

from ptxsim.base.jit import bit, ctz, from_bit, inline, njit
from ptxsim.timing.memory.memory_state import FOREVER, MAX_PORTS
from ptxsim.timing.memory.team.ports import note_passed


@inline
def _append(memory: Any, queue: Any, packet: int) -> None:
    """Put a packet at the end of an input or output."""
    if queue.count:
        memory.request[queue.end].following = packet
    else:
        queue.first = packet
    queue.end = packet
    queue.count += 1


@inline
def _remove(memory: Any, queue: Any) -> int:
    """Take the first packet of an input or output; there is one."""
    packet: Any = np.int64(queue.first)
    queue.first = memory.request[packet].following
    queue.count -= 1
    return packet


@inline
def _target(memory: Any, net: Any, packet: int) -> int:
    q = memory.request[packet]
    target: Any = np.int64(q.sm) >> memory.port_sms_shift if net.is_reply else np.int64(q.slice)
    return target & (MAX_PORTS - 1)


@inline
def _ask(memory: Any, net: Any, source: int, packet: int) -> None:
    """The first packet of an input asks for its output."""
    target = _target(memory, net, packet)
    net.output[target].asked[source >> 6] |= bit(source & 63)
    net.granting[target >> 6] |= bit(target & 63)


@inline
def push(memory: Any, net: Any, source: int, packet: int, ready: int) -> None:
    """Put a packet into an input's FIFO; it may leave in cycle `ready`. The caller has checked that there is room."""
    source = source & (MAX_PORTS - 1)
    fifo = net.input[source]
    _append(memory, fifo, packet)
    fifo.flits += 1
    net.packets += 1
    net.flits += 1
    if fifo.count == 1:  # an SM that runs ahead (core/ahead.py) pushes before the network has come so far
        fifo.next = ready
        net.heads[source >> 6] |= bit(source & 63)
        net.asking = min(net.asking, ready)
        net.next = min(net.next, ready)


@inline
def take(memory: Any, net: Any, target: int, wake: int) -> int:
    """Take the oldest packet of an output, which has arrived; its room can be used from cycle `wake` on."""
    target = target & (MAX_PORTS - 1)
    output = net.output[target]
    if output.count >= net.output_packets and net.granting[target >> 6] & bit(target & 63):
        net.next = min(net.next, wake)
    packet = _remove(memory, output)
    net.out_due[target] = memory.request[output.first].due if output.count > 0 else FOREVER
    return packet


@inline
def first_reply(net: Any, target: int) -> int:
    """The packet that `take` will return."""
    packet: Any = np.int64(net.output[target].first)
    return packet


@njit
def _move(memory: Any, net: Any, source: int, target: int, now: int) -> None:
    """Move the first packet of an input to its output; the next one of the input asks."""
    fifo = net.input[source]
    output = net.output[target]
    output.asked[source >> 6] &= ~bit(source & 63)
    asked = np.int64(0)
    for word in range(net.words):
        asked |= output.asked[word]
    if asked == 0:
        net.granting[target >> 6] &= ~bit(target & 63)
    packet = _remove(memory, fifo)
    if net.is_reply and fifo.flits >= net.input_flits:  # the slice may have waited for room
        memory.slice_next[source] = min(memory.slice_next[source], now)  # slices come after this network
    fifo.flits -= 1
    if fifo.count > 0:
        _ask(memory, net, source, np.int64(fifo.first))
    arrival = now + net.unloaded[1]
    memory.request[packet].due = arrival
    if output.count == 0:
        net.out_due[target] = arrival
    _append(memory, output, packet)
    note_passed(memory, net.is_reply, source, target, packet, 1, arrival)
    if not net.is_reply:
        memory.slice_next[target] = min(memory.slice_next[target], net.out_due[target])


@inline
def _first_asking(net: Any, target: int) -> int:
    """The first input from an output's turn on that asks for it; one does. The turn passes to the input after it."""
    output = net.output[target]
    turn = output.turn
    source: Any = np.int64(-1)
    for word in range(net.words):
        asked = output.asked[word]
        later = asked & from_bit(max(np.int64(0), turn - 64 * word))
        if later:
            source = np.int64(64 * word + ctz(later))
            break
        if asked and source < 0:  # before the turn: if there is none after it
            source = np.int64(64 * word + ctz(asked))
    output.turn = source + 1
    return source


@inline
def _by_outputs(memory: Any, net: Any, now: int) -> None:
    for word in range(net.words):
        left = net.granting[word]
        while left:
            place = ctz(left)
            target = 64 * word + place
            if net.output[target].count < net.output_packets:
                _move(memory, net, _first_asking(net, target), target, now)
            left = net.granting[word] & from_bit(place + 1)


@njit
def _let_ask(memory: Any, net: Any, now: int) -> None:
    """First packets of inputs ask for their outputs from their cycle on."""
    net.asking = FOREVER
    for word in range(net.words):
        left = net.heads[word]
        while left:
            source = 64 * word + ctz(left)
            fifo = net.input[source]
            if fifo.next <= now:
                net.heads[word] &= ~(left & -left)
                _ask(memory, net, source, np.int64(fifo.first))
            else:
                net.asking = min(net.asking, fifo.next)
            left &= left - 1


@njit
def _in_turn(memory: Any, net: Any, now: int) -> None:
    turn = (net.first_input + now) % net.n_nodes - net.first_node
    start = turn if 0 <= turn < net.n_in else np.int64(0)
    for k in range(net.n_out):
        net.output[k].turn = 0  # whether it has taken a packet in this cycle
    for k in range(net.n_in):
        source = (start + k) % net.n_in
        if net.input[source].count and net.heads[source >> 6] & bit(source & 63) == 0:
            target = _target(memory, net, np.int64(net.input[source].first))
            output = net.output[target]
            if output.turn == 0 and output.count < net.output_packets:
                output.turn = 1
                _move(memory, net, source, target, now)


@njit
def crossbar_cycle(memory: Any, net: Any, now: int) -> None:
    """Move packets, and note in `net.next` when there is more to do; an output that is full waits for `take`."""
    if net.asking <= now:
        _let_ask(memory, net, now)
    if net.in_turn:
        _in_turn(memory, net, now)
    else:
        _by_outputs(memory, net, now)
    net.next = net.asking
    for word in range(net.words):
        left = net.granting[word]
        while left:
            if net.output[64 * word + ctz(left)].count < net.output_packets:
                net.next = now + 1
                return
            left &= left - 1
