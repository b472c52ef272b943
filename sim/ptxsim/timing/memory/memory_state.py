"""Records of the memory system; `memory_setup.py` initialises them from a GPU description.

One `MEMORY` record is everything that the SMs share: the pool of requests, the two crossbars, the L2 slices and the
DRAM channels; one `L1` record is one SM's data cache. Arrays are as large as any machine may need (the maxima below),
the machine's own sizes are in fields, so that one compilation serves every GPU file. A request is an index into
`MEMORY.request`; queues hold such indices.

Times are core cycles, except in `CHANNEL`, where they are DRAM cycles unless a comment says otherwise. A time of
`FOREVER` means: nothing to do until another part of the machine sets an earlier time.

Reference: timing-model sections 0 and 3.
"""

from ptxsim.base.jit import record, record_at, record_of_lines

FOREVER = 1 << 62
MAX_SMS, MAX_SLICES, MAX_CHANNELS = 160, 128, 64
MAX_PORTS = 256  # of one side of a crossbar
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

# how a set index is formed
LINEAR, FERMI, POLYNOMIAL = range(3)

# outcomes of an access to a cache
HIT, MISS, PENDING, FAIL = range(4)
"""Found; sent to the miss queue; merged with a miss on its way; nothing done, to be tried again."""

NO_WAITER = -1  # in place of a waiter: a store miss caused the line read, and waits for nothing

# array maxima; those of rings are powers of two
MAX_LINES = 8192
MAX_SECTORS = 4 * MAX_LINES
MAX_ENTRIES = 512
MAX_WAITERS = 64
POOL = 1 << 19  # a machine uses `pool` of them
FIFO = 256
ROP_RING = 1024
RING = 64
PIPE = 128  # places before the tags of the L1
SECTORS = 4  # most sectors of a line
SECTOR_LINES = 2048  # of an L1 with sectors
SECTOR_SETS = 256
MAX_POLY = 9  # bits of a hashed index
CHUNKS = 1 << 19  # of the address space, of a machine that scatters them: `mapping/random_slices.py`
RANDOM_WORDS = 31
BANKS = 8  # of an L1
LATENCY_RING = 512
WINDOW = 128  # places of a DRAM scheduler queue
PLACE_WORDS = WINDOW // 64  # of a mask of places
MAX_BANKS = 32
MAX_FLITS = 16
MAX_DATA = 256  # bytes of a packet


MISS_ENTRY = record(
    [
        ("n_waiters", "u1"),
        ("n_woken", "u1"),
        ("n_here", "u1"),  # replies that have arrived, of `replies_per_line`; in an L1 with sectors, of 1
        ("dirty", "u1"),  # the line is dirty as soon as it arrives (atomics)
        ("key", "i4"),  # the line or sector that it was taken for
        ("waiter", "i4", (MAX_WAITERS,)),
    ]
)
"""An MSHR."""

CACHE = record(
    [
        ("n_free", "i8"),
        ("n_ready", "u4"),  # ring of entries whose line has arrived
        ("ready_head", "u4"),
        ("max_waiters", "i8"),
        ("ways", "i8"),
        ("line_bytes", "i8"),
        ("line_shift", "i8"),
        ("set_mask", "i8"),  # sets - 1; -1 when the number of sets is no power of two
        (
            "hashed",
            "i8",
        ),  # LINEAR, FERMI or POLYNOMIAL: how the set index is mixed with higher bits of the address
        # counters: a refused access counts only as a reservation fail, once per try
        ("accesses", "i8"),
        ("hits", "i8"),
        ("misses", "i8"),
        ("pending_hits", "i8"),
        ("reservation_fails", "i8"),
        ("sets", "i8"),
        ("set_bits", "i8"),
        (
            "set_poly",
            "i8",
            (MAX_POLY,),
        ),  # of each bit of a POLYNOMIAL index: the higher bits that it is mixed with
        # miss entries
        ("free", "u2", (MAX_ENTRIES,)),  # stack of free entries
        ("ready", "u2", (MAX_ENTRIES,)),
        ("miss", MISS_ENTRY, (MAX_ENTRIES,)),
        # lines: set * ways + way; in a cache of sectors `state` and `entry` are of line * SECTORS + sector
        ("state", "u1", (MAX_SECTORS,)),
        ("entry", "u2", (MAX_SECTORS,)),  # miss entry of a RESERVED line
        ("tag", "i8", (MAX_LINES,)),  # line address
        ("used", "i8", (MAX_LINES,)),  # cycle of the last access
    ]
)

