"""Build a simulation of launches that run at the same time, as `build.py` does for one that has a machine to itself.

Registers, scoreboard and local memory are those of warp slots, and a warp slot belongs to one launch at a time: each
kernel has memory for all slots, which its launches share, and uses those of its CTAs. Shared memory is laid out by CTA
slots of the largest CTA. The state of the machine goes to the launches that follow, as after a single one.

Not together with clusters, sharing, schemes of registers, `setmaxnreg`, hot spots and timelines (`combinations.py`).
Handled simply: an L1 whose size follows the shared memory of a kernel has the smallest size of all launches.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ptxsim.base.kernel_records import LEFTOVER, ONE_PER_SM, RUNNING, SPATIAL
from ptxsim.base.pool import record_pool
from ptxsim.base.program import CONTEXT, Program
from ptxsim.timing.banks import banks_of
from ptxsim.timing.build import COUNTED, connect, describe_program, memory_side, set_up_sms
from ptxsim.timing.concurrent.members import Member, describe_needs, joined_program, kernel_records
from ptxsim.timing.machine_records import sm_records
from ptxsim.timing.machine_state import MachineState
from ptxsim.timing.residency.schemes import built_in_decision
from ptxsim.timing.run_record import run_record
from ptxsim.timing.simulation import Simulation
from ptxsim.timing.sm_state import FOREVER
from ptxtool.formats.gpu import Gpu

POLICIES = {"one-per-sm": ONE_PER_SM, "leftover": LEFTOVER, "spatial": SPATIAL}
"""Of `dispatch.kernels`."""
_OF_WARP_SLOTS = (
    *("r32", "r64", "predicates", "scratch32", "scratch64"),
    *("local_memory", "call_stack", "late_products", "tensor_memory"),
)
"""The addresses in a context of what a program has for every warp slot."""


def build_concurrent(members: Sequence[Member], gpu: Gpu, state: MachineState) -> Simulation:
    """Lay out the state of launches on a machine that has run those before it. Their images get contexts that lie in
    one array."""
    program, plan = joined_program(members), members[0].plan
    run, kernels = run_record(gpu), kernel_records(members)
    successors = describe_needs(kernels, members, gpu)
    contexts = _contexts(members, program)
    stride = max(member.image.shared_image.nbytes for member in members)
    arrays = _arrays(members, program, gpu, stride)
    arrays |= {"kernels": kernels, "successors": successors, "image": members[0].image}

    r = run[0]
    describe_program(r, program, plan)
    r["contexts"], r["resident_ctas"] = gpu.sm.warps, gpu.sm.ctas
    r["n_ctas"] = int(kernels["n_ctas"].sum())
    for name in (*COUNTED, "banks_written", "banks_read"):
        r[name] = arrays[name].ctypes.data
    r["kernels"], r["n_kernels"], r["concurrent"] = kernels.ctypes.data, len(members), 1
    r["contexts_of"], r["kernel_policy"] = contexts.ctypes.data, POLICIES[gpu.dispatch.kernels]
    r["has_prints"] = program.prints
    r["most_running"] = gpu.dispatch.concurrent_kernels
    r["running"], r["next_ready"], r["may_dispatch"] = -1, FOREVER, 1
    r["sm_registers"], r["sm_scratchpad"] = gpu.sm.registers, gpu.sm.scratchpad_bytes
    r["sm_ctas"] = gpu.sm.ctas
    r["sm_warps"] = min(gpu.sm.warps, gpu.sm.threads // gpu.sm.warp_size)
    _take_first_places(r, kernels)

    records = [record_pool.acquire(sm_records, gpu)]
    sms = records[0].array
    set_up_sms(sms, r, arrays, gpu.sm.ctas, stride)
    memory, l1s = memory_side(members[0].image, gpu, state, records)
    connect(r, sms, memory, l1s, gpu, gpu.sm.ctas)
    parts = run, sms, l1s, memory, contexts, arrays, built_in_decision("none", gpu.switching.order), records
    return Simulation(program, gpu, plan, *parts, members=tuple(members))


def _contexts(members: Sequence[Member], program: Program) -> Any:
    """The contexts of all launches, which read instructions by their numbers in the run."""
    contexts = np.zeros(len(members), CONTEXT)
    owners: dict[int, int] = {}
    for k, member in enumerate(members):
        member.image.follow_device()
        contexts[k] = member.image.context[0]
        contexts[k]["instructions"] = program.instructions.ctypes.data
        contexts[k]["n_instructions"] = len(program.instructions)
        member.image.context = contexts[k : k + 1]
        if not member.program.layout.launch_rows:  # among the constant rows there is none of a launch
            owner = owners.setdefault(id(member.program), k)
            for name in _OF_WARP_SLOTS:
                contexts[k][name] = contexts[owner][name]
            member.image.keep = members[owner].image.of_cta + member.image.keep[len(member.image.of_cta) :]
    return contexts


def _arrays(members: Sequence[Member], program: Program, gpu: Gpu, stride: int) -> dict[str, Any]:
    n_instructions = len(program.instructions)
    per_register = gpu.sm.count, gpu.sm.warps * max(1, program.n_registers)
    banks = [banks_of(member.program, gpu) for member in members]
    return {
        "ready_at": np.empty(per_register, np.int64),
        "long_set": np.zeros(per_register, np.uint8),
        "shared": np.empty((gpu.sm.count, max(1, gpu.sm.ctas * stride)), np.uint8),
        **{name: np.full(n_instructions, start, np.int64) for name, start in COUNTED.items()},
        "banks_written": np.concatenate([written for written, _ in banks]),
        "banks_read": np.concatenate([read for _, read in banks]),
    }


def _take_first_places(r: Any, kernels: Any) -> None:
    """What `launches.take_places` does in cycle 0."""
    place = 0
    for k, kernel in enumerate(kernels):
        if kernel["waits_for"] == 0 and place < int(r["most_running"]):
            r["running"][place] = k
            kernel["state"], kernel["ready_cycle"] = RUNNING, kernel["launch_cycles"]
            r["next_ready"] = min(int(r["next_ready"]), int(kernel["ready_cycle"]))
            place += 1
