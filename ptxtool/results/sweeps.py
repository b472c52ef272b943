"""A sweep as plain data: the requested runs, and the result of each.

For `sweep` and for programs that run many launches and look the results up by label. A `Configuration` says what to
run; a `Record` is its result, with every counter of the run under the names that `sim --json` has; a `SweepResult` is
the records of one sweep in the order in which they were asked for.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ptxtool.analysis.occupancy.sharing_plan import Percent
from ptxtool.base.diag import error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_names import DEFAULT_GPU

if TYPE_CHECKING:
    import pandas

    from ptxtool.formats.launch.launch_file import Launch

RunStatus = Literal["done", "wrong", "failed", "lost", "bug", "waiting"]
"""The status of a run: ended; ended with wrong results; stopped by an error; its process was lost; stopped by a bug of
ptxtool; has not run. The last three are run again when the sweep is."""

AXES = (
    "kernel",
    "gpu",
    "set",
    "scheme",
    "scheduler",
    "share_registers",
    "share_scratchpad",
    "dynamic",
    "register_scheme",
    "passes",
    "registers",
    "replica",
)
"""What may vary in a sweep, in the order of tables. "" stands for the default."""

AxisValue = str | int | float | bool


@dataclass(frozen=True)
class Configuration:
    """One requested run. Everything but `kernel` has the default that `ptxtool sim` has.

    `kernel` is a file or a packaged sample, or with `text` just a name for that text. `passes` rewrites it (in them
    `share=run` and `registers=run` are this run's), `entry` names the kernel in it, `name` is what reports call it.
    `launch` is a launch file, or one that has been read (default: the one beside the file). `settings` change keys of
    the GPU. `dynamic` may be options in a text. `register_scheme` is a scheme, or `FILE.py:FUNCTION` for one of the
    user's own (default: the GPU's); the passes that it needs (`ptxtool.runs.scheme_texts`) run after `passes`. `label`
    is unique in a sweep; without one the run is named after what distinguishes it. `scheme` names what belongs
    together, for reports. `allocate` is that of `ptxsim.launch`, and so is `hotspots`, of which the counters keep
    `register_use`. The run is replica number `replica` of `replicas`, 0 without a difference
    (`ptxtool.runs.parallel.replicas`).
    `origin` is where a sweep file names the kernel, for messages.
    """

    kernel: str | Path
    launch: "str | Path | Launch | None" = None
    gpu: str | Path | Gpu = DEFAULT_GPU
    settings: tuple[str, ...] = ()
    scheduler: str = ""
    share_registers: Percent = 0
    share_scratchpad: Percent = 0
    dynamic: bool | str = False
    register_scheme: str = ""
    passes: str = ""
    registers: int | None = None
    replica: int = 0
    replicas: int = 1
    label: str = ""
    scheme: str = ""
    name: str = ""
    entry: str | None = None
    text: str | None = field(default=None, repr=False)
    ptxplus_semantics: str = "hardware"
    max_cycles: int | None = None
    allocate: bool = True
    hotspots: bool = False
    origin: tuple[Source, int, int] | None = field(default=None, repr=False, compare=False)

    @property
    def kernel_name(self) -> str:
        """What reports call the kernel."""
        if self.name:
            return self.name
        return str(self.kernel) if self.text is not None else Path(self.kernel).stem

    @property
    def axes(self) -> dict[str, AxisValue]:
        """The values of the run by the names of `AXES`."""
        gpu = self.gpu.name if isinstance(self.gpu, Gpu) else str(self.gpu)
        return {
            "kernel": self.kernel_name,
            "gpu": gpu,
            "set": ",".join(self.settings),
            "scheme": self.scheme,
            "scheduler": self.scheduler,
            "share_registers": _percent(self.share_registers),
            "share_scratchpad": _percent(self.share_scratchpad),
            "dynamic": self.dynamic,
            "register_scheme": self.register_scheme,
            "passes": self.passes,
            "registers": "" if self.registers is None else self.registers,
            "replica": self.replica + 1 if self.replicas > 1 else "",
        }


def _percent(value: Percent) -> int | float | str:
    """A percentage as a table shows it; other values stay as they are, for the check that reports them."""
    try:
        exact = Fraction(value)
    except (ValueError, ZeroDivisionError, TypeError):
        return str(value)
    return int(exact) if exact.denominator == 1 else float(exact)


REFUSALS = ("E301", "E402", "E502")
"""Codes of errors by which a pass or a machine declines a kernel: what was asked for is not possible."""


@dataclass(frozen=True)
class StoredResult:
    """The result of a run as the store keeps it, under the key of the run.

    `counters` are those of `SimResult.to_dict()` but for the issues of single instructions and what was printed; {}
    where the run did not come so far. `problems` are diagnostics as data, each with its rendered `text`. `memory` is a
    digest of all arguments afterwards: two runs with the same digest left the same bytes.
    """

    status: RunStatus
    counters: Mapping[str, Any] = field(default_factory=dict, repr=False)
    checked: tuple[str, ...] = ()
    problems: tuple[Mapping[str, Any], ...] = ()
    memory: str = ""

    @property
    def reason(self) -> str:
        """Why there is no good result, in a line; "" where there is one."""
        if self.status == "done":
            return ""
        return str(self.problems[0]["message"]) if self.problems else self.status

    @property
    def is_refused(self) -> bool:
        """Whether a pass or the machine declined the kernel, so that nothing ran."""
        return self.status == "failed" and any(problem["code"] in REFUSALS for problem in self.problems)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for the store and `--json`."""
        return {
            "status": self.status,
            "counters": self.counters,
            "checked": list(self.checked),
            "problems": list(self.problems),
            "memory": self.memory,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StoredResult":
        """What `to_dict` returned."""
        return msgspec.convert(data, cls)


WAITING = StoredResult("waiting")
"""Of a run that has not ended."""


@dataclass(frozen=True)
class Record:
    """One run of a sweep and its result."""

    label: str
    axes: Mapping[str, AxisValue]
    key: str
    outcome: StoredResult

    @property
    def status(self) -> RunStatus:
        return self.outcome.status

    @property
    def ok(self) -> bool:
        """True if the run ended and its results are those expected."""
        return self.status == "done"

    @property
    def counters(self) -> Mapping[str, Any]:
        return self.outcome.counters

    @property
    def memory(self) -> str:
        return self.outcome.memory

    def value(self, name: str) -> Any:
        """A counter by name: "thread_ipc", "slots.stall", or one of GPGPU-Sim's such as "l1d_misses"; None for a run
        without counters, and for a value that is not known.

        Raises E502 for a name that the run's counters do not have.
        """
        if not self.counters or self.counters.get(name, 0) is None:
            return None
        node: Any = self.counters
        for part in name.split("."):
            if not isinstance(node, Mapping) or part not in node:
                node = self.counters["stats"].get(name)
                break
            node = node[part]
        if not isinstance(node, str | int | float):
            known = counter_names(self.counters)
            what = "no counter" if node is None else "no single number:"
            there = f"there are {', '.join(n for n in known if '.' not in n)}, and parts such as slots.stall"
            raise error("E502", f"{what} '{name}'", help=did_you_mean(name, known, then=there))
        return node

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {"label": self.label, **self.axes, "key": self.key, **self.outcome.to_dict()}


_SHOWN = {
    "share_registers": "registers {}%",
    "share_scratchpad": "scratchpad {}%",
    "registers": "{} registers",
    "replica": "replica {}",
    "passes": "{{{}}}",
}
"""How the values of some axes are shown."""


def joined(values: Mapping[str, AxisValue]) -> str:
    """Values of axes as the name of a run, a row or a column; "default" where all are defaults.

    Different values have different names, but for what the user has called the same.
    """
    words = [_word(axis, value) for axis, value in values.items() if value not in ("", 0)]  # False is 0
    return " ".join(words) or "default"


def _word(axis: str, value: AxisValue) -> str:
    if axis == "dynamic":
        return "dynamic" if value is True else f"dynamic({value})"
    return _SHOWN.get(axis, "{}").format(value)


def check_axis(axis: str) -> None:
    """Raise E502 for what is no axis."""
    if axis not in AXES:
        help = did_you_mean(axis, AXES, f"there are {', '.join(AXES)}")
        raise error("E502", f"a sweep has no axis '{axis}'", help=help)


def counter_names(counters: Mapping[str, Any]) -> list[str]:
    """The names under which single values of a run are found."""
    names: list[str] = []
    for name, value in counters.items():
        if isinstance(value, str | int | float):
            names.append(name)
        elif isinstance(value, Mapping):
            inner = [k for k, v in value.items() if isinstance(v, str | int | float)]
            names += inner if name == "stats" else [f"{name}.{k}" for k in inner]
    return names


@dataclass(frozen=True)
class SweepResult:
    """The records of a sweep, in the order of the requests. `result["LABEL"]` finds one.

    `simulated` counts the runs of this call, `equal` those with the same key as one of them, `declined` those that a
    pass declined, `stored` those with a result in the store. `removed` are runs that the sweep of this name had in its
    store and has no more. `interrupted` is True after Ctrl-C.
    """

    name: str
    records: tuple[Record, ...]
    simulated: int = 0
    equal: int = 0
    declined: int = 0
    stored: int = 0
    removed: int = 0
    interrupted: bool = False

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, label: str) -> Record:
        """Raises E502 for a label that no run has."""
        for record in self.records:
            if record.label == label:
                return record
        otherwise = f"the sweep has {len(self.records)} runs; .records has them"
        help = did_you_mean(label, [record.label for record in self.records], otherwise)
        raise error("E502", f"no run labelled '{label}' in sweep '{self.name}'", help=help)

    def where(self, conditions: Iterable[tuple[str, str]]) -> "SweepResult":
        """The runs whose axes have these values, as text. Raises E502 for what is no axis, and where no run is left."""
        wanted = tuple(conditions)
        for axis, _ in wanted:
            check_axis(axis)
        left = tuple(r for r in self.records if all(str(r.axes[axis]) == value for axis, value in wanted))
        if not left:
            found = {axis: dict.fromkeys(str(record.axes[axis]) for record in self) for axis, _ in wanted}
            values = "; ".join(f"{axis}: {', '.join(values)}" for axis, values in found.items())
            raise error("E502", "no run is left to show", help=f"the values are {values}")
        return replace(self, records=left)

    @property
    def failed(self) -> tuple[Record, ...]:
        """The runs that have no good result, those that have not run apart."""
        return tuple(r for r in self.records if r.status not in ("done", "waiting"))

    @property
    def complete(self) -> bool:
        """True if every run has ended, well or not."""
        return all(record.status != "waiting" for record in self.records)

    def counts(self) -> Mapping[str, int]:
        """How many runs have which status."""
        return Counter[str](record.status for record in self.records)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`: nothing in it depends on when or where the runs took place."""
        return {"name": self.name, "complete": self.complete, "runs": [r.to_dict() for r in self.records]}

    def to_pandas(self) -> "pandas.DataFrame":
        """A data frame with a row per run: label, axes, status, reason, and every single counter. Raises E502 without
        pandas."""
        from ptxtool.results.frames import frame, plain

        return frame(
            {"label": r.label, **r.axes, "status": r.status, "reason": r.outcome.reason}
            | {k: v for k, v in plain(r.counters).items() if k not in r.axes and k != "status"}
            for r in self.records
        )

    def _repr_html_(self) -> str:
        from ptxtool.base.html import table

        rows = [
            (r.label, r.outcome.reason or r.status, r.counters.get("cycles"), r.counters.get("thread_ipc"))
            for r in self.records
        ]
        counts = ", ".join(f"{n} {status}" for status, n in self.counts().items())
        return table(f"sweep {self.name}: {counts}", ("run", "status", "cycles", "thread IPC"), rows)

    def __str__(self) -> str:
        lines = [f"sweep {self.name}: {', '.join(f'{n} {status}' for status, n in self.counts().items())}"]
        for record in self.records:
            ipc = record.counters.get("thread_ipc")
            lines.append(f"  {record.label}: {record.status}" + (f", thread IPC {ipc:.2f}" if ipc else ""))
        return "\n".join(lines)
