"""The reasons of scheduler slots that issued nothing, what is counted per instruction, and where both are kept.

For `reasons.py`, which finds them, and for `ptxsim/timing/hotspots.py`, which names them.
"""

from ptxsim.base.jit import record

# idle: no warp has a valid instruction
NO_WARP, EXITED, BARRIER, FENCE, COPIES, ATOMIC, BRANCH, FETCH, ICACHE, WINDOW = range(10)
# scoreboard: those that have one wait for a register
ALU, SFU, SHARED_LOAD, CONSTANT, TEXTURE_FETCH, L1, L1_MISS, PAST_L1, LOCAL_L1, LOCAL_MISS = range(10, 20)
LOCK, HELD = range(20, 22)  # stall, where a run counts locks so
# stall: those that wait for none find their port closed
SP_OPERANDS, SP_UNITS, SFU_OPERANDS, SFU_UNITS, L1_REFUSES, L1C_REFUSES, BANKS, ACCESSES, LDST = range(22, 31)
N_REASONS = 31

# what is counted per instruction besides
LANES, ACTIVE, DIVERGENT, MEMORY, TRANSACTIONS, HITS, MISSES, PENDING_HITS = range(8)
N_COUNTS = 8

PASSES = 3  # what becomes of an access at L1, besides HIT, MISS and PENDING: it does not ask

HOTSPOTS = record(
    [
        # addresses of int64 arrays
        ("slots", "u8"),  # [SMs][N_REASONS]
        ("reasons", "u8"),  # [instructions + 1][N_REASONS]; the last one: no instruction
        ("caused", "u8"),  # [instructions]: slots that others waited for it
        ("counts", "u8"),  # [instructions][N_COUNTS]
        ("writer", "u8"),  # [SMs][warps][registers]: who writes a pending register, see `reasons.note_issue`
        ("last_issued", "u8"),  # [SMs][warps]: instruction
        ("missed", "u8"),  # [SMs][PENDING]: an access of this load has missed, or (PASSES) gone past L1
        ("divergent_seen", "u8"),  # [SMs]: divergent branches before the last issue
    ]
)
