"""Records of the memory system, and their initialisation from a GPU description.

One `MEMORY` record is everything that the SMs share: the pool of requests, the two crossbars, the L2 slices and the
DRAM channels; one `L1` record is one SM's data cache. Arrays are as large as any machine may need (the maxima below),
the machine's own sizes are in fields, so that one compilation serves every GPU file. A request is an index into
`MEMORY.request`; queues hold such indices.

Times are core cycles, except in `CHANNEL`, where they are DRAM cycles unless a comment says otherwise. A time of
`FOREVER` means: nothing to do until another part of the machine sets an earlier time.

Limits: network and L2 run at the core's clock; one or two slices a channel; the sizes of a machine are powers of two
where the address map needs bits of them.
Reference: timing-model sections 0 and 3.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ptxsim.base.jit import record, record_at
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Dram

FOREVER = 1 << 62
MAX_SMS, MAX_SLICES, MAX_CHANNELS = 128, 32, 16
MAX_PORTS = 128  # of one side of a crossbar
PORT_WORDS = MAX_PORTS // 64  # of a mask of ports

# kinds of requests; all but WRITEBACK and SAVE are answered. Those from RESTORE on read from DRAM, those from SAVE on
# are no accesses of the L2
READ, WRITE, ATOMIC, INSTRUCTION, CONSTANT, WRITEBACK, UNCACHED, TEXTURE, VECTOR, SAVE, RESTORE, FILL = range(
    12
)
"""UNCACHED is a load that bypasses the L1, WRITEBACK an evicted dirty line (of the L1 for SMs), FILL the line that an
L2 slice reads from DRAM, VECTOR a live-register vector (`timing/residency/live_vectors.py`), SAVE and RESTORE a
register of a warp that leaves for DRAM and comes back (`timing/residency/dram_areas.py`)."""

# state of a cache line
INVALID, RESERVED, VALID, DIRTY, PARTIAL = range(5)
"""PARTIAL is a dirty sector of which only some words were written: it cannot be read."""

# outcomes of an access to a cache
HIT, MISS, PENDING, FAIL = range(4)
"""Found; sent to the miss queue; merged with a miss on its way; nothing done, to be tried again."""

NO_WAITER = -1  # in place of a waiter: a store miss caused the line read, and waits for nothing

# array maxima; those of rings are powers of two
MAX_LINES = 8192
MAX_ENTRIES = 256
MAX_WAITERS = 16
POOL = 65536
POOL_MARGIN = 8192  # left for what the L2 slices send to DRAM
SECTOR_MARGIN = 16384  # left for that and for the sectors that requests are split into
FIFO = 256
ROP_RING = 1024
RING = 64
PIPE = 128  # places before the tags of the L1
SECTORS = 4  # most sectors of a line
LATENCY_RING = 512
WINDOW = 64
MAX_BANKS = 32
MAX_FLITS = 16
MAX_DATA = 256  # bytes of a packet

MISS_ENTRY = record(
    [
        ("n_waiters", "u1"),
        ("n_woken", "u1"),
        ("n_here", "u1"),  # replies that have arrived, of `replies_per_line`
        ("dirty", "u1"),  # the line is dirty as soon as it arrives (atomics)
        ("key", "i4"),  # the line or sector that it was taken for
        ("waiter", "i4", (MAX_WAITERS,)),
    ]
)
"""An MSHR."""

CACHE = record(
    [
        ("sets", "i8"),
        ("ways", "i8"),
        ("line_bytes", "i8"),
        ("line_shift", "i8"),
        ("set_mask", "i8"),  # sets - 1; -1 when the number of sets is no power of two
        ("hashed", "i8"),  # the set index is mixed with higher bits of the address
        ("max_waiters", "i8"),
        ("n_free", "i8"),
        # counters: a refused access counts only as a reservation fail, once per try
        ("accesses", "i8"),
        ("hits", "i8"),
        ("misses", "i8"),
        ("pending_hits", "i8"),
        ("reservation_fails", "i8"),
        # miss entries
        ("n_ready", "u4"),  # ring of entries whose line has arrived
        ("ready_head", "u4"),
        ("free", "u1", (MAX_ENTRIES,)),  # stack of free entries
        ("ready", "u1", (MAX_ENTRIES,)),
        ("miss", MISS_ENTRY, (MAX_ENTRIES,)),
        # lines: set * ways + way; in a cache of sectors `state` and `entry` are of line * SECTORS + sector
        ("state", "u1", (MAX_LINES,)),
        ("entry", "u1", (MAX_LINES,)),  # miss entry of a RESERVED line
        ("tag", "i8", (MAX_LINES,)),  # line address
        ("used", "i8", (MAX_LINES,)),  # cycle of the last access
    ]
)

L1 = record(
    [
        ("stores", "i8"),  # accesses that are stores
        ("store_hits", "i8"),
        ("miss_capacity", "i8"),
        ("miss_read_max", "i8"),  # a load miss needs at most this many in the miss queue
        ("merge_in_queue", "i8"),  # a merge needs as many
        ("miss_head", "i8"),
        ("miss_count", "i8"),
        ("miss_line", "i8", (RING,)),
        ("miss_bytes", "i2", (RING,)),
        ("miss_kind", "u1", (RING,)),
        ("miss_tag", "i2", (RING,)),
        ("miss_words", "u4", (RING,)),
        ("replies_per_line", "i8"),
        # the pipe before the tags
        ("pipe_cycles", "i8"),  # 0: there is none
        ("pipe_head", "i8"),
        ("pipe_count", "i8"),
        ("pipe_stuck", "i8"),  # the tags have refused the first access, and nothing has changed since
        ("pipe_due", "i8", (PIPE,)),
        ("pipe_address", "i8", (PIPE,)),
        ("pipe_bytes", "i2", (PIPE,)),
        ("pipe_words", "u4", (PIPE,)),
        ("pipe_kind", "u1", (PIPE,)),
        ("pipe_tag", "i2", (PIPE,)),
        ("flush", "i8"),  # forget all lines when the SM has nothing to run
        ("flushed_at", "i8"),  # accesses when that was done last
        ("cache", CACHE),
    ]
)

l1_at = record_at(L1)
"""`l1_at(address of the L1 records, i)`"""

REQUEST = record(
    [
        ("line", "i8"),  # address as the sender passed it
        ("due", "i8"),  # cycle at which it may leave the queue it is in
        ("row", "i8"),
        ("words", "u4"),  # words of its line that a store writes, one bit each
        ("tag", "i4"),  # the sender's own number; of a FILL the miss entry
        ("bytes", "i2"),
        ("set", "u2"),
        ("at", "u2"),  # of a FILL: the line or sector that is read
        ("kind", "u1"),
        ("sm", "u1"),
        ("slice", "u1"),
        ("bank", "u1"),
        ("sector", "u1"),  # the first one, in a cache of sectors
    ]
)

PACKET = record([("request", "u2"), ("output", "u1"), ("flits", "u1")])

INPUT = record(
    [
        ("next", "i8"),  # when the head asks for its output, if it has not asked
        ("free", "i8"),
        ("flits", "u2"),
        ("count", "u2"),
        ("head", "u2"),
    ]
)

OUTPUT = record(
    [
        ("next", "i8"),  # when it can grant, if an input asks and its queue has room
        ("free", "i8"),
        ("last", "i8"),  # arrival of the newest packet sent to it
        ("count", "u2"),
        ("head", "u2"),
        ("wait_count", "u1"),
        ("wait_head", "u1"),
        ("wait", "u1", (MAX_PORTS,)),  # inputs that ask for it, in order
    ]
)

NETWORK = record(
    [
        ("next", "i8"),
        ("asking", "i8"),  # when the next head asks; FOREVER: none will
        ("words", "i8"),  # of the next two that the machine's ports need
        ("heads", "i8", (PORT_WORDS,)),  # inputs whose head has yet to ask, one bit each
        (
            "granting",
            "i8",
            (PORT_WORDS,),
        ),  # outputs that an input asks for and whose queue has room, one bit each
        ("packets", "i8"),  # counters
        ("flits", "i8"),
        ("n_in", "i8"),
        ("n_out", "i8"),
        ("is_reply", "i8"),
        # packets wait in a FIFO for each output, not for each input: no head-of-line blocking
        ("by_output", "i8"),
        ("input_flits", "i8"),  # room of one input FIFO
        ("longest", "i8"),  # flits of the longest packet
        ("output_packets", "i8"),  # room of an output's queue, packets on their way included
        ("gap", "i8"),
        ("unloaded", "i8", (MAX_FLITS,)),  # cycles from grant to arrival, by flits
        ("out_due", "i8", (MAX_PORTS,)),  # arrival of the oldest packet of an output's queue; FOREVER if none
        ("input", INPUT, (MAX_PORTS,)),
        ("output", OUTPUT, (MAX_PORTS,)),
        ("fifo", PACKET, (MAX_PORTS, FIFO)),  # packets of an input
        ("queue", "u2", (MAX_PORTS, FIFO)),  # packets of an output
    ]
)

SLICE = record(
    [
        ("port_free", "i8"),  # data port
        ("fill_free", "i8"),  # fill port
        ("rop_head", "u2"),
        ("rop_count", "u2"),
        ("miss_head", "u1"),
        ("miss_count", "u1"),
        ("dram_head", "u1"),
        ("dram_count", "u1"),
        ("fill_head", "u1"),
        ("fill_count", "u1"),
        ("stuck", "u1"),  # the access at the head failed, and nothing has changed since
        ("stuck_since", "i8"),
        ("sector", "i8"),  # sectors of the first request that are done
        ("place", "i8"),  # of the line of the last access, in a cache of sectors
        ("ripe", "i8"),  # sectors that have left the ROP queue and wait for the tags
        ("ripened", "i8"),  # requests all of whose sectors have
        ("ripe_sector", "i8"),  # sectors of the next request that have
        ("ripe_next", "i8"),  # first cycle in which the next sector may
        ("cache", CACHE),
        ("rop", "u2", (ROP_RING,)),  # ROP delay and the queue before the tags
        ("miss", "u2", (RING,)),
        ("dram", "u2", (RING,)),
        ("filling", "u2", (RING,)),
        ("written", "u1", (MAX_LINES,)),  # words of a sector that were written, one bit each
    ]
)

BANK = record(
    [
        ("row", "i8"),  # open row; -1: closed
        ("want", "i8"),  # row of the request
        ("due", "i8"),  # the one of the next four that belongs to the command its request needs
        ("activate", "i8"),  # earliest cycles of the bank's own commands
        ("read", "i8"),
        ("write", "i8"),
        ("precharge", "i8"),
        ("request", "u2"),
        ("atoms", "u1"),  # column commands left
    ]
)

PLACE = record(
    [
        ("row", "i8"),
        ("age", "i8"),  # less for older requests
        ("request", "u2"),
        ("following", "u1"),  # 1 + place of the bank's next request; 0: none
    ]
)

QUEUE = record(
    [
        ("queued", "i8"),  # banks with requests in it, one bit each
        ("count", "i8"),
        ("used", "i8"),  # places, one bit each
        ("first", "u1", (MAX_BANKS,)),  # of a bank: 1 + place of its oldest request; 0: none
        ("last", "u1", (MAX_BANKS,)),
        ("place", PLACE, (WINDOW,)),
    ]
)
"""A scheduler queue: its places, and in which order each bank's requests stand in them."""

