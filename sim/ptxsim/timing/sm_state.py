"""The records the cycle loop works on: one `RUN`, one `SM` per streaming multiprocessor.

Masks over lanes are int64, bit k for lane k. So are masks over warps in `RUN` and `SM`; a machine with more than 64
warps or 32 CTAs per SM has `RUN_WIDE` and `SM_WIDE`, whose masks over warps have 128 bits. Times are core cycles.
Arrays whose size depends on the kernel are reached by address (`jit.flat_*`). Nothing here allocates; `build.py` makes
the arrays.
"""

from typing import Any

from ptxsim.base.jit import (
    JIT_DISABLED,
    compiled,
    inline,
    intrinsic,
    is_record_of,
    record,
    record_at,
    record_type,
    types,
)
from ptxsim.base.kernel_records import MOST_RUNNING
from ptxsim.base.program import COPY_GROUPS, N_BARRIERS, stack_fields
from ptxsim.base.warp_masks import MOST_WARPS, NARROW
from ptxsim.base.wide_masks import WIDE, wide_record
from ptxsim.timing.memory.memory_state import MAX_SMS
from ptxsim.timing.memory.readonly import READONLY
from ptxsim.timing.memory.texture_cache import TEXTURES

NARROW_CTAS, MOST_CTAS = 32, 64
CTA_WARPS = 32  # warps of a CTA
MAX_CONTEXTS = 512  # warps of resident CTAs, active or not (`residency/`)
MAX_RESIDENT = 128  # such CTAs
MAX_SCHEDULERS = 4
FRONT = 64  # instructions between issue and their unit
QUEUED_BITS = 8  # of a front entry in a queue of a 64-bit word
CLASSES = (
    3  # SP, SFU, LDST (program.py's port numbers), of a machine whose classes have their own collector units
)
ALL_CLASSES = 7  # with EITHER, and TENSOR, DP, INT
COLLECTORS = 48  # collector units of all classes
OUT_PORTS = 16  # of all sets of collector units; with three classes one turn for each class
WHEEL = 1024  # cycles the event wheel looks ahead at most; longer than any fixed latency
WHEEL_MARGIN = 8  # of those, beyond the longest latency
# a slot of the wheel: of the cycle in CYCLE, register banks that are written, units that complete an instruction
# (masks), the number of result buses in use
CYCLE, BANK_WRITES, UNITS_DONE, BUSES_USED = range(4)
WHEEL_KINDS = 4
UNITS = 48  # SP units, then SFU units; or of all classes in turn
PENDING = 512  # loads and atomics with data outstanding
ACCESSES = 128  # of one memory instruction: 32 lanes of 16 bytes in local memory
LDST_QUEUE = 20  # memory instructions between issue and acceptance
ALL_MEMORY_FREE = (1 << LDST_QUEUE) - 1
BARRIERS = N_BARRIERS
SHARED_PIPE = 64  # loads in the pipe after the banks of shared memory
CONSTANT_BASE = 256  # where module constants lie for the caches; parameters lie below
CODE_BASE = 0xF000_0000  # where code lies
VECTORS_BASE = 0xF800_0000  # and the live-register vectors of FineReg
AREAS_BASE = 1 << 44  # and registers in DRAM
FOREVER = 1 << 62
LONG = FOREVER + 1  # the same for a register that a load from beyond the SM will write

# why a scheduler issued nothing (timing-model section 4.1); 2 + n is "issued with n active lanes"
IDLE, SCOREBOARD, STALL = 0, 1, 2
SLOT_KINDS = 3 + 32

