"""The records of the checks: the effects of every instruction on memory and registers, and the state of every byte.

Bytes of the global, shared and local space have a shadow byte each, 1 if the byte was written. Shared and global memory
are also divided into granules, each with a row of numbers for its last accesses (races.py); what orders accesses is
kept as order.py explains. Rows of global memory take storage where the kernel accesses it.
"""

from ptxsim.base.jit import record

# what is checked: bits of `what`
MEMORY, INIT, RACES, BARRIERS = 1, 2, 4, 8
TRACED = 16  # no check: the loop stops before and after chosen instructions (functional/tracing.py)
GOING, BEFORE, AFTER = range(3)

# what a report says
(
    BAD_ACCESS,
    MISALIGNED_ACCESS,
    UNWRITTEN_REGISTER,
    UNWRITTEN_BYTES,
    WRITE_AFTER_WRITE,
    READ_AFTER_WRITE,
    WRITE_AFTER_READ,
    DIVERGENT_BARRIER,
    READ_BEFORE_COPY,  # of what an asynchronous copy writes, before it was waited for
    WRITE_BEFORE_COPY,
    MISSED_BARRIER,  # warps ended without a barrier at which the others waited
    # of asynchronous code (sanitizer/asynchronous/)
    WRITE_BEFORE_READ,  # of what an asynchronous operation reads, before it was waited for
    MISSING_FENCE,  # of the proxy of asynchronous operations, after an ordinary write
    MISSING_MAP_FENCE,  # and of the proxy of tensor maps
    OTHER_SWIZZLE,
    ENDS_EARLY,  # while a copy may read its shared memory
    EARLY_COLUMN,  # of tensor memory, before what writes it was waited for
    NO_PERMIT,
    NOT_FREED,
    IN_FLIGHT,  # a register
    NO_REGISTER_FENCE,
    WRONG_MBARRIER,
    WRONG_BYTES,
    NOT_PUBLISHED,  # an initialised mbarrier, to the CTA of the cluster that uses it
    WRONG_CLUSTER_BARRIER,
    MISSED_CLUSTER_BARRIER,
    WRONG_REGISTERS,  # of `setmaxnreg`
    MISSED_REGISTERS,
) = range(1, 29)
# what is wrong with an mbarrier, and with the use of a cluster's barrier
NOT_INITIALISED, INVALIDATED, INITIALISED_TWICE, WRONG_COUNT, TOO_MANY_ARRIVALS = range(5)
ARRIVES_TWICE, WAITS_WITHOUT_ARRIVING = range(2)

# what an instruction orders besides barriers: the lanes of a warp (bar.warp.sync); it publishes its warp's accesses so
# far (a release: arriving at an mbarrier, .release, a fence); it orders all published accesses before its warp's later
# ones (an acquire: a test of an mbarrier that holds, .acquire, a fence); it is a fence whose scope includes other CTAs;
# it is a release whose scope includes the other CTAs of a cluster
ORDERS_WARP, RELEASES, ACQUIRES, FENCES_GRID, RELEASES_CLUSTER = 1, 2, 4, 8, 16
# whether an access is atomic or otherwise strong, and at which scope: its CTA (or cluster), or the GPU or system
WEAK, STRONG_IN_CTA, STRONG_IN_GRID = range(3)

# what an instruction is for asynchronous copies (sanitizer/copies.py): it issues one, ends a group, waits, or lets an
# mbarrier track those of its thread
COPIES, COMMITS, AWAITS, TRACKS = range(1, 5)
COMMITTED, TRACKED = 1, 2  # how a segment of a thread's copies ended
N_SEGMENTS, SEGMENT_WORDS = 16, 3  # segments that are kept, and the words of each
SEGMENT = 1 + N_SEGMENTS * SEGMENT_WORDS  # words of a thread: the number of its current segment first

MAX_REPORTS = 256
MAX_WARPS = 32

# an access in a granule's row: CTA, thread (its number in the CTA + 1; 0 none), its warp's epoch then (below 0: by a
# copy, see sanitizer/copies.py), the instruction with whether it was strong and whether other lanes of the warp did it
CTA, THREAD, EPOCH, AT = range(4)
ACCESS = 4
# the row: the last write, the last read, the last read by another warp
WRITE, READ, OTHER_READ = 0, ACCESS, 2 * ACCESS
VALUE = 3 * ACCESS  # what was written last: the same value again is no race
GRANULE = VALUE + 1
N_VERSIONS = 8  # of a CTA's releases for the grid that are kept
MAX_SLOTS = 1024  # that locations of releases share
SLOT_BYTES = 1 << 26  # that they may take

CHECKED = record(
    [
        ("access", "i4"),  # NO_ACCESS, LOAD, STORE, ATOMIC (ptxsim.base.program)
        ("bytes", "i4"),  # that a lane accesses
        ("copies", "i4"),  # COPIES (its access is the one to shared memory), COMMITS, AWAITS, TRACKS; 0 none
        (
            "copied_bytes",
            "i4",
        ),  # of COPIES: bytes that a lane reads from global memory; 0: an operand's value
        ("groups", "i4"),  # of AWAITS: how many need not be complete; -1: all copies must be
        (
            "strong",
            "i4",
        ),  # volatile, relaxed, acquire, release or atomic (STRONG_IN_...): no race with its like
        ("orders", "i4"),  # ORDERS_WARP, RELEASES, ACQUIRES, FENCES_GRID, RELEASES_CLUSTER: bits
        # the pieces in which it is executed: indices into these records, where pieces follow the instructions
        ("pieces", "i4"),
        ("pieces_end", "i4"),
        ("computes", "i4"),  # lane by lane, and nothing else: an unwritten source taints its result
        ("call", "i4"),  # of a call: its entry in the table of calls; -1 none
        ("allocates", "i4"),  # alloca
        ("block", "i4"),  # of a call of `malloc`: the 64-bit row of its result; -1 none
        ("traced", "i4"),
        ("guard", "i4"),  # register of the guard; -1 none
        ("passed", "i4"),  # register whose values lanes pass on: one of them must have written it; -1 none
        ("reads", "i4"),  # first of the registers it reads, in `registers`
        ("writes", "i4"),  # first of those it writes
        ("end", "i4"),  # after the last of those
        # of asynchronous code (sanitizer/asynchronous_state.py)
        ("asynchronous", "i4"),  # what it is; 0 nothing
        ("proxies", "i4"),  # of FENCES_PROXY: a mask
        ("moves", "i4"),  # it copies a register, and does nothing else
        ("fragment_end", "i4"),  # after A's registers of `wgmma`, which follow those that it writes
    ]
)

