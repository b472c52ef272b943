"""The error of a timed launch that a fault ended: what happened, and which instruction, CTA, thread, SM and cycle."""

from ptxsim.base.warp_masks import MOST_WARPS
from ptxsim.base.wide_masks import mask_of
from ptxsim.memory_image.faults import TOUCHED_REGISTER, coordinates, fault
from ptxsim.timing.core.issue import WRONG_WARP
from ptxsim.timing.deadlock import shared_register
from ptxsim.timing.residency.give_way import IMPOSSIBLE_DECISION
from ptxsim.timing.schedulers import Policy
from ptxsim.timing.simulation import Simulation
from ptxtool.base.diag import PtxError, error
from ptxtool.base.mangled import shown_name
from ptxtool.ir.nodes import Function


def fault_report(kernel: Function, simulation: Simulation, policy: Policy) -> PtxError:
    """The fault that ended a run, with its place in source and grid; E416 where a function of the user's caused it."""
    run, program = simulation.run[0], simulation.program
    kind, i = int(run["fault_kind"]), int(run["fault_instruction"])
    if kind == WRONG_WARP and policy.own is not None:
        candidates = mask_of(simulation.sms[int(run["fault_sm"])]["wrong_candidates"])
        able = [w for w in range(MOST_WARPS) if candidates >> w & 1]
        return policy.own.wrong_warp(int(run["wrong_warp"]), able)
    if kind == IMPOSSIBLE_DECISION and simulation.own_scheme and simulation.switcher:
        view = simulation.switcher.records[int(run["fault_sm"])]["scheme_view"]
        return simulation.own_scheme.wrong_decision(int(run["wrong_decision"]), view)
    found = fault(program, simulation.arrays["image"], kind, simulation.printer.assertion)
    cta = coordinates(int(run["fault_cta"]), simulation.plan.grid)
    thread = coordinates(int(run["fault_thread"]), simulation.plan.block)
    sm, cycle = int(run["fault_sm"]), int(run["cycle"]) - 1
    where = f"kernel '{shown_name(kernel.name)}', CTA {cta}, thread {thread}, SM {sm}, cycle {cycle}"
    what = found.what
    if kind == TOUCHED_REGISTER:
        what += f", {program.register_names[shared_register(simulation, i)]},"
    message = f"{what} in '{program.texts[i]}': {where}"
    return error(found.code, message, *program.span(i), found.help)
