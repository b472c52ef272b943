"""Tables and figures of an experiment, ours beside the papers': plain data, as JSON and as one CSV.

An exhibit has a value for each row (an application) and column (a scheme, a percentage), measured by us, printed by the
paper, or both. Findings say in a line whether the two have the same shape.
"""

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class ExhibitValue:
    """One cell. `ours` is None where a run failed, `paper` where the papers print nothing; `recorded` is of launches
    that were recorded from the papers' own applications."""

    row: str
    column: str
    ours: float | None
    paper: float | None = None
    recorded: float | None = None

    def to_dict(self) -> dict[str, Any]:
        return _without_blank(asdict(self), "recorded")


@dataclass(frozen=True)
class Exhibit:
    """One table or figure. `place` is where the papers have it, `quantity` what the numbers are, with their unit.

    `signed` quantities are changes: printed with their sign. `of_rows` is what the rows are.
    """

    key: str
    title: str
    place: str
    quantity: str
    values: tuple[ExhibitValue, ...]
    digits: int = 2
    signed: bool = False
    notes: tuple[str, ...] = ()
    of_rows: str = "application"

    @property
    def rows(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value.row for value in self.values))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value.column for value in self.values))

    def at(self, row: str, column: str) -> ExhibitValue | None:
        """The value of a cell; None if it has none."""
        return next((v for v in self.values if (v.row, v.column) == (row, column)), None)

    def text(self, number: float | None) -> str:
        """A number of this exhibit as it is printed; "" for none."""
        if number is None:
            return ""
        shown = f"{number:+.{self.digits}f}" if self.signed else f"{number:.{self.digits}f}"
        return shown.removeprefix("-") if float(shown) == 0 and not self.signed else shown

    def to_dict(self) -> dict[str, Any]:
        return {
            "key": self.key,
            "title": self.title,
            "place": self.place,
            "quantity": self.quantity,
            "notes": list(self.notes),
            "values": [value.to_dict() for value in self.values],
        }


@dataclass(frozen=True)
class Finding:
    """One question about the shape of the results. `agrees` is None where there is nothing to agree with; `recorded` is
    the answer of recorded launches."""

    question: str
    ours: str
    paper: str
    agrees: bool | None
    recorded: str = ""

    def to_dict(self) -> dict[str, Any]:
        return _without_blank(asdict(self), "recorded")


def _without_blank(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Plain data without a key that says nothing."""
    return data if data[name] not in (None, "") else {k: v for k, v in data.items() if k != name}


@dataclass(frozen=True)
class Failure:
    """A run that gave no result, and why."""

    row: str
    scheme: str
    reason: str


@dataclass(frozen=True)
class Reproduction:
    """An experiment: its exhibits, what they show, the runs that failed and how many there were.

    `sources` are the papers, by the letters that `place` of an exhibit has.
    """

    title: str
    gpu: str
    sources: tuple[str, ...]
    exhibits: tuple[Exhibit, ...]
    findings: tuple[Finding, ...]
    failures: tuple[Failure, ...]
    n_runs: int
    complete: bool = True

    @property
    def has_papers(self) -> bool:
        """Whether the runs are compared with what papers print."""
        return bool(self.sources)

    @property
    def has_recorded(self) -> bool:
        """Whether recorded launches are compared, too."""
        return any(v.recorded is not None for exhibit in self.exhibits for v in exhibit.values)

    def exhibit(self, key: str) -> Exhibit:
        """The exhibit of a key. Raises KeyError."""
        return {exhibit.key: exhibit for exhibit in self.exhibits}[key]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `--json`."""
        return {
            "title": self.title,
            "gpu": self.gpu,
            "sources": list(self.sources),
            "complete": self.complete,
            "runs": self.n_runs,
            "findings": [finding.to_dict() for finding in self.findings],
            "failures": [asdict(failure) for failure in self.failures],
            "exhibits": [exhibit.to_dict() for exhibit in self.exhibits],
        }

    def to_csv(self) -> str:
        """Every value of every exhibit, a line each: exhibit, quantity, row, column, ours, paper; then recorded, where
        there are recorded launches."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        kinds = ("ours", "paper", "recorded") if self.has_recorded else ("ours", "paper")
        writer.writerow(("exhibit", "quantity", "row", "column", *kinds))
        writer.writerows(self._lines(kinds))
        return text.getvalue()

    def _lines(self, kinds: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        for exhibit in self.exhibits:
            for value in exhibit.values:
                numbers = ("" if (n := getattr(value, kind)) is None else repr(n) for kind in kinds)
                yield exhibit.key, exhibit.quantity, value.row, value.column, *numbers
