"""The lowered form of a kernel: arrays of records that compiled code reads.

`lower.py` lowers a kernel to a `Program`; `core/` reads the timing half of an instruction record (unit, latency,
registers), `execute/` its micro-operations. An instruction is one `INSTRUCTION` record and the micro-operations
`uop_start <= k < uop_end`; a micro-operation works on rows of 32 lanes.

Rows: operand numbers >= 0 are rows of the executing warp, < 0 are constant rows shared by all warps (row `~n`).
"""

from dataclasses import dataclass, field
from typing import Any

from ptxsim.base.aligned import aligned
from ptxsim.base.jit import CACHE_LINE, record, record_at, record_of_lines
from ptxsim.base.warp_masks import MOST_WARPS
from ptxtool.base.render import printable

# control kinds: what the instruction does to the flow. CALL is PTXPlus `callp`, INVOKE calls a function with a frame;
# COMMIT ends a group of asynchronous copies, WAIT waits for groups; SET_REGISTERS is `setmaxnreg`; REPEAT is executed
# again as long as it leaves `repeats` in the context, SUSPEND too in a timed run
PLAIN, BRANCH, EXIT, BARRIER, CALL, RETURN, INDIRECT, MEMBAR, INVOKE, COMMIT, WAIT, SET_REGISTERS = range(12)
REPEAT, SUSPEND = range(12, 14)
# classes of instructions, by the unit that executes them (timing-model section 1.3): EITHER is SP if free, else SFU;
# the last three are of machines whose classes share collector units
SP, SFU, LDST, EITHER, TENSOR, DP, INT = range(7)
# spaces of a memory access; GENERIC is decided per access when it executes
NO_SPACE, GLOBAL, SHARED, LOCAL, CONST, PARAM, TEXTURE, GENERIC = range(8)
# what a memory access does
NO_ACCESS, LOAD, STORE, ATOMIC = range(4)

# which of an instruction's accesses bypass the L1: none, those of global memory, those of local memory too
BY_NONE, BY_GLOBAL, BY_ALL = range(3)

# what a barrier instruction does: wait, only arrive, or wait and count or combine the predicates of all threads
SYNC, ARRIVE, COUNT, ALL, ANY = range(5)

# release marks (ptxtool/ir/marks.py) before an instruction: they give back the warp's register lock, or its part of the
# scratchpad lock; the same for a warp that falls through, where a label stands between mark and instruction; and that
# the next instruction has such
GIVES_REGISTERS, GIVES_SCRATCHPAD, FALLEN_REGISTERS, FALLEN_SCRATCHPAD, LEADS_TO_MARK = (
    1 << k for k in range(5)
)
# marks around extended registers
ACQUIRES_EXTENDED, RELEASES_EXTENDED = 1 << 5, 1 << 6

TENSOR_BYTES = 8 + 128 * 512 * 4  # of a CTA's tensor memory: a word with its units in use, and its cells
KEPT_ENTRIES, ENTRY_WORDS = 64, 6  # products of a warp group that a warp keeps (execute/tensor/warpgroup.py)
KEPT_WORDS = 2 + KEPT_ENTRIES * ENTRY_WORDS
MAX_STACK = 64  # entries of a warp's SIMT stack
N_BARRIERS = 24  # of a CTA: 16, and one for every warp group, where it waits for its products
FOR_REGISTERS = 32  # `stack_wait` of an entry that waits for registers of its CTA (1 to 24: at a barrier)
COPY_GROUPS = 8  # groups of a warp's asynchronous copies that the timing model tells apart
MAX_REGISTERS = 32  # registers of one instruction that the scoreboard sees
MAX_DESTINATIONS = 12
MAX_BANKS = 12  # source registers that the operand collector reads


# first what issue and the units read, side by side
def stack_fields(warps: int) -> list[tuple[str, str, tuple[int, int]]]:
    """The entries of the stacks of so many warps: entries of one depth are adjacent, as few warps are deep in it."""
    shape = MAX_STACK, warps
    return [
        ("stack_pc", "i4", shape),
        ("stack_rpc", "i4", shape),
        ("stack_mask", "i8", shape),
        ("stack_call", "i4", shape),
        ("stack_wait", "i4", shape),  # 1 + the barrier an entry waits at, or FOR_REGISTERS; 0: it does not
        ("waits_since", "i4", shape),  # the instruction at which it waits
        ("waiting_lanes", "i8", shape),
    ]


