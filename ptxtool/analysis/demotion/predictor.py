"""Predict from a kernel's text how long it takes, to choose among variants of it: RegDem's predictor.

Three steps, each with the equation of the paper:

1. Per basic block the stall cycles of its instructions, issued in order:

       stall(i) = max(1, MAX_THROUGHPUT / throughput(i) * occupancy) + wait(i)        (equation 2)

   The first term is the issue slot; units with few lanes are contended by more warps at higher occupancy. wait(i) is
   what is missing until the registers that i names are ready: an arithmetic result takes latency + 5 + s cycles for s
   sources (the machine's pipeline), a value from memory L cycles after it was issued. What is in flight at the end of a
   block is waited for in its successor where that has no other predecessor, nowhere otherwise.
2. A loop multiplies the stalls of its blocks by 10, a call adds those of the function.
3. With occupancy the same stalls are hidden better:

       predicted = stalls * f(occupancy) / f(best occupancy),   f(o) = 0.14088 * o ** -0.86281        (equation 3)

   The paper ends here, as if any stall could be hidden. But no warp waits less than its turn takes: a warp occupies the
   busiest resource of an SM for `busy` cycles (schedulers, load-store unit, execution units, a bank of its registers,
   which serves an operand or a result per cycle). With W warps resident at the best occupancy, `bounded` is the larger
   one of `predicted` and W * busy.

Predictions are comparable among variants of one kernel; they are no cycles of a run. In the paper, for SASS, stall
counts are in the text; here a scoreboard's waits take their place. The paper scales them whole; here the slot alone is
scaled, as a long pipeline does not become longer by contention. `naive` is the paper's baseline: the waits for
arithmetic and a slot of one cycle each, without memory, contention, loops and occupancy.

Not modelled: divergence, barriers, cache misses, memory bandwidth.

Reference: P. Sakdhnagool, A. Sabne, R. Eigenmann, "RegDem: increasing GPU performance via shared memory register
spilling", 2019, section 4, with the constants of its release.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ptxtool.analysis.demotion.candidates import LOOP_FACTOR
from ptxtool.analysis.flow.loops import loops_of
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.base.diag import error
from ptxtool.cfg.blocks import build
from ptxtool.ir.names import memory_in
from ptxtool.ir.nodes import Function, Instruction, Name
from ptxtool.isa.table import table
from ptxtool.isa.types import ArithmeticClass, arithmetic_class

GLOBAL_LATENCY = 200
"""Cycles of an access to device memory: global, local, texture, generic (the paper's GL_MEM_STALL)."""
SHARED_LATENCY = 24
"""Cycles of an access on the SM: shared memory, and constants and parameters (the paper's SH_MEM_STALL)."""
PIPELINE_CYCLES = 5
"""From issue to dependent issue beside the unit's latency and a cycle per source (docs/model, 1.6)."""
_SCALE, _EXPONENT = 0.14088, -0.86281
"""The paper's fit of run time over occupancy."""
_ON_CHIP = frozenset({"shared", "param", "const"})
_FOLDED_ON_CHIP = ("s", "c")
"""How PTXPlus names shared memory and constants in operands: `s[0x10]`, `c0[0x10]`."""


class UnitTiming(NamedTuple):
    """How a class of instructions executes: cycles of latency, lanes per cycle on all units of an SM, their name."""

    latency: int
    throughput: float
    unit: str


@dataclass(frozen=True)
class MachineTiming:
    """What the predictor needs to know of a machine.

    `units` is by the unit column of the instruction table and the class of the type. `max_throughput` is that of the
    schedulers, in lanes per cycle; so is `memory_throughput`, of the load-store unit, which executes `memory_units`. A
    warp's registers are in `register_banks` banks of one of the `partitions`, by their number; 0 banks: in no bank of
    their own, as where it depends on the warp.
    """

    units: Mapping[tuple[str, ArithmeticClass], UnitTiming]
    max_throughput: float
    memory_throughput: float
    memory_units: frozenset[str]
    register_banks: int = 0
    partitions: int = 1
    warp_size: int = 32


@dataclass(frozen=True)
class Prediction:
    """The stall cycles of a kernel at an occupancy (`stalls`, steps 1 and 2), and without a model of it (`naive`).

    `busy` are cycles of an SM for which a warp occupies its busiest resource. `slots` are the issue slots among the
    stalls, conflicts of banks included; the rest are waits.
    """

    occupancy: float
    stalls: float
    naive: float
    busy: float = 0.0
    slots: float = 0.0

    def relative_to(self, best_occupancy: float) -> float:
        """Equation 3; `best_occupancy` is the highest among the variants."""
        return self.stalls * exposed(self.occupancy) / exposed(best_occupancy)

    def bounded(self, best_occupancy: float, max_warps: int) -> float:
        """The same, but no less than the busiest resource takes; an SM holds `max_warps` at an occupancy of 1."""
        return max(self.relative_to(best_occupancy), self.busy * best_occupancy * max_warps)


def exposed(occupancy: float) -> float:
    """f of equation 3: the part of the stalls that an occupancy of 0 < o <= 1 leaves, up to a factor."""
    return _SCALE * math.pow(occupancy, _EXPONENT)


def predict(kernel: Function, timing: MachineTiming, occupancy: float) -> Prediction:
    """The stalls of a kernel with the functions it calls, of which `occupancy` > 0 of the warps of an SM are resident.

    Raises E301 for recursive calls, E202 for an undeclared label.
    """
    predictor = _Predictor(timing, occupancy)
    stalls, naive, busy, slots = predictor.of(kernel, ())
    return Prediction(occupancy, stalls, naive, max(busy.values(), default=0.0), slots)


class _Cost(NamedTuple):
    """Of an opcode: cycles of its slot, and from its issue to a dependent one; `by_memory` in place of the latter.

    `occupies` is the unit that executes it, for `cycles`.
    """

    slot: float
    distance: int
    by_memory: int
    occupies: str
    cycles: float


class _Function(NamedTuple):
    """Of a function with those it calls: stalls, naive ones, for how many cycles a warp occupies each resource, and the
    issue slots among the stalls."""

    stalls: float
    naive: float
    busy: Mapping[str, float]
    slots: float


class _Predictor:
    def __init__(self, timing: MachineTiming, occupancy: float):
        self._timing, self._occupancy = timing, occupancy
        self._issue = timing.warp_size / timing.max_throughput
        self._costs: dict[tuple[str, int, str], _Cost] = {}
        self._done: dict[str, _Function] = {}

    def of(self, function: Function, callers: tuple[str, ...]) -> _Function:
        """The figures of a function, called functions included."""
        if function.name in callers:
            what = f"'{function.name}' is recursive: how often it runs is unknown"
            help = "tune kernels without recursive calls"
            raise error("E301", what, function.source, function.start, function.body_start, help=help)
        if function.name not in self._done:
            self._done[function.name] = self._of(function, (*callers, function.name))
        return self._done[function.name]

    def _of(self, function: Function, callers: tuple[str, ...]) -> _Function:
        cfg = build(function)
        nest = loops_of(cfg)
        called = dict(_called(function))
        total = naive = slots = 0.0
        busy: dict[str, float] = {}
        banks, per_access = _banks(function, self._timing.register_banks), 1 / self._timing.partitions
        left: dict[int, dict[int, float]] = {}  # by block: what is in flight at its end
        for block in cfg.reverse_postorder:
            if block >= len(cfg.blocks):
                continue  # the virtual exit
            predecessors = cfg.predecessors[block]
            arriving = left.get(predecessors[0], {}) if len(predecessors) == 1 else {}
            start, end = cfg.blocks[block].start, cfg.blocks[block].end
            stalls, issued, left[block] = self._block(function, start, end, arriving)
            plain, _, _ = self._block(function, start, end, {}, is_naive=True)
            weight = LOOP_FACTOR ** nest.depth(block)
            total, naive, slots = total + weight * stalls, naive + plain, slots + weight * issued
            for i in range(start, end):
                cost, step = self._cost(function, function.instructions[i]), function.def_uses[i]
                occupied = [("issue", self._issue), (cost.occupies, cost.cycles)]
                occupied += [(banks[k], per_access) for k in (*step.uses, *step.defs) if k in banks]
                for name, cycles in occupied:
                    busy[name] = busy.get(name, 0.0) + weight * cycles
                if i in called:
                    callee = self.of(called[i], callers)
                    total, naive = total + weight * callee.stalls, naive + callee.naive
                    slots += weight * callee.slots
                    for name, cycles in callee.busy.items():
                        busy[name] = busy.get(name, 0.0) + weight * cycles
        return _Function(total, naive, busy, slots)

    def _block(
        self, function: Function, start: int, end: int, arriving: Mapping[int, float], is_naive: bool = False
    ) -> tuple[float, float, dict[int, float]]:
        """The stalls of a block, the issue slots in them, and of each register in flight at its end the cycles until it
        is ready."""
        ready = dict(arriving)
        now = slots = 0.0
        for step, node in zip(function.def_uses[start:end], function.instructions[start:end], strict=True):
            for k in step.touched:
                now = max(now, ready.get(k, now))
            slot, distance, by_memory, _, _ = self._cost(function, node)
            if is_naive:
                slot, by_memory = 1, 0
            if step.defs:
                at = now + (by_memory or distance + len(step.uses))
                ready.update(dict.fromkeys(step.defs, at))
            now, slots = now + slot, slots + slot
        return now, slots, {k: at - now for k, at in ready.items() if at > now}

    def _cost(self, function: Function, node: Instruction) -> _Cost:
        is_ptxplus = function.registers.is_ptxplus
        memory = next(filter(None, map(memory_in, node.operands)), None) if is_ptxplus else None
        key = node.opcode.text, len(node.operands), memory.symbol[:1] if memory else ""
        found = self._costs.get(key)
        if found is None:
            found = self._costs[key] = self._look_up(is_ptxplus, node, key[2])
        return found

    def _look_up(self, is_ptxplus: bool, node: Instruction, symbol: str) -> _Cost:
        """The cost of an opcode; in PTXPlus `symbol` begins the name of the memory that an operand accesses, if any."""
        timing = self._timing
        match = table().match(node.opcode.text, len(node.operands), is_ptxplus)
        unit = match.form.unit if match else "alu"
        is_folded_move = node.opcode.base == "mov" and bool(symbol)
        if unit in timing.memory_units or is_folded_move:
            on_chip = symbol in _FOLDED_ON_CHIP if symbol else not _ON_CHIP.isdisjoint(_spaces(node))
            latency = SHARED_LATENCY if on_chip else GLOBAL_LATENCY
            throughput = timing.memory_throughput
            cycles = timing.warp_size / throughput
            return _Cost(self._slot(throughput), PIPELINE_CYCLES + 1, latency, "memory", cycles)
        kind = arithmetic_class(match.type) if match else "int"
        of_unit = timing.units[unit, kind]
        distance, cycles = PIPELINE_CYCLES + of_unit.latency, timing.warp_size / of_unit.throughput
        return _Cost(self._slot(of_unit.throughput), distance, 0, of_unit.unit, cycles)

    def _slot(self, throughput: float) -> float:
        return max(1.0, self._timing.max_throughput / throughput * self._occupancy)


def _banks(function: Function, n_banks: int) -> dict[int, str]:
    """The names of the banks of registers whose names have numbers; of a wide one that of its first half."""
    if not n_banks:
        return {}
    places = ((k, units_of(register)) for k, register in enumerate(function.registers))
    return {
        k: f"bank {place.first % n_banks}"
        for k, place in places
        if place is not None and place.file == "general"
    }


def _spaces(node: Instruction) -> Iterator[str]:
    """The modifiers of an opcode without what follows `::`, as in `.shared::cta`."""
    return (modifier.partition("::")[0] for modifier in node.opcode.modifiers)


def _called(function: Function) -> Iterator[tuple[int, Function]]:
    """The calls of functions that have a body in the module; those through registers are not counted."""
    for i in function.at_bases("call"):
        name = next((o.text for o in function.instructions[i].operands if isinstance(o, Name)), "")
        target = function.module.functions.get(name)
        if target is not None and target.body is not None:
            yield i, target
