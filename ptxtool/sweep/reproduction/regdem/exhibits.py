"""The tables of RegDem's evaluation from our variants and their simulations.

Gains are of speed over the kernel as `allocate` leaves it, which stands for the compiler's: (cycles of that / cycles
of this - 1) * 100. "At the paper's registers" are the variants that demote to the paper's register count. A and B are
the sources in `paper.toml`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import get_args

from ptxtool.analysis.demotion.candidates import Rule
from ptxtool.analysis.demotion.targets import slot_bytes
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.variables import round_up
from ptxtool.results.exhibits import Exhibit, ExhibitValue
from ptxtool.results.tuning import Variant
from ptxtool.runs.tuning_variants import SWITCHES
from ptxtool.sweep.reproduction.regdem.measured import Measured, fastest
from ptxtool.sweep.reproduction.regdem.mispredictions import misprediction
from ptxtool.sweep.reproduction.regdem.paper import Paper
from ptxtool.sweep.reproduction.verdicts import geometric_mean

Cell = tuple[str, float | None, float | None]
"""A column of a row, with our value and the paper's."""
Row = Callable[[Measured], Iterable[Cell]]
"""The cells of a benchmark."""

CHOSEN, FASTEST = "predictor's choice", "fastest of all"
EQUATIONS, NAIVE = "equations alone", "naive choice"
DEMOTED, LOCAL, LOCAL_SHARED = "RegDem, fastest", "local", "local-shared"
TOGETHER = "all three"
SETTINGS = {"none": (), **{switch: (switch,) for switch in SWITCHES}, TOGETHER: SWITCHES}
"""The switches that are on, by the names of columns."""
PLAIN_RULE: Rule = "accesses"
"""The paper's first rule, where one variant stands for all."""
GAIN = "gain of speed over the compiler's allocation, percent"


def exhibits(paper: Paper, benchmarks: Sequence[Measured], machine: Gpu) -> tuple[Exhibit, ...]:
    """All tables, in the order of the paper's argument."""
    return (*_resources(benchmarks, machine), *_gains(paper, benchmarks), *_choices(paper, benchmarks))


def _resources(benchmarks: Sequence[Measured], machine: Gpu) -> Iterator[Exhibit]:
    """What demotion costs and brings, at the paper's registers."""
    unit = machine.sm.register_allocation_unit

    def registers(m: Measured) -> Iterator[Cell]:
        plain, row = m.demoted(PLAIN_RULE), m.benchmark
        yield "before", m.original.registers, row.registers[0]
        yield "after, as allocated", None if plain is None else round_up(plain.registers, unit), row.target
        added = _added_bytes(m)
        yield "demoted", None if added is None else added / slot_bytes(1, row.threads), row.demoted

    def slots(m: Measured) -> Iterator[Cell]:
        yield "slots", _added_bytes(m), m.benchmark.slot_bytes

    def occupancy(m: Measured) -> Iterator[Cell]:
        plain = m.demoted(PLAIN_RULE)
        yield "before", m.original.occupancy.fraction, m.benchmark.occupancy[0]
        yield "after", None if plain is None else plain.occupancy.fraction, m.benchmark.occupancy[1]

    note = f"registers are allocated to threads {unit} at a time"
    yield _exhibit(
        benchmarks, registers, "registers", "Registers", "B", "registers per thread", 0, notes=(note,)
    )
    yield _exhibit(benchmarks, slots, "slots", "Shared memory", "A section 3.2; B", "bytes added to a CTA", 0)
    what = "resident warps over those that an SM can hold"
    yield _exhibit(benchmarks, occupancy, "occupancy", "Occupancy", "B", what, 4)


def _gains(paper: Paper, benchmarks: Sequence[Measured]) -> Iterator[Exhibit]:
    """What demotion gains, against other ways to spill, by rule and by switch."""

    def methods(m: Measured) -> Iterator[Cell]:
        yield DEMOTED, m.gain(fastest(m.of("demote"))), None
        yield CHOSEN, m.gain(m.predicted), None
        yield LOCAL, m.gain(fastest(m.of("local"))), None
        yield LOCAL_SHARED, m.gain(fastest(m.of("local-shared"))), None

    def rules(m: Measured) -> Iterator[Cell]:
        for rule in get_args(Rule):
            yield rule, m.gain(fastest(v for v in m.at_target if v.rule == rule)), None

    def switches(m: Measured) -> Iterator[Cell]:
        for column, on in SETTINGS.items():
            gains = [m.gain(m.demoted(rule, on)) for rule in get_args(Rule)]
            known = [gain for gain in gains if gain is not None]
            yield column, geometric_mean(known) if known else None, None

    notes = (
        f"the paper prints the largest gain, {paper.most_gain:g}%, and the geometric mean, {paper.mean_gain:g}%",
        "local and local-shared: the fastest of their register counts",
    )
    yield _exhibit(
        benchmarks, methods, "gain", "What demotion gains", "A abstract", GAIN, signed=True, notes=notes
    )
    note = "at the paper's registers, with the best switches of each rule"
    title, place = "Which registers are demoted", "A section 3.4.3"
    yield _exhibit(benchmarks, rules, "rules", title, place, GAIN, signed=True, notes=(note,))
    notes = (
        "at the paper's registers, the geometric mean over the rules",
        "banks: compaction avoids conflicts of register banks, which cost up to "
        f"{paper.bank_conflict_percent:g}% in the paper; substitute: several value registers; hoist: redundant "
        "accesses dropped, loads hoisted",
    )
    title, place = "The passes after demotion", "A sections 3.4.1 and 3.4.2"
    yield _exhibit(benchmarks, switches, "switches", title, place, GAIN, signed=True, notes=notes)


