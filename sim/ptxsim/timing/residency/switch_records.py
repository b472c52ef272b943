"""The state of an SM that switches CTAs: one `SWITCH` record, and a `WARP` record for every resident warp.

A resident CTA has a *context*, a number below `ctas`, which indexes its scratchpad and its warps' registers, scoreboard
and loads (warp k of context c is c * warps of a CTA + k). A switch moves none of these; it moves the columns of the
`SM` record that are indexed by slot, to `WARP` records and to the barrier arrays below.

The locations of context and registers are encoded as in Table IV of FineReg: a CTA is active iff both are 2.
"""

from ptxsim.base.jit import record, record_at
from ptxsim.base.program import stack_fields
from ptxsim.timing.sm_state import BARRIERS, MAX_CTAS, MAX_RESIDENT

ABSENT, SHARED_MEMORY, PIPELINE = 0, 1, 2  # where the context of a CTA is
PCRF, ACRF = 1, 2  # where its registers are
RETIRED, LIVE, EXITED = 0, 1, 2  # a warp that was swapped out; EXITED: its stores may be on their way
MAX_VECTORS = 256  # entries of the cache of live-register vectors
NOWHERE = -1

WARP = record(
    [
        ("state", "i8"),
        ("depth", "i8", (1,)),
        ("inner_wait", "i8"),
        ("dynamic_id", "i8"),
        *stack_fields(1),
    ]
)

SWITCH = record(
    [
        # the scheme
        ("ctas", "i8"),  # that can be resident
        ("acrf_ctas", "i8"),  # whose registers fit into the ACRF
        ("pcrf_entries", "i8"),  # 0: Virtual Thread
        ("swap_cycles", "i8"),
        ("restore_first_cycles", "i8"),
        ("stalled_cycles", "i8"),
        ("vector_entries", "i8"),
        ("vector_hit_cycles", "i8"),
        ("live", "u8"),  # address of int64 per instruction: 32-bit registers that are live before it
        # address of bits per instruction and row (of 32 bits, then of 64): the row is live, or is no register's
        ("kept", "u8"),
        ("kept_bytes", "i8"),  # of an instruction
        ("warps", "u8"),  # address of the WARP records
        # CTAs by context
        ("place", "i8", (MAX_RESIDENT,)),  # of the context: ABSENT, SHARED_MEMORY, PIPELINE
        ("registers", "i8", (MAX_RESIDENT,)),  # PCRF, ACRF
        ("cta", "i8", (MAX_RESIDENT,)),
        ("loads", "i8", (MAX_RESIDENT,)),  # that a CTA in shared memory waits for
        ("entries", "i8", (MAX_RESIDENT,)),  # that it has in the PCRF
        ("warps_left", "i4", (MAX_RESIDENT,)),
        ("arrived", "i4", (MAX_RESIDENT, BARRIERS)),
        ("counted", "i4", (MAX_RESIDENT, BARRIERS)),
        ("expected", "i4", (MAX_RESIDENT, BARRIERS)),
        ("holds", "i4", (MAX_RESIDENT, BARRIERS)),
        ("seen", "i8", (MAX_RESIDENT, BARRIERS)),  # warps, the CTA's first one in bit 0
        ("resident", "i8"),
        ("active", "i8"),
        ("in_acrf", "i8"),
        ("free_entries", "i8"),
        ("n_ready", "i8"),  # CTAs in shared memory that wait for no load
        # CTAs by slot
        ("stalled_since", "i8", (MAX_CTAS,)),  # -1: not stalled, or not tested
        ("live_count", "i8", (MAX_CTAS,)),  # PCRF entries that it needs; -1: not looked up
        ("look_up_cycles", "i8", (MAX_CTAS,)),
        # the switch that is going on
        ("slot", "i8"),  # -1: none is
        ("incoming", "i8"),  # context; -1: the slot becomes free
        ("due", "i8"),
        # the look-up of vectors that is going on
        ("vector_slot", "i8"),  # -1: none is
        ("vector_warp", "i8"),  # position of the warp that is next
        ("vector_wanted", "i8"),  # instruction whose vector is on its way; -1: none is
        ("vector_came", "i8"),  # that has come for the next warp; -1: none has
        ("vector_tag", "i8", (MAX_VECTORS,)),  # instruction
        ("next", "i8"),  # next cycle with work that no arrival causes
        # counters
        ("counted_cycle", "i8"),  # the first cycle that is not in the sums
        ("resident_sum", "i8"),  # of CTAs over cycles
        ("active_sum", "i8"),
        ("most_resident", "i8"),
        ("most_active", "i8"),
        ("most_entries", "i8"),
        ("switches", "i8"),
        ("evictions", "i8"),
        ("restores", "i8"),
        ("registers_evicted", "i8"),  # of warps, to the PCRF
        ("registers_restored", "i8"),  # and from there
        ("depleted", "i8"),  # a stalled CTA stays for want of room in the PCRF
        ("depletion_cycles", "i8"),
        ("vector_hits", "i8"),
        ("vector_misses", "i8"),
    ]
)

switch_at = record_at(SWITCH)
"""`switch_at(address of the SWITCH records, SM)`"""
warp_at = record_at(WARP)
"""`warp_at(address of an SM's WARP records, context of the warp)`"""
