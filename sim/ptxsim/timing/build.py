"""Build a simulation: lay out all state of a launch before it runs."""

import math
from typing import Any

import numpy as np

from ptxsim.base.kernel_records import KERNEL
from ptxsim.base.pool import record_pool
from ptxsim.base.pool.record_pool import PooledRecords
from ptxsim.base.program import CLUSTER, Program
from ptxsim.base.wide_masks import set_masks
from ptxsim.execute.codes import FIRST_HOST_CODE
from ptxsim.memory_image.image import MemoryImage
from ptxsim.timing.banks import banks_of
from ptxsim.timing.bulk.setup import engine_records
from ptxsim.timing.dynamic_execution import Controller
from ptxsim.timing.hotspots import count_hotspots
from ptxsim.timing.machine_records import l1_records, memory_records, sm_records
from ptxsim.timing.machine_state import MachineState
from ptxsim.timing.memory.copied import leave, leave_in_empty
from ptxsim.timing.residency.schemes import built_in_decision
from ptxsim.timing.residency.switching_setup import Switcher
from ptxsim.timing.run_record import run_record
from ptxsim.timing.sharing.locks import active_marks
from ptxsim.timing.sharing.pairs import pair_slots
from ptxsim.timing.sharing.renaming_setup import Renamer
from ptxsim.timing.simulation import LaunchPlan, Simulation
from ptxsim.timing.sm_state import WHEEL_MARGIN
from ptxtool.analysis.occupancy.sharing_plan import SharingPlan
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Dispatch

_AHEAD = 64
"""Cycles that an SM may run ahead of the others: with more it is not faster."""
COUNTED = {"stall_warps": 0, "stall_cycles": 0, "stall_first": -1, "stall_offset": -1, "issues": 0}
"""Arrays with a number for every instruction, by their names in the record of a run, and their initial values."""


