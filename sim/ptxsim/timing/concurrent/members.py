"""The launches of a timed run on the host's side: their records, their programs in one, and each of them alone.

The programs lie one after the other: instruction i of launch k is instruction `first(k) + i` of the run. What counts
from a launch's own first instruction is shifted: targets and points of reconvergence of its records here, the targets
that it computes in `launches.shift_targets`. Micro-operations, rows and memory stay those of the launch's own context.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ptxsim.base.program import Program, copied_instructions
from ptxsim.base.wide_masks import mask_of, set_masks
from ptxsim.memory_image.image import MemoryImage
from ptxsim.timing.build import kernel_record
from ptxsim.timing.simulation import LaunchPlan, Simulation
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class Member:
    """A launch of a run."""

    kernel: Function
    program: Program
    image: MemoryImage
    plan: LaunchPlan
    registers: int
    """Per thread."""
    stream: int
    after: tuple[int, ...] = ()
    """The launches, by their numbers in the run, that have to end before it begins."""


def first_instructions(members: Sequence[Member]) -> list[int]:
    """Where the program of each begins, and the end of the last."""
    lengths = [len(member.program.instructions) for member in members]
    return [sum(lengths[:k]) for k in range(len(lengths) + 1)]


def kernel_records(members: Sequence[Member]) -> Any:
    """The records of launches whose programs are one."""
    records = np.concatenate([kernel_record(m.program, m.image, m.plan) for m in members])
    firsts = first_instructions(members)
    records["first_instruction"], records["end_instruction"] = firsts[:-1], firsts[1:]
    return records


def describe_needs(records: Any, members: Sequence[Member], gpu: Gpu) -> Any:
    """Add to the records what launches that run at the same time need; the array with their successors."""
    successors = [[j for j, other in enumerate(members) if k in other.after] for k in range(len(members))]
    flat = np.array([j for each in successors for j in each] or [0], np.int64)
    at = 0
    for record, member, followers in zip(records, members, successors, strict=True):
        needs, n_ctas = member.plan.sharing.needs, int(record["n_ctas"])
        spread = max(1, -(-n_ctas // gpu.sm.count))  # a small grid spreads over the SMs
        record["resident_ctas"] = min(member.plan.sharing.resident_ctas, spread)
        record["registers"], record["scratchpad"] = needs.registers, needs.allocated_scratchpad
        record["launch_cycles"] = gpu.dispatch.launch_cycles + gpu.dispatch.cta_launch_cycles * n_ctas
        record["waits_for"] = len(set(member.after))
        record["successors"], record["n_successors"] = flat[at:].ctypes.data, len(followers)
        at += len(followers)
    return flat


def joined_program(members: Sequence[Member]) -> Program:
    """The programs as one: its instructions, with their texts and places. Everything else is the first one's."""
    parts = []
    for first, member in zip(first_instructions(members), members, strict=False):
        part = member.program.instructions.copy()
        for name in ("target", "reconverge"):
            part[name][part[name] >= 0] += first
        parts.append(part)
    first_program = members[0].program
    return replace(
        first_program,
        name=" + ".join(dict.fromkeys(member.program.name for member in members)),
        instructions=copied_instructions(np.concatenate(parts)),
        texts=tuple(text for member in members for text in member.program.texts),
        positions=tuple(position for member in members for position in member.program.positions),
        n_registers=max(member.program.n_registers for member in members),
        prints=any(member.program.prints for member in members),
    )


def alone(simulation: Simulation, k: int) -> Simulation:
    """A simulation as one of launch k: its program, memory and plan, its warps, the fault counted from its first
    instruction. For reports; compiled code does not run it."""
    member, first = simulation.members[k], first_instructions(simulation.members)[k]
    run, sms = simulation.run.copy(), simulation.sms.copy()
    run["fault_instruction"] -= first
    for index, sm in enumerate(sms):
        own = [w for w in _resident(sm) if int(sm["cta_kernel"][sm["cta_slot"][w]]) == k]
        set_masks(sms["resident"][index : index + 1], sum(1 << w for w in own))
    for name in ("stack_pc", "waits_since"):
        sms[name] -= first
    return replace(
        simulation,
        program=member.program,
        plan=member.plan,
        context=member.image.context,
        run=run,
        sms=sms,
        arrays={**simulation.arrays, "image": member.image},
        members=(),
    )


def left_over(simulation: Simulation) -> int:
    """The first launch with a warp that has not ended; 0 if there is none."""
    for sm in simulation.sms:
        done = mask_of(sm["finishing"])
        for w in _resident(sm):
            if not done >> w & 1:
                return int(sm["cta_kernel"][sm["cta_slot"][w]])
    return 0


def _resident(sm: Any) -> list[int]:
    """The warps that an SM runs."""
    mask = mask_of(sm["resident"])
    return [w for w in range(len(sm["ib_pc"])) if mask >> w & 1]
