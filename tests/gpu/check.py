"""Every program on a GPU and in the simulator: what became of each item, and of each row.

Items share kernels; where a machine refuses one or faults, the batch is halved until the item is found.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from gpu.body_rows import body_items
from gpu.compare import Comparison, compare
from gpu.machine import Machine, MachineError, Simulator, job
from gpu.programs import Program, batches, is_there, lacking, row_items, rows
from walk_kernels import Item

from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.isa.forms import Form
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

PER_ROW = 16
_MORE = 200
BAD = ("different", "refused", "failed")
"""Outcomes that nothing excuses."""
OUTCOMES = ("equal", "NaN bits", "within bound", "listed", *BAD, "skipped")
"""From best to worst; what a row has is the worst of its items, but "skipped" only if all are."""


@dataclass(frozen=True)
class Tried:
    """An item, what became of it, and the words for it."""

    item: Item
    outcome: str
    message: str = ""
    worst: float = 0.0


@dataclass
class Row:
    """A row of the table and its items; `reason` where it has none."""

    form: Form
    reason: str = ""
    tried: list[Tried] = field(default_factory=list)

    @property
    def outcome(self) -> str:
        found = [t.outcome for t in self.tried if t.outcome != "skipped"]
        return max(found, key=OUTCOMES.index, default="skipped")

    @property
    def why(self) -> str:
        return self.reason or next((t.message for t in self.tried if t.outcome == "skipped"), "")


@dataclass(frozen=True)
class Known:
    """A difference that is as it should be."""

    instruction: str
    reason: str


def known_differences(path: Path = Path(__file__).parent / "known.toml") -> list[Known]:
    """The listed differences."""
    return [Known(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8")).get("difference", [])]


def check(
    machine: Machine,
    chosen: Iterable[Form] | None = None,
    per_row: int = PER_ROW,
    known: Sequence[Known] | None = None,
    bodies: bool = True,
    progress: Callable[[str], object] = lambda _: None,
    passes: str = "",
) -> list[Row]:
    """Compare rows (all by default) on a machine with the simulator; the machine gets what `passes` make of them."""
    listed = known_differences() if known is None else list(known)
    made: list[Item] = []
    found = {id(form): Row(form) for form in (rows() if chosen is None else chosen)}
    for row in found.values():
        items, row.reason = row_items(row.form, per_row)
        made += items
    if bodies:
        made += [item for item in body_items() if id(item.match.form) in found]
    lacks = lacking(made, machine.target, machine.version)
    # a row whose first instructions are all too new may have others
    there = {id(item.match.form) for k, item in enumerate(made) if k not in lacks}
    for row in found.values():
        if id(row.form) not in there and not row.reason and is_there(row.form, machine.target):
            more = row_items(row.form, _MORE)[0]
            without = lacking(more, machine.target, machine.version)
            made += [item for k, item in enumerate(more) if k not in without][:per_row]
    for k, reason in lacks.items():
        found[id(made[k].match.form)].tried.append(Tried(made[k], "skipped", reason))
    left = [item for k, item in enumerate(made) if k not in lacks]
    done = 0
    for batch in batches(left):
        for tried in _batch(batch, machine, listed, passes):
            found[id(tried.item.match.form)].tried.append(tried)
        done += len(batch)
        progress(f"{done} of {len(left)} instructions")
    return list(found.values())


def _batch(batch: list[Item], machine: Machine, known: Sequence[Known], passes: str) -> list[Tried]:
    """Run some items on both sides, together if that goes well."""
    program = Program(tuple(batch), machine.target, machine.version)
    text, declined = _rewritten(program.text, passes)
    ours, own = _results(Simulator(machine.target, machine.version), program)
    theirs, problem = (None, None) if declined else _results(machine, program, text)
    if len(batch) > 1 and (own or problem or declined):
        half = len(batch) // 2
        return _batch(batch[:half], machine, known, passes) + _batch(batch[half:], machine, known, passes)
    if declined:
        return [Tried(batch[0], "skipped", declined)]
    if own or problem:
        return [_ended(batch[0], own, problem, known)]
    assert ours is not None
    assert theirs is not None
    return [_compared(item, compare(item, ours[:, k], theirs[:, k]), known) for k, item in enumerate(batch)]


def _rewritten(text: str, passes: str) -> tuple[str, str]:
    """What passes make of a text; or why they do not take it."""
    if not passes:
        return text, ""
    try:
        return emit(rewrite(parse(text), passes).module), ""
    except PtxError as problem:
        return text, problem.diagnostics[0].message


def _results(
    machine: Machine, program: Program, text: str = ""
) -> tuple[np.ndarray | None, MachineError | None]:
    made = job(program)
    try:
        return machine.run(replace(made, text=text or made.text)), None
    except MachineError as problem:
        return None, problem


def _ended(
    item: Item, own: MachineError | None, problem: MachineError | None, known: Sequence[Known]
) -> Tried:
    """An item that does not come to its end on one side, or on both."""
    if problem is not None and problem.stage == "compile":
        return Tried(item, "refused", problem.message)
    if item.fails and own is not None and problem is not None:
        return Tried(item, "equal")
    message = "\n".join(
        f"{who}: {error.message if error else 'comes to its end'}"
        for who, error in (("hardware", problem), ("simulator", own))
    )
    listed = _listed(item, known)
    return Tried(item, "listed", listed) if listed else Tried(item, "failed", message)


def _compared(item: Item, found: Comparison, known: Sequence[Known]) -> Tried:
    if item.fails:
        return Tried(item, "failed", "it comes to its end on both sides")
    if found.outcome == "different":
        listed = _listed(item, known)
        return (
            Tried(item, "listed", listed)
            if listed
            else Tried(item, "different", f"{found.wrong} lanes; {found.first}")
        )
    return Tried(item, found.outcome, worst=found.worst)


def _listed(item: Item, known: Sequence[Known]) -> str:
    opcode = item.text.split()[0].rstrip(";")
    return next((k.reason for k in known if fnmatchcase(opcode, k.instruction)), "")
