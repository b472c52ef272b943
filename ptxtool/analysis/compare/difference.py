"""The difference of two kernels: statements, registers, pressure, occupancy, order of first use.

For comparing compilers, options or passes, and for continuous integration that must notice when a kernel grew.
`correspondence.py` finds the corresponding statements and registers, `figures.py` the figures.

* `renamed` are registers that only have another name, `removed` and `added` those without a counterpart; only
  registers that some instruction names count.
* `moved` counts the removed instructions that are among the added ones, same under the renaming: code motion.
* Sequence numbers are places in declaration order. `renumbered` counts the corresponding registers with different
  numbers, `reordered` those with different places in the order of first use.
* `head` are parameters, by place and type, and directives that only one of the heads has.

Not compared: variables outside the kernel, except for the shared memory they take, and functions that it calls.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property

import msgspec

from ptxtool.analysis.compare.correspondence import Correspondence, StatementPair, correspondence
from ptxtool.analysis.compare.figures import Figures, MeasuredKernel
from ptxtool.analysis.flow.statements import Comparable, Entity, comparables
from ptxtool.analysis.occupancy.occupancy import Occupancy
from ptxtool.analysis.sharing.first_use import touched_in_order
from ptxtool.emit import printer
from ptxtool.ir.nodes import Function

MEASURES = ("any", "instructions", "registers", "pressure", "occupancy", "shared", "local", "barriers")
"""The names for `Difference.values` and `is_worse`."""

_FIELDS = {
    "instructions": "instructions",
    "registers": "registers_used",
    "pressure": "live_registers",
    "shared": "shared_bytes",
    "local": "local_bytes",
    "barriers": "barriers",
}

_Meaning = tuple[Hashable, tuple[Entity | None, ...]]


@dataclass(frozen=True)
class ClassChange:
    """Instructions of one class (a family of the instruction table)."""

    name: str
    before: int
    after: int
    removed: int
    added: int
    changed: int


@dataclass(frozen=True)
class Difference:
    """The difference of two kernels. `occupancy` is None where the threads of a CTA are not known."""

    before: MeasuredKernel
    after: MeasuredKernel
    correspondence: Correspondence = field(repr=False)
    occupancy: tuple[Occupancy, Occupancy] | None = None

    @property
    def steps(self) -> tuple[StatementPair, ...]:
        return self.correspondence.steps

    @property
    def figures(self) -> tuple[Figures, Figures]:
        return self.before.figures, self.after.figures

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """Instructions by kind of step: "same", "changed", "removed", "added"."""
        counts = Counter(step.kind for step in self.steps if step.is_instruction)
        return {kind: counts[kind] for kind in ("same", "changed", "removed", "added")}

    @cached_property
    def moved(self) -> int:
        mapped = self.correspondence.renaming.get
        removed, added = Counter[_Meaning](), Counter[_Meaning]()
        for step in filter(lambda step: step.is_instruction, self.steps):
            if step.before and not step.after:
                removed[step.before.shape, tuple(map(mapped, step.before.names))] += 1
            elif step.after and not step.before:
                added[step.after.shape, step.after.names] += 1
        return (removed & added).total()

    @cached_property
    def classes(self) -> tuple[ClassChange, ...]:
        """The classes in which something changed, by name."""
        kinds: Counter[tuple[str, str]] = Counter()
        for step in self.steps:
            if step.is_instruction and step.kind != "same":
                kinds[self._class(step), step.kind] += 1
        sides = Counter(self.before.classes), Counter(self.after.classes)
        names = sorted({name for name, _ in kinds})
        changes = ("removed", "added", "changed")
        return tuple(ClassChange(n, sides[0][n], sides[1][n], *(kinds[n, k] for k in changes)) for n in names)

    def _class(self, step: StatementPair) -> str:
        if step.before is not None:
            return self.before.classes[step.before.instruction]
        assert step.after is not None
        return self.after.classes[step.after.instruction]

    @cached_property
    def head(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that only the first head has, and those that only the second has."""
        old, new = (Counter(_head(measured.kernel)) for measured in (self.before, self.after))
        return tuple((old - new).elements()), tuple((new - old).elements())

    # ---- registers

    @cached_property
    def _registers(self) -> dict[int, int]:
        """Used register of the one kernel -> that of the other."""
        return {
            old.register: new.register
            for old, new in self.correspondence.renaming.items()
            if old.register in self.before.used and new.register in self.after.used
        }

    @cached_property
    def renamed(self) -> tuple[tuple[str, str], ...]:
        """Corresponding registers with different names, in the first kernel's declaration order."""
        old, new = self.before.kernel.registers, self.after.kernel.registers
        names = ((old[i].name, new[j].name) for i, j in sorted(self._registers.items()))
        return tuple(pair for pair in names if pair[0] != pair[1])

    @cached_property
    def removed(self) -> tuple[str, ...]:
        registers = self.before.kernel.registers
        return tuple(registers[k].name for k in sorted(self.before.used - self._registers.keys()))

    @cached_property
    def added(self) -> tuple[str, ...]:
        registers = self.after.kernel.registers
        return tuple(registers[k].name for k in sorted(self.after.used - set(self._registers.values())))

    @cached_property
    def renumbered(self) -> int:
        return sum(i != j for i, j in self._registers.items())

    @cached_property
    def reordered(self) -> int:
        before = [self._registers[k] for k in _first_use_order(self.before) if k in self._registers]
        kept = set(before)
        after = [k for k in _first_use_order(self.after) if k in kept]
        return sum(i != j for i, j in zip(before, after, strict=True))

    # ---- verdicts

    @cached_property
    def is_same(self) -> bool:
        """Whether nothing differs but names of registers and labels."""
        statements = all(step.kind == "same" for step in self.steps)
        return (
            statements and self.figures[0] == self.figures[1] and not self.renumbered and not any(self.head)
        )

    def values(self, measure: str) -> tuple[int, int] | None:
        """A measure of `MEASURES` before and after; None for "any", and for "occupancy" where it is not known."""
        if measure in _FIELDS:
            old, new = (figures.to_dict()[_FIELDS[measure]] for figures in self.figures)
            return old, new
        if measure == "occupancy" and self.occupancy is not None:
            return self.occupancy[0].resident_ctas, self.occupancy[1].resident_ctas
        return None

    def is_worse(self, measure: str) -> bool:
        """Whether a measure grew (occupancy: fell); for "any", whether anything differs."""
        if measure == "any":
            return not self.is_same
        values = self.values(measure)
        if values is None:
            return False
        return values[1] < values[0] if measure == "occupancy" else values[1] > values[0]

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        old, new = (figures.to_dict() for figures in self.figures)
        data: dict[str, object] = {
            "before": self.before.kernel.name,
            "after": self.after.kernel.name,
            "same": self.is_same,
            "figures": {name: {"before": old[name], "after": new[name]} for name in old},
            "live_registers_at": [m.pressure.line for m in (self.before, self.after)],
            "instructions": {**self.counts, "moved": self.moved},
            "classes": {c.name: {k: v for k, v in asdict(c).items() if k != "name"} for c in self.classes},
            "head": {"removed": list(self.head[0]), "added": list(self.head[1])},
            "registers": {
                "renamed": [list(pair) for pair in self.renamed],
                "removed": list(self.removed),
                "added": list(self.added),
                "renumbered": self.renumbered,
                "reordered": self.reordered,
            },
            "changes": [self._change(step) for step in self.steps if step.kind != "same"],
        }
        if self.occupancy is not None:
            data["occupancy"] = {"before": self.occupancy[0].to_dict(), "after": self.occupancy[1].to_dict()}
        return data

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        measures = ((name, self.values(name)) for name in MEASURES)
        rows: list[tuple[object, ...]] = [(name, *pair, pair[1] - pair[0]) for name, pair in measures if pair]
        counts = ", ".join(f"{n} {kind}" for kind, n in self.counts.items())
        old, new = self.before.kernel.name, self.after.kernel.name
        title = f"{old if old == new else f'{old} -> {new}'}: {'same' if self.is_same else counts}"
        return table(title, ("measure", "before", "after", "change"), rows)

    def _change(self, step: StatementPair) -> dict[str, object]:
        data: dict[str, object] = {"kind": step.kind}
        for name, side, measured in (("before", step.before, self.before), ("after", step.after, self.after)):
            if side is not None:
                source = measured.kernel.source
                place = source.cuda.at(side.start)
                cuda = place.to_dict() if place else {}
                text = text_of(measured.kernel, side)
                data[name] = {"line": source.line(side.start), **cuda, "text": text}
        return data


