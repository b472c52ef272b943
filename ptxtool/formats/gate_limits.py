"""Limits of `ptxtool gate`: what a kernel may need, and by how much it may get worse; options, and a TOML file.

    [limits]               # of every kernel
    registers = 64         # at most
    cycles = "+2%"         # over the old text or the baseline
    [kernels.sgemm]        # of one, instead of those
    registers = "+0"

For `occupancy`, which is better when it is higher, a number is the least and `"-1"` how much it may lose.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.files import read_input
from ptxtool.formats.toml import read_toml

MEASURES = (
    *("registers", "pressure", "occupancy", "spills", "instructions"),
    *("shared", "local", "barriers", "cycles", "conflicts"),
)
"""What has a limit. `cycles` and `conflicts` need a launch, `occupancy` the threads of a CTA, `spills` ptxas."""
HIGHER_IS_BETTER = frozenset({"occupancy"})
NEEDS = {
    "occupancy": "give --block T or --launch FILE",
    "cycles": "give --launch FILE",
    "conflicts": "give --launch FILE",
    "spills": "ptxas counts them: put it on the path",
}
"""What a measure is taken with."""
_FORM = re.compile(r"([+-]?)(\d+)(?:\.(\d+))?(%?)")
_ADVICE = 'write "+2%", "+4", or a whole number'


@dataclass(frozen=True)
class Limit:
    """`amount` at most (occupancy: at least), or with `is_change` so much worse than before, in percent or in units."""

    amount: float
    is_change: bool = False
    is_percent: bool = False

    def bound(self, measure: str, before: float | None) -> float | None:
        """The worst value that is accepted; None where there is nothing to compare with."""
        if not self.is_change:
            return self.amount
        if before is None:
            return None
        change = before * self.amount / 100 if self.is_percent else self.amount
        return before - change if measure in HIGHER_IS_BETTER else before + change


@dataclass(frozen=True)
class Limits:
    """Limits by measure, of all kernels and of single ones."""

    common: Mapping[str, Limit] = field(default_factory=dict)
    kernels: Mapping[str, Mapping[str, Limit]] = field(default_factory=dict)

    @property
    def measures(self) -> frozenset[str]:
        """Everything that has a limit."""
        return frozenset(self.common).union(*self.kernels.values())

    def of(self, kernel: str) -> dict[str, Limit]:
        """The limits of one kernel."""
        return {**self.common, **self.kernels.get(kernel, {})}


DEFAULT = Limits(
    {name: Limit(0, is_change=True) for name in ("registers", "occupancy", "spills", "cycles", "conflicts")}
)
"""Nothing of these may get worse."""


def limit(text: str, measure: str) -> Limit:
    """A limit as it is written. Raises `ValueError` with what is wrong."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"'{text}' is no limit: {_ADVICE}")
    sign, whole, part, percent = found.groups()
    wanted = "-" if measure in HIGHER_IS_BETTER else "+"
    if sign and sign != wanted:
        raise ValueError(f"'{text}': a change of {measure} for the worse begins with '{wanted}'")
    if percent and not sign:
        raise ValueError(f"'{text}' is a part of nothing: write '{wanted}{text}'")
    return Limit(float(f"{whole}.{part or 0}"), bool(sign), bool(percent))


def limits_of_options(words: Iterable[str]) -> dict[str, Limit]:
    """The limits of `--limit MEASURE=LIMIT`. Raises `ValueError`."""
    found: dict[str, Limit] = {}
    for word in words:
        name, _, text = word.partition("=")
        if name not in MEASURES:
            raise ValueError(f"'{name}' is none of {', '.join(MEASURES)}")
        found[name] = limit(text, name)
    return found


def load_limits(path: str | Path) -> Limits:
    """Read a limits file. Raises E501, and E502 at what is wrong."""
    name, data = read_input(path)
    source = Source.from_bytes(name, data)
    tables = read_toml(source, "see docs/gate.md")
    for key in tables:
        if key not in ("limits", "kernels"):
            raise _wrong(source, key, f"unknown table '{key}'", did_you_mean(key, ("limits", "kernels")))
    common = _table(source, "limits", tables.get("limits", {}))
    kernels = tables.get("kernels", {})
    if not isinstance(kernels, dict):
        raise _wrong(source, "kernels", "'kernels' is no table", "write [kernels.NAME]")
    return Limits(common, {name: _table(source, name, one) for name, one in kernels.items()})


def _table(source: Source, name: str, table: Any) -> dict[str, Limit]:
    if not isinstance(table, dict):
        raise _wrong(source, name, f"'{name}' is no table of limits", _ADVICE)
    found: dict[str, Limit] = {}
    for key, value in table.items():
        if key not in MEASURES:
            raise _wrong(source, key, f"nothing called '{key}' is measured", did_you_mean(key, MEASURES))
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise _wrong(source, key, f"'{key}' is no limit", _ADVICE)
        try:
            found[key] = limit(str(value), key)
        except ValueError as problem:
            raise _wrong(source, key, str(problem), _ADVICE) from None
    return found


def _wrong(source: Source, word: str, message: str, help: str) -> PtxError:
    """An error at a key of the file."""
    place = re.search(rf"^\s*\[?[\w.\"]*?{re.escape(word)}\b", source.text, re.MULTILINE)
    start, end = place.span() if place else (0, 0)
    return error("E502", message, source, max(start, end - len(word)), end, help)