LOOK_UPS = record(
    [
        ("head", "i8"),
        ("count", "i8"),
        ("stuck", "i8"),  # the tags have refused the first access, and nothing has changed since
        ("entered", "i8"),  # the cycle after the last access entered
        ("due", "i8", (PIPE,)),
        ("address", "i8", (PIPE,)),
        ("bytes", "i2", (PIPE,)),
        ("words", "u4", (PIPE,)),
        ("kind", "u1", (PIPE,)),
        ("tag", "i2", (PIPE,)),
    ]
)
"""The accesses of a bank of the L1 on their way to the tags."""

SECTOR_LINE_ORDER = record(
    [
        ("bucket", "u2", (SECTOR_LINES,)),  # of a hash of the line: 1 + the first place of its chain
        ("chain", "u2", (SECTOR_LINES,)),  # 1 + the next place
        ("newer", "u2", (SECTOR_LINES,)),  # in the set, by last access; 1 + place, 0: none
        ("older", "u2", (SECTOR_LINES,)),
        ("newest", "u2", (SECTOR_SETS,)),
        ("oldest", "u2", (SECTOR_SETS,)),
        ("filled", "u2", (SECTOR_SETS,)),  # ways in use
        ("written", "u1", (SECTORS * SECTOR_LINES,)),  # words of a sector that were written, one bit each
    ]
)
"""The lines of an L1 with sectors: where each is, and which of its set was used least recently."""

ON_THEIR_WAY = record(
    [
        ("bucket", "u2", (MAX_ENTRIES,)),  # of a hash of the sector: 1 + the first miss entry of its chain
        ("chain", "u2", (MAX_ENTRIES,)),  # 1 + the next entry
        ("sector", "i8", (MAX_ENTRIES,)),  # address
    ]
)
"""The sectors that an L1 waits for which allocates on a fill (`on_their_way.py`)."""

L1 = record_of_lines(
    [
        ("miss_head", "i8"),
        ("miss_count", "i8"),
        ("miss_capacity", "i8"),
        ("miss_read_max", "i8"),  # a load miss needs at most this many in the miss queue
        ("merge_in_queue", "i8"),  # a merge needs as many
        ("replies_per_line", "i8"),
        ("pipe_count", "i8"),  # accesses in all pipes before the tags
        ("pipe_cycles", "i8"),  # 0: there is none
        ("n_banks", "i8"),  # each with a pipe of its own
        ("bank_shift", "i8"),
        ("bank_hashed", "i8"),  # the bank is mixed with the next higher bits of the address
        ("stores", "i8"),  # accesses that are stores
        ("store_hits", "i8"),
        ("kept", "i8"),  # the last store was not sent on
        ("flush", "i8"),  # forget all lines when the SM has nothing to run
        ("flushed_at", "i8"),  # accesses when that was done last
        ("cache", CACHE),
        ("pipe", LOOK_UPS, (BANKS,)),
        ("miss_line", "i8", (RING,)),
        ("miss_bytes", "i2", (RING,)),
        ("miss_kind", "u1", (RING,)),
        ("miss_tag", "i2", (RING,)),
        ("miss_words", "u4", (RING,)),
        # sectors: `l1_sectors.py`
        ("sectored", "i8"),
        (
            "keeps_global",
            "i8",
        ),  # stores to global memory that hit are kept, not evicted; those to local memory always are
        ("sends", "i8"),  # a store that is kept goes on to the L2, too
        ("allocates", "i8"),  # a store that misses takes a sector
        ("on_fill", "i8"),  # a line gets its place when its first sector arrives
        ("dirty_percent", "i8"),  # a dirty line is replaced from so many dirty lines on
        ("n_dirty", "i8"),
        ("waits", ON_THEIR_WAY),
        ("line_order", SECTOR_LINE_ORDER),
    ]
)

l1_at = record_at(L1)
"""`l1_at(address of the L1 records, i)`"""

