"""What the checks keep about asynchronous operations of a CTA: one record, where the kernel has any.

An operation is an entry of a ring: what it is, what tracks it, and for each warp the epoch in which the warp has seen
that it is complete. Granules (`races.py`) name operations by stamps below those of `cp.async`. An operation of a pair
of CTAs is one of each, and the two know of each other (clusters.py).
"""

from ptxsim.base.jit import record, record_at
from ptxsim.sanitizer.shadow_state import MAX_WARPS

# what an instruction is for these checks (`CHECKED.asynchronous`); ARRIVES is all that works on a valid mbarrier
(
    INITIALISES,
    INVALIDATES,
    ARRIVES,
    TESTS,
    COPIES_BULK,
    COMMITS_BULK,
    AWAITS_BULK,
    MULTIPLIES,
    FENCES_REGISTERS,
    COMMITS_PRODUCTS,
    AWAITS_PRODUCTS,
    TENSOR_PRODUCT,
    TENSOR_COMMIT,
    TENSOR_COPIES,
    TENSOR_LOADS,
    TENSOR_STORES,
    AWAITS_LOADS,
    AWAITS_STORES,
    ALLOCATES,
    FREES,
    GIVES_PERMIT,
    FENCES_PROXY,
    CLUSTER_ARRIVES,
    CLUSTER_WAITS,
    CHANGES_REGISTERS,
) = range(1, 26)

# kinds of operations; what tracks them, and their phase: an mbarrier and its phase (LOADS, and PRODUCTS from their
# commit on), a thread and its bulk group, a warp and its group, a warp and its waits
FREE, LOADS, PRODUCTS, SOURCES, DESTINATIONS, GROUPS, STORES = range(7)
OPEN = -1  # of a product that is not committed
N_OPERATIONS = 256
KIND, TRACKER, PHASE, AT, THREAD, SWIZZLE, OTHER_CTA, OTHER, SEEN = range(
    9
)  # 1 + the rank and number of the other one
OPERATION = SEEN + MAX_WARPS
FIRST_STAMP = -(1 << 28)
"""The stamp of operation 0; that of the next one is lower."""

# proxies whose fences are told apart: that of asynchronous copies and products for both spaces, and of tensor maps
SHARED_PROXY, GLOBAL_PROXY, MAP_PROXY, N_PROXIES = 0, 1, 2, 3

N_MBARRIERS = 64
# where it lies, its phase, that one's parity, VALID or INVALID, the instruction that has initialised it, with its warp
# and the epoch of that, and whether a release for the cluster has come after it
PLACE, COUNT, PARITY, STATE, BEGUN, OPENER, OPENED, PUBLISHED = range(8)
MBARRIER_WORDS = 8
VALID, INVALID = 1, 2

COLUMNS, QUARTERS, UNITS = 512, 4, 16

# registers in flight: a number << 2 | one of these
RESULT, FACTOR, LOADED = 1, 2, 3

ASYNCHRONOUS = record(
    [
        ("n_operations", "i8"),  # so far
        ("operations", "i4", (N_OPERATIONS * OPERATION,)),
        (
            "fenced",
            "i4",
            (N_PROXIES * MAX_WARPS * MAX_WARPS,),
        ),  # epochs, by proxy, knowing warp, writing warp
        ("published", "i4", (N_PROXIES * MAX_WARPS,)),
        ("n_mbarriers", "i8"),
        ("mbarriers", "i4", (N_MBARRIERS * MBARRIER_WORDS,)),
        ("groups", "i4", (MAX_WARPS,)),  # of `wgmma`: committed by each warp
        ("groups_done", "i4", (MAX_WARPS,)),  # and waited for
        ("loads_waited", "i4", (MAX_WARPS,)),  # `tcgen05.wait::ld` of each warp
        ("stores_waited", "i4", (MAX_WARPS,)),
        (
            "columns",
            "i4",
            (QUARTERS * COLUMNS,),
        ),  # of tensor memory: the stamp of what has written it last; 0 none
        ("allocated_at", "i4", (UNITS,)),  # 1 + the instruction that has allocated a unit
        ("permit_given_at", "i4"),  # 1 + the instruction
        ("unpublished", "i8"),  # mbarriers that are initialised, and not PUBLISHED
        ("arrivals", "i4", (MAX_WARPS,)),  # of each warp at the cluster's barrier
        ("arrived_at", "i4", (MAX_WARPS,)),  # 1 + the last instruction
        ("waiting_lanes", "i8", (MAX_WARPS,)),  # that have arrived there and not waited
        ("changes", "i4", (MAX_WARPS,)),  # `setmaxnreg` of each warp
        ("changed_at", "i4", (MAX_WARPS,)),
    ]
)
asynchronous_at = record_at(ASYNCHRONOUS)
"""`asynchronous_at(checks.asynchronous, 0)`"""
