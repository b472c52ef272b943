"""The numbers of micro-operations that are no lane operations: memory, predicates, warp-wide and control.

Lane operations have the numbers below FIRST (`ptxtool.isa.lanes`); these follow from FIRST on. Fields of a
micro-operation (program.UOP) by kind; rows are of the file the operation works on:

    ACCESS32/64   address = row a + row b (32-bit) + e; c = space | bytes << 8; sets the addresses that follow; d: marks
                  of global memory, READ, WRITTEN or both (execute/memory/access_marks.py); 0: none
    LOAD_*        row d = what lies at the address + e
    STORE_*       what lies at the address + e = row a
    ATOMIC32/64   row d = old value; row a operand, row b second operand (cas), c operation | kind << 8, e offset
    ATOMIC16/128  the same; 128 bits are a row and the one after it
    DEFER         an atomic of global memory, without a result, that is done later: micro-operation d of the program;
                  row a operand, of 64 bits where b is 1 (execute/memory/deferred_atomics.py)
    PREDICATE     predicate d = truth table e (bit 2 * a + b) of predicates a, b
    VOTE          predicate d = any (e 0), all (1), uniform (2) of predicate a
    BALLOT        row d = lanes whose predicate a holds
    SHUFFLE       row d = row a of lane given by row b, clamp and segments of row c; e 0 up, 1 down, 2 bfly, 3 idx
    SHUFFLE_TEST  predicate d = whether that lane is in range
    MATCH         row d = lanes with the same value in row a (e 0: 32-bit, 1: 64-bit)
    REDUCE        row d = row a of all lanes combined; e: see REDUCTIONS
    CLOCK32/64    row d = cycle >> e
    PUSH_BREAK    per-lane stack of break targets: depth row a, rows from d on, e target, c size
    POP_BREAK     jump to the popped target
    TARGET        lanes whose row a equals row b jump to e
    CHECK_TARGET  stops the run where a lane has no target; of a list of c targets: row a is the index
    TRAP          stops the run
    NARROW        the following ones execute for fewer lanes: those of the bits e and of predicate a
    MEMBERS       the following ones execute for one group of lanes after the other: those with the same mask in row a
    NEXT_GROUP    where they end, for the next group; e: how many micro-operations after MEMBERS
    BARRIER       leaves number (row a), thread count (row b) and the lanes of predicate c for the barrier
    KEEP          row d (64-bit) = where the addresses lie, for COPY
    COPY          bytes from the addresses to where row a says: row b of them, zeros up to e
    MBARRIER      row d = old state of the mbarrier at the address; row a count, row b bytes, e what: see below
    MBARRIER_TEST predicate d = phase complete; row a a state (e 0) or a parity (e 1)
    MBARRIERS     operation e at the mbarrier at row a in every CTA of the mask in row b but that of rank c; row d its
                  bytes, or arrivals
    MATRIX_LOAD   row d = a lane's part of the 8 by 8 matrix whose rows lie at the addresses of lanes 8 * c ...
    MATRIX_STORE  the reverse, of row a; e for both: see `execute/tensor/mma.py`
    MATRIX_MOVE   row d = row a of all lanes as an 8 by 8 matrix, transposed
    MULTIPLY      a product of matrices; its operands are in the OPERANDS after it: see `execute/tensor/mma.py`
    WARPGROUP     a warp's part of a warp group's product, with OPERANDS: see `execute/tensor/warpgroup.py`
    WARPGROUP_GROUP  ends a group of these; WARPGROUP_WAIT completes all but the last e groups
    TENSOR_*      tensor memory: see `execute/tensor/tensor_memory.py` and `tensor_product.py`
    SAVE_*        put e rows from row d on aside; RESTORE_* take them back (rows of the 32-bit, 64-bit, predicate file)
    COPY_LOCAL    e bytes of local memory from row a + b to row a + d
    CHECK_STACK   stops the run where row a + e is more than c
    PRINT         row d = values printed: format at 64-bit row a, values at row b
    ASSERT        stops the run: message at 64-bit row a, file at row b, function at row c, line in 32-bit row d
    MALLOC        64-bit row d = address of row a bytes of the heap; 0 where there is no room
    FREE          gives the block of the heap at 64-bit row a back
    BULK_*        bulk copies and their groups: see `execute/bulk/copies.py`
    CLUSTER_ARRIVE  the lanes come to the cluster's barrier: row d = its phase
    CLUSTER_WAIT  the instruction is repeated while the barrier is in the phase of row a
    FETCH         texels, filtered; QUERY: what is known of a texture; SURFACE: the addresses of a surface's
                  elements; STORE_TEXEL: elements of its format; all of them: see `execute/texture/sampling.py`
"""

FIRST = 4096

_MEMORY = FIRST
ACCESS32, ACCESS64 = _MEMORY, _MEMORY + 1
LOAD_U8, LOAD_S8, LOAD_U16, LOAD_S16, LOAD_32, LOAD_64 = range(_MEMORY + 2, _MEMORY + 8)
STORE_8, STORE_16, STORE_32, STORE_64 = range(_MEMORY + 8, _MEMORY + 12)
ATOMIC32, ATOMIC64, ATOMIC16, ATOMIC128 = range(_MEMORY + 12, _MEMORY + 16)
DEFER = _MEMORY + 16
MEMORY_END = _MEMORY + 17