REQUEST = record_of_lines(
    [
        ("line", "i8"),  # address as the sender passed it
        ("due", "i8"),  # cycle at which it may leave the queue it is in
        ("row", "i8"),
        ("words", "u4"),  # words of its line that a store writes, one bit each
        ("tag", "i4"),  # the sender's own number; of a FILL the miss entry
        ("bytes", "i2"),
        ("set", "u2"),
        ("at", "u2"),  # of a FILL: the line or sector that is read
        ("following", "u4"),  # 1 + the next packet of its queue in a crossbar of packets
        ("kind", "u1"),
        ("sm", "u1"),
        ("slice", "u1"),
        ("bank", "u1"),
        ("sector", "u1"),  # the first one, in a cache of sectors
    ]
)

PACKET = record([("request", "u4"), ("output", "u1"), ("flits", "u1")])

INPUT = record(
    [
        ("next", "i8"),  # when the head asks for its output, if it has not asked
        ("free", "i8"),
        ("flits", "u2"),
        ("count", "u2"),
        ("head", "u2"),
        ("first", "u4"),  # of a crossbar of packets: the first and the last one
        ("end", "u4"),
    ]
)

OUTPUT = record(
    [
        ("next", "i8"),  # when it can grant, if an input asks and its queue has room
        ("free", "i8"),
        ("last", "i8"),  # arrival of the newest packet sent to it
        ("count", "u2"),
        ("head", "u2"),
        ("wait_count", "u2"),
        ("wait_head", "u2"),
        ("wait", "u1", (MAX_PORTS,)),  # inputs that ask for it, in order
        # of a crossbar of packets
        ("first", "u4"),
        ("end", "u4"),
        ("turn", "i8"),  # the input that is looked at first
        ("asked", "i8", (PORT_WORDS,)),  # inputs whose first packet is for it, one bit each
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
        ("of_packets", "i8"),  # `crossbar.py`: every packet is one unit, moved in one cycle
        ("in_turn", "i8"),  # inputs in turn, each for one packet a cycle, and not outputs
        ("first_input", "i8"),  # there: where the turn begins
        ("first_node", "i8"),  # there: number of the first input among all ends of the network
        ("n_nodes", "i8"),
        ("input_flits", "i8"),  # room of one input FIFO
        ("longest", "i8"),  # flits of the longest packet
        ("output_packets", "i8"),  # room of an output's queue, packets on their way included
        ("gap", "i8"),
        ("unloaded", "i8", (MAX_FLITS,)),  # cycles from grant to arrival, by flits
        ("out_due", "i8", (MAX_PORTS,)),  # arrival of the oldest packet of an output's queue; FOREVER if none
        ("input", INPUT, (MAX_PORTS,)),
        ("output", OUTPUT, (MAX_PORTS,)),
        ("fifo", PACKET, (MAX_PORTS, FIFO)),  # packets of an input
        ("queue", "u4", (MAX_PORTS, FIFO)),  # packets of an output
    ]
)

SLICE = record_of_lines(
    [
        ("place", "i4"),  # of the line of the last access, in a cache of sectors
        ("rop_head", "u2"),
        ("rop_count", "u2"),
        ("ripe", "u2"),  # sectors that have left the ROP queue and wait for the tags
        ("ripened", "u2"),  # requests all of whose sectors have
        ("ripe_sector", "u1"),  # sectors of the next request that have
        ("sector", "u1"),  # sectors of the first request that are done
        ("miss_head", "u1"),
        ("miss_count", "u1"),
        ("dram_head", "u1"),
        ("dram_count", "u1"),
        ("fill_head", "u1"),
        ("fill_count", "u1"),
        ("stuck", "u1"),  # the access at the head failed, and nothing has changed since
        ("port_free", "i8"),  # data port
        ("fill_free", "i8"),  # fill port
        ("stuck_since", "i8"),
        ("ripe_next", "i8"),  # first cycle in which the next sector may leave the ROP queue
        ("cache", CACHE),
        ("rop", "u4", (ROP_RING,)),  # ROP delay and the queue before the tags
        ("miss", "u4", (RING,)),
        ("dram", "u4", (RING,)),
        ("filling", "u4", (RING,)),
        ("written", "u1", (MAX_SECTORS,)),  # words of a sector that were written, one bit each
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
        ("request", "u4"),
        ("atoms", "u1"),  # column commands left
    ]
)

PLACE = record(
    [
        ("row", "i8"),
        ("age", "i8"),  # less for older requests
        ("request", "u4"),
        ("following", "u1"),  # 1 + place of the bank's next request; 0: none
    ]
)