def build(
    program: Program, image: MemoryImage, gpu: Gpu, plan: LaunchPlan, state: MachineState | None = None
) -> Simulation:
    """Lay out the state of a launch; with `state`, on the machine that has run the launches before it."""
    n_ctas = math.prod(plan.grid)
    per_sm = -(-n_ctas // gpu.sm.count)  # a small grid spreads over the SMs (timing-model section 1.8)
    switching, active = plan.switching, plan.active
    limit = active.resident_ctas if active else plan.sharing.resident_ctas
    resident = min(limit, max(1, per_sm))
    switcher, ctas, contexts = None, resident, gpu.sm.warps
    if switching is not None:
        ctas = min(switching.ctas, max(1, per_sm))
        resident, contexts = min(resident, ctas), ctas * switching.warps
        switcher = Switcher(switching, gpu, program, ctas)
    arrays = _arrays(program, image, gpu, contexts, ctas)
    arrays["engines"] = engines = engine_records(gpu, program)
    image.time_bulk_copies(engines, contexts)

    run = run_record(gpu)
    describe_program(run[0], program, plan)
    _describe_launch(run[0], plan, gpu.dispatch, n_ctas, resident, contexts)
    _describe_sharing(run[0], gpu, plan.sharing, resident)
    if plan.sections is not None:
        run[0]["sections"], run[0]["sees_heads"] = plan.sections.sections, 1
    if switcher is not None:
        run[0]["switching"] = switcher.records.ctypes.data
    run[0]["engines"] = engines.ctypes.data if len(engines) else 0
    arrays["clusters"] = _clusters(run[0], program, plan, n_ctas, resident * gpu.sm.count)
    for name in (*COUNTED, "banks_written", "banks_read"):
        run[0][name] = arrays[name].ctypes.data
    arrays["kernels"] = kernel_record(program, image, plan)
    run[0]["kernels"], run[0]["n_kernels"] = arrays["kernels"].ctypes.data, 1
    if plan.hotspots:
        per_thread = plan.sharing.needs.registers_per_thread
        count_hotspots(run[0], gpu.sm.count, arrays, program, per_thread)

    records = [record_pool.acquire(sm_records, gpu)]
    sms = records[0].array
    set_up_sms(sms, run[0], arrays, resident, image.shared_image.nbytes)
    renamer = None
    if plan.renaming is not None:
        renamer = Renamer(plan.renaming, program.positions[0][0], run[0], sms)
    dynamic = Controller(plan.dynamic, gpu.sm.count) if plan.dynamic else None
    if dynamic is not None:
        run[0]["dynamic"] = dynamic.records.ctypes.data

    memory, l1s = memory_side(image, gpu, state, records)
    connect(run[0], sms, memory, l1s, gpu, resident)
    if plan.event_skip and not len(engines) and not _needs_order(program, plan, memory):
        run[0]["ahead"] = _AHEAD
    decide = built_in_decision(switching.scheme.switching if switching else "none", gpu.switching.order)
    parts = run, sms, l1s, memory, image.context, arrays, decide, records
    return Simulation(program, gpu, plan, *parts, dynamic=dynamic, switcher=switcher, renamer=renamer)


def memory_side(
    image: MemoryImage, gpu: Gpu, state: MachineState | None, records: list[PooledRecords]
) -> tuple[Any, Any]:
    """The records of the memory side and of the L1s, as earlier launches have left them; new ones are added to
    `records`."""
    copies = image.device.take_copies()
    if state is None or state.memory is None:
        records += [record_pool.acquire(memory_records, gpu), record_pool.acquire(l1_records, gpu)]
        memory, l1s = records[1].array, records[2].array
        if gpu.l2.copies_fill:
            leave_in_empty(memory, gpu, copies, records[1].used)
        return memory, l1s
    memory, l1s = state.memory, state.l1s
    if (l1s["cache"]["ways"] != gpu.l1d.ways).any():  # unified memory is split anew: the L1 is empty
        records.append(record_pool.acquire(l1_records, gpu))
        l1s = records[-1].array
    if gpu.l2.copies_fill:
        leave(memory, copies, state.used_slices)
    return memory, l1s


def _arrays(program: Program, image: MemoryImage, gpu: Gpu, contexts: int, ctas: int) -> dict[str, Any]:
    """The arrays whose sizes depend on the kernel: per SM, for `contexts` warps and `ctas` CTAs, or per instruction."""
    n_sms, n_instructions = gpu.sm.count, len(program.instructions)
    per_register = n_sms, contexts * max(1, program.n_registers)
    banks_written, banks_read = banks_of(program, gpu)
    return {
        "ready_at": np.empty(per_register, np.int64),
        "long_set": np.zeros(per_register, np.uint8),
        "shared": np.empty((n_sms, max(1, ctas * image.shared_image.nbytes)), np.uint8),
        **{name: np.full(n_instructions, start, np.int64) for name, start in COUNTED.items()},
        "banks_written": banks_written,
        "banks_read": banks_read,
        "image": image,
    }


def describe_program(r: Any, program: Program, plan: LaunchPlan) -> None:
    """Write program and options into the record of a run."""
    for name in ("max_cycles", "event_skip", "lock_as_stall", "entry_registers"):
        r[name] = getattr(plan, name)
    r["model_banks"] &= plan.bank_conflicts
    r["n_instructions"], r["n_registers"] = len(program.instructions), max(1, program.n_registers)
    longest = int(program.instructions["latency"].max())
    r["wheel"] = max(64, 1 << (longest + WHEEL_MARGIN - 1).bit_length()) - 1
    r["code"] = program.instructions.ctypes.data


def _describe_launch(
    r: Any, plan: LaunchPlan, dispatch: Dispatch, n_ctas: int, resident: int, contexts: int
) -> None:
    """Write the grid into the record of a run."""
    r["n_ctas"] = n_ctas
    r["cycle"] = dispatch.launch_cycles + dispatch.cta_launch_cycles * n_ctas
    r["warps_per_cta"] = plan.warps_per_cta
    r["resident_ctas"], r["contexts"] = resident, contexts


def kernel_record(program: Program, image: MemoryImage, plan: LaunchPlan) -> Any:
    """The `KERNEL` record of a launch, as an array of one. Who calls keeps program and image alive."""
    found = np.zeros(1, KERNEL)
    record = found[0]
    record["grid"], record["block"], record["n_ctas"] = plan.grid, plan.block, math.prod(plan.grid)
    record["threads_per_cta"], record["warps_per_cta"] = math.prod(plan.block), plan.warps_per_cta
    record["end_instruction"] = len(program.instructions)
    record["shared_image"], record["shared_bytes"] = image.shared_image.ctypes.data, image.shared_image.nbytes
    record["special_rows"] = program.special_rows.ctypes.data
    record["n_special_rows"] = len(program.special_rows)
    record["first_cycle"] = -1
    return found


def _clusters(r: Any, program: Program, plan: LaunchPlan, n_ctas: int, slots: int) -> Any:
    """The records of a launch's clusters, of which all threads are alive: none where none are needed. Raises E402 for
    clusters with more CTAs than the machine has room for."""
    cluster = plan.cluster
    if not cluster.is_needed(program):
        return np.zeros(0, CLUSTER)
    if cluster.size > slots:
        what = f"a cluster of {cluster.size} CTAs, of which {slots} are resident at a time"
        raise error("E402", what, help="give smaller clusters, or CTAs that need less")
    records = np.zeros(n_ctas // cluster.size, CLUSTER)
    records["n_ctas"], records["live"] = cluster.size, cluster.size * math.prod(plan.block)
    r["clusters"], r["cluster_ctas"] = records.ctypes.data, cluster.size
    return records


def _describe_sharing(r: Any, gpu: Gpu, plan: SharingPlan, resident: int) -> None:
    """Write the sharing plan into the record of a run, if it shares a resource."""
    if not plan.shared_pairs:
        return
    # fewer resident CTAs than planned need fewer pairs: a CTA whose resources fit unshared is not paired
    pairs = min(plan.shared_pairs, resident // 2)
    if gpu.sharing.pairs == "fewest":
        pairs = max(0, resident - (plan.unshared.limits[plan.resource] or resident))
    r["shared_pairs"], r["sees_heads"] = pairs, pairs > 0
    r["first_shared_slot"] = resident - 2 * pairs
    r["shares_scratchpad"] = plan.resource == "scratchpad"
    r["private_registers"], r["private_scratchpad"] = plan.private_registers, plan.private_scratchpad
    r["active_marks"] = active_marks(plan.resource == "scratchpad")


def set_up_sms(sms: Any, r: Any, arrays: dict[str, Any], resident: int, shared_bytes: int) -> None:
    """Give every SM its slots, its part of the arrays, and its pairs."""
    set_masks(sms["free_slots"], (1 << resident) - 1)
    sms["counting"] = r["count_idle"]
    sms["shared_bytes"] = shared_bytes
    for name, array in (("ready_at", "ready_at"), ("long_set", "long_set"), ("shared_memory", "shared")):
        data = arrays[array]
        sms[name] = data.ctypes.data + sms["index"] * data.strides[0]
    if r["shared_pairs"]:
        pair_slots(sms, int(r["shared_pairs"]), int(r["first_shared_slot"]))


def connect(r: Any, sms: Any, memory: Any, l1s: Any, gpu: Gpu, resident: int) -> None:
    """Write the addresses of SMs and L1s into the record of a run, and the shortest time of a reply in the network."""
    r["sms"], r["l1s"] = sms.ctypes.data, l1s.ctypes.data
    r["open_sms"] = gpu.sm.count if resident > 0 else 0
    r["is_open"][: int(r["open_sms"])] = 1
    r["horizon"] = 1 + int(memory["replies"]["unloaded"][0, 1:].min()) + gpu.ldst.response_hops


def _needs_order(program: Program, plan: LaunchPlan, memory: Any) -> bool:
    """Whether the order of SMs matters: they print, draw random numbers, stop at a limit or share a queue or port."""
    shared = memory["requests"]["by_output"].any() or memory["port_sms_shift"].any()
    queues = shared or plan.dynamic is not None or plan.switching is not None
    return bool(
        queues or plan.max_cycles or plan.cluster.size > 1 or (program.uops["op"] >= FIRST_HOST_CODE).any()
    )