def text_of(kernel: Function, statement: Comparable) -> str:
    """A statement's source text, on one line."""
    return " ".join(kernel.source.text[statement.start : statement.end].split())


def _head(kernel: Function) -> Iterator[str]:
    """The parts of a function's head, a parameter by its place instead of its name."""
    for kind, declarations in (("result", kernel.returns), ("parameter", kernel.params)):
        for place, node in enumerate(declarations):
            text = printer.parameter(msgspec.structs.replace(node, declarators=()))
            sizes = "".join(f"[{size or ''}]" for d in node.declarators for size in d.dimensions)
            yield f"{kind} {place}: {text}{sizes}"
    for directive in kernel.directives:
        yield f".{directive.name} {' '.join(directive.text.split())}".rstrip()


def _first_use_order(measured: MeasuredKernel) -> list[int]:
    found: dict[int, None] = {}
    for i, step in enumerate(measured.kernel.def_uses):
        found |= dict.fromkeys(touched_in_order(measured.kernel, i, step))
    return list(found)


def difference(before: Function, after: Function, exact: bool = False) -> Difference:
    """Compare two kernels, names of registers and labels aside unless `exact`. Raises E202 on an undeclared label."""
    compared = correspondence(comparables(before), comparables(after), exact)
    return Difference(MeasuredKernel(before), MeasuredKernel(after), compared)