CHANNEL = record(
    [
        ("next", "i8"),  # next DRAM cycle at which a command or a choice is possible
        ("return_due", "i8"),  # when the first returning request arrives; FOREVER: none
        ("entry_due", "i8"),  # core cycle in which the first request's fixed delay ends; FOREVER: none
        ("in_flight", "i8"),  # requests between the arbiter and the L2's fill queue
        ("turn", "i8"),  # slice the arbiter looks at first
        ("latency_head", "u2"),
        ("latency_count", "u2"),
        ("return_head", "u2"),
        ("return_count", "u2"),
        ("return_last", "i8"),
        # banks, one bit each
        ("busy", "i8"),  # with a request of their own
        ("columns", "i8"),  # those of them with its row open
        ("closed", "i8"),  # and with no row open
        ("writing", "i8"),  # whose request writes
        ("ripe", "i8"),  # themselves ready for the command that their request needs
        ("unripe", "i8"),  # not yet
        ("unripe_next", "i8"),  # when the first of these will be
        ("cas_free", "i8"),
        ("turn_free", "i8", (2,)),  # of reads after a write, of writes after a read
        ("activate_free", "i8"),
        ("bank_turn", "i8"),
        ("served", "i8"),  # the queue that requests are taken from
        # counters, in column commands but for `row_hits`, which counts requests that found their row open
        ("requests", "i8"),
        ("reads", "i8"),
        ("writes", "i8"),
        ("activates", "i8"),
        ("row_hits", "i8"),
        ("group_free", "i8", (MAX_BANKS,)),
        ("bank", BANK, (MAX_BANKS,)),
        ("queue", QUEUE, (2,)),  # reads and writes, or all requests
        ("latency", "u2", (LATENCY_RING,)),  # `due` in core cycles
        ("returned", "u2", (LATENCY_RING,)),  # `due` in DRAM cycles
    ]
)