PREDICATE = MEMORY_END
_WARP = MEMORY_END + 1
VOTE, BALLOT, SHUFFLE, SHUFFLE_TEST, MATCH, REDUCE, CLOCK32, CLOCK64 = range(_WARP, _WARP + 8)
WARP_END = _WARP + 16
PUSH_BREAK, POP_BREAK, TARGET, CHECK_TARGET, TRAP = range(WARP_END, WARP_END + 5)
CONTROL_END = WARP_END + 32
NARROW, MEMBERS, NEXT_GROUP = range(CONTROL_END, CONTROL_END + 3)
BARRIER, KEEP, COPY, MBARRIER, MBARRIER_TEST, MBARRIERS = range(CONTROL_END + 4, CONTROL_END + 10)
SYNCHRONISE_END = CONTROL_END + 32
MATRIX_LOAD, MATRIX_STORE, MATRIX_MOVE, MULTIPLY, OPERANDS = range(SYNCHRONISE_END, SYNCHRONISE_END + 5)
WARPGROUP, WARPGROUP_GROUP, WARPGROUP_WAIT = range(SYNCHRONISE_END + 8, SYNCHRONISE_END + 11)
TENSOR_MULTIPLY, TENSOR_ALLOCATE, TENSOR_FREE, TENSOR_LOAD, TENSOR_STORE, TENSOR_COPY, TENSOR_SHIFT = range(
    SYNCHRONISE_END + 16, SYNCHRONISE_END + 23
)
MATRIX_END = SYNCHRONISE_END + 32
FETCH, QUERY, SURFACE, STORE_TEXEL = range(MATRIX_END, MATRIX_END + 4)

# what an MBARRIER does, a sum of these, in this order
INITIALISE, EXPECT_BYTES, COMPLETE_BYTES, DROP, ARRIVE, STAY = (1 << k for k in range(6))
# its 64 bits: arrivals missing, arrivals of a phase, bytes missing (with a sign), parity of the phase, layout
PENDING_BITS, EXPECTED_SHIFT, BYTES_SHIFT, BYTES_BITS, PHASE_SHIFT, LAYOUT_SHIFT = 20, 20, 40, 22, 62, 63

_CALLS = FIRST + 1024
SAVE_32, SAVE_64, SAVE_P, RESTORE_32, RESTORE_64, RESTORE_P, COPY_LOCAL, CHECK_STACK = range(
    _CALLS, _CALLS + 8
)
FIRST_CALL_CODE = _CALLS
_HOST = _CALLS + 32
PRINT, ASSERT, MALLOC, FREE = range(_HOST, _HOST + 4)
FIRST_HOST_CODE = _HOST
_BULK = _CALLS + 48
BULK_COPY, BULK_TENSOR, BULK_COMMIT, BULK_WAIT, BULK_FILL = range(_BULK, _BULK + 5)
FIRST_BULK_CODE = _BULK
_CLUSTERS = FIRST + 1024 + 64
CLUSTER_ARRIVE, CLUSTER_WAIT = range(_CLUSTERS, _CLUSTERS + 2)
FIRST_CLUSTER_CODE = _CLUSTERS
HEAP_HEADER = (
    16  # bytes of a block of the heap before what MALLOC returns: its size with them, and 1 if it is in use
)
# words of 64 bits on a warp's stack of calls: at its start, per entry of a SIMT stack, and after one
HEADER_WORDS, ENTRY_WORDS, FRAME_WORDS = 4, 7, 4

# operations of atomics and reductions, and the kinds of their values
ADD, MIN, MAX, AND, OR, XOR, EXCHANGE, INCREMENT, DECREMENT, SWAP = range(10)
REDUCTIONS = {"add": ADD, "min": MIN, "max": MAX, "and": AND, "or": OR, "xor": XOR}
ATOMICS = REDUCTIONS | {"exch": EXCHANGE, "inc": INCREMENT, "dec": DECREMENT, "cas": SWAP}
UNSIGNED, SIGNED, FLOAT, BFLOAT = range(4)
KEEPS_SUBNORMALS = 1 << 16  # of an atomic on f32: `.noftz`

UP, DOWN, BUTTERFLY, INDEX = range(4)

# where the windows of the generic address space begin (the global space is everything below)
WINDOW_BYTES = 0x0100_0000
PARAM_WINDOW, CONST_WINDOW, LOCAL_WINDOW, SHARED_WINDOW = (0xFB00_0000, 0xFC00_0000, 0xFD00_0000, 0xFE00_0000)
WINDOWS_END = 0xFF00_0000

# shared memory of the CTAs of a cluster: rank r begins at (r + 1) << CLUSTER_SHIFT of the shared space; what lies below
# is the executing CTA's own
CLUSTER_SHIFT = 18
# where kernels use pairs of CTAs (`.cta_group::2`), the address of a variable has its CTA's rank, plus 2, from this bit
# on, as it has on hardware: clearing the bit, as CUTLASS does, names the pair's even CTA
RANK_SHIFT, FIRST_RANK = 24, 2

# special registers that `init_warp` fills in, by number
TID_X, TID_Y, TID_Z, NTID_X, NTID_Y, NTID_Z = range(6)
CTAID_X, CTAID_Y, CTAID_Z, NCTAID_X, NCTAID_Y, NCTAID_Z = range(6, 12)
LANEID, WARPID, SMID, LANEMASK_EQ, LANEMASK_LE, LANEMASK_LT, LANEMASK_GE, LANEMASK_GT = range(12, 20)
PACKED_TID = 20  # PTXPlus: $r0 = tid.x + (tid.y << 16) + (tid.z << 26)
CLUSTERID_X, NCLUSTERID_X, CLUSTER_CTAID_X, CLUSTER_NCTAID_X = (
    22,
    25,
    28,
    31,
)  # three each; 21: execute/start.py
CLUSTER_CTARANK, CLUSTER_NCTARANK, EXPLICIT_CLUSTER = 34, 35, 36
