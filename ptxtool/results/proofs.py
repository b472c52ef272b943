"""The results of running a kernel before and after it was rewritten, as plain data: what was compared, what differs."""

from dataclasses import dataclass
from typing import Any

from ptxtool.base.diag import Diagnostic
from ptxtool.base.mangled import shown_name
from ptxtool.base.phrases import counted


@dataclass(frozen=True)
class Trial:
    """Both kernels with one set of inputs: those of the launch, or random ones from `seed`.

    `changed` is how many elements of the buffers the original changed. `skipped` is why the original could not be run
    with random inputs, "" if it was. `same` is False if anything differs, with time or without.
    """

    seed: int | None
    changed: int
    same: bool
    skipped: str = ""

    @property
    def inputs(self) -> str:
        """The inputs in words."""
        return "the launch's inputs" if self.seed is None else f"random inputs, seed {self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {"seed": self.seed, "changed": self.changed, "same": self.same, "skipped": self.skipped}

    def __str__(self) -> str:
        if self.skipped:
            return f"{self.inputs}: skipped, the original stops: {self.skipped}"
        memory = "same memory" if self.same else "different memory"
        return f"{self.inputs}: {memory}, {counted(self.changed, 'element')} changed"


@dataclass(frozen=True)
class Proof:
    """What runs of a module before and after it was rewritten show: `problems` is what differs, one E305 at most.

    `buffers`, and variables of the module in global memory, were compared, element by element; `unseen` are variables
    with initial values, which may be addresses: these were not.
    `timed` is False where the kernels were run without time only. Runs prove nothing about inputs that were not run.
    """

    before: str
    after: str
    kernels: tuple[str, ...]
    launch: str
    buffers: tuple[str, ...]
    unseen: tuple[str, ...]
    timed: bool
    trials: tuple[Trial, ...]
    problems: tuple[Diagnostic, ...]

    @property
    def holds(self) -> bool:
        """True if nothing differs and the original changed something: otherwise the runs show nothing."""
        return not self.problems and any(trial.changed for trial in self.trials)

    @property
    def summary(self) -> str:
        """One line: what was run, and the verdict."""
        ran = [trial for trial in self.trials if not trial.skipped]
        how = "without and with time" if self.timed else "without time"
        what = f"run on {counted(len(ran), 'set')} of inputs before and after, {how} ({self.launch})"
        names = ", ".join(map(shown_name, self.kernels))
        if self.problems:
            return f"{names}: {what}: it computes something else"
        if not self.holds:
            verdict = "the original changed no buffer, so this shows nothing"
        else:
            verdict = "same memory"
        text = f"{names}: {what}: {verdict}"
        if self.unseen:
            text += f"; variables with initial values were not compared: {', '.join(self.unseen)}"
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "before": self.before,
            "after": self.after,
            "kernels": list(self.kernels),
            "launch": self.launch,
            "holds": self.holds,
            "timed": self.timed,
            "buffers": list(self.buffers),
            "not_compared": list(self.unseen),
            "trials": [trial.to_dict() for trial in self.trials],
            "problems": [problem.to_dict() for problem in self.problems],
        }

    def __str__(self) -> str:
        return "\n".join([self.summary, *(f"  {trial}" for trial in self.trials)])
