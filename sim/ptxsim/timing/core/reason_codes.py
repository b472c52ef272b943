"""The reasons of scheduler slots that issued nothing, what is counted per instruction, and where both are kept.

For `reasons.py`, which finds the reason, and `timing/hotspots.py`. The reasons are numbered in the order of
`ptxtool.results.hotspots.REASONS`.
"""

from ptxsim.base.jit import record

# idle: no warp has a valid instruction
NO_WARP, EXITED, BARRIER, REGISTERS, FENCE, COPIES, MBARRIER, ATOMIC = range(8)
BRANCH, FETCH, INSTRUCTION_MISS, WINDOW = range(8, 12)
# scoreboard: all warps with a valid instruction wait for a register
ALU, SFU, SHARED, CONSTANT, TEXTURE, L1, L1_MISS, PAST_L1, LOCAL_L1, LOCAL_MISS = range(12, 22)
LOCK, HELD = range(22, 24)  # stall, where a run counts locks so
# stall: all warps without a hazard find their port closed
SP_OPERANDS, SP_UNITS, SFU_OPERANDS, SFU_UNITS, L1_REFUSES, L1C_REFUSES, BANK_CONFLICT, ACCESSES, LDST = (
    range(24, 33)
)
N_REASONS = 33

# the other counts of an instruction; COUNTS are the fields of `ptxtool.results.hotspots.Hotspot`
COUNTS = ("lanes", "active", "divergent", "memory", "transactions", "hits", "misses", "pending_hits")
LANES, ACTIVE, DIVERGENT, MEMORY, TRANSACTIONS, HITS, MISSES, PENDING_HITS = range(8)
N_COUNTS = len(COUNTS)

PASSES = 3  # the outcome of an access that bypasses L1, besides HIT, MISS and PENDING

HOTSPOTS = record(
    [
        # addresses of int64 arrays
        ("slots", "u8"),  # [SMs][N_REASONS]
        ("reasons", "u8"),  # [instructions + 1][N_REASONS]; the last one: no instruction
        ("caused", "u8"),  # [instructions]: slots in which a warp waited for it
        ("counts", "u8"),  # [instructions][N_COUNTS]
        (
            "writer",
            "u8",
        ),  # [SMs][warps][registers]: the writer of a pending register, see `reasons.note_issue`
        ("last_issued", "u8"),  # [SMs][warps]: instruction
        ("missed", "u8"),  # [SMs][PENDING]: an access of this load has missed, or (PASSES) gone past L1
        ("divergent_seen", "u8"),  # [SMs]: divergent branches before the last issue
        # of register_windows.py: sets of registers of a thread, `access_words` words each (0: not known)
        ("access_words", "i8"),
        ("thread_registers", "i8"),  # per thread
        ("accesses", "u8"),  # [instructions][words]: what it accesses
        ("accessed", "u8"),  # [SMs][warps][words]: what has been accessed in the window
        ("windows", "u8"),  # [SMs][register_windows.N_COUNTS]
    ]
)
