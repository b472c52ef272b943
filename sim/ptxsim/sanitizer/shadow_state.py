"""The records of the checks: the effects of every instruction on memory and registers, and the state of every byte.

Bytes of the global, shared and local space have a shadow byte each, 1 if the byte was written. Shared memory is also
divided into granules (as small as the smallest access of the kernel), each with a row of numbers for its last accesses.
Vector clocks order accesses: every warp counts its own epochs, one more after every barrier, and keeps for every other
warp the latest epoch that a barrier has ordered before it.
Reference: Flanagan, Freund, FastTrack: Efficient and Precise Dynamic Race Detection, PLDI 2009.
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
) = range(1, 11)

# what an instruction orders besides barriers: the lanes of a warp (bar.warp.sync); it publishes its warp's accesses so
# far (a release: arriving at an mbarrier, .release, a fence); it orders all published accesses before its warp's later
# ones (an acquire: a test of an mbarrier that holds, .acquire, a fence). Publication does not distinguish addresses,
# which may hide a race
ORDERS_WARP, RELEASES, ACQUIRES = 1, 2, 4

# what an instruction is for asynchronous copies (sanitizer/copies.py): it issues one, ends a group, waits, or lets an
# mbarrier track those of its thread
COPIES, COMMITS, AWAITS, TRACKS = range(1, 5)
COMMITTED, TRACKED = 1, 2  # how a segment of a thread's copies ended
N_SEGMENTS, SEGMENT_WORDS = 16, 3  # segments that are kept, and the words of each
SEGMENT = 1 + N_SEGMENTS * SEGMENT_WORDS  # words of a thread: the number of its current segment first

MAX_REPORTS = 256
MAX_WARPS = 32

# a granule's row: the thread that wrote last (its number + 1; 0 none), that warp's epoch then (below 0: by a copy, see
# sanitizer/copies.py), the instruction, whether it was strong; the same of the thread that read last, and whether other
# lanes of its warp did; and of another warp's
WRITER, WRITER_EPOCH, WRITER_AT, WRITER_STRONG = range(4)
READER, READER_EPOCH, READER_AT, READER_STRONG, READER_MANY = range(4, 9)
OTHER = 9  # and its four fields, in the same order
VALUE = 14  # what was written last: the same value again is no race
GRANULE = 15

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
        ("strong", "i4"),  # volatile, relaxed, acquire, release or atomic: no race with its like
        ("orders", "i4"),  # ORDERS_WARP, RELEASES, ACQUIRES: bits
        # the pieces in which it is executed: indices into these records, where pieces follow the instructions
        ("pieces", "i4"),
        ("pieces_end", "i4"),
        ("computes", "i4"),  # lane by lane, and nothing else: an unwritten source taints its result
        ("call", "i4"),  # of a call: its entry in the table of calls; -1 none
        ("allocates", "i4"),  # alloca
        ("traced", "i4"),
        ("guard", "i4"),  # register of the guard; -1 none
        ("passed", "i4"),  # register whose values lanes pass on: one of them must have written it; -1 none
        ("reads", "i4"),  # first of the registers it reads, in `registers`
        ("writes", "i4"),  # first of those it writes
        ("end", "i4"),  # after the last of those
    ]
)

REPORT = record(
    [
        ("kind", "i8"),
        ("at", "i8"),  # instruction
        ("thread", "i8"),  # in its CTA
        ("cta", "i8"),
        ("address", "u8"),  # within its space; the register of UNWRITTEN_REGISTER; lanes of DIVERGENT_BARRIER
        ("space", "i8"),
        ("other", "i8"),  # the other access: its instruction, -1 none
        # its thread; of a bad access: the number of its CHECKED record; of local bytes: where the frame begins
        ("other_thread", "i8"),
        ("count", "i8"),  # of threads, or of bytes
    ]
)

CHECKS = record(
    [
        ("what", "i8"),  # the checks that are on: bits
        ("cta", "i8"),
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
        ("granules", "u8"),  # i32: GRANULE for each
        ("n_granules", "i8"),
        ("granule_shift", "i8"),
        ("next_warp", "i8"),  # that a paused CTA goes on with
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
