"""RegDem's variants and their runs, invented: nothing is made or simulated here."""

from collections.abc import Mapping
from typing import Any

from ptxtool.analysis.demotion.predictor import Prediction
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.formats.gpu import load_gpu
from ptxtool.results.tuning import Method, Tuning, Variant
from ptxtool.runs.tuning_variants import SWITCHES
from ptxtool.sweep.reproduction.regdem.measured import Measured
from ptxtool.sweep.reproduction.regdem.paper import Benchmark, paper

MACHINE = load_gpu(paper().gpu)


def variant(
    row: Benchmark,
    name: str,
    cycles: int | None = 1000,
    *,
    stalls: float = 100,
    slots: float = 60,
    naive: float = 50,
    predicted: float | None = None,
    equations: float | None = None,
    same_as: str = "",
    problem: str = "",
) -> Variant:
    """A variant by its name in the form of `tune`: "demote 56 accesses banks+hoist"; demoted ones have the paper's
    registers and bytes."""
    words = name.split()
    method: Method = "original" if name == "original" else words[0]  # type: ignore[assignment]
    predicted = stalls if predicted is None else predicted
    is_demoted = method == "demote"
    registers = row.registers[0] if method == "original" else int(words[1])
    on = words[3].split("+") if len(words) > 3 else []
    n_bytes = row.slot_bytes if is_demoted else 0
    plan = occupancy(MACHINE, row.threads, registers, n_bytes)
    return Variant(
        name=name,
        method=method,
        pipeline="allocate",
        target=None if method == "original" else registers,
        rule=words[2] if is_demoted else "",
        switches={switch: switch in on for switch in SWITCHES},
        text=same_as or name,
        registers=registers,
        shared_bytes=n_bytes,
        instructions=110 if is_demoted else 100,
        occupancy=plan,
        prediction=Prediction(plan.fraction, stalls, naive, slots=slots),
        predicted=predicted,
        predicted_regdem=predicted if equations is None else equations,
        same_as=same_as,
        cycles=cycles,
        problem=problem,
    )


def run(cycles: int, busy: int = 0, instructions: int = 500, conflicts: int = 0) -> Mapping[str, Any]:
    """The counters of a run on one SM with one scheduler: `busy` of its slots issue, in the others no warp is ready."""
    return {
        "cycles": cycles,
        "warp_instructions": instructions,
        "slots": {"issued": busy, "stall": 0, "idle": 0, "scoreboard": cycles - busy},
        "core": {"bank_conflict_cycles": conflicts, "register_bank_conflicts": 3 * conflicts},
    }


def benchmark(name: str) -> Benchmark:
    """A row of the paper."""
    return next(row for row in paper().benchmark if row.name == name)


def measured(row: Benchmark, *variants: Variant, **counters: Mapping[str, Any]) -> Measured:
    """A benchmark with variants, the original first.

    Counters are by the name of the variant, with `_` for blanks and plus signs; `run(cycles)` where none are given.
    """
    tuning = Tuning("k.ptx", "k", MACHINE.name, row.threads, variants, (), "")
    runs = {v.name: run(v.cycles) for v in variants if v.cycles is not None and not v.same_as}
    names = {v.name.replace(" ", "_").replace("+", "_"): v.name for v in variants}
    return Measured(row, tuning, runs | {names[key]: found for key, found in counters.items()})
