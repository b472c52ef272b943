"""Launch files: what to run a kernel with, and what must come out.

For the commands that simulate, and for tests. A launch file is TOML; docs/launch-file.md lists its keys. Reading one
makes every input at once, so that whatever is wrong with it is said before anything runs; `Launch.arguments()` then
gives fresh arrays, and `Launch.check(...)` compares them after the run with the expected results, which are numpy
expressions over the inputs as they were before it.

Not handled: samplers of their own (those of a module's text count).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.base.source import Source
from ptxtool.formats.expression import Expression, ExpressionError, compile_expression
from ptxtool.formats.files import read_source
from ptxtool.formats.launch.launch_arguments import check_arguments
from ptxtool.formats.launch.launch_data import Expectation, Input, Launch, Value, difference
from ptxtool.formats.launch.launch_steps import read_steps
from ptxtool.formats.launch.launch_tables import READ_MORE, LaunchTables
from ptxtool.formats.launch.launch_textures import OPTIONS, Opaque, check_options
from ptxtool.formats.launch.launch_values import SOURCES, ValueProblem, make_value, read_npy
from ptxtool.formats.toml import read_toml

__all__ = ["Expectation", "Input", "Launch", "check_arguments", "difference", "load_launch", "parse_launch"]

_TOP_KEYS = (
    "kernel",
    "file",
    "grid",
    "block",
    "dynamic_shared",
    "registers",
    "scheduler",
    "stack_bytes",
    "heap_bytes",
    "args",
    "launch",
    "repeat",
    "constants",
    "textures",
    "surfaces",
    "define",
    "expect",
)
_ARG_KEYS = ("name", "type", "shape", "count", *SOURCES, "struct", "output", *OPTIONS)
_CONSTANT_KEYS = ("type", "shape", "count", *SOURCES, "struct")
_EXPECT_KEYS = ("arg", "expr", "file", "rtol", "atol", "after")


def load_launch(path: str | Path) -> Launch:
    """Read a launch file. Raises `PtxError` (E501, E502) with the file and, where possible, the line."""
    path = Path(path)
    return parse_launch(read_source(path, "give the path of a launch file"), path.parent)


def parse_launch(source: Source, folder: Path) -> Launch:
    """A launch file's text; the files it names are relative to `folder`."""
    return LaunchReader(source, folder).launch(read_toml(source, READ_MORE))


def _type(row: Mapping[str, Any]) -> str:
    """The element type of a row that has been made."""
    return str(row.get("type", "u8")).removeprefix(".")


