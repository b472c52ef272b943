"""Release by name on the host: what each instruction of a kernel needs and writes, the plan of a launch, its result."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.analysis.flow.pressure import weight_of
from ptxtool.analysis.occupancy.renaming_plan import RenamingPlan, renaming_plan
from ptxtool.base.bits import indices
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.nodes import Function
from ptxtool.results.simulation import RenamingResult

_WORD = 64


@dataclass(frozen=True)
class Needs:
    """Sets of 32-bit registers, a bit each, as rows of int64: `needed` before each instruction and at the end,
    `written` by each; `most` are in both of an instruction together at most."""

    needed: Any
    written: Any
    most: int


_needs: IdentityCache[Needs] = IdentityCache(8)
"""Of kernels."""


def needs_of(kernel: Function) -> Needs:
    """What a warp needs at each instruction, for all its lanes, and what the instructions write."""
    return _needs.get(kernel, None, lambda: _found(kernel))


def _found(kernel: Function) -> Needs:
    places: dict[int, int] = {}
    end = 0
    for k in sorted({k for step in kernel.def_uses for k in (*step.defs, *step.uses)}):
        file, units = weight_of(kernel.registers[k])
        if file == "general":
            places[k] = ((1 << units) - 1) << end
            end += units

    def units_of(registers: Any) -> int:
        found = 0
        for k in registers:
            found |= places.get(k, 0)
        return found

    needed = [units_of(indices(bits)) for bits in liveness(kernel).before_bits]
    written = [units_of(step.defs) for step in kernel.def_uses]
    most = max(((a | b).bit_count() for a, b in zip(needed, written, strict=True)), default=0)
    n_bytes = max(1, -(-end // _WORD)) * _WORD // 8

    def rows(sets: list[int]) -> Any:
        return np.frombuffer(b"".join(bits.to_bytes(n_bytes, "little") for bits in sets), np.int64).reshape(
            -1, n_bytes // 8
        )

    return Needs(rows([*needed, 0]), rows(written or [0]), most)


def plan_renaming(kernel: Function, gpu: Gpu, threads: int, registers: int, scratchpad: int) -> RenamingPlan:
    """The CTAs and the physical registers of a launch. Raises E402 where a CTA does not fit."""
    return renaming_plan(gpu, threads, registers, needs_of(kernel).most, scratchpad)


class Renamer:
    """Release by name of a run: the sets of the kernel, and those of every warp."""

    def __init__(self, plan: RenamingPlan, kernel: Function, run: Any, sms: Any) -> None:
        """Writes its part of the records of a run and of its SMs."""
        self.plan = plan
        needs = needs_of(kernel)
        words = needs.needed.shape[1]
        self.mapped: Any = np.zeros((len(sms), int(run["contexts"]) * words), np.int64)
        self._needs = needs
        run["renaming_words"], run["sees_heads"] = words, 1
        run["needed"], run["written"] = needs.needed.ctypes.data, needs.written.ctypes.data
        run["physical"], run["most_of_cta"] = plan.physical_registers // 32, plan.most_of_cta // 32
        run["reserving_ctas"] = plan.reserving_ctas
        sms["mapped"] = self.mapped.ctypes.data + np.arange(len(sms)) * self.mapped.strides[0]

    def result(self, sms: Any) -> RenamingResult:
        """What the registers of a run have been, from the records of its SMs."""
        return RenamingResult(
            physical_registers=self.plan.physical_registers,
            most_of_cta=self.plan.most_of_cta,
            registers_most=32 * int(sms["physical_most"].max()),
            waits=int(sms["lock_refused"].sum()),
            wait_cycles=int(sms["lock_wait_cycles"].sum()),
        )