INSTRUCTION = record_of_lines(
    [
        # what most instructions need to issue: a cache line of the host, with the first registers
        ("kind", "i1"),  # control kind
        ("exit_after", "i1"),  # PTXPlus `.exit`: the lanes exit after it
        ("guard_code", "i1"),  # condition code number 0..31 (PTXPlus), 32 "is true", 33 "is false" (PTX)
        ("unit", "i1"),  # class: of all accesses LDST
        ("access", "i1"),  # NO_ACCESS, LOAD, STORE, ATOMIC
        ("outside", "i1"),  # may access memory beyond the SM: not shared memory, constants or parameters
        ("loads_long", "i1"),  # loads from memory other than shared and constant, or from a generic address
        ("space", "i1"),
        ("n_sources", "i1"),  # source registers the operand collector reads
        ("n_destinations", "i1"),
        ("n_registers", "i1"),  # all registers named: destinations first, then sources, address, guard
        ("bypass", "i1"),  # passes the L1 by: BY_NONE, BY_GLOBAL, BY_ALL
        (
            "ends_slice",
            "i1",
        ),  # in a run without time: a warp waits for what it loads, and others run meanwhile
        ("guard_row", "i4"),  # predicate row of the guard; -1 unguarded
        ("uop_start", "i4"),
        ("uop_end", "i4"),
        ("latency", "i4"),
        ("interval", "i4"),
        ("target", "i4"),  # instruction index of a direct branch or call; -1 where each lane has its own
        ("reconverge", "i4"),  # instruction index where divergent lanes rejoin; -1 none (function end)
        (
            "straight",
            "i4",
        ),  # instructions from here on that only compute and access memory: see lowering/straight.py
        ("register", "i4", (MAX_REGISTERS,)),  # their numbers in the scoreboard: Program.scoreboard_order
        (
            "bank",
            "i4",
            (MAX_BANKS,),
        ),  # sources' numbers, which the machine's function of banks reads (`timing/banks.py`)
        ("address", "i4"),  # byte address (PC): 8 bytes an instruction, 4 for PTXPlus `.half`
        ("max_sequence", "i4"),  # largest sequence number touched; 0 none: decides shared register or not
        ("access_bytes", "i4"),  # bytes a lane accesses, vector elements included
        ("element_bytes", "i4"),  # bytes of one element
        (
            "copies",
            "i4",
        ),  # 1 an asynchronous copy; of WAIT the groups it does not wait for, -1: all are waited for
        ("barrier_kind", "i4"),  # SYNC, ARRIVE, or what a reduction gives: COUNT, ALL, ANY
        ("barrier_row", "i4"),  # row of a reduction's result
        ("barrier_aligned", "i4"),  # a warp arrives as a whole; 0: lane by lane
        ("return_end", "i4"),  # INVOKE: from `uop_end` to here, what is done when all lanes have come back
        ("line", "i4"),  # source line
        # for resource sharing
        ("marks", "i4"),  # marks before it
        (
            "reach_end",
            "i4",
        ),  # micro-operations up to here tell which bytes of shared memory it accesses; 0: none
        ("reach_unknown", "i4"),  # they would change registers: any byte may be accessed
        ("register_goal", "i4"),  # of SET_REGISTERS: n raises a thread's registers to n, -n lowers them to n
        # for the energy of a run: 32-bit registers of a lane
        ("words_read", "i4"),
        ("words_written", "i4"),
    ]
)

instruction_at = record_at(INSTRUCTION)
"""`instruction_at(address of the instructions, i)`"""


def instruction_records(n: int) -> Any:
    """n INSTRUCTION records of zeros, each at the beginning of a cache line."""
    return aligned(n * INSTRUCTION.itemsize, CACHE_LINE).view(INSTRUCTION)


