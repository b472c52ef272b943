"""What a register scheme decides: whether a stalled CTA leaves the pipeline, and which CTA takes its place.

A scheme is a function `decide(view) -> decision`, called for each stalled CTA in each cycle of its SM, in the order of
slots, while fewer switches are under way than there may be. It says which CTA lives where, and no more: what a switch
costs, where registers have room and which CTAs are ready is found by the caller (`give_way.py`), which lists in the
view what is possible. A scheme that returns something else than STAY or what is possible is in error.

The view is a record of its own, written before each call, but for `notes`, which are the scheme's: eight numbers for
each SM, 0 when the launch begins. docs/schemes.md describes the fields.
Reference: timing-model section 6.1.
"""

from ptxsim.base.jit import record, record_type, types

# decisions
STAY = 0  # the CTA stays
SWAP = 1  # it leaves to a ready CTA whose registers are in the register file: contexts move, and no register
FETCH = 2  # to a ready CTA whose registers are outside of the file: in the PCRF or in DRAM
LAUNCH = 3  # to a new CTA
LOOK_UP = 4  # first its live registers have to be counted
DECISIONS = "STAY", "SWAP", "FETCH", "LAUNCH", "LOOK_UP"

NOTES = 8

VIEW = record(
    [
        # what can be done, each 0 or 1
        ("can_swap", "i8"),
        ("can_fetch", "i8"),
        ("can_launch", "i8"),
        ("can_look_up", "i8"),  # FETCH or LAUNCH may be possible, when the live registers are known
        # the stalled CTA
        ("slot", "i8"),
        ("cta", "i8"),  # its number in the grid
        ("stalled", "i8"),  # cycles so far
        ("live", "i8"),  # 32-bit registers of its warps that are live; -1: not counted
        # the SM
        ("index", "i8"),
        ("cycle", "i8"),
        ("resident", "i8"),  # CTAs
        ("active", "i8"),  # those in the pipeline
        ("outside", "i8"),  # those with their registers outside of the file
        ("ready", "i8"),  # those that have left the pipeline and wait for nothing
        ("left", "i8"),  # CTAs of the grid that have not been launched
        ("has_room", "i8"),  # the registers of one more CTA fit into the file
        ("free", "i8"),  # entries of the PCRF
        ("notes", "i8", (NOTES,)),
    ]
)

DECIDE = types.int64(record_type(VIEW))
"""The type of `decide` as the compiled loop takes it."""