class LaunchReader(LaunchTables):
    """Turns the parsed TOML into a `Launch`."""

    def launch(self, data: dict[str, Any]) -> Launch:
        self.only(data, _TOP_KEYS, "")
        inputs = self.inputs(data.get("args", []))
        definitions = self.definitions(data.get("define", {}), inputs)
        file = self.text(data, "file")
        steps = read_steps(self, data, inputs)
        first = steps[0] if steps else self.one(data)
        return Launch(
            source=self.source,
            kernel=first.kernel,
            file=self.folder / file if file else None,
            grid=first.grid,
            block=first.block,
            dynamic_shared=first.dynamic_shared,
            registers=first.registers,
            stack_bytes=self.whole(data, "stack_bytes", 0) if "stack_bytes" in data else None,
            heap_bytes=self.whole(data, "heap_bytes", 64) if "heap_bytes" in data else None,
            scheduler=first.scheduler,
            scheduler_place=first.scheduler_place,
            inputs=inputs,
            constant_inputs=self.constants(data.get("constants", {})),
            definitions=definitions,
            expectations=self.expectations(data.get("expect", []), inputs, definitions, len(steps)),
            texture_inputs=self.opaques(data.get("textures", {}), "texture")
            + self.opaques(data.get("surfaces", {}), "surface"),
            steps=steps,
            files=self.files(data),
        )

    def files(self, data: Mapping[str, Any]) -> tuple[Path, ...]:
        """The files that values come from."""
        rows = [*data.get("args", []), *data.get("expect", [])]
        for table in ("constants", "textures", "surfaces"):
            rows += data.get(table, {}).values()
        return tuple(self.folder / row["file"] for row in rows if "file" in row)

    def inputs(self, given: Any) -> tuple[Input, ...]:
        made: list[Input] = []
        known: dict[str, Any] = {}
        for index, row in enumerate(self.rows(given, "args")):
            self.only(row, _ARG_KEYS, "args", index)
            name = row.get("name", f"arg{index}")
            if not isinstance(name, str) or not name.isidentifier() or name == "np":
                help = "names are used in expressions: letters, digits and '_'"
                raise self.fail(
                    f"'{name}' cannot be an argument's name", self.place("args", index, "name"), help
                )
            if name in known:
                raise self.fail(f"two arguments named '{name}'", self.place("args", index, "name"))
            output = row.get("output", False)
            if not isinstance(output, bool):
                raise self.fail("'output' must be true or false", self.place("args", index, "output"))
            undefined = (
                output and not any(key in row for key in SOURCES) and ("shape" in row or "count" in row)
            )
            value = self.value(row, known, "args", index, f"argument '{name}'", undefined)
            if output and not isinstance(value, np.ndarray):
                raise self.fail(f"scalar '{name}' cannot be an output", self.place("args", index, "output"))
            known[name] = value
            opaque = self.opaque(row, index, name, value)
            made.append(Input(name, _type(row), value, output, undefined, opaque))
        return tuple(made)

    def opaque(self, row: Mapping[str, Any], index: int, name: str, value: Any) -> Opaque | None:
        """What an argument says about a texture or surface."""
        kinds = [kind for kind in OPTIONS if kind in row]
        if not kinds:
            return None
        place = self.place("args", index, kinds[-1])
        options = row[kinds[-1]]
        if len(kinds) > 1:
            raise self.fail(f"argument '{name}' is a texture and a surface", place, "give one of them")
        if not isinstance(value, np.ndarray):
            raise self.fail(f"scalar '{name}' cannot be a {kinds[0]}", place, "give it a shape")
        if not isinstance(options, dict):
            raise self.fail(
                f"'{kinds[0]}' must be a table of options", place, f"for example {kinds[0]} = {{}}"
            )
        return self.options(kinds[0], options, place)

    def options(self, kind: str, options: dict[str, Any], place: tuple[int, int]) -> Opaque:
        for key in options:
            if key not in OPTIONS[kind]:
                raise self.fail(
                    f"unknown key '{key}'", place, f"keys of a {kind} are {', '.join(OPTIONS[kind])}"
                )
        try:
            check_options(options)
        except ValueProblem as problem:
            raise self.fail(str(problem), place, problem.help) from None
        return Opaque(kind, options, *place)

    def opaques(self, given: Any, kind: str) -> tuple[Input, ...]:
        """The textures or surfaces of module variables, by name."""
        table = f"{kind}s"
        if not isinstance(given, dict):
            raise self.fail(f"'{table}' must be a table of symbols", self.place(table))
        made: list[Input] = []
        for name, row in given.items():
            header = f"{table}.{name}"
            place = self.place(header) if f"[{header}]" in self.source.text else self.place(table, 0, name)
            if not isinstance(row, dict):
                raise self.fail(f"{kind} '{name}' must be a table with a 'type'", place)
            try:
                self.only(row, (*_CONSTANT_KEYS, *OPTIONS[kind]), header)
                value = make_value(row, self.folder, {})
            except ValueProblem as problem:
                raise self.fail(f"{kind} '{name}': {problem}", place, problem.help, problem.code) from None
            if not isinstance(value, np.ndarray):
                raise self.fail(f"scalar '{name}' cannot be a {kind}", place, "give it a shape")
            opaque = self.options(kind, {k: v for k, v in row.items() if k in OPTIONS[kind]}, place)
            made.append(Input(name, _type(row), value, opaque=opaque))
        return tuple(made)

    def value(
        self,
        row: Mapping[str, Any],
        known: Mapping[str, Any],
        table: str,
        index: int,
        what: str,
        undefined: bool,
    ) -> Value:
        try:
            return make_value(row, self.folder, known, undefined)
        except ValueProblem as problem:
            place = self.place(table, index, problem.key)
            raise self.fail(f"{what}: {problem}", place, problem.help, problem.code) from None

    def constants(self, given: Any) -> tuple[Input, ...]:
        if not isinstance(given, dict):
            raise self.fail("'constants' must be a table of symbols", self.place("constants"))
        made: list[Input] = []
        for name, row in given.items():
            place = self.place(f"constants.{name}") if f"[constants.{name}]" in self.source.text else None
            if not isinstance(row, dict):
                where = place or self.place("constants", 0, name)
                raise self.fail(f"constant '{name}' must be a table with a 'type'", where)
            try:
                self.only(row, _CONSTANT_KEYS, "constants")
                value = make_value(row, self.folder, {})
            except ValueProblem as problem:
                where = place or self.place("constants", 0, name)
                raise self.fail(f"constant '{name}': {problem}", where, problem.help, problem.code) from None
            made.append(Input(name, _type(row), value))
        return tuple(made)

    def definitions(self, given: Any, inputs: tuple[Input, ...]) -> tuple[tuple[str, Expression], ...]:
        if not isinstance(given, dict):
            raise self.fail("'define' must be a table of expressions", self.place("define"))
        known = {i.name for i in inputs}
        made: list[tuple[str, Expression]] = []
        for name, text in given.items():
            place = self.place("define", 0, name)
            if not name.isidentifier() or name in known or name == "np":
                raise self.fail(f"'{name}' cannot be defined: it is taken or no name", place)
            made.append((name, self.expression(text, known, place)))
            known.add(name)
        return tuple(made)

    def expression(self, text: Any, known: set[str], place: tuple[int, int]) -> Expression:
        if not isinstance(text, str):
            raise self.fail("an expression must be a text in quotes", place)
        try:
            return compile_expression(text, known)
        except ExpressionError as problem:
            raise self.fail(str(problem), place, problem.help) from None

    def expectations(
        self,
        given: Any,
        inputs: tuple[Input, ...],
        definitions: tuple[tuple[str, Expression], ...],
        n_steps: int,
    ) -> tuple[Expectation, ...]:
        buffers = {i.name: i for i in inputs if i.is_buffer}
        known = {i.name for i in inputs} | {name for name, _ in definitions}
        made: list[Expectation] = []
        for index, row in enumerate(self.rows(given, "expect")):
            self.only(row, _EXPECT_KEYS, "expect", index)
            arg = row.get("arg")
            if arg not in buffers:
                names = ", ".join(buffers) or "none"
                message = "missing key 'arg'" if arg is None else f"'{arg}' is no buffer among the arguments"
                raise self.fail(message, self.place("expect", index, "arg"), f"buffers are {names}")
            if ("expr" in row) == ("file" in row):
                raise self.fail("exactly one of 'expr' and 'file' must be given", self.place("expect", index))
            is_float = buffers[arg].value.dtype.kind == "f"
            place = self.place("expect", index, "expr" if "expr" in row else "file")
            if "expr" in row:
                result: Expression | np.ndarray = self.expression(row["expr"], known, place)
            else:
                try:
                    result = read_npy(row["file"], self.folder)
                except ValueProblem as problem:
                    raise self.fail(str(problem), place, problem.help, problem.code) from None
            tolerance = {"rtol": 1e-5 if is_float else 0.0, "atol": 0.0}
            for key in tolerance:
                value = row.get(key, tolerance[key])
                if type(value) not in (int, float) or not 0 <= value < float("inf"):
                    raise self.fail(f"'{key}' must be a number >= 0", self.place("expect", index, key))
                tolerance[key] = float(value)
            after = self.after(row, index, n_steps)
            made.append(Expectation(arg, result, tolerance["rtol"], tolerance["atol"], *place, after))
        return tuple(made)

    def after(self, row: Mapping[str, Any], index: int, n_steps: int) -> int:
        """The number of the launch behind which something is expected; 0 where that is the last."""
        if "after" not in row:
            return 0
        after, place = self.whole(row, "after", 1, "expect", index), self.place("expect", index, "after")
        if not n_steps:
            raise self.fail("'after' needs a list of launches", place, "write [[launch]], or leave it out")
        if after > n_steps:
            raise self.fail(f"no launch number {after}", place, f"there are {n_steps}, counted from 1")
        return 0 if after == n_steps else after