QUEUE = record(
    [
        ("queued", "i8"),  # banks with requests in it, one bit each
        ("count", "i8"),
        ("used", "i8", (PLACE_WORDS,)),  # places, one bit each
        ("first", "u1", (MAX_BANKS,)),  # of a bank: 1 + place of its oldest request; 0: none
        ("last", "u1", (MAX_BANKS,)),
        ("place", PLACE, (WINDOW,)),
    ]
)
"""A scheduler queue: its places, and in which order each bank's requests stand in them."""

CHANNEL = record_of_lines(
    [
        ("bank", BANK, (MAX_BANKS,)),
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
        ("group_precharge", "i8", (MAX_BANKS,)),  # of any bank of a group, after a read of the group
        ("queue", QUEUE, (2,)),  # reads and writes, or all requests
        ("latency", "u4", (LATENCY_RING,)),  # `due` in core cycles
        ("returned", "u4", (LATENCY_RING,)),  # `due` in DRAM cycles
    ]
)

TIMINGS = ("tCCD", "tCCDL", "tRRD", "tRCD", "tRCDWR", "tRAS", "tRP", "tRC", "CL", "WL")
TURNAROUNDS = ("tRTW", "tWTR", "tWTP", "tRTPL", "tBURST")

MEMORY = record(
    [
        # records of whole cache lines come first
        ("request", REQUEST, (POOL,)),
        ("slice", SLICE, (MAX_SLICES,)),
        ("channel", CHANNEL, (MAX_CHANNELS,)),
        ("has_team", "i8"),  # several workers share the run, and
        ("team", "u8"),  # this is the address of their TEAM record (memory/team/team.py)
        ("n_sms", "i8"),
        ("n_slices", "i8"),
        ("n_channels", "i8"),
        ("slices_per_channel", "i8"),
        ("port_sms_shift", "i8"),  # SMs that share a port of the network, as a power of two
        # address map, as shifts and masks
        ("chunk_shift", "i8"),
        ("slice_shift", "i8"),  # of the bit that tells the slices of a channel
        ("bank_shift", "i8"),
        ("bank_mask", "i8"),
        ("row_shift", "i8"),
        (
            "hash_shift",
            "i8",
        ),  # the address bits that choose the slice are hashed with those from here on; 0: not
        ("slice_bits", "i8"),
        ("slice_poly", "i8", (MAX_POLY,)),
        (
            "scatter_shift",
            "i8",
        ),  # bytes of a chunk with a slice of its own, as a power of two; 0: no such chunks
        ("bank_hashed", "i8"),  # the DRAM bank is mixed with the low bits of the row
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
        ("two_buses", "i8"),  # one for row commands, one for column commands
        ("group_wait", "i8"),  # a read delays the precharges of its group, not of its bank only
        (
            "choice_in_turn",
            "i8",
        ),  # of idle banks the first in turn takes a request, not the one with the oldest
        ("atom_shift", "i8"),
        *[(name, "i8") for name in TIMINGS + TURNAROUNDS],
        # state
        ("next", "i8"),  # next cycle at which `memory_cycle` has anything to do
        ("slice_next", "i8", (MAX_SLICES,)),
        ("channel_next", "i8", (MAX_CHANNELS,)),  # next work of a channel in core cycles
        ("dram_next", "i8", (MAX_CHANNELS,)),  # and in DRAM cycles
        ("channel_asked", "u1", (MAX_CHANNELS,)),  # slices that have requests for it, one bit each
        ("pool", "i8"),  # requests of this machine
        ("margin", "i8"),  # of them left for what the L2 slices send to DRAM
        ("sector_margin", "i8"),  # left for that and for the sectors that requests are split into
        ("n_free", "i8"),
        ("requests", NETWORK),
        ("replies", NETWORK),
        # chunks that have got a slice: their numbers + 1, by a hash of them; and the generator of the next one
        ("n_chunks", "i8"),
        ("random_at", "i8"),
        ("random_word", "u4", (RANDOM_WORDS,)),
        ("chunk_slice", "u1", (CHUNKS,)),
        ("chunk", "i8", (CHUNKS,)),
        ("free", "i4", (POOL,)),  # stack of free requests, each less the one that is in this place at first
    ]
)
