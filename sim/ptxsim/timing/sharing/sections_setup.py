"""Sections of a pool of registers on the host: the plan of a launch, and their result."""

from typing import Any

from ptxtool.analysis.occupancy.section_plan import SectionPlan, section_plan
from ptxtool.analysis.regalloc.register_sets import RegisterSets, register_sets
from ptxtool.base.diag import error
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.marks import EXTENDED, marks
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import PoolResult

_sets: IdentityCache[RegisterSets | None] = IdentityCache(32)
"""Of kernels."""


def plan_sections(
    kernel: Function, gpu: Gpu, threads: int, registers: int | None, scratchpad: int
) -> SectionPlan | None:
    """The CTAs and sections of a kernel with marks; None where it has none, so that its base set is all it needs.

    `registers` per thread are those that a launch is given, base and extended; None: those that the kernel names.
    Raises E402 where a CTA does not fit, E502 for marks that cannot be.
    """
    sets = _sets.get(kernel, None, lambda: register_sets(kernel))
    if sets is None:
        return None
    for mark in marks(kernel, EXTENDED):
        if mark.before_label:
            what = f"the mark '{mark.word}' stands before a label"
            help = "put it after the label, or before the instruction before it"
            raise error("E502", what, kernel.source, mark.statement.start, mark.statement.end, help=help)
    if not sets.extended:
        what = "marks of extended registers where none are named: not simulated"
        raise error("E502", what, kernel.source, kernel.start, kernel.body_start, help="run split-registers")
    base = max(sets.base, (registers or 0) - sets.extended)
    return section_plan(gpu, threads, base, sets.extended, scratchpad)


def pool_result(plan: SectionPlan, sms: Any) -> PoolResult:
    """What the sections of a run have been, from the records of its SMs."""
    return PoolResult(
        base=plan.occupancy.needs.registers_per_thread,
        extended=plan.extended,
        pool_registers=plan.pool_registers,
        sections=plan.sections,
        sections_most=int(sms["sections_most"].max()),
        acquired=int(sms["sections_acquired"].sum()),
        wait_cycles=int(sms["lock_wait_cycles"].sum()),
    )
