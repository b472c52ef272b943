"""Codes in the records of a timeline: `timeline_events.py` writes them, `observe/timeline_tracks.py` reads them.

A record is the cycle, the SM times KINDS and a kind, and four numbers that the kind explains.
"""

# kinds
WARP, CTA, LOCKED, UNLOCKED, OWNED, SENT, BACK = range(7)
"""WARP: warp, state, instruction (-1 none). CTA, a CTA begins: slot, CTA. LOCKED, a lock is taken: pair, warp of the
CTA, slot. UNLOCKED: pair, warp of the CTA. OWNED: pair, side (-1 none). SENT, a load beyond the SM: pending load, warp,
instruction, accesses. BACK: pending load."""
KINDS = 8

# states of a warp
ABSENT, RUNNING, FETCHING, MEMORY, LOCK, BARRIER, REGISTERS, FENCE, COPIES, ATOMIC, EXITED = range(11)
STATES = 16

WORDS = 6  # of a record
HALF = WORDS << 15  # words of half a buffer; the other half has room for the rest of the cycle
SIZE = 2 * HALF
