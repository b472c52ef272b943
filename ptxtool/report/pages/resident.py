"""The resident CTAs of a kernel for a page: the limiter, curves over registers and shared memory, what would change.

The rows of "what would change" are the plans that `occupancy` prints with --share-registers, --share-scratchpad,
--demotion and --scheme. One that is not possible has the reason instead.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any

from ptxtool.analysis.demotion.targets import demotion_targets
from ptxtool.analysis.occupancy.cuda_limits import CudaTarget, most_registers
from ptxtool.analysis.occupancy.occupancy import Occupancy, occupancy
from ptxtool.analysis.occupancy.register_schemes import SCHEMES, RegisterScheme
from ptxtool.analysis.occupancy.sharing_plan import sharing_plan
from ptxtool.analysis.occupancy.switching_plan import switching_plan
from ptxtool.analysis.occupancy.unified_plan import unified_plan
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import Gpu

SHARED_PERCENT = 90
"""What the sharing papers share, and what `compare` takes."""
_STEPS = 96
"""Points of the curve over shared memory."""


@dataclass(frozen=True)
class CtaTakes:
    """What a CTA takes: threads, registers per thread and where that number is from, bytes of scratchpad; of these
    `static` are declared by the kernel. `live` is the most 32-bit registers that are live in a warp."""

    threads: int
    registers: int
    source: str
    scratchpad: int
    static: int
    live: int


def resident_data(machine: "Gpu | CudaTarget", takes: CtaTakes) -> dict[str, Any]:
    """The CTAs of an SM of `machine`. Raises E402 where one CTA does not fit."""
    base = occupancy(machine, takes.threads, takes.registers, takes.scratchpad)
    target = machine.target if isinstance(machine, Gpu) else machine.name
    return {
        **base.to_dict(),
        "registers_from": takes.source,
        "register_curve": _curve(machine, takes, range(1, most_registers(target) + 1), "registers"),
        "scratchpad_curve": _curve(machine, takes, _byte_steps(machine.sm.scratchpad_bytes), "scratchpad"),
        "changes": [*_shared(machine, takes), *_demoted(machine, takes), *_schemes(machine, takes)],
    }


def _byte_steps(most: int) -> Iterator[int]:
    step = max(1, most // _STEPS)
    return iter(range(0, most + 1, step))


def _curve(
    machine: "Gpu | CudaTarget", takes: CtaTakes, values: "range | Iterator[int]", what: str
) -> list[list[Any]]:
    """[value, CTAs, warps, limiter] where one of the last three changes, and the last value at which a CTA fits."""
    points: list[tuple[int, Occupancy]] = []
    for value in values:
        registers, scratchpad = (value, takes.scratchpad) if what == "registers" else (takes.registers, value)
        try:
            points.append((value, occupancy(machine, takes.threads, registers, scratchpad)))
        except PtxError:
            break
    alike = groupby(points, key=lambda p: (p[1].resident_ctas, p[1].active_warps, p[1].limiter))
    found = [[next(group)[0], *key] for key, group in alike]
    if points and found[-1][0] != points[-1][0]:
        found.append([points[-1][0], *found[-1][1:]])
    return found


def _row(what: str, command: str, plan: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A row: the plan, or why there is none."""
    try:
        return {"what": what, "command": command, **plan()}
    except PtxError as problem:
        return {"what": what, "command": command, "reason": problem.diagnostics[0].message}


def _shared(machine: "Gpu | CudaTarget", takes: CtaTakes) -> Iterator[dict[str, Any]]:
    pairs = machine.sharing.pairs if isinstance(machine, Gpu) else "fewest"
    needs = takes.threads, takes.registers, takes.scratchpad

    def of_registers() -> dict[str, Any]:
        plan = sharing_plan(machine, *needs, share_registers=SHARED_PERCENT, pairs=pairs)
        note = (
            f"{plan.shared_pairs} pairs; {plan.private_registers} of {takes.registers} registers stay private"
        )
        return {"ctas": plan.resident_ctas, "warps": plan.active_warps, "note": note}

    def of_scratchpad() -> dict[str, Any]:
        plan = sharing_plan(machine, *needs, share_scratchpad=SHARED_PERCENT, pairs=pairs)
        note = (
            f"{plan.shared_pairs} pairs; {plan.private_scratchpad} of {takes.scratchpad} bytes stay private"
        )
        return {"ctas": plan.resident_ctas, "warps": plan.active_warps, "note": note}

    percent = f"{SHARED_PERCENT}%"
    yield _row(f"share {percent} of registers", f"--share-registers {SHARED_PERCENT}", of_registers)
    if takes.scratchpad:
        yield _row(f"share {percent} of shared memory", f"--share-scratchpad {SHARED_PERCENT}", of_scratchpad)


def _demoted(machine: "Gpu | CudaTarget", takes: CtaTakes) -> Iterator[dict[str, Any]]:
    found = demotion_targets(
        machine, takes.registers, takes.threads, takes.static, takes.scratchpad - takes.static
    )
    for target in found.targets:
        yield {
            "what": f"demote {target.demoted} registers to shared memory",
            "command": f"rewrite -p demote:registers={target.registers}",
            "ctas": target.occupancy.resident_ctas,
            "warps": target.occupancy.active_warps,
            "note": f"{target.registers} registers per thread, {target.slot_bytes} more bytes of shared memory per CTA",
        }
    if not found.targets:
        yield {"what": "demote registers to shared memory", "command": "--demotion", "reason": found.end}


def _schemes(machine: "Gpu | CudaTarget", takes: CtaTakes) -> Iterator[dict[str, Any]]:
    """The schemes whose CTAs follow from what a CTA takes; a compute capability has none."""
    if not isinstance(machine, Gpu):
        return
    for scheme in SCHEMES:
        if scheme.name == "none" or scheme.extended or scheme.renamed:
            continue
        plan = partial(_planned, machine, scheme, takes)
        yield _row(f"scheme {scheme.name}", f"--scheme {scheme.name}", plan)


def _planned(machine: Gpu, scheme: RegisterScheme, takes: CtaTakes) -> dict[str, Any]:
    needs = takes.threads, takes.registers, takes.scratchpad
    notes: list[str] = []
    if scheme.unified:
        live = takes.live if scheme.switching == "finereg" else None
        split = unified_plan(machine, scheme, *needs, live=live)
        notes.append(str(split).splitlines()[0])
        machine = machine.divided(split)
    if scheme.switching == "none":
        plan: Occupancy = occupancy(machine, *needs)
        return {"ctas": plan.resident_ctas, "warps": plan.active_warps, "note": "; ".join(notes)}
    switched = switching_plan(machine, scheme, *needs)
    resident = switched.resident_ctas(takes.live)
    notes.insert(0, f"{switched.active.resident_ctas} of them active at a time")
    return {"ctas": resident, "warps": switched.active.active_warps, "note": "; ".join(notes)}
