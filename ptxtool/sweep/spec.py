"""Sweep files: the axes that vary, in TOML (docs/sweep.md lists the keys).

A key with a list is an axis; the runs are all combinations of one value of each. A `[[scheme]]` fixes several axes at
once under a name: with schemes, every run is of one, and only the axes that it leaves open vary.
`[[exclude]]` leaves combinations out. A `-` in a key may stand for `_`. Paths are relative to the file.

Every value is checked on its own when the file is read, so that all errors are reported at once, each at its place.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ptxtool.analysis.occupancy.sharing_plan import percentage
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.files import read_source, sample_names
from ptxtool.formats.gpu_names import DEFAULT_GPU
from ptxtool.formats.launch.launch_tables import Span, key_span
from ptxtool.formats.toml import read_toml
from ptxtool.results.sweeps import AXES, Configuration
from ptxtool.runs.parallel.replicas import MOST
from ptxtool.sweep.spec_kernels import kernels_of
from ptxtool.sweep.spec_values import READ_MORE, gpu_name, own_name, shown, value_of

if TYPE_CHECKING:
    from ptxtool.passes.own import OwnPass

_LISTS = {
    "kernels": "kernel",
    "gpus": "gpu",
    "set": "set",
    "schedulers": "scheduler",
    "register_schemes": "register_scheme",
    **{axis: axis for axis in ("share_registers", "share_scratchpad", "dynamic", "passes", "registers")},
}
"""The keys with lists of values, and their axes."""
_OF_SCHEMES = (
    *("scheduler", "register_scheme", "share_registers", "share_scratchpad"),
    *("dynamic", "passes", "registers"),
)
_MAY_BE_OWN = {"scheduler", "register_scheme"}
"""Axes whose values may be functions of the user's own, FILE.py:FUNCTION."""
_SCALARS = ("name", "store", "ptxplus_semantics", "max_cycles", "as_written", "replicas")
_TABLES = ("scheme", "exclude")
_DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(_LISTS, ""),
    "gpus": DEFAULT_GPU,
    "share_registers": 0,
    "share_scratchpad": 0,
    "dynamic": False,
}
"""The value of a key without a list."""


@dataclass(frozen=True)
class Spec:
    """A sweep file that has been read: the runs in order, where results are kept, what the sweep is called."""

    name: str
    store: Path
    configurations: tuple[Configuration, ...] = field(repr=False)


@dataclass(frozen=True)
class _Item:
    """A value of an axis: as it was written, what a run takes it for, and its place."""

    given: Any
    value: Any
    place: Span


def read_spec(
    path: str | Path, own: "Mapping[str, OwnPass] | None" = None, allow_outside: bool = False
) -> Spec:
    """Read a sweep file, whose pipelines may have `own` passes, by name.

    With `allow_outside` lists of recorded launches may name files outside their folders.
    Raises E501, and E502 and the like for everything that is wrong with it.
    """
    path = Path(path)
    source = read_source(path, "give the path of a sweep file")
    return _SpecReader(source, path, own or {}, allow_outside).spec(read_toml(source, READ_MORE))