_RUN = [
    ("cycle", "i8"),
    ("max_cycles", "i8"),  # 0: no limit
    ("event_skip", "i8"),
    ("ahead", "i8"),  # cycles that an SM may run ahead of the others (core/ahead.py)
    ("horizon", "i8"),  # cycles in which no reply can arrive that is still in the network
    ("has_team", "i8"),  # several workers share the run (workers/work.py)
    ("team", "u8"),  # address of their TEAM record
    ("worker", "i8"),  # of these the one that has this record
    ("n_workers", "i8"),
    ("next_turn", "i8"),  # the worker's turn after the issue of this SM; 0: unchanged
    ("known", "i8"),  # cycle up to which all replies to its SMs are known
    ("stop_cycle", "i8"),  # the loop returns to Python when it reaches this cycle (progress, Ctrl-C)
    ("n_sms", "i8"),
    ("open_sms", "i8"),  # number of SMs with a free CTA slot (open_sms.py)
    ("sms", "u8"),  # address of the SM records
    ("l1s", "u8"),  # of the L1 records
    # read for every SM in every cycle, therefore adjacent
    ("sm_next", "i8", (MAX_SMS,)),  # next cycle in which the SM can change, replies not considered
    ("is_open", "i8", (MAX_SMS,)),  # which SMs these are
    ("code", "u8"),  # address of the program's INSTRUCTION records
    ("n_instructions", "i8"),
    ("n_registers", "i8"),
    ("wheel", "i8"),  # slots of the event wheel in use, less one: as many as the latencies need
    # grid
    ("n_ctas", "i8"),
    ("next_cta", "i8"),
    ("ctas_done", "i8"),
    ("last_sm", "i8"),  # SM that got the last CTA of the last cycle with a launch
    ("launched_sm", "i8"),
    ("sms_per_port", "i8"),  # of the network
    ("port_turn", "u1", (MAX_SMS,)),  # of the SMs at a port the one that got a CTA last
    # launches (kernels/): one, or several at the same time
    ("kernels", "u8"),  # address of KERNEL records
    ("n_kernels", "i8"),
    (
        "concurrent",
        "i8",
    ),  # they are chosen from, and counted apart; 0: there is one, which has the machine to itself
    ("contexts_of", "u8"),  # address of the CONTEXT record of each, where they are concurrent
    ("kernel_policy", "i8"),
    ("most_running", "i8"),  # places for launches that run
    ("running", "i4", (MOST_RUNNING,)),  # the launch in each; -1 none
    ("last_place", "i8"),  # of the launch that had the last CTA launched
    ("next_ready", "i8"),  # the next cycle in which a launch becomes ready for its first CTA
    ("may_dispatch", "i8"),  # something has changed since no CTA could be launched
    ("has_prints", "i8"),  # of concurrent launches, one prints
    ("sm_registers", "i8"),
    ("sm_scratchpad", "i8"),  # bytes
    ("sm_ctas", "i8"),
    ("sm_warps", "i8"),
    ("clusters", "u8"),  # address of a CLUSTER record for every cluster; 0: none are kept
    ("cluster_ctas", "i8"),  # CTAs of a cluster
    ("engines", "u8"),  # address of the ENGINE record of each SM; 0: no copies, and no warps that sleep
    (
        "warps_per_cta",
        "i8",
    ),  # of the only launch: for what runs with one launch only, such as sharing and switching
    ("resident_ctas", "i8"),  # CTA slots in use per SM
    ("entry_registers", "i8"),  # per thread, for `setmaxnreg`; 0: it does nothing
    ("contexts", "i8"),  # warps that can be resident on an SM: as many as slots where no CTA is switched
    ("switching", "u8"),  # address of SWITCH records (residency/switch_records.py), one per SM; 0: none
    # machine
    ("n_schedulers", "i8"),
    ("rotate_schedulers", "i8"),  # the first scheduler changes every cycle; 0: scheduler 0 is first
    ("taken_first", "i8"),  # a divergent branch's taken path runs first; 0: that without the highest lane
    ("take_turns", "i8"),  # the paths of a warp take turns at branches back (livelock.py)
    ("count_idle", "i8"),  # an SM without a CTA counts its slots while CTAs remain to be launched
    (
        "long_lasting",
        "i8",
    ),  # a register that a load wrote counts as long until an ALU instruction writes it
    ("has_window", "i8"),  # the policy looks at some warps only
    ("eager_slots", "i8"),  # the kind of a slot depends on more than valid and ready warps: count at once
    ("issue_width", "i8"),  # instructions that a scheduler issues from one warp in a cycle
    ("pair_differs", "i8"),  # the second of them has to be of another class than the first
    ("port_width", "i8", (ALL_CLASSES,)),  # ID_OC entries
    ("oc_ex_width", "i8", (ALL_CLASSES,)),
    # six classes (core/collector_sets.py, core/class_units.py)
    (
        "collector_sets",
        "i8",
    ),  # sets of collector units: one that all classes share, or one of each; 0: three classes
    ("set_of", "i8", (ALL_CLASSES,)),  # of a class
    ("set_classes", "i8", (ALL_CLASSES,)),  # of a set: one bit each
    ("set_units", "i8", (ALL_CLASSES,)),
    ("set_first", "i8", (ALL_CLASSES,)),  # collector unit
    ("set_in_ports", "i8", (ALL_CLASSES,)),
    ("set_out_ports", "i8", (ALL_CLASSES,)),
    ("set_first_out", "i8", (ALL_CLASSES,)),  # out-port
    ("set_sub_core", "i8", (ALL_CLASSES,)),  # collector units of a sub-core
    ("collector_steps", "i8"),  # of a cycle
    ("last_sub_core", "i8"),  # sub-cores less one: a scheduler each, or 0 for an SM that is not divided
    ("sub_core_banks", "i8"),  # register banks of one
    ("class_units", "i8", (ALL_CLASSES,)),
    ("first_unit", "i8", (ALL_CLASSES,)),
    ("collectors", "i8", (CLASSES,)),  # collector units of a class
    ("first_collector", "i8", (CLASSES,)),
    ("collector_ports", "i8", (CLASSES,)),
    ("n_banks", "i8"),
    (
        "bank_mask",
        "i8",
    ),  # the banks of a warp - 1: its register's number & this, turned as below, is the bank
    (
        "bank_turn",
        "i8",
    ),  # by how many banks the registers of a warp lie further than those of the one before
    ("model_banks", "i8"),  # 0: operand reads never conflict
    ("collector_stage", "i8"),  # the collector steps after the LDST unit; 0: inside its cycle
    ("collector_reads", "i8"),  # operands that a collector unit reads in a cycle
    # addresses of int64 per static instruction: the banks of warp 0 that it writes, and those that it reads if it
    # reads them all at once and none twice (0: not so)
    ("banks_written", "u8"),
    ("banks_read", "u8"),
    ("n_sp", "i8"),
    ("n_sfu", "i8"),
    ("result_buses", "i8"),
    ("ibuffer", "i8"),
    ("fetches", "i8"),  # decodes and fetches of a cycle
    ("constant_line", "i8"),  # bytes of a line of constants: an access of a load
    ("response_hops", "i8"),  # cycles from a packet's arrival at the SM to the LDST unit
    ("shared_pipe", "i8"),
    ("atomic_parts", "i8"),  # parts of a warp that atomics go by
    ("segment", "i8"),  # bytes of a segment of accesses; 0: by the bytes of a lane
    ("uncached_segment", "i8"),  # of those that bypass the L1
    # resource sharing (timing-model section 5)
    (
        "sees_heads",
        "i8",
    ),  # every new head is tested: pairs share, warps take sections, or registers are renamed
    ("shared_pairs", "i8"),
    ("first_shared_slot", "i8"),
    ("shares_scratchpad", "i8"),  # pairs share scratchpad; 0: registers
    ("private_registers", "i8"),
    ("private_scratchpad", "i8"),  # bytes
    ("unowned_class", "i8"),  # of the warps of a pair without an owner
    ("lock_rule", "i8"),
    ("active_marks", "i8"),  # the release marks of the shared resource
    ("lock_as_stall", "i8"),
    # release by name (sharing/renaming.py): words of a set of registers, 0 without it; addresses of int64 sets
    ("renaming_words", "i8"),
    ("needed", "u8"),  # before each instruction and at the end
    ("written", "u8"),  # by each instruction
    ("physical", "i8"),  # registers of warps on an SM
    ("most_of_cta", "i8"),  # of these, that a CTA can need at a time
    ("reserving_ctas", "i8"),  # the oldest CTAs, for which as many are kept
    ("sections", "i8"),  # of the pool of registers of an SM; 0: there is none
    ("dynamic", "u8"),  # address of DYNAMIC records (sharing/hold_back.py), one per SM; 0: none
    # per static instruction, int64 each: for the stall-point report and hot spots
    ("stall_warps", "u8"),
    ("stall_cycles", "u8"),
    ("stall_first", "u8"),
    ("stall_offset", "u8"),  # the scratchpad offset that the first of them wanted to access
    ("issues", "u8"),
    ("hotspots", "u8"),  # address of a HOTSPOTS record (core/reason_codes.py); 0: not counted
    # timeline (timing/timeline_events.py)
    ("timeline", "u8"),  # address of its records; 0: there is none
    ("timeline_used", "i8"),  # numbers in them
    ("timeline_states", "u8"),  # address of int64 [SMs][warp slots]: the last noted state of each warp
    ("timeline_sms", "i8"),  # SMs in the timeline
    # first fault
    ("fault_sm", "i8"),
    ("fault_kernel", "i8"),
    ("fault_cta", "i8"),
    ("fault_instruction", "i8"),
    ("fault_thread", "i8"),
    ("fault_kind", "i8"),  # 100 and more: those of timing/core/issue.py; otherwise as CONTEXT.error
    ("wrong_warp", "i8"),  # what the policy chose
    ("kept_fault", "i8", (12,)),  # the first of all (core/faults.py)
    ("wrong_decision", "i8"),  # what the register scheme decided
]