REPORT = record(
    [
        ("kind", "i8"),
        ("at", "i8"),  # instruction
        ("thread", "i8"),  # in its CTA
        ("cta", "i8"),
        # within its space; the register of UNWRITTEN_REGISTER; lanes of DIVERGENT_BARRIER; warps of MISSED_BARRIER
        ("address", "u8"),
        ("space", "i8"),
        (
            "other",
            "i8",
        ),  # the other access: its instruction, -1 none; of MISSED_BARRIER: where the warp ended
        ("other_cta", "i8"),
        # its thread; of a bad access: the number of its CHECKED record; of local bytes: where the frame begins
        ("other_thread", "i8"),
        ("count", "i8"),  # of threads, or of bytes
    ]
)

CHECKS = record(
    [
        ("what", "i8"),  # the checks that are on: bits
        ("cta", "i8"),
        ("rank", "i8"),  # of the CTA in its cluster
        ("members", "u8"),  # u64: MAX_CLUSTER addresses of the CHECKS records of a cluster; 0: there is none
        ("n_warps", "i8"),
        ("n_registers", "i8"),
        ("calls", "u8"),  # i32: what calls do to the stack (sanitizer/frames.py)
        ("frame_row", "i8"),  # 32-bit row of a lane's frame; -1 none
        ("grown_row", "i8"),  # and of the bytes that alloca has taken above frame_end
        ("frame_end", "i8"),
        ("lockstep", "i8"),  # lanes of a warp run in step: no races between them
        ("registers", "u8"),  # i32: the registers that instructions read and write
        ("written", "u8"),  # u32: lanes that wrote a register, n_registers for every warp
        ("origins", "u8"),  # i32: 1 + the unwritten register that a register was computed from; as many
        ("tainted", "i8"),  # lanes in which the executing instruction computes with an unwritten register
        ("origin", "i8"),
        ("written_at_start", "u8"),  # u32: registers that are set when a warp starts, as masks
        ("global_shadow", "u8"),
        ("shared_shadow", "u8"),
        ("shared_start", "u8"),  # how the shared shadow begins in every CTA
        ("local_shadow", "u8"),
        ("clocks", "u8"),  # i32: MAX_WARPS x MAX_WARPS
        ("published", "u8"),  # i32: MAX_WARPS, the epochs that releases have published
        ("segments", "u8"),  # i32: SEGMENT for each thread, its asynchronous copies; 0 without any
        ("tests", "u8"),  # i32: MAX_WARPS, the acquires of each warp
        ("asynchronous", "u8"),  # ASYNCHRONOUS record; 0: the kernel has no asynchronous code
        ("flight", "u8"),  # i32: registers in flight, n_registers for every warp
        ("changed", "u8"),  # u8: registers that were written since the last `wgmma.fence`; as many
        ("granules", "u8"),  # i32: GRANULE for each
        ("n_granules", "i8"),
        ("granule_shift", "i8"),
        ("global_granules", "u8"),  # i32: GRANULE for each; 0 where races are not checked
        ("global_shift", "i8"),
        # of releases for the grid (sanitizer/order.py), all i32 but `used_slots`
        ("n_slots", "i8"),  # that locations share; 0: nothing orders CTAs
        ("n_ctas", "i8"),
        ("slots", "u8"),  # n_slots x n_ctas: the latest released version of each CTA
        ("used_slots", "u8"),  # u8: n_slots, whether anything is released there
        ("newest", "u8"),  # n_ctas: the latest version of each CTA
        ("versions", "u8"),  # n_ctas x N_VERSIONS x n_warps: epochs
        ("known", "u8"),  # n_warps x n_ctas: the versions that each warp knows
        ("seen", "u8"),  # n_warps x n_slots: read by strong accesses, not yet followed by a fence
        ("fences", "u8"),  # MAX_WARPS + 2: the version of each warp's last fence, and two flags
        ("next_warp", "i8"),  # that a paused CTA goes on with; -1: it did not pause
        ("left_of_slice", "i8"),  # instructions that the executing warp may still execute
        ("rounds", "i8"),  # of the turns of all warps, modulo functional/cta_loop.py: ROUNDS
        ("watch", "i8"),  # from this cycle on the loop stops after every round, to detect a lack of progress
        ("in_vain", "i8"),  # rounds in which every warp that could run found an mbarrier incomplete
        ("traced_warps", "i8"),  # a mask
        ("stage", "i8"),  # GOING, or stopped BEFORE or AFTER an instruction
        ("traced_at", "i8"),
        ("traced_warp", "i8"),
        ("traced_lanes", "i8"),
        ("n_reports", "i8"),
        ("lost_reports", "i8"),
    ]
)