def copied_instructions(instructions: Any) -> Any:
    """A copy of INSTRUCTION records, each at the beginning of a cache line."""
    copy = instruction_records(len(instructions))
    copy[:] = instructions
    return copy


UOP = record([("op", "i4"), ("d", "i4"), ("a", "i4"), ("b", "i4"), ("c", "i4"), ("e", "i4")])

uop_at = record_at(UOP)
"""`uop_at(address of the micro-operations, k)`"""

# What a micro-operation can access, and what it reports to the timing model. One record per run.
CONTEXT = record(
    [
        # set at launch: addresses of arrays that Python keeps alive
        ("r32", "u8"),  # rows of u32: constant rows, `rows32` rows per warp slot of the GPU, a scratch row
        ("r64", "u8"),
        ("predicates", "u8"),  # u32 lane masks, `rows_p` per warp slot
        ("constant_rows32", "i8"),
        ("constant_rows64", "i8"),
        ("rows32", "i8"),
        ("rows64", "i8"),
        ("rows_p", "i8"),
        ("total_rows32", "i8"),
        ("total_rows64", "i8"),
        ("total_rows_p", "i8"),
        ("scratch32", "u8"),  # address of the scratch row
        ("scratch64", "u8"),
        ("global_memory", "u8"),  # address of the bytes of the global space
        ("global_base", "u8"),  # simulated address of its first byte
        ("global_bytes", "i8"),
        ("allocations", "u8"),  # u64 pairs [start, end) of simulated addresses, ascending
        ("n_allocations", "i8"),
        # global accesses outside of all allocations that are tolerated and counted: from the first address to the last
        ("tolerated_start", "u8"),
        ("tolerated_end", "u8"),  # 0: none
        ("n_tolerated", "i8"),  # lanes
        ("first_tolerated", "u8"),  # address
        ("constant_memory", "u8"),
        ("constant_bytes", "i8"),
        ("param_memory", "u8"),
        ("param_bytes", "i8"),
        ("local_memory", "u8"),  # `local_bytes` per thread slot of the GPU
        ("local_bytes", "i8"),
        (
            "textures",
            "u8",
        ),  # textures, samplers and surfaces: rows of i64, see execute/texture/texture_table.py
        ("n_textures", "i8"),  # rows
        ("instructions", "u8"),  # address of the program's INSTRUCTION records
        ("n_instructions", "i8"),
        ("uops", "u8"),
        ("n_uops", "i8"),
        # set per instruction by the loop
        ("warp", "i8"),  # warp slot of the whole GPU: SM * warps per SM + warp
        ("own32", "u8"),  # address of its first row; set by `execute`
        ("own64", "u8"),
        ("shared_memory", "u8"),  # address of the executing CTA's shared memory
        ("shared_bytes", "i8"),
        ("cycle", "i8"),
        # set by a memory instruction
        ("lane_address", "u8", (32,)),  # byte address within its space
        ("access_mask", "u8"),  # lanes that access memory
        ("uniform", "i8"),  # all lanes at one address: one load serves them
        ("stride", "i8"),  # bytes from lane to lane, where all access memory at equal distances; else -1
        ("access_space", "i8"),  # space found (GENERIC resolved)
        ("lane_pointer", "u8", (32,)),  # where that byte lies in the simulator's own memory
        ("lane_target", "i8", (32,)),  # instruction index per lane of an INDIRECT jump
        # set by a barrier instruction
        ("barrier", "i8"),  # its number
        ("barrier_threads", "i8"),  # threads that take part; 0: all of the CTA
        ("barrier_votes", "i8"),  # lanes whose predicate holds
        # set by a test of an mbarrier that has not completed: other warps should run first
        ("yields", "i8"),
        # set by an instruction of kind REPEAT or SUSPEND that waits for something
        ("repeats", "i8"),
        ("awaited", "u8"),  # where the mbarrier lies that the first lane in vain tests
        ("awaited_phase", "i8"),  # the parity that it must no longer have
        ("awaited_ns", "i8"),  # the time limit of the test; 0: the machine's
        ("phase_ended", "i8"),  # set by an operation that has ended a phase of an mbarrier
        # clusters (execute/cluster/clusters.py)
        ("cluster", "u8"),  # CLUSTER record of the executing CTA's cluster; 0: it is a cluster of its own
        ("cluster_shape", "i8", (3,)),
        ("explicit_cluster", "i8"),  # the launch, or the kernel's head, has given it
        ("has_pairs", "i8"),  # addresses of shared memory may have ranks (execute/codes.py)
        # scratch of matrix instructions: the elements of both factors, and the result
        ("matrix_a", "i8", (2048,)),
        ("matrix_b", "i8", (2048,)),
        ("matrix_d", "i8", (256,)),
        # large products (execute/tensor/tiles.py): the address of their scratch; 0: the program has none
        ("tile_scratch", "u8"),
        # tensor memory (execute/tensor/tensor_memory.py): one for each warp slot, that of its CTA's first warp; 0: none
        ("tensor_memory", "u8"),
        # products that complete when they are waited for (execute/tensor/warpgroup.py), of every warp slot; 0: at once
        ("late_products", "u8"),
        # bulk copies (execute/bulk/copies.py): a BULK record; 0: the program has none
        ("bulk", "u8"),
        ("bulk_groups", "u8"),  # i64 of each thread: the bulk groups that it has committed
        # for the checks: the shadow bytes of written memory, global and the CTA's shared; 0: none are kept
        ("written_global", "u8"),
        ("written_shared", "u8"),
        # for runs on several threads (functional/threads.py), in micro-operations of their own
        ("marks", "u8"),  # of global memory (execute/memory/access_marks.py)
        ("noted", "u8"),  # atomics that are done later (execute/memory/deferred_atomics.py)
        ("n_noted", "i8"),
        ("most_noted", "i8"),
        ("noted_cta", "i8"),  # the CTA that executes
        # calls (execute/calls.py): what each warp has put aside
        ("call_stack", "u8"),  # address of int64 [warp slots][call_words]
        ("call_words", "i8"),  # 0: the program calls nothing
        ("returned_call", "i8"),  # INVOKE whose lanes have all come back
        ("returned_mask", "i8"),  # those of them that have not exited
        # what kernels print, and their heap (execute/host.py)
        ("host_memory", "u8"),
        ("host_bytes", "i8"),
        ("host_used", "i8"),
        ("heap_start", "u8"),  # simulated address
        ("heap_bytes", "i8"),
        ("heap_next", "i8"),  # where the search for a block begins
        # first run-time error; 0 none
        ("error", "i8"),
        ("error_lane", "i8"),
        ("error_address", "u8"),  # of BEYOND_TARGETS: the index, and the number of targets << 32
    ]
)
MAX_CLUSTER = 32
"""CTAs of a cluster: more than 8 only where a launch allows a size that is not portable, more than 16 for sm_107."""
CLUSTER = record(
    [
        ("n_ctas", "i8"),
        ("phase", "i8"),  # how often its barrier has been complete
        ("arrived", "i8"),  # threads
        ("live", "i8"),  # threads that have not exited, those of CTAs that have not started among them
        (
            "shared",
            "u8",
            (MAX_CLUSTER,),
        ),  # address of each CTA's shared memory; 0: it has ended, or not started
        ("tensor", "u8", (MAX_CLUSTER,)),  # of its tensor memory
    ]
)