RUN = record(_RUN)
RUN_WIDE = record([("wide", "i8"), *_RUN])
"""The same; the unused field, which is the first, makes it another type that numba does not convert to RUN."""


def policy_numbers(warps: int) -> int:
    """The numbers that a scheduling policy may keep: a few, and two lists of warps."""
    return 8 + 2 * warps


# In the order of use, because the time of the loop is that of cache misses: first the fields that every cycle reads,
# then arrays of a line or two that issue needs, then large arrays of which little is live.
def _sm_fields(mask: Any, warps: int, ctas: int) -> list[Any]:
    """The fields of an SM with so many warps and CTAs; `mask` is the type of a mask over its warps."""
    return [
        ("index", "i8"),
        ("last_cycle", "i8"),  # last cycle that was run or accounted for
        ("counting", "i8"),  # scheduler slots are being counted: work is here or to come
        ("active_cycles", "i8"),
        ("charged", "i8"),  # last cycle whose scheduler slots are counted
        ("seen_valid", mask),  # valid warps in the cycles since then
        ("seen_imiss", mask),  # warps that waited for an instruction miss in those cycles
        ("seen_ready", mask),  # and ready ones
        # warps
        ("resident", mask),
        ("finishing", mask),  # all lanes exited, not yet retired
        ("storing", mask),  # stores are not acknowledged yet
        ("has_head", mask),  # a decoded instruction on the right path waits in the I-buffer
        ("stale", mask),  # the I-buffer holds wrong-path instructions
        ("ready", mask),  # the head has no scoreboard hazard
        ("long_wait", mask),  # the head reads a register that a load from beyond the SM will write
        ("blocked", mask),  # the head waits for a register whose time is not known yet
        ("at_barrier", mask),  # or waits for registers of its CTA
        ("in_membar", mask),
        ("in_wait", mask),  # for asynchronous copies, or at an mbarrier
        ("in_atomic", mask),
        ("head_class", mask, (ALL_CLASSES,)),  # warps whose head wants a class
        ("outside", mask),  # head accesses memory beyond the SM
        ("needs_lock", mask),  # head may touch a shared resource, or has a mark: sharing/ decides
        ("lock_wait", mask),
        ("release_cycle", "i8"),  # cycle in which lock waiters are tested again
        ("supervised", mask, (MAX_SCHEDULERS,)),
        ("inner_wait", mask),  # warps with an entry below the top that may wait
        # fetch
        ("imiss", mask),  # warps that wait for an instruction miss
        ("last_fetched", "i8"),
        ("latch_warp", "i8"),  # -1 empty
        ("latch_pc", "i8"),
        ("fetch_stuck", mask),  # warps that L1I has refused and that need not try again yet
        # between issue and the units
        ("front_free", "i8"),
        ("id_oc_n", "i4", (ALL_CLASSES,)),
        ("oc_ex_n", "i4", (ALL_CLASSES,)),
        ("id_oc_taken", "i8", (ALL_CLASSES,)),  # with sub-cores: those whose entry of a class is taken
        ("oc_ex_taken", "i8", (ALL_CLASSES,)),
        ("cu_order_n", "i8"),
        ("cu_busy", "i8"),
        ("cu_ready", "i8"),  # busy, all operands read
        ("cu_last", "i4", (OUT_PORTS,)),
        # LDST unit
        ("head", "i4"),  # front entry in the head register; -1 empty
        ("head_stuck", "i4"),  # 1: L1D, 2: L1C, 3: L1T has refused the head, and has not changed since
        ("latch_load", "i4"),  # pending-load index in the writeback latch; -1 empty
        ("writeback_client", "i4"),
        ("memory_free", "i8"),
        ("shared_head", "i8"),
        ("shared_count", "i8"),
        ("bypass_head", "i8"),
        ("bypass_tail", "i8"),
        ("pending_free_n", "i8"),
        ("unit_free", "i8", (UNITS,)),
        # queues of front entries, the oldest in the lowest byte
        ("oc_ex", "i8", (ALL_CLASSES,)),
        ("id_oc", "i8", (ALL_CLASSES,)),
        ("cu_entry", "i4", (COLLECTORS,)),
        ("cu_order", "i4", (COLLECTORS,)),  # units with operands to read, the longest busy first
        # address of bytes [contexts][registers]: written by a load from beyond the SM, and not since by an ALU
        ("long_set", "u8"),
        ("ready_at", "u8"),  # address of int64 [contexts][registers]: scoreboard release cycles
        ("shared_memory", "u8"),
        ("shared_bytes", "i8"),
        # counters
        ("warp_instructions", "i8"),
        ("thread_instructions", "i8"),
        ("cta_cycles", "i8"),  # cycles in which CTAs ended, less those in which CTAs were launched
        ("instruction_miss_slots", "i8"),  # idle slots in which a warp waited for an instruction miss
        ("stall_shared_memory", "i8"),  # gpgpu_n_stall_shd_mem
        ("bank_conflict_cycles", "i8"),
        ("register_bank_conflicts", "i8"),  # reads of operands that waited a cycle for their bank
        ("global_loads", "i8"),
        ("texture_fetches", "i8"),
        ("global_stores", "i8"),
        ("atomics", "i8"),
        ("shared_accesses", "i8"),
        ("barriers", "i8"),
        ("divergent_branches", "i8"),
        ("slots", "i8", (MAX_SCHEDULERS, SLOT_KINDS)),
        # per warp
        ("ib_pc", "i4", (warps,)),
        ("ib_n", "i4", (warps,)),
        ("fetch_pc", "i4", (warps,)),
        ("code_first", "i4", (warps,)),  # first instruction of its kernel
        ("code_end", "i4", (warps,)),  # after the last
        ("depth", "i4", (warps,)),  # of the SIMT stack
        ("cta_slot", "i4", (warps,)),
        ("front_count", "i4", (warps,)),  # instructions issued, not yet in a unit
        ("done_at", "i8", (warps,)),  # cycle after which the pipes hold nothing of this warp
        ("wake", "i8", (warps,)),
        # the resident warp in a slot: functional rows, scoreboard and loads in flight are indexed by context
        ("context", "i4", (warps,)),
        ("first_register", "i8", (warps,)),  # of the context, in `ready_at` and `long_set`
        ("dynamic_id", "i8", (warps,)),
        ("warp_class", "i4", (warps,)),  # 0 owner, 1 unshared, 2 non-owner
        ("warp_in_cta", "i4", (warps,)),
        ("front_ins", "i4", (FRONT,)),
        ("front_warp", "i4", (FRONT,)),
        ("front_memory", "i4", (FRONT,)),
        ("front_class", "i4", (FRONT,)),  # this and the next: where collector units are shared
        ("front_issue", "i8", (FRONT,)),  # a number that grows with every issue
        ("front_reads", "i8", (FRONT,)),  # bit k: source k still to be read
        ("front_banks", "i8", (FRONT,)),  # banks still to be read, where all sources are read at once
        # events of a cycle, modulo the part of the wheel in use
        ("wheel", "i8", (WHEEL, WHEEL_KINDS)),
        ("wakes", mask, (WHEEL,)),  # warps whose head becomes ready in the cycle of a slot
        *stack_fields(warps),
        ("l1i", READONLY),
        ("l1c", READONLY),
        ("l1t", TEXTURES),
        # memory instructions
        ("memory_count", "i4", (LDST_QUEUE,)),
        ("memory_next", "i4", (LDST_QUEUE,)),
        ("memory_pending", "i4", (LDST_QUEUE,)),
        ("memory_space", "i4", (LDST_QUEUE,)),
        ("memory_kind", "i4", (LDST_QUEUE,)),
        ("memory_bypass", "i4", (LDST_QUEUE,)),  # bypasses the L1
        ("shared_load", "i4", (SHARED_PIPE,)),  # ring of pending-load indices: the pipe of shared memory
        ("shared_due", "i8", (SHARED_PIPE,)),  # when they are at its end
        ("memory_line", "i8", (LDST_QUEUE, ACCESSES)),
        ("memory_bytes", "i8", (LDST_QUEUE, ACCESSES)),
        ("memory_words", "i8", (LDST_QUEUE, ACCESSES)),
        ("bypass", "i4", (PENDING,)),
        ("pending_free", "i4", (PENDING,)),
        ("pending_context", "i4", (PENDING,)),
        ("pending_ins", "i4", (PENDING,)),
        ("pending_left", "i4", (PENDING,)),
        ("pending_group", "i4", (PENDING,)),
        ("copies", "i4", (warps, COPY_GROUPS)),  # asynchronous copies on their way, by group
        ("copy_group", "i4", (warps,)),  # the open group
        ("groups_left", "i4", (warps,)),  # groups that a waiting warp does not wait for
        # CTA slots
        ("free_slots", "i8"),
        ("kernel", "i8"),  # the launch whose CTAs the SM runs, where it runs those of one; -1 none yet
        ("used_registers", "i8"),  # of CTAs of concurrent launches
        ("used_scratchpad", "i8"),
        ("next_dynamic_id", "i8"),
        ("cta_id", "i8", (ctas,)),
        ("cta_kernel", "i4", (ctas,)),
        ("cta_first", "i4", (ctas,)),  # its first warp
        ("cta_size", "i4", (ctas,)),  # in warps
        ("cta_warps", "i4", (ctas,)),  # warps not yet retired
        ("cta_arrived", "i4", (ctas, BARRIERS)),  # threads
        ("cta_counted", "i4", (ctas, BARRIERS)),  # the same, partial warps counted as whole ones
        ("cta_expected", "i4", (ctas, BARRIERS)),  # thread count; 0: all
        ("cta_holds", "i4", (ctas, BARRIERS)),  # threads whose predicate holds
        ("cta_seen", "i8", (ctas, BARRIERS)),  # warp positions with lanes that have arrived
        # scratch of the scheduling policy, which names its own places
        ("policy", "i8", (MAX_SCHEDULERS, policy_numbers(warps))),
        ("policy_number", "i8"),  # the number that follows its name
        # resource sharing
        ("pair", "i4", (ctas,)),  # pair of a CTA slot, -1 unshared
        ("side", "i4", (ctas,)),
        ("owner", "i4", (ctas,)),  # per pair: 0, 1 or -1
        ("partner", "i4", (ctas,)),
        # per pair and warp position: the side that holds it, -1 free; the lock of scratchpad is at position 0
        ("lock", "i4", (ctas, CTA_WARPS)),
        ("done", "i8", (ctas,)),  # per CTA slot: warp positions that have exited or passed a release mark
        ("fell_to", "i4", (warps,)),  # instruction that a warp fell through to, where a mark asks
        ("marked", mask),  # warps: head has a release mark that the warp has not passed
        ("within", mask),  # head is known to stay within the private part of the scratchpad
        ("has_released", mask),  # the warp has passed a release mark
        ("lock_since", "i8", (warps,)),
        ("lock_refused", "i8"),
        ("lock_wait_cycles", "i8"),
        ("locks_released_early", "i8"),
        ("register_waits", "i8"),  # `setmaxnreg` instructions that had to wait
        ("register_wait_cycles", "i8"),
        ("mapped", "u8"),  # address of the sets of registers of each context
        ("mapped_n", "i4", (MAX_CONTEXTS,)),
        ("mapped_next", "i4", (warps,)),  # registers that the head maps
        ("physical_used", "i8"),
        ("physical_most", "i8"),
        ("sections_taken", "i8"),
        ("sections_most", "i8"),
        ("sections_acquired", "i8"),
        # by context
        ("warp_registers", "i4", (MAX_CONTEXTS,)),  # per thread, as `setmaxnreg` has left them
        ("register_wait_since", "i8", (MAX_CONTEXTS,)),
        ("slot_of", "i4", (MAX_CONTEXTS,)),  # warp slot; -1: its CTA has been switched out
        ("loads", "i4", (MAX_CONTEXTS,)),
        ("holds_section", "i4", (MAX_CONTEXTS,)),
        ("stores", "i4", (MAX_CONTEXTS,)),
        ("cta_context", "i4", (ctas,)),  # of a CTA slot: its scratchpad, and the first of its warps
        ("swapped_out", "i8"),  # CTAs that have been switched out
        ("timeline_seen", mask),  # warps that were resident when the timeline was last updated
        ("wrong_candidates", mask),  # what the policy could have chosen instead of `RUN.wrong_warp`
    ]


