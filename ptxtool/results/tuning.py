"""What tuning a kernel's registers returns: its variants, what was predicted and simulated of each, the chosen one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ptxtool.analysis.demotion.predictor import Prediction
from ptxtool.analysis.occupancy.occupancy import Occupancy
from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import cpp_name_data

if TYPE_CHECKING:
    import pandas

Method = Literal["original", "local", "local-shared", "demote"]
"""Where values that leave the register file are kept: nowhere, in local memory, in shared memory by the allocator
(`spill=shared`), in shared memory by `demote`."""


@dataclass(frozen=True)
class Variant:
    """One text of a kernel: how it is made (`pipeline`), what it needs, and what is known of its speed.

    `target` is the register count asked for, None of the original. `rule` and `switches` are those of demotion.
    `shared_bytes` are of a CTA, dynamic ones included. `predicted` is in stall cycles at the best occupancy of all
    variants, `predicted_regdem` the same by the paper's equations alone. `cycles` are those of a simulation, None
    without one; `problem` is why that one counts for nothing. `same_as` names an earlier variant with the same text.
    """

    name: str
    method: Method
    pipeline: str
    target: int | None
    rule: str
    switches: Mapping[str, bool]
    text: str = field(repr=False)
    registers: int
    shared_bytes: int
    instructions: int
    occupancy: Occupancy
    prediction: Prediction
    predicted: float = 0.0
    predicted_regdem: float = 0.0
    same_as: str = ""
    cycles: int | None = None
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`; the text is left out."""
        return {
            "name": self.name,
            "method": self.method,
            "pipeline": self.pipeline,
            "target": self.target,
            "rule": self.rule or None,
            "switches": dict(self.switches),
            "registers": self.registers,
            "shared_bytes": self.shared_bytes,
            "instructions": self.instructions,
            "occupancy": self.occupancy.fraction,
            "resident_ctas": self.occupancy.resident_ctas,
            "limiter": self.occupancy.limiter,
            "predicted": self.predicted,
            "predicted_regdem": self.predicted_regdem,
            "predicted_naive": self.prediction.naive,
            "same_as": self.same_as or None,
            "cycles": self.cycles,
            "problem": self.problem or None,
        }


@dataclass(frozen=True)
class Declined:
    """A variant that does not exist, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class AssembledSpills:
    """What ptxas makes of the original with at most `target` registers: registers and bytes of spilling, without and
    with the pragma `enable_smem_spilling`; None where it printed no figure."""

    target: int
    registers: int | None
    spill_bytes: int | None
    pragma_registers: int | None
    pragma_spill_bytes: int | None


@dataclass(frozen=True)
class Tuning:
    """The variants of a kernel on a machine, the original first, and the chosen one.

    `end` says why there are no further register counts. `ptxas` names the assembler of `assembled`, or says why there
    is none. `interrupted` is True after Ctrl-C: then variants are missing cycles.
    """

    file: str
    kernel: str
    gpu: str
    threads: int
    variants: tuple[Variant, ...]
    declined: tuple[Declined, ...]
    end: str
    assembled: tuple[AssembledSpills, ...] = ()
    ptxas: str = ""
    interrupted: bool = False

    @property
    def original(self) -> Variant:
        return self.variants[0]

    @property
    def distinct(self) -> tuple[Variant, ...]:
        """The variants with different texts, the best prediction first; of equal ones the earlier."""
        return tuple(sorted((v for v in self.variants if not v.same_as), key=lambda v: v.predicted))

    @property
    def ranked(self) -> tuple[Variant, ...]:
        """The distinct variants, simulated ones first by their cycles, then the others by prediction."""
        return tuple(sorted(self.distinct, key=lambda v: (v.cycles is None, v.cycles or 0, v.predicted)))

    @property
    def chosen(self) -> Variant:
        """The fastest by simulation, without one by prediction; the original where nothing is faster."""
        simulated = [v for v in self.distinct if v.cycles is not None and not v.problem]
        if self.original in simulated:
            best = min(simulated, key=lambda v: v.cycles or 0)
            return best if (best.cycles or 0) < (self.original.cycles or 0) else self.original
        best = self.distinct[0]
        return best if best.predicted < self.original.predicted else self.original

    @property
    def pays(self) -> bool:
        """Whether a variant is faster than the original."""
        return self.chosen is not self.original

    def predicted_gain(self, variant: Variant) -> float:
        """How much faster than the original it is predicted to be, in percent."""
        return 100 * (self.original.predicted / variant.predicted - 1)

    def gain(self, variant: Variant) -> float | None:
        """The same by simulation; None without both cycles."""
        if not variant.cycles or not self.original.cycles:
            return None
        return 100 * (self.original.cycles / variant.cycles - 1)

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """E409 for each variant whose simulation failed or left other results than the original's."""
        return tuple(
            Diagnostic("E409", f"{v.name}: {v.problem}", help="it is not chosen; other variants stand")
            for v in self.variants
            if v.problem
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`: `variants`, and the name of the `chosen` one."""
        return {
            "file": self.file,
            "kernel": self.kernel,
            **cpp_name_data(self.kernel),
            "gpu": self.gpu,
            "threads": self.threads,
            "variants": [
                {
                    **v.to_dict(),
                    "predicted_gain_percent": self.predicted_gain(v),
                    "gain_percent": self.gain(v),
                }
                for v in self.variants
            ],
            "declined": [{"name": d.name, "why": d.why} for d in self.declined],
            "targets_end": self.end,
            "ptxas": self.ptxas,
            "enable_smem_spilling": [
                {
                    "target": a.target,
                    "registers": a.registers,
                    "spill_bytes": a.spill_bytes,
                    "registers_with_pragma": a.pragma_registers,
                    "spill_bytes_with_pragma": a.pragma_spill_bytes,
                }
                for a in self.assembled
            ],
            "chosen": self.chosen.name,
            "pays": self.pays,
            "interrupted": self.interrupted,
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame with a row per variant: what it needs, what was predicted and simulated. Raises E502 without
        pandas."""
        from ptxtool.results.frames import frame, plain

        return frame(plain(variant) for variant in self.to_dict()["variants"])

    def _repr_html_(self) -> str:
        """The distinct variants, the fastest first."""
        from ptxtool.base.html import table

        columns = (
            "variant",
            "registers",
            "resident CTAs",
            "predicted gain, %",
            "cycles",
            "gain, % or problem",
        )
        rows = [
            (
                v.name,
                v.registers,
                v.occupancy.resident_ctas,
                self.predicted_gain(v),
                v.cycles,
                v.problem or self.gain(v),
            )
            for v in self.ranked
        ]
        title = f"{self.kernel} on {self.gpu}: {self.chosen.name if self.pays else 'the original stays'}"
        return table(title, columns, rows, "interrupted" if self.interrupted else "")