def _choices(paper: Paper, benchmarks: Sequence[Measured]) -> Iterator[Exhibit]:
    """What the predictor chooses against an exhaustive search; what demoted accesses cost."""

    def choices(m: Measured) -> Iterator[Cell]:
        yield FASTEST, m.gain(m.fastest), None
        for column, choice in _choices_of(m):
            yield column, m.gain(choice), None

    def shares(m: Measured) -> Iterator[Cell]:
        best = m.gain(m.fastest)
        for column, choice in _choices_of(m):
            gain = m.gain(choice)
            yield column, None if best is None or gain is None else 100 * (100 + gain) / (100 + best), None

    def causes(m: Measured) -> Iterator[Cell]:
        found = misprediction(m)
        for column, percent in found.columns if found else ():
            yield column, percent, None

    def conflicts(m: Measured) -> Iterator[Cell]:
        before = _conflicts(m, m.original)
        added = [
            after - before
            for v in m.of("demote")
            if (after := _conflicts(m, v)) is not None and before is not None
        ]
        yield "original", before, None
        yield "largest change by a demoted variant", max(added, key=abs, default=None), 0

    def banks(m: Measured) -> Iterator[Cell]:
        for column, variant in (
            ("original", m.original),
            *((name, m.demoted(PLAIN_RULE, SETTINGS[name])) for name in ("none", "banks")),
        ):
            yield column, m.count(variant, "core.register_bank_conflicts"), None

    def added(m: Measured) -> Iterator[Cell]:
        before, executed = m.original.instructions, m.count(m.original, "warp_instructions")
        local = next((v for v in m.of("local") if v.target == m.benchmark.target), None)
        demoted = ((name, m.demoted(PLAIN_RULE, SETTINGS[name])) for name in ("none", TOGETHER))
        for column, variant in (*demoted, (LOCAL, local)):
            yield f"text, {column}", _change(None if variant is None else variant.instructions, before), None
            yield f"executed, {column}", _change(m.count(variant, "warp_instructions"), executed), None

    title = "The predictor's choice"
    note = f"{EQUATIONS}: the paper's predictor, without the bound of the busiest resource"
    yield _exhibit(benchmarks, choices, "predictor", title, "A section 4", GAIN, signed=True, notes=(note,))
    note = f"the paper prints {paper.predictor_percent:g}% for all benchmarks together"
    title, what = "The predictor against an exhaustive search", "speed, percent of the fastest variant's"
    yield _exhibit(benchmarks, shares, "share", title, "A section 1", what, notes=(note,))
    missed = (found for m in benchmarks if (found := misprediction(m)) and found.chosen is not found.fastest)
    notes = (
        "predicted: the time of a thread (its issue slots and waits) times a factor of the occupancy, or that of the "
        "busiest resource where it is more",
        "counted: slots of the schedulers that issue or find a unit busy, and slots without a ready warp",
        *(f"{found.benchmark}: {found.chosen.name}; fastest: {found.fastest.name}" for found in missed),
    )
    title = "What the predictor was wrong about"
    what = "change from its choice to the fastest variant, percent of the time of the choice"
    yield _exhibit(benchmarks, causes, "causes", title, "A section 4", what, 1, signed=True, notes=notes)
    title, what = "Bank conflicts of demoted accesses", "cycles lost to conflicts of shared memory banks"
    yield _exhibit(benchmarks, conflicts, "conflicts", title, "A section 3.2", what, 0)
    title, what = "Conflicts of register banks", "reads of operands that waited a cycle for their bank"
    note = (
        f"rule {PLAIN_RULE} at the paper's registers, with plain compaction and with the one that keeps banks"
    )
    yield _exhibit(benchmarks, banks, "banks", title, "A section 3.4.1", what, 0, notes=(note,))
    note = (
        f"rule {PLAIN_RULE} at the paper's registers, without and with the passes after demotion; {LOCAL}: allocate "
        "with at most these registers"
    )
    title, what = "Added instructions", "instructions added to the original's, percent"
    yield _exhibit(benchmarks, added, "added", title, "A section 3.2", what, 1, signed=True, notes=(note,))


def _choices_of(measured: Measured) -> tuple[tuple[str, Variant], ...]:
    return (
        (CHOSEN, measured.predicted),
        (EQUATIONS, measured.by_equations),
        (NAIVE, measured.naively_predicted),
    )


def _exhibit(
    benchmarks: Sequence[Measured],
    cells: Row,
    key: str,
    title: str,
    place: str,
    quantity: str,
    digits: int = 2,
    *,
    signed: bool = False,
    notes: tuple[str, ...] = (),
) -> Exhibit:
    values = tuple(
        ExhibitValue(m.benchmark.name, column, ours, printed)
        for m in benchmarks
        for column, ours, printed in cells(m)
    )
    return Exhibit(key, title, place, quantity, values, digits, signed, notes)


def _added_bytes(measured: Measured) -> int | None:
    plain = measured.demoted(PLAIN_RULE)
    return None if plain is None else plain.shared_bytes - measured.original.shared_bytes


def _conflicts(measured: Measured, variant: Variant) -> int | None:
    return measured.count(variant, "core.bank_conflict_cycles")


def _change(now: int | None, before: int | None) -> float | None:
    """In percent; None without both."""
    return 100 * (now / before - 1) if now and before else None