SM = record(_sm_fields("i8", NARROW, NARROW_CTAS))
SM_WIDE = wide_record(_sm_fields(WIDE, MOST_WARPS, MOST_CTAS))


def _sm_at() -> Any:
    """`_sm_at(run, address of the SM records, i)`: a record of the width that the run has."""
    if JIT_DISABLED:
        narrow, wide = record_at(SM), record_at(SM_WIDE)
        return lambda run, address, i: (wide if run.dtype == RUN_WIDE else narrow)(address, i)

    @intrinsic
    def at(typing_context: Any, run: Any, address: Any, i: Any) -> Any:
        dtype = SM_WIDE if is_record_of(run, RUN_WIDE) else SM

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            offset = builder.mul(arguments[2], context.get_constant(types.int64, dtype.itemsize))
            where = builder.add(arguments[1], offset)
            return builder.inttoptr(where, context.get_value_type(signature.return_type))

        return record_type(dtype)(run, types.uint64, types.int64), generate

    return at


_sm_at_address = _sm_at()


MASK = "a mask over warps"
_INT128 = compiled("ptxsim.base.compiler.wide_types", "INT128")


def signatures(returned: Any, *arguments: Any) -> tuple[Any, Any]:
    """numba's signatures of a function for narrow and for wide records; its types may be RUN, SM and MASK."""
    narrow = {RUN: record_type(RUN), SM: record_type(SM), MASK: types.int64}
    wide = {RUN: record_type(RUN_WIDE), SM: record_type(SM_WIDE), MASK: _INT128}
    first, second = (
        of.get(returned, returned)(*(of.get(argument, argument) for argument in arguments))
        for of in (narrow, wide)
    )
    return first, second


@inline
def sm_of(run, i):
    """SM i of a run. In a loop over `array[i]` LLVM would keep the address of every field in memory and increment it;
    computing the address avoids that."""
    return _sm_at_address(run, run.sms, i)
