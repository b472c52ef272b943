"""Register pressure: how many registers are live before each instruction, and which ones where most are.

Counts are in 32-bit registers (a `.f64` counts 2, a 16-bit one 1); predicates and PTXPlus address registers have files
of their own and are counted apart. Live are the registers of `liveness.py`, per warp by default; per thread is what a
register allocator sees.

Not a prediction of what ptxas allocates: that also depends on its scheduling and on alignment of wide registers.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from ptxtool.analysis.flow.cuda_lines import cuda_lines
from ptxtool.analysis.flow.liveness import Liveness, liveness, result_registers
from ptxtool.base.bits import from_indices, indices
from ptxtool.ir.nodes import Function
from ptxtool.ir.symbols import Register

FILES = ("general", "address", "predicate")


def file_of(register: Register) -> str:
    """The file in which a register is counted: "general", "address" or "predicate"."""
    return register.kind if register.kind in FILES else "general"


def weight_of(register: Register) -> tuple[str, int]:
    """The file of a register, and how many it counts for there."""
    file = file_of(register)
    return file, register.units if file == "general" else 1


@dataclass(frozen=True)
class Holder:
    """One register live at the maximum, with the lines that define and that use it.

    `def_cuda` are the lines of CUDA sources that the former come from, where the text has `.loc` directives.
    """

    name: str
    kind: str
    units: int
    def_lines: tuple[int, ...]
    use_lines: tuple[int, ...]
    def_cuda: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        lines = {"def_lines": list(self.def_lines), "use_lines": list(self.use_lines)}
        cuda = {"def_cuda": list(self.def_cuda)} if self.def_cuda else {}
        return {"name": self.name, "class": self.kind, "units": self.units, **lines, **cuda}


@dataclass(frozen=True)
class Pressure:
    """Live registers before every instruction: `curve` in 32-bit registers, `predicates` and `addresses` by number."""

    liveness: Liveness = field(repr=False, compare=False)
    curve: tuple[int, ...]
    predicates: tuple[int, ...]
    addresses: tuple[int, ...]

    @property
    def kernel(self) -> Function:
        return self.liveness.kernel

    @property
    def maximum(self) -> int:
        """The largest count of 32-bit registers; 0 for an empty function."""
        return max(self.curve, default=0)

    @property
    def max_predicates(self) -> int:
        return max(self.predicates, default=0)

    @property
    def max_addresses(self) -> int:
        return max(self.addresses, default=0)

    @property
    def at(self) -> int | None:
        """The first instruction with the maximum; None for an empty function."""
        return self.curve.index(self.maximum) if self.curve else None

    @property
    def line(self) -> int | None:
        """The source line of `at`."""
        return None if self.at is None else self.kernel.line(self.at)

    @cached_property
    def holders(self) -> tuple[Holder, ...]:
        """The registers live at the maximum, in sequence order."""
        if self.at is None:
            return ()
        registers = self.liveness.registers
        live = indices(self.liveness.live_before(self.at))
        defs: dict[int, list[int]] = {k: [] for k in live}
        uses: dict[int, list[int]] = {k: [] for k in live}
        cuda: dict[int, dict[str, None]] = {k: {} for k in live}
        places = cuda_lines(self.kernel)
        for i, step in enumerate(self.liveness.def_uses):
            for found, touched in ((defs, step.defs), (uses, step.uses)):
                for k in touched:
                    if k in found:
                        found[k].append(self.kernel.line(i))
            for k in step.defs if places[i] else ():
                if k in cuda:
                    cuda[k][places[i]] = None

        def holder(k: int) -> Holder:
            lines, used = (tuple(dict.fromkeys(some[k])) for some in (defs, uses))
            own = registers[k]
            return Holder(own.name, own.kind, own.units, lines, used, tuple(cuda[k]))

        return tuple(map(holder, live))

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`."""
        return {
            "kernel": self.kernel.name,
            "per": self.liveness.per,
            "maximum": self.maximum,
            "max_predicates": self.max_predicates,
            "max_addresses": self.max_addresses,
            "instruction": self.at,
            "line": self.line,
            "holders": [h.to_dict() for h in self.holders],
            "curve": list(self.curve),
            "predicates": list(self.predicates),
            "addresses": list(self.addresses),
        }

    def _repr_html_(self) -> str:
        from ptxtool.base.html import curve, table

        if self.at is None:
            return "no instructions"
        what = f"live 32-bit registers per {self.liveness.per}"
        title = (
            f"{self.kernel.name}: {self.maximum} {what} before line {self.line}: {self.kernel.text(self.at)}"
        )
        rows = [
            (h.name, h.kind, h.units, " ".join(map(str, h.def_lines)), " ".join(map(str, h.use_lines)))
            for h in self.holders
        ]
        columns = ("register", "class", "32-bit units", "defined at lines", "used at lines")
        return curve(self.curve, f"{what} along the text") + table(title, columns, rows)

    def __str__(self) -> str:
        if self.at is None:
            return "no instructions"
        lines = [
            f"{self.maximum} live 32-bit registers before line {self.line}: {self.kernel.text(self.at)}",
            f"most predicates {self.max_predicates}"
            + (f", most address registers {self.max_addresses}" if self.kernel.registers.is_ptxplus else ""),
        ]
        name = max((len(h.name) for h in self.holders), default=0)
        kind = max((len(h.kind) for h in self.holders), default=0)
        for h in self.holders:
            defined = ", ".join(map(str, h.def_lines)) or "nowhere"
            used = ", ".join(map(str, h.use_lines)) or "nowhere"
            lines.append(f"  {h.name:<{name}}  {h.kind:<{kind}}  defined: {defined}; used: {used}")
        return "\n".join(lines)


def pressure(kernel: Function, per: Literal["warp", "thread"] = "warp") -> Pressure:
    """How many registers are live at each point of a function, the maximum, and which ones are live there.

    Raises `PtxError` (E202) on an undeclared label.
    """
    return pressure_of(liveness(kernel, per))


def pressure_of(live: Liveness) -> Pressure:
    """`pressure` from a liveness."""
    registers = live.registers
    n = len(live.def_uses)
    counts = {file: [0] * n for file in FILES}
    # a register that no instruction names can only be a function's result
    named = set(result_registers(live.kernel)).union(*((*step.defs, *step.uses) for step in live.def_uses))
    weights = {k: weight_of(registers[k]) for k in named}
    alike: dict[tuple[str, int], list[int]] = {}  # registers of equal file and weight
    for k, weight in weights.items():
        alike.setdefault(weight, []).append(k)
    masks = [(file, units, from_indices(members)) for (file, units), members in alike.items()]
    for block in live.cfg.blocks:
        at_end = live.block_out[block.index] | live.waiting[block.index]
        now: dict[str, int] = dict.fromkeys(FILES, 0)
        for file, units, mask in masks:
            now[file] += units * (at_end & mask).bit_count()
        for i, begins, ends in live.steps(block.index):
            for sign, changed in ((1, begins), (-1, ends)):
                for k in changed:
                    file, units = weights[k]
                    now[file] += sign * units
            for file in FILES:
                counts[file][i] = now[file]
    return Pressure(live, tuple(counts["general"]), tuple(counts["predicate"]), tuple(counts["address"]))
