"""The state of an SM that switches CTAs: one `SWITCH` record, and a `WARP` record for every resident warp.

A resident CTA has a *context*, a number below `ctas`, which indexes its scratchpad and its warps' registers, scoreboard
and loads (warp k of context c is c * warps of a CTA + k). A switch moves none of these; it moves the columns of the
`SM` record that are indexed by slot, to `WARP` records and to the barrier arrays below.

The locations of context and registers are encoded as in Table IV of FineReg: a CTA is active iff both are 2.
"""

from ptxsim.base.jit import record, record_at
from ptxsim.base.program import stack_fields
from ptxsim.base.warp_masks import MOST_WARPS
from ptxsim.timing.residency.decisions import VIEW
from ptxsim.timing.sm_state import BARRIERS, MAX_RESIDENT, MOST_CTAS

ABSENT, SHARED_MEMORY, PIPELINE = 0, 1, 2  # where the context of a CTA is
OUTSIDE, ACRF = 1, 2  # where its registers are: in the PCRF or in DRAM; or in the file
RETIRED, LIVE, EXITED = 0, 1, 2  # a warp that was swapped out; EXITED: its stores may be on their way
MAX_VECTORS = 256  # entries of the cache of live-register vectors
NOWHERE = -1

WARP = record(
    [
        ("state", "i8"),
        ("depth", "i8", (1,)),
        ("inner_wait", "i8"),
        ("dynamic_id", "i8"),
        ("entries", "i8"),  # that it has in the PCRF
        *stack_fields(1),
    ]
)

SWITCH = record(
    [
        # the scheme
        ("ctas", "i8"),  # that can be resident
        ("acrf_ctas", "i8"),  # whose registers fit into the ACRF
        ("pcrf_entries", "i8"),  # 0: there is no PCRF
        ("lines", "i8"),  # registers of a CTA's warps, each a line in DRAM; 0: none move there
        ("keeps_places", "i8"),  # a slot left for a new CTA is kept for it
        ("swap_cycles", "i8"),
        ("concurrent_switches", "i8"),
        ("registers_per_cycle", "i8"),
        ("overlap", "i8"),  # a warp may issue when its own registers are there
        ("restore_first_cycles", "i8"),
        ("stalled_cycles", "i8"),
        ("refused_is_stalled", "i8"),
        ("vector_entries", "i8"),
        ("vector_hit_cycles", "i8"),
        ("vector_bytes", "i8"),  # of a vector in memory
        # address of vectors of bits, one for a row of registers: `live_rows` of switching_setup.py
        ("vectors", "u8"),
        ("words32", "i8"),  # words of 64 bits of a vector that are for rows of 32 bits
        ("words64", "i8"),  # and for rows of 64 bits
        ("warps", "u8"),  # address of the WARP records
        # CTAs by context
        ("place", "i8", (MAX_RESIDENT,)),  # of the context: ABSENT, SHARED_MEMORY, PIPELINE
        ("registers", "i8", (MAX_RESIDENT,)),  # OUTSIDE, ACRF
        ("cta", "i8", (MAX_RESIDENT,)),
        ("loads", "i8", (MAX_RESIDENT,)),  # that a CTA in shared memory waits for
        ("entries", "i8", (MAX_RESIDENT,)),  # that it has in the PCRF
        ("awaits_section", "i8", (MAX_RESIDENT,)),  # it has left for want of a section, not because of memory
        ("stall_began", "i8", (MAX_RESIDENT,)),  # of a CTA in shared memory, when it stalled
        ("warps_left", "i4", (MAX_RESIDENT,)),
        ("arrived", "i4", (MAX_RESIDENT, BARRIERS)),
        ("counted", "i4", (MAX_RESIDENT, BARRIERS)),
        ("expected", "i4", (MAX_RESIDENT, BARRIERS)),
        ("holds", "i4", (MAX_RESIDENT, BARRIERS)),
        ("seen", "i8", (MAX_RESIDENT, BARRIERS)),  # warp positions
        ("resident", "i8"),
        ("active", "i8"),
        ("in_acrf", "i8"),
        ("free_entries", "i8"),
        ("outside", "i8"),  # CTAs
        ("n_ready", "i8"),  # CTAs in shared memory that wait for no load, but perhaps for a section
        # CTAs by slot
        ("stalled_since", "i8", (MOST_CTAS,)),  # -1: not stalled, or not tested
        ("running_since", "i8", (MOST_CTAS,)),  # it was launched or came back, or its last stall ended
        ("never_stalled", "i8", (MOST_CTAS,)),
        ("live_count", "i8", (MOST_CTAS,)),  # PCRF entries that it needs; -1: not looked up
        ("look_up_cycles", "i8", (MOST_CTAS,)),
        # switches under way, by slot
        ("under_way", "i8"),  # slots: the contexts or the registers of a switch move
        ("for_new", "i8"),  # slots that a CTA has left for a new one, with that one's room in the ACRF
        ("incoming", "i8", (MOST_CTAS,)),  # context; -1: the slot becomes free
        ("due", "i8", (MOST_CTAS,)),  # when the incoming CTA takes the slot
        ("moved", "i8", (MOST_CTAS,)),  # when all registers have moved
        (
            "arrival",
            "i8",
            (MOST_WARPS,),
        ),  # where running overlaps: when a warp's registers are there; 0: they are
        ("began", "i8", (MOST_CTAS,)),  # of a switch through DRAM, and the rest of it:
        ("leaving", "i8", (MOST_CTAS,)),  # the context whose registers leave; -1: none
        ("lines_out", "i8", (MOST_CTAS,)),  # of these, that are still to be sent
        ("lines_in", "i8", (MOST_CTAS,)),  # of those that come, that are still to be requested
        ("lines_awaited", "i8", (MOST_CTAS,)),  # and that are not there
        ("scheme_view", VIEW),  # what the scheme sees
        # the look-up of vectors that is going on
        ("vector_slot", "i8"),  # -1: none is
        ("wanted", "u8"),  # address of bytes: the instructions whose vectors are still to be looked up
        ("vector_next", "i8"),  # the first instruction that can be one of these
        ("vector_wanted", "i8"),  # instruction whose vector is on its way; -1: none is
        ("vector_left", "i8"),  # bytes of it that are on their way
        ("vector_came", "i8"),  # the instruction whose vector has just come; -1: none has
        ("vector_tag", "i8", (MAX_VECTORS,)),  # instruction
        ("next", "i8"),  # next cycle with work that no arrival causes
        # counters
        ("counted_cycle", "i8"),  # the first cycle that is not in the sums
        ("resident_sum", "i8"),  # of CTAs over cycles
        ("active_sum", "i8"),
        ("most_resident", "i8"),
        ("most_active", "i8"),
        ("most_entries", "i8"),
        ("most_outside", "i8"),
        ("switches", "i8"),
        ("switch_cycles", "i8"),  # slots are empty for a switch
        ("stalls", "i8"),
        ("stall_cycles", "i8"),
        ("to_stall_sum", "i8"),  # of `running_since` to the stall
        ("first_stalls", "i8"),  # of CTAs
        ("to_first_stall_sum", "i8"),
        ("evictions", "i8"),
        ("restores", "i8"),
        ("registers_evicted", "i8"),  # of warps, to the PCRF or to DRAM
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
