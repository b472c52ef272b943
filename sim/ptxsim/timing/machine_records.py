"""The records of a machine before a launch, and the parts of them that a launch can change.

For `build.py`, which adds the state of the launch: CTA slots, addresses of arrays, pairs that share. The parts that a
launch changes follow from the machine's sizes, except for the depth of stacks; a test checks that the arrays have the
same bytes after they are restored.
Reference: the records are those of `sm_state.py` and `timing/memory/memory_state.py`, the numbers the GPU file's.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ptxsim.base.aligned import in_small_pages
from ptxsim.base.pool.record_pool import PooledRecords, RecordKind
from ptxsim.base.pool.restore import RestorePlan
from ptxsim.base.program import MAX_STACK, stack_fields
from ptxsim.base.warp_masks import MOST_WARPS, NARROW
from ptxsim.base.wide_masks import set_masks
from ptxsim.timing.memory import texture_cache as texture
from ptxsim.timing.memory.counts import NETWORKS
from ptxsim.timing.memory.memory_setup import make_l1, make_memory
from ptxsim.timing.memory.memory_state import CHUNKS, MAX_SMS, SECTORS
from ptxsim.timing.memory.readonly import MAX_ENTRIES, MAX_LINES, MAX_WAITERS
from ptxsim.timing.sharing.pairs import pair_slots
from ptxsim.timing.sm_state import (
    ACCESSES,
    ALL_MEMORY_FREE,
    COLLECTORS,
    FRONT,
    LDST_QUEUE,
    MAX_SCHEDULERS,
    MOST_CTAS,
    NARROW_CTAS,
    OUT_PORTS,
    PENDING,
    QUEUED_BITS,
    SHARED_PIPE,
    SM,
    SM_WIDE,
    UNITS,
    WHEEL,
    WHEEL_MARGIN,
)
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import L2, Fetch, L1c, L1d, L1t, Pipeline

_STACKS = [name for name, *_ in stack_fields(1)]
_WITHOUT_WARPS = ("free_slots", "policy", "policy_number", "pair", "side", "owner", "partner", "mapped")
"""What a launch also changes in an SM without warps, of the fields after the counters."""
_OF_LINES = [f"cache.{name}" for name in ("free", "ready", "miss", "state", "entry", "tag", "used")]
"""Those of a cache, which only its accesses change."""
_COUNTS = ("accesses", "reservation_fails")
"""Of these an access of a cache changes one."""
PERFECT_LINE = 1 << 40
"""Bytes of the one line of a perfect cache."""
_DEPTH = 4
"""Entries of a stack that are put back or looked at together."""
_ACCESSES = ("memory_line", "memory_bytes", "memory_words")
BY_CONTEXT = (
    "mapped_n",
    "warp_registers",
    "register_wait_since",
    "slot_of",
    "loads",
    "holds_section",
    "stores",
)
"""Fields of an SM with a number for every context, of which a launch uses as many as it has."""
_REQUESTS = 256
"""Requests that are looked at together at first, and then twice as many each time."""


def _sm_records(gpu: Gpu) -> PooledRecords:
    sms = in_small_pages(gpu.sm.count, SM_WIDE if needs_wide(gpu) else SM)
    for name in (
        "latch_warp",
        "head",
        "latch_load",
        "cta_id",
        "kernel",
        "last_fetched",
        "last_cycle",
        "charged",
    ):
        sms[name] = -1
    sms["index"] = np.arange(len(sms))
    sms["front_free"] = -1 if FRONT == 64 else (1 << FRONT) - 1
    sms["memory_free"] = ALL_MEMORY_FREE
    sms["pending_free"] = np.arange(PENDING)
    sms["pending_free_n"] = PENDING
    for s in range(gpu.sm.schedulers):
        set_masks(sms["supervised"][:, s], sum(1 << w for w in range(s, gpu.sm.warps, gpu.sm.schedulers)))
    pair_slots(sms, 0, 0)
    _set_readonly(sms["l1i"], "fetch", gpu.fetch)
    _set_readonly(sms["l1c"], "l1c", gpu.l1c)
    _set_textures(sms["l1t"], gpu.l1t)
    records = PooledRecords(gpu, sms, [sms["next_dynamic_id"]])
    fields = _of_sm(gpu)
    _restore_used_sm(records.plan(sms, of_used=True).restore_fields(fields), gpu)
    after_counters = sms.dtype.names[sms.dtype.names.index("slots") + 1 :]
    of_warps = (name for name in after_counters if name not in _WITHOUT_WARPS)
    records.plan(sms).restore_fields(fields | dict.fromkeys(of_warps, 0))
    return records


def _restore_used_sm(plan: RestorePlan, gpu: Gpu) -> None:
    """Restore what few launches use of an SM."""
    of = plan.range_of
    # a pushed entry has lanes or, after they have left, a PC or a reconvergence PC
    depths = pairwise((1, *range(_DEPTH, MAX_STACK + 1, _DEPTH)))
    entries = ([of(name, *depth) for name in _STACKS] for depth in depths)
    plan.restore_while_used((each[:3], each[3:]) for each in entries)
    # the first access of a texture cache misses: a line has a tag; between launches the times of lines change
    lines = gpu.l1t.sets * gpu.l1t.ways
    marks = [of(f"l1t.{name}", 0, lines) for name in ("tag", "used")]
    plan.restore_while_used([(marks, [(of("l1t.accesses", 0, 1)[0], of("l1t", 0, 1)[1])])])
    # an access has bytes, or another line than the one before
    for k in range(_before_unit(gpu)):
        rows = [of(name, k, k + 1)[0] for name in _ACCESSES]
        plan.restore_while_used(
            (
                [(row + 8 * n, row + 8 * (n + 2)) for row in rows],
                [(row + 8 * n, row + 8 * end) for row in rows],
            )
            for n, end in pairwise((0, 4, ACCESSES))
        )


_CLASSES = ("sp", "sfu", "mem", "int", "dp", "tensor")
"""Classes of instructions as keys call them."""


def needs_wide(gpu: Gpu) -> bool:
    """Whether the SMs of a machine need wide records."""
    return gpu.sm.warps > NARROW or gpu.sm.ctas > NARROW_CTAS


def check_machine(gpu: Gpu) -> None:
    """Raise E502 where the records of `sm_state.py` cannot hold a machine: before memory is laid out for it."""
    pipeline = gpu.pipeline
    classes = _CLASSES if pipeline.has_classes else ("sp", "sfu", "mem")
    widths = [getattr(pipeline, f"{stage}_{name}") for stage in ("id_oc", "oc_ex") for name in classes]
    sets = collector_sets(pipeline)
    collectors, out_ports = sum(s.units for s in sets), sum(s.out_ports for s in sets)
    units = pipeline.sp_units + pipeline.sfu_units
    if pipeline.has_classes:
        units += pipeline.int_units + pipeline.dp_units + pipeline.tensor_units
    longest = max(t.latency for kinds in gpu.latency.values() for t in kinds.values())
    if gpu.sm.warp_size != 32:
        what = f"{gpu.name}: sm.warp_size is {gpu.sm.warp_size}"
        raise error("E502", what, help="the simulator's warps have 32 lanes")
    limits = (
        ("sm.count", gpu.sm.count, MAX_SMS),
        ("sm.warps", gpu.sm.warps, MOST_WARPS),
        ("sm.ctas", gpu.sm.ctas, MOST_CTAS),
        ("sm.schedulers", gpu.sm.schedulers, MAX_SCHEDULERS),
        ("pipeline entries of a port", max(widths), 64 // QUEUED_BITS),
        ("pipeline collectors", collectors, COLLECTORS),
        ("pipeline entries and collectors together", sum(widths) + collectors, FRONT),
        ("pipeline.register_banks", pipeline.register_banks, 32),
        ("pipeline.sp_units and the other units together", units, UNITS),
        ("pipeline out-ports", out_ports, OUT_PORTS),
        ("pipeline entries before the LDST unit", _before_unit(gpu), LDST_QUEUE),
        ("ldst.shared_pipe_cycles", gpu.ldst.shared_pipe_cycles, SHARED_PIPE),
        ("longest latency", longest, WHEEL - WHEEL_MARGIN),
    )
    for what, value, most in limits:
        if value > most:
            raise error("E502", f"{gpu.name}: {what}: {value}", help=f"the simulator holds at most {most}")
    if pipeline.register_banks & (pipeline.register_banks - 1):
        what = f"{gpu.name}: pipeline.register_banks: {pipeline.register_banks}"
        raise error("E502", what, help="it has to be a power of two")
    _check_classes(gpu)
    if pipeline.bank_function == "reg" and pipeline.register_banks % gpu.sm.register_partitions:
        what = (
            f"{gpu.name}: {pipeline.register_banks} register banks in {gpu.sm.register_partitions} partitions"
        )
        raise error(
            "E502", what, help="give every partition as many: pipeline.register_banks, sm.register_partitions"
        )


@dataclass(frozen=True)
class CollectorSet:
    """Collector units that take the instructions of these classes, and their ports."""

    classes: tuple[str, ...]
    units: int
    in_ports: int
    out_ports: int


def collector_sets(pipeline: Pipeline) -> list[CollectorSet]:
    """One set of collector units for all classes, or one for each class that has some."""
    if pipeline.collectors_shared:
        shared = pipeline.collectors_shared, pipeline.ports_shared, pipeline.out_ports_shared
        return [CollectorSet(_CLASSES, *shared)]
    units = {name: getattr(pipeline, f"collectors_{name}") for name in _CLASSES}
    ports = {name: getattr(pipeline, f"ports_{name}") for name in _CLASSES}
    return [CollectorSet((name,), n, ports[name], ports[name]) for name, n in units.items() if n]


_UNITS = {"SP": "sp", "SFU": "sfu", "EITHER": "sp", "INT": "int", "DP": "dp", "TENSOR": "tensor"}
"""The names of units in keys, by those in `[latency]`."""


def _check_classes(gpu: Gpu) -> None:
    """Raise E502 where an instruction has no unit, or the parts of sub-cores or sets of collector units do not fit."""
    pipeline = gpu.pipeline
    shared, six = pipeline.collectors_shared > 0, pipeline.has_classes
    for name, kinds in gpu.latency.items():
        for kind, timing in kinds.items():
            key, part = f"latency.{name}.{kind}.unit", _UNITS[timing.unit]
            alone = timing.unit not in ("SP", "SFU", "EITHER")
            if six if timing.unit == "EITHER" else alone and not six:
                has = "six classes" if six else "three classes"
                help = "INT, DP and TENSOR come with pipeline.collectors_shared, _int, _dp or _tensor, EITHER without"
                raise error("E502", f"{gpu.name}: {key} is '{timing.unit}', but there are {has}", help=help)
            needs = [f"{part}_units", f"id_oc_{part}", f"oc_ex_{part}"]
            needs += [] if shared else [f"collectors_{part}", f"ports_{part}"]
            none = next((need for need in needs if not getattr(pipeline, need)), None)
            if none:
                what = f"{gpu.name}: {key} is '{timing.unit}', but pipeline.{none} is 0"
                raise error("E502", what, help="give the machine such units, or the instruction another unit")
    if pipeline.sub_cores and not shared:
        what = f"{gpu.name}: pipeline.sub_cores without pipeline.collectors_shared"
        raise error("E502", what, help="sub-cores are parts of shared collector units")
    if six:
        _check_sets(gpu)


def _check_sets(gpu: Gpu) -> None:
    pipeline, sub_cores = gpu.pipeline, gpu.sm.schedulers
    if pipeline.collectors_shared and not (pipeline.ports_shared and pipeline.out_ports_shared):
        what = f"{gpu.name}: shared collector units without ports"
        raise error("E502", what, help="give pipeline.ports_shared and out_ports_shared")
    if pipeline.bank_function != "reg+warp" or pipeline.collector_step != "own":
        what = f"{gpu.name}: six classes with other banks or another step"
        raise error("E502", what, help='they need bank_function = "reg+warp" and collector_step = "own"')
    if not pipeline.sub_cores:
        return
    names = ("sp", "sfu", "int", "dp", "tensor")
    parts = {
        "register_banks": pipeline.register_banks,
        "collectors_shared": pipeline.collectors_shared,
        **{f"{name}_units": getattr(pipeline, f"{name}_units") for name in names},
    }
    stages = (f"{stage}_{name}" for stage in ("id_oc", "oc_ex") for name in (*names, "mem"))
    wrong = next((key for key, value in parts.items() if value % sub_cores), None)
    wrong = wrong or next((key for key in stages if getattr(pipeline, key) not in (0, sub_cores)), None)
    if wrong or sub_cores & (sub_cores - 1):
        what = f"{gpu.name}: pipeline.{wrong or 'sub_cores'} does not go into {sub_cores} sub-cores"
        raise error(
            "E502", what, help="sm.schedulers is their number, a power of two; each has as much of everything"
        )


def _before_unit(gpu: Gpu) -> int:
    """Memory instructions between issue and the end of the LDST unit, no more than there is room for."""
    pipeline = gpu.pipeline
    collectors = pipeline.collectors_shared or pipeline.collectors_mem
    together = pipeline.id_oc_mem + collectors + pipeline.oc_ex_mem + 1
    return min(together, LDST_QUEUE) if pipeline.has_classes else together


def _of_sm(gpu: Gpu) -> dict[str, int]:
    """The used part of an `SM` record, without what is restored in steps, the wheel and contexts (whose parts depend on
    the launch) and the index (which never changes)."""
    used = dict.fromkeys(("index", "wheel", "wakes", "l1t", *BY_CONTEXT, *_ACCESSES), 0)
    used |= dict.fromkeys(_STACKS, 1)
    used |= dict.fromkeys(("slots", "policy"), gpu.sm.schedulers)
    used |= dict.fromkeys(
        ("cta_arrived", "cta_counted", "cta_expected", "cta_holds", "cta_seen"), gpu.sm.ctas
    )
    used |= {"lock": gpu.sm.ctas, "copies": gpu.sm.warps}
    for name, cache in (("l1i", gpu.fetch), ("l1c", gpu.l1c)):
        used |= dict.fromkeys((f"{name}.tag", f"{name}.used"), cache.sets * cache.ways)
    return used | {"l1i.waiter": gpu.fetch.mshr_entries, "l1c.waiter": gpu.l1c.mshr_entries}


def _l1_records(gpu: Gpu) -> PooledRecords:
    l1s = make_l1(gpu, gpu.sm.count)
    counts = [l1s["cache"][name] for name in _COUNTS]
    # what passes it by goes through the miss queue, first through the first place
    records = PooledRecords(gpu, l1s, [*counts, l1s["miss_bytes"][:, 0], l1s["pipe_count"]])
    lines = gpu.l1d.sets * gpu.l1d.ways
    if gpu.l1d.sector_bytes == gpu.l1d.line_bytes:
        used = _of_cache(gpu.l1d, lines) | {"line_order": 0}
    else:
        used = _of_cache(gpu.l1d, lines * SECTORS) | {"line_order.written": lines * SECTORS}
        used |= {f"line_order.{name}": lines for name in ("chain", "newer", "older")}
        used |= {f"line_order.{name}": gpu.l1d.sets for name in ("newest", "oldest", "filled")}
    used["pipe"] = gpu.l1d.banks if gpu.l1d.latency_cycles else 0
    used |= {"waits": 0} if gpu.l1d.allocation == "miss" else {}
    plan = records.plan(l1s, of_used=True).restore_fields(used)
    plan.clear_used("cache.miss", gpu.l1d.mshr_entries, "n_waiters")
    return records


def _memory_records(gpu: Gpu, array: Any = None) -> PooledRecords:
    memory = make_memory(gpu, array)
    m = memory[0]
    slices = m["slice"][: gpu.l2.slices]
    records = PooledRecords(gpu, memory, [slices["cache"][name] for name in _COUNTS])
    names = [f"{net}.{name}" for net in NETWORKS for name in ("input", "output", "fifo", "queue")]
    used = dict.fromkeys(names, max(gpu.sm.count, gpu.l2.slices)) | {"channel": gpu.dram.channels}
    plan = records.plan(memory)
    of = plan.range_of
    if m["scatter_shift"]:
        drawn = [of(name, 0, CHUNKS) for name in ("chunk", "chunk_slice")]
        plan.restore_while_used([([of("n_chunks", 0, 1)], drawn)])
    plan.restore_fields(used | dict.fromkeys(("chunk", "chunk_slice", "slice", "request", "free"), 0))
    # free requests are a stack that begins with request 0 on top: requests that were ever taken come first
    pool = int(m["pool"])
    ends = [0, *(n for k in range(32) if (n := _REQUESTS << k) < pool), pool]
    taken = ((of("request", n, end), of("free", pool - end, pool - n)) for n, end in pairwise(ends))
    plan.restore_while_used((each, ()) for each in taken)
    places = gpu.l2.sets * gpu.l2.ways * (SECTORS if m["sector_bytes"] else 1)
    fields = _of_cache(gpu.l2, places) | {"written": places}
    of_lines = records.plan(slices, of_used=True).restore_fields(fields)
    of_lines.clear_used("cache.miss", gpu.l2.mshr_entries, "n_waiters")
    records.plan(slices).restore_fields(fields | dict.fromkeys((*_OF_LINES, "written"), 0))
    return records


sm_records = RecordKind(_sm_records, lambda gpu: (gpu.sm, gpu.pipeline, gpu.fetch, gpu.l1c, gpu.l1t))
"""A record of every SM, idle and empty. The machine is one that `check_machine` takes. Raises E502 for caches that the
record cannot hold."""
l1_records = RecordKind(_l1_records, lambda gpu: (gpu.sm.count, gpu.l1d, gpu.l2.sector_bytes, gpu.ldst))
"""A record of every L1 data cache, empty. Raises E502."""
memory_records = RecordKind(
    _memory_records,
    lambda gpu: (gpu.clocks, gpu.icnt, gpu.l2, gpu.dram, gpu.sm, gpu.ldst, gpu.fetch, gpu.l1c, gpu.l1d),
    lambda gpu: (gpu.sm.count, gpu.l2.slices, gpu.l2.sets, gpu.l2.ways, gpu.dram.channels),
)
"""The record of the memory side, empty. Raises E502 for a machine that the records cannot hold."""


def _of_cache(cache: L1d | L2, places: int) -> dict[str, int]:
    """The used part of a `CACHE` record with states of `places` lines or sectors, without miss entries."""
    lines = cache.sets * cache.ways
    return {
        "cache.miss": 0,
        "cache.state": places,
        "cache.entry": places,
        "cache.tag": lines,
        "cache.used": lines,
    }


def _set_readonly(caches: Any, name: str, given: Fetch | L1c) -> None:
    """Configure empty instruction or constant caches as the GPU file's table `name` says."""
    limits = (
        ("sets x ways", given.sets * given.ways, MAX_LINES),
        ("mshr_entries", given.mshr_entries, MAX_ENTRIES),
        ("mshr_waiters", given.mshr_waiters, MAX_WAITERS),
        ("miss_queue", given.miss_queue, MAX_ENTRIES),
    )
    _check_cache(name, limits)
    caches["sets"], caches["ways"], caches["line_bytes"] = given.sets, given.ways, given.line_bytes
    caches["n_entries"], caches["max_waiters"] = given.mshr_entries, given.mshr_waiters
    caches["miss_capacity"] = given.miss_queue
    if given.perfect:  # one line, present, that contains every address
        caches["sets"] = caches["ways"] = 1
        caches["line_bytes"] = PERFECT_LINE
        caches["tag"][:, 0] = 1
    sets = caches["sets"]
    caches["set_mask"] = np.where(sets & (sets - 1), -1, sets - 1)
    caches["line_shift"] = np.log2(caches["line_bytes"])


def _set_textures(caches: Any, given: L1t) -> None:
    """Configure empty texture caches."""
    limits = (
        ("sets x ways", given.sets * given.ways, MAX_LINES),
        ("fragment_fifo", given.fragment_fifo, texture.QUEUE),
        ("request_fifo", given.request_fifo, texture.QUEUE),
        ("result_fifo", given.result_fifo, texture.RESULTS),
    )
    _check_cache("l1t", limits)
    caches["sets"], caches["ways"], caches["line_bytes"] = given.sets, given.ways, given.line_bytes
    caches["queue_capacity"], caches["request_capacity"] = given.fragment_fifo, given.request_fifo
    caches["reorder_capacity"], caches["result_capacity"] = given.reorder_buffer, given.result_fifo


def _check_cache(name: str, limits: tuple[tuple[str, int, int], ...]) -> None:
    """Raise E502 where the records of a cache cannot hold table `name` of the GPU file; limits: key, value, maximum."""
    for what, value, most in limits:
        if value > most:
            raise error("E502", f"'{name}.{what}' is {value}", help=f"the simulator holds at most {most}")