_TIMINGS = ("tCCD", "tCCDL", "tRRD", "tRCD", "tRCDWR", "tRAS", "tRP", "tRC", "CL", "WL")
_TURNAROUNDS = ("tRTW", "tWTR", "tWTP", "tRTPL", "tBURST")

MEMORY = record(
    [
        ("next", "i8"),  # next cycle at which `memory_cycle` has anything to do
        ("n_sms", "i8"),
        ("n_slices", "i8"),
        ("n_channels", "i8"),
        ("slices_per_channel", "i8"),
        # address map, as shifts and masks
        ("chunk_shift", "i8"),
        ("bank_shift", "i8"),
        ("bank_mask", "i8"),
        ("row_shift", "i8"),
        # network packets
        ("flits", "u1", (MAX_DATA + 1,)),  # of a packet, by bytes of data
        # L2
        ("rop_cycles", "i8"),
        ("port_shift", "i8"),
        ("miss_read_max", "i8"),
        ("miss_write_max", "i8"),
        ("sector_bytes", "i8"),  # 0: the cache has no sectors
        ("constant_quirk", "i8"),  # both halves of a constant line wait in one entry but arrive separately
        ("quirk", "i8"),  # stores to the upper half of a line go to the next line
        ("icnt_capacity", "i8"),
        ("dram_capacity", "i8"),
        ("fill_capacity", "i8"),
        # DRAM
        ("core_mhz", "i8"),
        ("dram_mhz", "i8"),
        ("fixed_cycles", "i8"),
        ("return_cycles", "i8"),  # DRAM cycles
        ("credits", "i8"),
        ("queue_capacity", "i8", (2,)),
        ("write_high", "i8"),
        ("write_low", "i8"),
        ("window", "i8"),
        ("banks", "i8"),
        ("group_shift", "i8"),
        ("group_mask", "i8"),
        ("group_banks", "i8", (MAX_BANKS,)),  # of each group, one bit each
        ("ring_mask", "i8"),  # of the used part of the rings of a channel
        ("row_with_column", "i8"),
        ("atom_shift", "i8"),
        *[(name, "i8") for name in _TIMINGS + _TURNAROUNDS],
        # state
        ("slice_next", "i8", (MAX_SLICES,)),
        ("channel_next", "i8", (MAX_CHANNELS,)),  # next work of a channel in core cycles
        ("dram_next", "i8", (MAX_CHANNELS,)),  # and in DRAM cycles
        ("channel_asked", "u1", (MAX_CHANNELS,)),  # slices that have requests for it, one bit each
        ("n_free", "i8"),
        ("requests", NETWORK),
        ("replies", NETWORK),
        ("channel", CHANNEL, (MAX_CHANNELS,)),
        ("slice", SLICE, (MAX_SLICES,)),
        ("request", REQUEST, (POOL,)),
        ("free", "u2", (POOL,)),  # stack of free requests
    ]
)