cluster_at = record_at(CLUSTER)
"""`cluster_at(address of records, i)`"""

TENSOR_MAP_BYTES = 128
BULK_BUCKETS, BULK_ENTRIES = 64, 32  # of bulk copies that wait to be awaited: buckets, and the room in each
ENGINE_COPIES = 64  # bulk copies that an SM's copy engine holds in a timed run
TRANSFER = record(
    [
        ("what", "i8"),  # flags of execute/bulk/transfers.py
        ("tracker", "u8"),  # where its mbarrier lies; of a copy of a bulk group its thread's count of groups
        ("group", "i8"),  # the number of its bulk group
        ("bytes", "i8"),  # that the mbarrier is told
        ("due", "i8"),  # the cycle from which it may begin, then that of its completion; FOREVER: not known
        ("lane", "i8"),
        ("to", "u8"),  # where the destination lies; of a tensor copy: its part in shared memory
        ("of", "u8"),  # where the source lies
        ("at", "i8"),  # of a tensor copy: the address of its part in shared memory
        ("first", "i8"),  # the first byte that is copied
        ("end", "i8"),  # the one after the last
        ("mask", "i8"),  # which bytes of each 16 are copied
        ("map", "u4", (TENSOR_MAP_BYTES // 4,)),
        ("place", "i8", (5,)),  # coordinates in the tensor
        ("offset", "i8", (3,)),  # of pixels, in im2col mode
        ("index", "i8", (5,)),  # of the row that is copied, and where indices of pixels begin and end
        ("lower", "i8", (5,)),
        ("upper", "i8", (5,)),
        ("address", "u8"),  # of the row that is copied: global address of its first element,
        ("low", "i8"),  # and which of its elements are in the tensor
        ("high", "i8"),
        # of a timed run (execute/bulk/engines.py)
        ("ctas", "i8"),  # the CTAs of a multicast; `to` and `tracker` are offsets in their memory; 0: none
        (
            "pairs",
            "i8",
        ),  # the mbarriers lie in the even CTAs of pairs: 1, in the odd ones: 2, in the CTAs themselves: 0
        ("cluster", "u8"),  # their CLUSTER record; 0: the only one is the one whose memory is at `home`
        ("home", "u8"),
        ("context", "i8"),  # of the SM's warps, the one that has issued it
        ("row", "i8"),  # that is requested next
        ("rows", "i8"),
        ("left", "i8"),  # replies that are missing
        ("sent", "i8"),  # all requests have been sent
    ]
)
BULK = record(
    [
        ("when", "i8"),  # when copies complete: AT_ONCE, WHEN_AWAITED, WHEN_DUE
        ("n", "i8"),  # copies that have not completed, but those of engines
        ("n_of", "i8", (BULK_BUCKETS,)),
        ("warps", "i8"),  # warp slots of an SM
        ("engines", "u8"),  # address of the ENGINE record of each SM
        # address of TRANSFER records: one to work on, then BULK_ENTRIES of each bucket, or ENGINE_COPIES of each engine
        ("transfers", "u8"),
    ]
)
AT_ONCE, WHEN_AWAITED, WHEN_DUE = range(3)

ENGINE = record(
    [
        ("next", "i8"),  # the next cycle in which it has something to do, replies not considered
        # the machine's copy engine
        ("issue_cycles", "i8"),
        ("requests", "i8"),  # of a cycle
        ("latency", "i8"),
        ("cluster_cycles", "i8"),
        ("cluster_bytes", "i8"),
        ("used", "i8"),  # which of its TRANSFER records are, one bit each
        ("fresh", "i8"),  # those accepted since its last cycle
        ("landed", "i8"),  # those whose completion is known
        ("queue", "u1", (ENGINE_COPIES,)),  # ring of those that are not all sent, in order
        ("queue_head", "i8"),
        ("queue_count", "i8"),
        ("free", "i8"),  # the cycle from which the next copy may be sent
        ("piece", "u8"),  # of the copy that is being sent: the next global address, and the end of its row
        ("piece_end", "u8"),
        ("moved", "i8"),  # the last cycle in which a copy completed, or all its requests were sent
        ("completed", "i8"),  # copies
        # warps that wait at an instruction which is executed again (timing/bulk/sleep.py)
        ("wait_cycles", "i8"),  # the machine's time limit of a test of an mbarrier
        ("core_mhz", "i8"),
        ("lanes", "i8", (MOST_WARPS,)),  # that have executed it; 0: the warp does not wait so
        ("at", "i4", (MOST_WARPS,)),  # the instruction
        ("cell", "u8", (MOST_WARPS,)),  # where the mbarrier lies that they wait for; 0: for their copies
        ("phase", "i8", (MOST_WARPS,)),  # its parity before
        ("until", "i8", (MOST_WARPS,)),  # the cycle in which the wait ends in vain
    ]
)
"""The copy engine of an SM in a timed run, and the warps that wait for copies or at an mbarrier."""

transfer_at, bulk_at, engine_at = record_at(TRANSFER), record_at(BULK), record_at(ENGINE)

(
    NO_ERROR,
    OUT_OF_BOUNDS,
    MISALIGNED,
    BAD_TARGET,
    TRAPPED,
    BAD_BARRIER,
    STACK_FULL,
    ASSERTED,
    NO_TEXTURE,
    OUTSIDE,
    NO_BLOCK,
    NO_TEXT,
    BEYOND_TARGETS,
    NO_COLUMNS,
    OUTSIDE_COLUMNS,
    BAD_DESCRIPTOR,
    BAD_TENSOR_MAP,
    FOREIGN_LANES,
    NOT_TO_FREE,
    NO_PEER,
    NO_ROOM,
) = range(21)
BAD_BARRIER_TEXT = "a barrier number above 15, or a thread count that is no multiple of 32,"


@dataclass(frozen=True)
class Program:
    """A lowered kernel, followed by the functions it reaches. Only `lower.py` writes the arrays."""

    name: str
    instructions: Any  # array of INSTRUCTION
    uops: Any  # array of UOP
    rows32: int  # 32-bit rows per warp, registers and temporaries
    rows64: int
    rows_p: int
    constants32: Any  # uint32 (n, 32): the constant rows
    constants64: Any  # uint64 (n, 32)
    register_rows: (
        Any  # int32 (n_registers, 3): file (0: 32-bit, 1: 64-bit, 2: predicates), first row, rows; -1 none
    )
    special_rows: Any  # int32 (n, 2): (special register number, row): rows filled when a warp starts
    n_registers: int  # declared registers
    scoreboard_order: (
        Any  # int32: by a register's number in the scoreboard its index among those of all functions
    )
    static_shared_bytes: int  # header, parameters and variables
    local_bytes: int
    param_bytes: int
    prints: bool  # the program may print or assert
    allocates: bool  # it may take memory from the heap
    has_tensor_memory: bool  # it uses tensor memory
    has_pairs: bool  # its CTAs may work in pairs
    has_bulk_copies: bool  # it has bulk copies
    multiplies_tiles: bool  # it has products that need the scratch of `execute/tensor/tiles.py`
    call_words: int  # 64-bit words of a warp's stack of calls; 0 without calls
    texts: tuple[str, ...] = field(repr=False)  # one line of source per instruction
    first_registers: tuple[tuple[Any, int], ...] = field(
        repr=False
    )  # per function the number of its first register
    positions: tuple[tuple[Any, int], ...] = field(
        repr=False
    )  # per instruction its function and index; -1 for the end of a function
    register_names: tuple[str, ...] = field(repr=False)
    layout: Any = field(
        default=None, repr=False
    )  # ptxsim.lowering.variable_layout.VariableLayout: where variables lie
    is_ptxplus: bool = False
    physical: Any = field(default=None, repr=False)
    """`PhysicalNumbers` of a kernel whose registers are virtual, in a run that shares registers."""
    sharing_note: str = field(default="", repr=False)
    """How such a run shares virtual registers."""

    def sequence(self, i: int, register: int) -> int:
        """The sequence number, under register sharing, of a register that instruction i names."""
        if self.physical is None:
            return register + 1
        function, index = self.positions[i]
        first = next(first for f, first in self.first_registers if f is function)
        return int(self.physical.number(function.name, index, register - first))

    @property
    def adjusts_registers(self) -> bool:
        """Whether it has `setmaxnreg`."""
        return bool((self.instructions["kind"] == SET_REGISTERS).any())

    def place(self, i: int) -> str:
        """The line of an instruction, with that of the CUDA source where the text has it: `14 (k.cu:7)`."""
        i = min(i, len(self.positions) - 1)
        function, index = self.positions[i]
        cuda = function.cuda_place(index) if index >= 0 else None
        return f"{self.instructions[i]['line']}{f' ({printable(str(cuda))})' if cuda else ''}"

    def span(self, i: int) -> tuple[Any, int, int]:
        """The source, start and end of an instruction: for diagnostics."""
        function, index = self.positions[min(i, len(self.positions) - 1)]
        if index < 0:
            return function.source, function.end - 1, function.end
        node = function.instructions[index]
        return function.source, node.start, node.end
