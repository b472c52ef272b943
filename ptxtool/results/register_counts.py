"""The registers per thread of a kernel from three sides: live at once, allocated, and by ptxas where there is one."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from ptxtool.analysis.regalloc.physical import GENERAL_LIMIT
from ptxtool.analysis.regalloc.register_need import RegisterNeed, register_need
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function


@dataclass(frozen=True)
class PtxasUsage:
    """What ptxas allocated to one kernel: registers per thread, bytes of its stack frame, bytes stored by spills."""

    registers: int
    stack_bytes: int
    spill_bytes: int


@dataclass(frozen=True)
class PtxasRun:
    """One run of ptxas: its version, the architecture and optimisation level, and what each kernel used."""

    version: str
    arch: str
    level: int
    kernels: Mapping[str, PtxasUsage] = field(default_factory=dict)
    problem: str = ""

    def __str__(self) -> str:
        return f"ptxas {self.version} -O{self.level} for {self.arch}"


@dataclass(frozen=True)
class RegisterCounts:
    """The counts of one kernel. `need` is None where they cannot be counted; `problem` is the reason.

    `ptxas` is the run of ptxas, None where there was none.
    """

    kernel: Function
    need: RegisterNeed | None
    problem: str
    ptxas: PtxasRun | None

    @property
    def used(self) -> PtxasUsage | None:
        """What ptxas allocated to the kernel, None where it printed no figure."""
        return self.ptxas.kernels.get(self.kernel.name) if self.ptxas else None

    @property
    def ptxas_problem(self) -> str:
        """Why there is no figure of a ptxas that ran."""
        return (
            f"no figure from {self.ptxas}: {self.ptxas.problem}" if self.ptxas and self.ptxas.problem else ""
        )

    def to_dict(self) -> dict[str, object]:
        """Plain data for `--json`: `live`, `allocated`, `ptxas`, None where there is no figure."""
        counts = (
            self.need.to_dict() if self.need else {"live": None, "allocated": None, "problem": self.problem}
        )
        if self.ptxas is None or self.used is None:
            return {**counts, "ptxas": None}
        run = {"version": self.ptxas.version, "arch": self.ptxas.arch, "level": self.ptxas.level}
        return {**counts, "ptxas": {**asdict(self.used), **run}}

    def __str__(self) -> str:
        parts: list[str] = []
        more: list[str] = []
        if self.need:
            verb = "compacted" if self.kernel.registers.is_ptxplus else "allocated"
            parts += [f"{self.need.live} live at once", f"{self.need.registers} {verb}"]
            if self.need.registers > GENERAL_LIMIT and not self.kernel.registers.is_ptxplus:
                more.append(f"a thread has {GENERAL_LIMIT} at most: 'rewrite -p allocate' spills the rest")
            if len(self.need.chain) > 1:
                more.append(f"most of them in {' -> '.join(self.need.chain)}")
            more += [f"not counted: {reason}" for reason in self.need.uncounted]
        else:
            more.append(f"no count: {self.problem}")
        if self.used:
            spilled = f" (which spills {self.used.spill_bytes} bytes)" if self.used.spill_bytes else ""
            parts.append(f"{self.used.registers} by {self.ptxas}{spilled}")
        return "\n  ".join([f"registers per thread: {', '.join(parts) or 'unknown'}", *more])


def register_counts(kernel: Function, ptxas: PtxasRun | None) -> RegisterCounts:
    """Count a kernel's registers; `ptxas` is the run of ptxas over its module. Raises E202 (undeclared label)."""
    try:
        return RegisterCounts(kernel, register_need(kernel), "", ptxas)
    except PtxError as problem:
        if any(d.code != "E301" for d in problem.diagnostics):
            raise
        return RegisterCounts(kernel, None, problem.diagnostics[0].message, ptxas)
