"""The report of a deadlock: which warps wait, where, for what, and which wait for each other in a circle.

A warp at a barrier waits for the warps of its CTA that have not reached it; a warp at a lock for those that have to
release it, one at an acquire mark for those that hold a section of the pool, one at `setmaxnreg` for the others of its
CTA. Where locks, sections or registers are involved the report is the circle, otherwise the warps at the barrier.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxsim.base.program import FOR_REGISTERS, Program
from ptxsim.base.wide_masks import mask_of
from ptxsim.memory_image.faults import RELEASE_FIRST, coordinates
from ptxsim.timing.residency.switch_records import SHARED_MEMORY
from ptxsim.timing.sharing.pairs import STRICT
from ptxsim.timing.simulation import Simulation
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import Function

_SHOWN = 4


def shared_register(simulation: Simulation, i: int) -> int:
    """The first register of an instruction that is beyond the private ones."""
    program, private = simulation.program, int(simulation.run["private_registers"][0])
    record = program.instructions[i]
    named = program.scoreboard_order[record["register"][: record["n_registers"]]].tolist()
    return next(r for r in named if program.sequence(i, r) > private)


@dataclass(frozen=True)
class _Wait:
    """A warp that waits: the instruction, the reason in words, and the warps of its SM that it waits for.

    `is_lock`: for a lock, or for registers of its CTA.
    """

    sm: Any
    warp: int
    instruction: int
    is_lock: bool
    text: str
    awaited: str
    """The others in words, to follow `text`."""
    others: tuple[int, ...]


def deadlock(kernel: Function, simulation: Simulation) -> PtxError:
    """E407 where warps wait for locks, E406 where they only wait at barriers."""
    waits = [_wait(simulation, sm, w) for sm in simulation.sms for w in _unfinished(sm)]
    found = [wait for wait in waits if wait is not None]
    locks = [wait for wait in found if wait.is_lock]
    if not found:
        return _unexplained(kernel, simulation)
    circle = next(filter(None, (_circle(wait, found) for wait in locks)), [])
    listed = circle or [*locks, *(wait for wait in found if not wait.is_lock)]
    if circle:
        title = "deadlock, warps wait for each other in a circle"
        shown = [_described(simulation, wait) + wait.awaited for wait in circle]
    else:
        title = "deadlock" if locks else "a barrier can never complete"
        shown = [_described(simulation, wait) for wait in listed[:_SHOWN]]
        shown += [f"and {len(listed) - _SHOWN} more"] * (len(listed) > _SHOWN)
    return error(
        "E407" if locks else "E406",
        f"{title}: kernel '{kernel.name}', cycle {simulation.cycles - 1}: {'; '.join(shown)}",
        *simulation.program.span(listed[0].instruction),
        _advice(simulation, locks),
    )


def _unexplained(kernel: Function, simulation: Simulation) -> PtxError:
    """E407 where no warp can go on and none waits for another: a request has been lost, or there is a mistake."""
    left = [(sm, w) for sm in simulation.sms for w in _unfinished(sm)] or [
        (sm, w) for sm in simulation.sms for w in range(len(sm["ib_pc"])) if mask_of(sm["finishing"]) >> w & 1
    ]
    shown, i = "no warp is left", 0
    if left:
        sm, w = left[0]
        i = max(0, int(sm["stack_pc"][max(0, int(sm["depth"][w]) - 1), w]))
        i = min(i, len(simulation.program.instructions) - 1)
        context = int(sm["context"][w])
        loads, stores = int(sm["loads"][context]), int(sm["stores"][context])
        shown = f"{_name(simulation, sm, w)} (SM {int(sm['index'])}) has {loads} loads and {stores} stores on their way"
    return error(
        "E407",
        f"deadlock: kernel '{kernel.name}', cycle {simulation.cycles - 1}: no warp waits for another, "
        f"but none can go on; {shown}",
        *simulation.program.span(i),
        "this must not happen: please report it, with the kernel, its launch and the machine",
    )


def _advice(simulation: Simulation, locks: list[_Wait]) -> str:
    if not locks:
        return "every warp of the CTA has to reach the same barrier"
    if any(_waits_for_registers(wait.sm, wait.warp) for wait in locks):
        return RELEASE_FIRST
    if simulation.plan.sections is not None:
        return "release extended registers before every wait for another warp, as split-registers does"
    rule = simulation.gpu.sharing.lock_rule
    if rule == "symmetric":
        return 'sharing.lock_rule = "symmetric" allows that; "safe" and "strict" exclude it'
    return f'this must not happen under the rule "{rule}": please report it, with the kernel and its launch'


def _unfinished(sm: Any) -> list[int]:
    left = mask_of(sm["resident"]) & ~mask_of(sm["finishing"])
    return [w for w in range(len(sm["ib_pc"])) if left >> w & 1]


def _waits_for_registers(sm: Any, w: int) -> bool:
    return int(sm["stack_wait"][int(sm["depth"][w]) - 1, w]) == FOR_REGISTERS


def _register_wait(simulation: Simulation, sm: Any, w: int) -> _Wait:
    """The wait of a warp at `setmaxnreg`: for all others of its CTA, as each could release registers."""
    run, program, top = simulation.run[0], simulation.program, int(sm["depth"][w]) - 1
    i, slot, context = int(sm["waits_since"][top, w]), int(sm["cta_slot"][w]), int(sm["context"][w])
    n, first = int(run["warps_per_cta"]), context - int(sm["warp_in_cta"][w])
    free = n * int(run["entry_registers"]) - int(sm["warp_registers"][first : first + n].sum())
    missing = int(program.instructions[i]["register_goal"]) - int(sm["warp_registers"][context])
    others = tuple(o for o in _unfinished(sm) if int(sm["cta_slot"][o]) == slot and o != w)
    text = f"{_place(program, i)} for {missing} more registers per thread, of which the CTA has {free} free"
    awaited = f", until {_names(simulation, sm, others)} has released others" if others else ""
    return _Wait(sm, w, i, True, text, awaited, others)


def _wait(simulation: Simulation, sm: Any, w: int) -> _Wait | None:
    """The wait of a warp at a barrier, for registers or for a lock; None if it waits for none of them."""
    program, top = simulation.program, int(sm["depth"][w]) - 1
    i = int(sm["stack_pc"][top, w])
    if mask_of(sm["at_barrier"]) >> w & 1:
        if _waits_for_registers(sm, w):
            return _register_wait(simulation, sm, w)
        i = max(0, i - 1)  # the PC of a warp at a barrier is after it
        slot, number = int(sm["cta_slot"][w]), int(sm["stack_wait"][top, w]) - 1
        seen = int(sm["cta_seen"][slot, number])
        mine = [o for o in _unfinished(sm) if int(sm["cta_slot"][o]) == slot]
        others = tuple(o for o in mine if not seen >> int(sm["warp_in_cta"][o]) & 1)
        awaited = f" for {_names(simulation, sm, others)}" if others else ""
        return _Wait(sm, w, i, False, _place(program, i), awaited, others)
    if not mask_of(sm["lock_wait"]) >> w & 1 or simulation.renamer is not None:
        return None  # renaming stops no warp of the oldest CTA: what that one waits for stops all
    if simulation.plan.sections is not None:
        others = tuple(o for o in _unfinished(sm) if sm["holds_section"][sm["context"][o]])
        awaited = f", held by {_names(simulation, sm, others)}" if others else ""
        text = f"{_place(program, i)} for a section of the pool{_held_outside(simulation, sm)}"
        return _Wait(sm, w, i, True, text, awaited, others)
    if not _asks(simulation, i):
        return _Wait(sm, w, i, True, f"{_place(program, i)}, held back by dynamic warp execution", "", ())
    others = _holders(simulation, sm, w)
    if simulation.run["shares_scratchpad"][0]:
        what = "the scratchpad lock"
    else:
        register = program.register_names[shared_register(simulation, i)]
        what = f"the lock on {register}"
    all_hold = all(_holds(simulation, sm, o, w) for o in others)
    verb = "that {} has" if all_hold else "until {} has ended"
    awaited = f" {verb.format(_names(simulation, sm, others))}" if others else ""
    return _Wait(sm, w, i, True, f"{_place(program, i)} for {what}", awaited, others)


def _held_outside(simulation: Simulation, sm: Any) -> str:
    """In words, the CTAs that hold sections and are outside of the pipeline. (They would have come back if they waited
    for memory: they wait for sections too.)"""
    if simulation.switcher is None:
        return ""
    switch, per_cta = simulation.switcher.records[int(sm["index"])], int(simulation.run["warps_per_cta"][0])
    n_ctas = simulation.switcher.ctas
    held = np.asarray(sm["holds_section"])[: n_ctas * per_cta]
    holding = held.reshape(n_ctas, per_cta).any(axis=1)
    outside = np.asarray(switch["place"])[:n_ctas] == SHARED_MEMORY
    ctas = [
        coordinates(int(switch["cta"][c]), simulation.plan.grid) for c in np.flatnonzero(holding & outside)
    ]
    names = ", ".join(f"CTA {cta}" for cta in ctas[:_SHOWN])
    more = f" and {len(ctas) - _SHOWN} more" if len(ctas) > _SHOWN else ""
    return f", held by {names}{more} outside of the pipeline, waiting for a section too" if ctas else ""


def _asks(simulation: Simulation, i: int) -> bool:
    """Whether an instruction asks for a lock."""
    record, run = simulation.program.instructions[i], simulation.run[0]
    if run["shares_scratchpad"]:
        return bool(record["reach_end"])
    return bool(record["max_sequence"] > run["private_registers"])


def _holders(simulation: Simulation, sm: Any, w: int) -> tuple[int, ...]:
    """The warps of the partner CTA that have to release a lock, or exit, before warp w may go on."""
    run, slot = simulation.run[0], int(sm["cta_slot"][w])
    per_cta, partner = int(run["warps_per_cta"]), int(sm["partner"][slot])
    partners, done = range(partner * per_cta, (partner + 1) * per_cta), int(sm["done"][partner])
    left = tuple(o for k, o in enumerate(partners) if not done >> k & 1)
    if run["shares_scratchpad"]:
        return left
    locks = sm["lock"][sm["pair"][slot]]
    other_side, k = 1 - int(sm["side"][slot]), int(sm["warp_in_cta"][w])
    if int(run["lock_rule"]) == STRICT:
        return tuple(o for o in left if locks[o - partners[0]] == other_side or o == partners[k])
    return (partners[k],) if partners[k] in left else ()


def _holds(simulation: Simulation, sm: Any, o: int, w: int) -> bool:
    """Whether warp o, or its CTA, holds a lock of the pair of warp w."""
    slot = int(sm["cta_slot"][w])
    k = 0 if simulation.run["shares_scratchpad"][0] else int(sm["warp_in_cta"][o])
    return bool(sm["lock"][sm["pair"][slot], k] == 1 - sm["side"][slot])


def _circle(start: _Wait, waits: list[_Wait]) -> list[_Wait] | None:
    """The shortest circle of waiting warps through `start`, each waiting for the next; None if there is none."""
    here = {wait.warp: wait for wait in waits if wait.sm["index"] == start.sm["index"]}
    paths = [[start]]
    seen: set[int] = set()
    for path in paths:
        for other in path[-1].others:
            if other == start.warp:
                return path
            if other in here and other not in seen:
                seen.add(other)
                paths.append([*path, here[other]])
    return None


def _described(simulation: Simulation, wait: _Wait) -> str:
    number = int(wait.sm["warp_in_cta"][wait.warp])
    block = simulation.plan.block
    last = min(32 * number + 31, math.prod(block) - 1)
    threads = f"threads {coordinates(32 * number, block)} to {coordinates(last, block)}"
    return f"{_name(simulation, wait.sm, wait.warp)} ({threads}, SM {int(wait.sm['index'])}) {wait.text}"


def _name(simulation: Simulation, sm: Any, w: int) -> str:
    cta = coordinates(int(sm["cta_id"][sm["cta_slot"][w]]), simulation.plan.grid)
    return f"CTA {cta} warp {int(sm['warp_in_cta'][w])}"


def _names(simulation: Simulation, sm: Any, warps: tuple[int, ...]) -> str:
    names = [_name(simulation, sm, w) for w in warps[:_SHOWN]]
    return ", ".join(names) + (f" and {len(warps) - _SHOWN} more" if len(warps) > _SHOWN else "")


def _place(program: Program, i: int) -> str:
    return f"waits at '{program.texts[i]}' in line {program.place(i)}"