class _SpecReader:
    """Turns the tables into configurations; collects what is wrong on the way."""

    def __init__(self, source: Source, path: Path, own: "Mapping[str, OwnPass]", allow_outside: bool):
        self.allow_outside = allow_outside
        self.source = source
        self.own = own
        self.path = path
        self.problems: list[Diagnostic] = []

    def spec(self, data: dict[str, Any]) -> Spec:
        tables = self.keys(data, (*_LISTS, *_SCALARS, *_TABLES), "")
        axes = {axis: self.axis(tables, key) for key, axis in _LISTS.items()}
        schemes = self.schemes(tables.get("scheme", []))
        common = self.common(tables)
        name = self.text(tables, "name") or self.path.stem
        store = self.text(tables, "store")
        kept = self.path.parent / store if store else self.path.with_suffix(".db")
        self.stop_if_wrong()
        replicas = self.replicas(tables)
        runs = [
            replace(run, **common, replica=number, replicas=replicas)
            for scheme in schemes or [{}]
            for run in self.combinations(axes, scheme)
            for number in range(replicas)
        ]
        order = {item.value["name"]: k for k, item in enumerate(axes["kernel"])}
        runs.sort(key=lambda run: order[run.name])
        left = self.without_excluded(runs, tables.get("exclude", []))
        self.stop_if_wrong()
        names = [scheme["scheme"] for scheme in schemes]
        for run in left:
            self.check_combination(run, names)
        self.stop_if_wrong()
        return Spec(name, kept, tuple(left))

    # ---- what is wrong, and where

    def complain(self, message: str, place: Span, help: str = "") -> None:
        self.problems.append(Diagnostic("E502", message, self.source, *place, help or READ_MORE))

    def stop_if_wrong(self) -> None:
        if self.problems:
            raise PtxError(dict.fromkeys(self.problems))

    def place(self, key: str, table: str = "", index: int = 0) -> Span:
        """The span of a key, written with `-` or `_`."""
        for written in (key, key.replace("_", "-")):
            place = key_span(self.source, table, index, written)
            if place != (0, 0) and self.source.text[place[0] : place[1]] == written:
                return place
        return key_span(self.source, table, index)

    def place_in_list(self, place: Span, given: Any) -> Span:
        """The span of a value after its key, that of the key if it is not found."""
        words = [json.dumps(given, ensure_ascii=False), f"'{given}'", str(given)]
        stop = re.compile(r"(?m)^[ \t]*(\[\[?[\w-]+\]|[\w-]+[ \t]*=)").search(self.source.text, place[1])
        region = self.source.text[place[1] : stop.start() if stop else None]
        for word in words:
            at = re.search(rf"(?<![\w.]){re.escape(word)}(?![\w.])", region)
            if at:
                return place[1] + at.start(), place[1] + at.end()
        return place

    def keys(self, given: Any, allowed: Iterable[str], table: str, index: int = 0) -> dict[str, Any]:
        """A table with `_` in its keys, without those that mean nothing."""
        if not isinstance(given, dict):
            self.complain(f"'{table}' must be tables", self.place(table), f"write [[{table}]]")
            return {}
        allowed = tuple(allowed)
        found: dict[str, Any] = {}
        for key, value in given.items():
            name = key.replace("-", "_")
            if name in found or name not in allowed:
                place = key_span(self.source, table, index, key)
                help = did_you_mean(name, allowed, f"keys are {', '.join(allowed)}")
                if name in found:
                    self.complain(f"'{key}' is given twice", place, "give it once")
                else:
                    self.complain(f"unknown key '{key}'", place, help)
            else:
                found[name] = value
        return found

    def text(self, tables: Mapping[str, Any], key: str, table: str = "", index: int = 0) -> str:
        given = tables.get(key, "")
        if not isinstance(given, str) or (key in tables and not given):
            self.complain(f"'{key}' must be a text in quotes", self.place(key, table, index))
            return ""
        return given

    # ---- the axes

    def axis(self, tables: Mapping[str, Any], key: str) -> list[_Item]:
        """The values of a key's list."""
        place = self.place(key)
        if key == "kernels" and key not in tables:
            samples = ", ".join(sample_names())
            self.complain(
                "missing key 'kernels'", (0, 0), f'for example kernels = ["sgemm"]; samples are {samples}'
            )
            return []
        given = tables.get(key, [_DEFAULTS[key]])
        if not isinstance(given, list) or not given:
            wrong = "is an empty list" if given == [] else "must be a list of values"
            self.complain(f"'{key}' {wrong}", place, f"for example {key} = {_example(key)}")
            return []
        items: list[_Item] = []
        for index, value in enumerate(given):
            where = self.place_in_list(place, value)
            if isinstance(value, dict):
                header = self.place("", "kernels", index)
                where = self.place_in_list(place, value.get("file")) if header == place else header
            found = self.items(_LISTS[key], value, where)
            if found and any(
                same.given == found[0].given and type(same.given) is type(found[0].given) for same in items
            ):
                self.complain(f"'{key}' has {shown(value)} twice", where, "leave one away")
            items += found
        if key == "kernels":
            self.check_names(items)
        return items

    def items(self, axis: str, given: Any, place: Span) -> list[_Item]:
        """The values that one of a list means, which have been checked: one, several for a recording, none if wrong."""
        try:
            if axis == "kernel":
                kernels = kernels_of(given, self.path.parent, self.allow_outside)
                return [_Item(given, kernel, place) for kernel in kernels]
            value = value_of(axis, given, self.path.parent, self.own)
        except PtxError as problem:
            self.problems += [
                each
                if each.source is not None and each.source.name != "<pipeline>"
                else replace(each, source=self.source, start=place[0], end=place[1])
                for each in problem.diagnostics
            ]
            return []
        return [_Item(_shown_setting(given) if axis == "set" else given, value, place)]

    def check_names(self, kernels: list[_Item]) -> None:
        """Reports tell kernels by their names."""
        seen: set[str] = set()
        for item in kernels:
            name = item.value["name"]
            if name in seen:
                self.complain(
                    f"two kernels named '{name}'", item.place, 'give one of them another: name = "..."'
                )
            seen.add(name)

    # ---- schemes, combinations

    def common(self, tables: Mapping[str, Any]) -> dict[str, Any]:
        """What is the same for all runs."""
        found: dict[str, Any] = {}
        if "max_cycles" in tables:
            found["max_cycles"] = tables["max_cycles"]
            if type(tables["max_cycles"]) is not int or tables["max_cycles"] < 1:
                self.complain("'max_cycles' must be a whole number >= 1", self.place("max_cycles"))
        if "as_written" in tables:
            found["allocate"] = tables["as_written"] is False
            if not isinstance(tables["as_written"], bool):
                self.complain("'as_written' must be true or false", self.place("as_written"))
        if "ptxplus_semantics" in tables:
            from ptxsim.base.options import is_as_gpgpu_sim

            found["ptxplus_semantics"] = tables["ptxplus_semantics"]
            try:
                is_as_gpgpu_sim(tables["ptxplus_semantics"])
            except PtxError as problem:
                first = problem.diagnostics[0]
                self.complain(first.message, self.place("ptxplus_semantics"), first.help)
        return found

    def replicas(self, tables: Mapping[str, Any]) -> int:
        """How often every run is made, on machines that differ in accidents."""
        given = tables.get("replicas", 1)
        if type(given) is not int or not 1 <= given <= MOST:
            self.complain(f"'replicas' must be a whole number, 1 to {MOST}", self.place("replicas"))
            return 1
        return given

    def schemes(self, given: Any) -> list[dict[str, Any]]:
        """The axes that each scheme fixes, as `_Item`s, under their names; its name under "scheme"."""
        if not isinstance(given, list):
            self.complain("'scheme' must be a list of tables", self.place("scheme"), "write [[scheme]]")
            return []
        found: list[dict[str, Any]] = []
        for index, row in enumerate(given):
            tables = self.keys(row, ("name", *_OF_SCHEMES), "scheme", index)
            name = self.text(tables, "name", "scheme", index)
            place = self.place("name", "scheme", index)
            if "name" not in tables:
                self.complain("a scheme without 'name'", place, 'write name = "..."')
            elif name in [each["scheme"] for each in found]:
                self.complain(f"two schemes named '{name}'", place, "give one of them another")
            fixed: dict[str, Any] = {"scheme": name}
            for axis in _OF_SCHEMES:
                if axis in tables:
                    for item in self.items(axis, tables[axis], self.place(axis, "scheme", index)):
                        fixed[axis] = item
            found.append(fixed)
        return found

    def combinations(
        self, axes: Mapping[str, list[_Item]], scheme: Mapping[str, Any]
    ) -> Iterator[Configuration]:
        """All runs of a scheme."""
        lists = [[scheme[axis]] if axis in scheme else axes[axis] for axis in _LISTS.values()]
        for chosen in itertools.product(*lists):
            values = {axis: item.value for axis, item in zip(_LISTS.values(), chosen, strict=True)}
            kernel, settings = values.pop("kernel"), values.pop("set")
            origin = self.source, *chosen[0].place
            name = scheme.get("scheme", "")
            yield Configuration(**kernel, settings=settings, scheme=name, origin=origin, **values)

    def without_excluded(self, runs: list[Configuration], given: Any) -> list[Configuration]:
        """The runs that no `[[exclude]]` is about."""
        if not isinstance(given, list):
            self.complain("'exclude' must be a list of tables", self.place("exclude"), "write [[exclude]]")
            return runs
        left = runs
        for index, row in enumerate(given):
            wanted = self.keys(row, AXES, "exclude", index)
            if "gpu" in wanted:
                gpus = filter(lambda gpu: isinstance(gpu, str), _listed(wanted["gpu"]))
                wanted["gpu"] = [gpu_name(gpu, self.path.parent) for gpu in gpus]
            for axis in _MAY_BE_OWN & wanted.keys():
                names = filter(lambda name: isinstance(name, str), _listed(wanted[axis]))
                wanted[axis] = [own_name(name, self.path.parent) for name in names]
            about = [run for run in runs if wanted and all(_is(run, key, v) for key, v in wanted.items())]
            if not about and len(wanted) == len(row):
                place = self.place("exclude", "exclude", index)
                help = (
                    "every key of an [[exclude]] must have a value that a run has; without runs leave it away"
                )
                self.complain("this excludes no run", place, help)
            left = [run for run in left if run not in about]
        if runs and not left and not self.problems:
            self.complain("all runs are excluded", self.place("exclude", "exclude"), "leave some")
        return left

    def check_combination(self, run: Configuration, schemes: list[str]) -> None:
        """What cannot be together though each is right by itself."""
        shared = [axis for axis in ("share_registers", "share_scratchpad") if percentage(getattr(run, axis))]
        what = ""
        if len(shared) == 2:
            what = "registers and scratchpad shared at once"
        elif run.dynamic is not False and not shared:
            what = "dynamic warp execution where nothing is shared"
        if what:
            key = "share_scratchpad" if len(shared) == 2 else "dynamic"
            of = f" (scheme {run.scheme})" if run.scheme else ""
            help = "leave this combination out with [[exclude]], or bundle what goes together in a [[scheme]]"
            place = self.place(key, "scheme", schemes.index(run.scheme)) if run.scheme else self.place(key)
            self.complain(f"{what}{of}", place, help)


def _is(run: Configuration, axis: str, wanted: Any) -> bool:
    """True if a run's value of an axis is one of those wanted."""
    have = run.axes[axis]
    return any(
        str(have) == str(each) and isinstance(have, bool) == isinstance(each, bool)
        for each in _listed(wanted)
    )


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _shown_setting(given: Any) -> Any:
    return ",".join(given) if isinstance(given, list) and all(isinstance(e, str) for e in given) else given


def _example(key: str) -> str:
    examples: dict[str, Any] = {
        "kernels": ["sgemm"],
        "schedulers": ["lrr", "gto"],
        "register_schemes": ["none", "finereg"],
        "share_registers": [0, 90],
        "share_scratchpad": [0, 90],
        "dynamic": [False, True],
        "passes": ["", "unroll-decls"],
        "registers": [32],
        "set": ["", "sm.count=7"],
    }
    return json.dumps(examples.get(key, [_DEFAULTS[key]]))
