"""The records of the checks: what every instruction does to memory and registers, what is known of every byte.

Bytes of the global, shared and local space have a shadow byte each, 1 where something was written. Shared memory is
also divided into granules (as small as the smallest access of the kernel), which remember who touched them last:
a row of numbers each. Who touched before whom is known by vector clocks: every warp counts its own epochs, a new
one behind every barrier, and knows of every other warp the epoch that a barrier told it of.
Reference: Flanagan, Freund, FastTrack: Efficient and Precise Dynamic Race Detection, PLDI 2009.
"""

from ptxsim.base.jit import record

# what is checked: bits of `what`
MEMORY, INIT, RACES, BARRIERS = 1, 2, 4, 8
TRACED = (
    16  # nothing is looked for: the loop stops before and behind chosen instructions (functional/tracing.py)
)
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

# what an instruction orders besides barriers: the lanes of a warp (bar.warp.sync); what its warp did so far is
# published (a release: arriving at an mbarrier, .release, a fence); its warp knows all that was published (an acquire:
# a test of an mbarrier that holds, .acquire, a fence). What is published is not told apart by address: that may hide
# a race
ORDERS_WARP, RELEASES, ACQUIRES = 1, 2, 4

# what an instruction is for asynchronous copies (sanitizer/copies.py): it issues one, ends a group, waits, or lets an
# mbarrier track those of its thread
COPIES, COMMITS, AWAITS, TRACKS = range(1, 5)
COMMITTED, TRACKED = 1, 2  # how a segment of a thread's copies ended
N_SEGMENTS, SEGMENT_WORDS = 16, 3  # that are remembered, and what is known of each
SEGMENT = 1 + N_SEGMENTS * SEGMENT_WORDS  # words of a thread: its current segment's number before them

MAX_REPORTS = 256
MAX_WARPS = 32

# a granule's row: the thread that wrote last (its number + 1; 0 none), that warp's epoch then (below 0: by a copy, see
# sanitizer/copies.py), the instruction, whether it was strong; the same of the thread that read last, and whether other
# lanes of its warp did; and of another warp's
WRITER, WRITER_EPOCH, WRITER_AT, WRITER_STRONG = range(4)
READER, READER_EPOCH, READER_AT, READER_STRONG, READER_MANY = range(4, 9)
OTHER = 9  # and its four behind it, in the same order
VALUE = 14  # what was written last: the same value again is no race
GRANULE = 15

CHECKED = record(
    [
        ("access", "i4"),  # NO_ACCESS, LOAD, STORE, ATOMIC (ptxsim.base.program)
        ("bytes", "i4"),  # that a lane accesses
        (
            "copies",
            "i4",
        ),  # COPIES: the access is the one to shared memory; COMMITS, AWAITS, TRACKS; 0 nothing of it
        (
            "copied_bytes",
            "i4",
        ),  # of COPIES: that a lane reads from global memory; 0 where an operand says how many
        ("groups", "i4"),  # of AWAITS: how many need not be complete; -1: all copies must be
        ("strong", "i4"),  # volatile, relaxed, acquire, release or atomic: no race with its like
        ("orders", "i4"),  # ORDERS_WARP, RELEASES, ACQUIRES: bits
        (
            "pieces",
            "i4",
        ),  # the first of the pieces in which it is executed: numbers in the list of these records,
        ("pieces_end", "i4"),  # where pieces follow the instructions; the same number: it has none
        (
            "computes",
            "i4",
        ),  # lane by lane, and nothing else: what comes of registers that nobody wrote is passed on
        ("call", "i4"),  # of a call: its entry in the table of calls; -1 none
        ("allocates", "i4"),  # alloca
        ("traced", "i4"),
        ("guard", "i4"),  # register of the guard; -1 none
        ("passed", "i4"),  # register whose values lanes pass on: one of them must have written it; -1 none
        ("reads", "i4"),  # first of the registers it reads, in `registers`
        ("writes", "i4"),  # first of those it writes
        ("end", "i4"),  # behind the last of those
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
        (
            "other_thread",
            "i8",
        ),  # of a bad access: the number of its CHECKED record; of local bytes: where the frame begins
        ("count", "i8"),  # how often: threads, or bytes
    ]
)

CHECKS = record(
    [
        ("what", "i8"),  # to look for: bits
        ("cta", "i8"),
        ("n_warps", "i8"),
        ("n_registers", "i8"),
        ("calls", "u8"),  # i32: what calls do to the stack (sanitizer/frames.py)
        (
            "frame_row",
            "i8",
        ),  # 32-bit rows: of a lane's frame, of what alloca has taken above frame_end; -1 none
        ("grown_row", "i8"),
        ("frame_end", "i8"),
        ("lockstep", "i8"),  # lanes of a warp run in step: no races between them
        ("registers", "u8"),  # i32: the registers that instructions read and write
        ("written", "u8"),  # u32: lanes that wrote a register, n_registers for every warp
        ("origins", "u8"),  # i32: 1 + the unwritten register of which one was computed; as many
        ("tainted", "i8"),  # lanes in which the instruction that executes computes with such a one
        ("origin", "i8"),
        ("written_at_start", "u8"),  # u32: registers that are set when a warp starts, as masks
        ("global_shadow", "u8"),
        ("shared_shadow", "u8"),
        ("shared_start", "u8"),  # how the shared shadow begins in every CTA
        ("local_shadow", "u8"),
        ("clocks", "u8"),  # i32: MAX_WARPS x MAX_WARPS
        ("published", "u8"),  # i32: MAX_WARPS, the epochs that releases told of
        ("segments", "u8"),  # i32: SEGMENT for each thread, its asynchronous copies; 0 without any
        ("tests", "u8"),  # i32: MAX_WARPS, how often each one saw something complete or released
        ("granules", "u8"),  # i32: GRANULE for each
        ("n_granules", "i8"),
        ("granule_shift", "i8"),
        ("next_warp", "i8"),  # that a paused CTA goes on with
        (
            "watch",
            "i8",
        ),  # the cycle from which on the loop stops behind a round: to see whether anybody gets further
        ("in_vain", "i8"),  # rounds in which every warp that could run found an mbarrier incomplete
        ("traced_warps", "i8"),  # a mask
        ("stage", "i8"),  # GOING, or where it has stopped: BEFORE or AFTER an instruction
        ("traced_at", "i8"),
        ("traced_warp", "i8"),
        ("traced_lanes", "i8"),
        ("n_reports", "i8"),
        ("lost_reports", "i8"),
    ]
)