def make_l1(gpu: Gpu, n_sms: int) -> Any:
    """An array of `n_sms` empty `L1` records. Raises E502 for a cache larger than the records."""
    caches = np.zeros(n_sms, L1)
    given = gpu.l1d
    _at_most("l1d.miss_queue", given.miss_queue, RING // 2)
    caches["miss_capacity"] = given.miss_queue
    caches["miss_read_max"] = given.miss_queue_read_max
    _at_most("l1d.latency_cycles", given.latency_cycles, PIPE)
    caches["pipe_cycles"] = given.latency_cycles
    caches["replies_per_line"] = -(-given.line_bytes // gpu.l2.sector_bytes)
    caches["flush"] = given.flush_when_empty
    caches["merge_in_queue"] = given.merge_needs_queue
    caches["cache"]["hashed"] = given.set_hash == "fermi"
    if given.set_hash == "fermi" and (given.sets, given.line_bytes) != (32, 128):
        message = f"{gpu.name}: l1d.set_hash is 'fermi' for {given.sets} sets of {given.line_bytes} bytes"
        raise error("E502", message, help="this hash is of 32 sets of 128 bytes")
    _set_cache(caches["cache"], "l1d", given)
    return caches


def make_memory(gpu: Gpu) -> Any:
    """An array of one `MEMORY` record, all caches empty. Raises E502 for a machine that the records cannot hold."""
    _check(gpu)
    memory = np.zeros(1, MEMORY)
    m = memory[0]
    icnt, l2, dram = gpu.icnt, gpu.l2, gpu.dram
    m["next"] = FOREVER
    m["n_sms"], m["n_slices"], m["n_channels"] = gpu.sm.count, l2.slices, dram.channels
    m["slices_per_channel"] = dram.slices_per_channel
    m["chunk_shift"] = chunk = _log2("dram.interleave_bytes", dram.interleave_bytes)
    m["bank_shift"] = bank = chunk + 1 + _log2("dram.row_bytes", dram.row_bytes // dram.interleave_bytes)
    m["bank_mask"] = dram.banks // 2 - 1
    m["row_shift"] = bank + _log2("dram.banks", dram.banks) - 1
    m["flits"] = np.minimum(255, -(-(icnt.header_bytes + np.arange(MAX_DATA + 1)) // icnt.flit_bytes))
    m["rop_cycles"], m["port_shift"] = l2.rop_cycles, _log2("l2.port_bytes", l2.port_bytes)
    m["miss_read_max"], m["miss_write_max"] = l2.miss_queue_read_max, l2.miss_queue_write_max
    m["sector_bytes"] = l2.sector_bytes if l2.sector_bytes < l2.line_bytes else 0
    m["constant_quirk"] = l2.constant_line_quirk
    m["quirk"] = l2.upper_half_store_quirk
    m["icnt_capacity"], m["dram_capacity"] = l2.icnt_queue - l2.icnt_queue_free + 1, l2.dram_queue
    m["fill_capacity"] = l2.fill_queue
    m["core_mhz"], m["dram_mhz"] = gpu.clocks.core_mhz, gpu.clocks.dram_mhz
    m["fixed_cycles"], m["return_cycles"] = dram.fixed_cycles, dram.return_cycles
    # one private credit a slice and those that all slices of the channel share
    m["credits"] = dram.slices_per_channel + _in_dram(dram) - 1
    m["queue_capacity"] = dram.scheduler_queue, dram.write_queue
    m["write_high"], m["write_low"] = dram.write_queue_high, dram.write_queue_low
    m["window"] = dram.reorder_window
    m["banks"] = dram.banks
    per_group = _log2("dram.banks / bank_groups", dram.banks // dram.bank_groups)
    m["group_shift"] = per_group if dram.bank_group_bits == "high" else 0
    m["group_mask"] = dram.bank_groups - 1
    for bank in range(dram.banks):
        m["group_banks"][bank >> m["group_shift"] & m["group_mask"]] |= 1 << bank
    m["ring_mask"] = (1 << int(m["credits"]).bit_length()) - 1
    m["row_with_column"] = dram.row_with_column
    m["atom_shift"] = _log2("dram.atom_bytes", dram.atom_bytes)
    for name in _TIMINGS + _TURNAROUNDS:
        m[name] = getattr(dram, name)
    m["slice_next"] = m["channel_next"] = m["dram_next"] = FOREVER
    m["n_free"] = POOL
    m["free"] = np.arange(POOL - 1, -1, -1)
    _set_network(m["requests"], gpu, gpu.sm.count, l2.slices, 0)
    _set_network(m["replies"], gpu, l2.slices, gpu.sm.count, 1)
    for name in ("next", "return_due", "entry_due", "unripe_next"):
        m["channel"][name] = FOREVER
    m["channel"]["bank"]["row"] = -1
    _set_cache(m["slice"][: l2.slices]["cache"], "l2", l2)
    return memory


def _set_cache(cache: Any, name: str, given: Any) -> None:
    """Configure an array of empty `CACHE` records as the GPU file's table `name` says."""
    _at_most(f"{name}.sets x ways", given.sets * given.ways, MAX_LINES)
    _at_most(f"{name}.mshr_entries", given.mshr_entries, MAX_ENTRIES)
    _at_most(f"{name}.mshr_waiters", given.mshr_waiters, MAX_WAITERS)
    cache["sets"], cache["ways"], cache["line_bytes"] = given.sets, given.ways, given.line_bytes
    cache["line_shift"] = _log2(f"{name}.line_bytes", given.line_bytes)
    cache["set_mask"] = -1 if given.sets & (given.sets - 1) else given.sets - 1
    cache["max_waiters"] = given.mshr_waiters
    cache["n_free"] = given.mshr_entries
    cache["free"] = np.arange(MAX_ENTRIES)
    cache["tag"][..., : given.sets * given.ways] = -1


def _set_network(network: Any, gpu: Gpu, n_in: int, n_out: int, is_reply: int) -> None:
    icnt = gpu.icnt
    network["n_in"], network["n_out"], network["is_reply"] = n_in, n_out, is_reply
    network["words"] = -(-max(n_in, n_out) // 64)
    # the queues before the crossbar are one FIFO: injection queue, router buffer, and the reply queue of a slice
    network["longest"] = longest = _flits(gpu, _reply_bytes(gpu) if is_reply else gpu.l2.line_bytes)
    network["input_flits"] = icnt.injection_queue_flits + icnt.buffer_flits
    if is_reply:
        network["input_flits"] += gpu.l2.reply_queue * longest
    if not icnt.head_of_line:  # one FIFO per output, with room for the packets of all inputs
        network["by_output"], network["n_in"] = 1, n_out
        network["input_flits"] = min(network["input_flits"], FIFO // n_in)
        _at_most("icnt inputs without head-of-line blocking", n_in, FIFO // longest)
    network["output_packets"] = icnt.buffer_flits + (icnt.response_fifo if is_reply else 0)
    network["gap"] = icnt.packet_gap_cycles
    last = len(icnt.unloaded_cycles) - 1
    for flits in range(1, MAX_FLITS):
        extra = max(0, flits - 1 - last)  # beyond the longest packet measured: one cycle per flit
        network["unloaded"][flits] = icnt.unloaded_cycles[min(flits - 1, last)] + extra
    network["next"] = network["asking"] = FOREVER
    network["out_due"] = FOREVER


def _flits(gpu: Gpu, size: int) -> int:
    """Flits of a packet with `size` bytes of data and its header."""
    return -(-(size + gpu.icnt.header_bytes) // gpu.icnt.flit_bytes)


def _reply_bytes(gpu: Gpu) -> int:
    """Bytes of the longest reply: a line or a sector."""
    return min(gpu.l2.line_bytes, gpu.l2.sector_bytes)


def _in_dram(dram: Dram) -> int:
    """Requests that a channel has room for."""
    return dram.scheduler_queue + dram.write_queue + dram.return_queue


def _check(gpu: Gpu) -> None:
    """Raise E502 where the records or the model cannot hold a machine."""
    for wrong, message, help in _limits(gpu):
        if wrong:
            raise error("E502", f"{gpu.name}: {message}", help=help)
    l2, dram, icnt = gpu.l2, gpu.dram, gpu.icnt
    _at_most("l2.line_bytes", l2.line_bytes, MAX_DATA)
    _at_most("sm.count", gpu.sm.count, MAX_SMS)
    _at_most("l2.slices", l2.slices, MAX_SLICES)
    _at_most("dram.channels", dram.channels, MAX_CHANNELS)
    _at_most("dram.banks", dram.banks, MAX_BANKS)
    _at_most("dram.scheduler_queue", dram.scheduler_queue, WINDOW)
    _at_most("dram.write_queue", dram.write_queue, WINDOW)
    _at_most("dram.scheduler_queue + write_queue + return_queue", _in_dram(dram), LATENCY_RING - 2)
    if l2.icnt_queue_free > l2.icnt_queue:
        message = f"{gpu.name}: l2.icnt_queue_free is above l2.icnt_queue"
        raise error("E502", message, help="give it a smaller one")
    before = icnt.injection_queue_flits + icnt.buffer_flits + l2.reply_queue * _flits(gpu, _reply_bytes(gpu))
    _at_most("icnt flits before the crossbar", before, FIFO)
    _at_most("icnt packets after the crossbar", icnt.buffer_flits + icnt.response_fifo, FIFO)
    _at_most("icnt flits of a line", _flits(gpu, l2.line_bytes), MAX_FLITS - 1)
    own = l2.slices * (l2.miss_queue + l2.dram_queue + l2.fill_queue)
    own += dram.channels * (dram.slices_per_channel + _in_dram(dram))
    _at_most("requests between L2 and DRAM", own, POOL_MARGIN)
    for name in ("miss_queue", "icnt_queue", "dram_queue", "fill_queue"):
        _at_most(f"l2.{name}", getattr(l2, name), RING)
    if l2.sector_bytes < l2.line_bytes:
        _at_most("l2.sets x ways", l2.sets * l2.ways, MAX_LINES // SECTORS)


def _limits(gpu: Gpu) -> Iterator[tuple[bool, str, str]]:
    """What the model cannot be: whether the machine is so, the message, and the advice."""
    clocks, l1d, l2, dram = gpu.clocks, gpu.l1d, gpu.l2, gpu.dram
    yield (
        not clocks.core_mhz == clocks.icnt_mhz == clocks.l2_mhz,
        "the clocks of core, network and L2 differ",
        "give clocks.icnt_mhz and clocks.l2_mhz the value of clocks.core_mhz",
    )
    yield (
        dram.slices_per_channel not in (1, 2) or l2.slices != dram.channels * dram.slices_per_channel,
        f"{l2.slices} L2 slices on {dram.channels} channels of {dram.slices_per_channel} slices",
        "a channel has one or two slices: l2.slices = dram.channels x dram.slices_per_channel",
    )
    sectored = l2.sector_bytes < l2.line_bytes
    yield (
        sectored != (l2.store_miss == "allocate"),
        f"l2.store_miss is '{l2.store_miss}' with sectors of {l2.sector_bytes} bytes",
        "caches of lines fetch on a store miss, caches of sectors allocate: sector_bytes = 32",
    )
    yield (
        sectored and (l2.line_bytes, l2.sector_bytes) != (128, 32),
        f"l2.sector_bytes is {l2.sector_bytes} in lines of {l2.line_bytes} bytes",
        "sectors are 32 bytes of lines of 128",
    )
    yield (
        gpu.ldst.uncached_segment_bytes > l2.sector_bytes,
        "ldst.uncached_segment_bytes is above l2.sector_bytes",
        "what passes the L1 by goes by sectors: uncached_segment_bytes = 32",
    )
    # a read miss queues the read and a write-back; a write miss the write-back, and without sectors also the line read
    # and the store itself
    store = 1 if sectored else 3
    yield (
        l2.miss_queue_read_max + 2 > l2.miss_queue or l2.miss_queue_write_max + store > l2.miss_queue,
        f"an l2.miss_queue of {l2.miss_queue} is too short",
        f"it needs 2 places more than miss_queue_read_max and {store} more than miss_queue_write_max",
    )
    longest = _flits(gpu, l2.line_bytes)
    yield (
        longest > gpu.icnt.injection_queue_flits,
        f"a line of {longest} flits does not fit icnt.injection_queue_flits",
        f"give it {longest} or more",
    )
    yield (
        not dram.write_queue_low <= dram.write_queue_high <= dram.write_queue,
        f"dram.write_queue of {dram.write_queue} with marks {dram.write_queue_high} and {dram.write_queue_low}",
        "write_queue_low <= write_queue_high <= write_queue; all 0: writes wait where reads do",
    )
    yield (
        dram.write_queue > 0 and dram.write_queue_low < 1,
        "dram.write_queue_low is 0",
        "give it 1 or more: writes are served until fewer wait",
    )
    yield dram.banks < 2, f"dram.banks is {dram.banks}", "give it 2 or more, a power of two"
    yield (
        l1d.miss_queue_read_max + 2 > l1d.miss_queue,
        f"an l1d.miss_queue of {l1d.miss_queue} is too short",
        "a load miss may leave a read and a write-back: it needs 2 places more than miss_queue_read_max",
    )
    for name in ("fetch", "l1c", "l1d"):
        line_bytes = getattr(gpu, name).line_bytes
        _log2(f"{name}.line_bytes", line_bytes)
        yield (
            line_bytes > l2.line_bytes,
            f"{name}.line_bytes is {line_bytes}, l2.line_bytes {l2.line_bytes}",
            "a line of the L2 has to hold one of the caches before it",
        )


def _at_most(key: str, value: int, limit: int) -> None:
    if value > limit:
        raise error("E502", f"'{key}' is {value}", help=f"the simulator holds at most {limit}")


def _log2(key: str, value: int) -> int:
    if value < 1 or value & (value - 1):
        raise error(
            "E502", f"'{key}' gives {value}, no power of two", help="the address map needs powers of two"
        )
    return value.bit_length() - 1
