"""Launch files: what to run a kernel with, and what must come out.

For the commands that simulate, and for tests. A launch file is TOML; docs/launch-file.md lists its keys. Reading one
computes every input, so that all errors are reported before anything runs; `Launch.arguments()` then returns fresh
arrays, and `Launch.check(...)` compares them after the run with the expected results, which are numpy expressions over
the inputs before it.

Not handled: samplers of their own (those of a module's text count).
"""

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.base.phrases import did_you_mean
from ptxtool.base.source import Source
from ptxtool.formats.expression import Expression, ExpressionError, compile_expression
from ptxtool.formats.files import read_source
from ptxtool.formats.gpu_names import gpu_names
from ptxtool.formats.launch.launch_arguments import check_arguments
from ptxtool.formats.launch.launch_data import Expectation, Input, Launch, difference
from ptxtool.formats.launch.launch_memory import address_of, check_placed, read_module
from ptxtool.formats.launch.launch_paths import check_paths
from ptxtool.formats.launch.launch_recording import is_recording, not_a_recording
from ptxtool.formats.launch.launch_steps import read_steps
from ptxtool.formats.launch.launch_tables import READ_MORE, LaunchTable, Span, key_span
from ptxtool.formats.launch.launch_textures import OPTIONS, Opaque, check_options
from ptxtool.formats.launch.launch_values import SOURCES, ValueProblem, element_type, make_value, npy_file
from ptxtool.formats.toml import read_toml

__all__ = ["Expectation", "Input", "Launch", "check_arguments", "difference", "load_launch", "parse_launch"]

_TOP_KEYS = (
    "kernel",
    "file",
    "grid",
    "block",
    "cluster",
    "dynamic_shared",
    "registers",
    "scratchpad",
    "scheduler",
    "gpu",
    "stack_bytes",
    "heap_bytes",
    "out_of_bounds",
    "ptxplus_semantics",
    "args",
    "memory",
    "module",
    "launch",
    "repeat",
    "constants",
    "textures",
    "surfaces",
    "define",
    "expect",
)
_ARG_KEYS = ("name", "type", "shape", "count", *SOURCES, "struct", "output", "address", "changes", *OPTIONS)
_MEMORY_KEYS = ("name", "address", "type", "shape", "count", "changes", *SOURCES)
_CONSTANT_KEYS = ("type", "shape", "count", *SOURCES, "struct")
_EXPECT_KEYS = ("arg", "expr", "file", "changes", "rtol", "atol", "after")


def load_launch(path: str | Path, *, allow_outside: bool = False) -> Launch:
    """Read a launch file. Raises `PtxError` (E501, E502) with the file and, where possible, the line.

    The files that it names must lie in its folder or below, unless `allow_outside`.
    """
    path = Path(path)
    source = read_source(path, "give the path of a launch file")
    return parse_launch(source, path.parent, allow_outside=allow_outside)


def parse_launch(source: Source, folder: Path, *, allow_outside: bool = False) -> Launch:
    """A launch file's text; the files it names are relative to `folder`, and below it unless `allow_outside`."""
    head = LaunchTable(source, folder, read_toml(source, READ_MORE))
    if is_recording(head.values):
        raise not_a_recording(head)
    head.only(_TOP_KEYS)
    if not allow_outside:
        check_paths(head)
    inputs = _inputs(head)
    memory = _memory(head, {i.name for i in inputs})
    contents = inputs + memory
    definitions = _definitions(head, contents)
    file = head.text("file")
    steps = read_steps(head, inputs)
    check_placed(head, sum(i.address is not None for i in contents), len(steps))
    first = steps[0] if steps else head.launch()
    return Launch(
        **first.head,
        source=source,
        file=folder / file if file else None,
        gpu=_gpu(head),
        stack_bytes=head.optional_whole("stack_bytes", 0),
        heap_bytes=head.optional_whole("heap_bytes", 64),
        out_of_bounds=_one_of(head, "out_of_bounds", ("error", "count")),
        scratchpad=head.optional_whole("scratchpad", 0),
        ptxplus_semantics=_one_of(head, "ptxplus_semantics", ("hardware", "gpgpu-sim")),
        inputs=inputs,
        constant_inputs=_symbols(head, "constant"),
        definitions=definitions,
        expectations=_expectations(head, contents, definitions, len(steps)),
        texture_inputs=_symbols(head, "texture") + _symbols(head, "surface"),
        memory=memory,
        module=read_module(head),
        steps=steps,
        files=_files(head),
    )


def _gpu(head: LaunchTable) -> str | None:
    """The name of a packaged machine, None where the key is not there. Raises E502."""
    found = head.text("gpu")
    if found is not None and found not in gpu_names():
        then = "'ptxtool gpus' lists them; a file of your own goes with --gpu"
        help = did_you_mean(found, gpu_names(), then=then)
        raise head.fail(f"no GPU named '{found}'", "gpu", help)
    return found


def _one_of(head: LaunchTable, key: str, names: tuple[str, str]) -> str | None:
    """One of these names, None where the key is not there. Raises E502."""
    found = head.text(key)
    if found is not None and found not in names:
        raise head.fail(f"{key} = '{found}'", key, f'give "{names[0]}" or "{names[1]}"')
    return found


def _files(head: LaunchTable) -> tuple[Path, ...]:
    """The files that values come from."""
    rows = [row for table in ("args", "memory", "expect") for row in head.values.get(table, [])]
    for table in ("constants", "textures", "surfaces"):
        rows += head.values.get(table, {}).values()
    names = [name for row in rows if "file" in row for name in (row["file"], *row.get("changes", ()))]
    return tuple(head.folder / name for name in dict.fromkeys(names))


def _type(row: Mapping[str, Any]) -> str:
    """The element type of a row that has been read."""
    return element_type(row.get("type", "u8" if "struct" in row else ""))


def _inputs(head: LaunchTable) -> tuple[Input, ...]:
    """The arguments; an expression may use those before it."""
    found: list[Input] = []
    known: dict[str, Any] = {}
    for row in head.rows("args", _ARG_KEYS):
        name = _name(row, f"arg{row.index}", known)
        output = row.flag("output", False)
        given = row.values.keys()
        undefined = output and not given & set(SOURCES) and bool(given & {"shape", "count"})
        try:
            value = make_value(row.values, row.folder, known, undefined)
        except ValueProblem as problem:
            text = f"argument '{name}': {problem}"
            raise row.fail(text, problem.key, problem.help, problem.code) from None
        if output and not isinstance(value, np.ndarray):
            raise row.fail(f"scalar '{name}' cannot be an output", "output")
        known[name] = value
        is_buffer = isinstance(value, np.ndarray)
        opaque, address = _opaque(row, name, value), address_of(row, is_buffer)
        found.append(Input(name, _type(row.values), value, output, undefined, opaque, address))
    return tuple(found)


def _name(row: LaunchTable, default: str, known: Collection[str]) -> str:
    """The name of a row, which no other has."""
    name = row.values.get("name", default)
    if not isinstance(name, str) or not name.isidentifier() or name == "np":
        help = "names are used in expressions: letters, digits and '_'"
        raise row.fail(f"'{name}' cannot be an argument's name", "name", help)
    if name in known:
        raise row.fail(f"two arguments named '{name}'", "name")
    return name


def _memory(head: LaunchTable, known: set[str]) -> tuple[Input, ...]:
    """The blocks of memory that are no arguments."""
    found: list[Input] = []
    for row in head.rows("memory", _MEMORY_KEYS):
        name = _name(row, f"memory{row.index}", known)
        known.add(name)
        try:
            value = make_value(row.values, row.folder, {})
        except ValueProblem as problem:
            raise row.fail(f"memory '{name}': {problem}", problem.key, problem.help, problem.code) from None
        address = address_of(row, isinstance(value, np.ndarray))
        if address is None:
            raise row.fail("missing key 'address'", help="for example address = 0x10010000")
        found.append(Input(name, _type(row.values), value, address=address))
    return tuple(found)


def _opaque(row: LaunchTable, name: str, value: Any) -> Opaque | None:
    """The texture or surface that an argument is, if it is one."""
    kinds = [kind for kind in OPTIONS if kind in row.values]
    if not kinds:
        return None
    kind = kinds[-1]
    if len(kinds) > 1:
        raise row.fail(f"argument '{name}' is a texture and a surface", kind, "give one of them")
    if not isinstance(value, np.ndarray):
        raise row.fail(f"scalar '{name}' cannot be a {kind}", kind, "give it a shape")
    options = row.values[kind]
    if not isinstance(options, dict):
        raise row.fail(f"'{kind}' must be a table of options", kind, f"for example {kind} = {{}}")
    return _checked(row, kind, options, row.span(kind))


def _checked(table: LaunchTable, kind: str, options: dict[str, Any], span: Span) -> Opaque:
    """A texture or surface with these options."""
    for key in options:
        if key not in OPTIONS[kind]:
            help = f"keys of a {kind} are {', '.join(OPTIONS[kind])}"
            raise table.fail(f"unknown key '{key}'", help=help, span=span)
    try:
        check_options(options)
    except ValueProblem as problem:
        raise table.fail(str(problem), help=problem.help, span=span) from None
    return Opaque(kind, options, *span)


def _symbols(head: LaunchTable, kind: str) -> tuple[Input, ...]:
    """The constants, textures or surfaces of module variables, by name."""
    table, own = f"{kind}s", OPTIONS.get(kind, ())
    found: list[Input] = []
    for name, row in head.items(table, "symbols").items():
        header = f"{table}.{name}"
        is_apart = f"[{header}]" in head.source.text
        span = key_span(head.source, header) if is_apart else key_span(head.source, table, 0, name)
        if not isinstance(row, dict):
            raise head.fail(f"{kind} '{name}' must be a table with a 'type'", span=span)
        try:
            head.inner(row, header if own else table, (*_CONSTANT_KEYS, *own))
            value = make_value(row, head.folder, {})
        except ValueProblem as problem:
            text = f"{kind} '{name}': {problem}"
            raise head.fail(text, help=problem.help, code=problem.code, span=span) from None
        opaque = None
        if own:
            if not isinstance(value, np.ndarray):
                raise head.fail(f"scalar '{name}' cannot be a {kind}", help="give it a shape", span=span)
            opaque = _checked(head, kind, {k: v for k, v in row.items() if k in own}, span)
        found.append(Input(name, _type(row), value, opaque=opaque))
    return tuple(found)


def _definitions(head: LaunchTable, inputs: tuple[Input, ...]) -> tuple[tuple[str, Expression], ...]:
    """The named expressions; each may use those before it."""
    known = {i.name for i in inputs}
    found: list[tuple[str, Expression]] = []
    for name, text in head.items("define", "expressions").items():
        span = key_span(head.source, "define", 0, name)
        if not name.isidentifier() or name in known or name == "np":
            raise head.fail(f"'{name}' cannot be defined: it is taken or no name", span=span)
        found.append((name, _expression(head, text, known, span)))
        known.add(name)
    return tuple(found)


def _expression(table: LaunchTable, text: Any, known: set[str], span: Span) -> Expression:
    if not isinstance(text, str):
        raise table.fail("an expression must be a text in quotes", span=span)
    try:
        return compile_expression(text, known)
    except ExpressionError as problem:
        raise table.fail(str(problem), help=problem.help, span=span) from None


def _expectations(
    head: LaunchTable,
    inputs: tuple[Input, ...],
    definitions: tuple[tuple[str, Expression], ...],
    n_steps: int,
) -> tuple[Expectation, ...]:
    buffers = {i.name: i for i in inputs if i.is_buffer}
    known = {i.name for i in inputs} | {name for name, _ in definitions}
    found: list[Expectation] = []
    for row in head.rows("expect", _EXPECT_KEYS):
        arg = row.values.get("arg")
        if arg not in buffers:
            names = ", ".join(buffers) or "none"
            message = "missing key 'arg'" if arg is None else f"'{arg}' is no buffer among the arguments"
            raise row.fail(message, "arg", f"buffers are {names}")
        if ("expr" in row.values) == ("file" in row.values):
            raise row.fail("exactly one of 'expr' and 'file' must be given")
        if "changes" in row.values and "file" not in row.values:
            raise row.fail("'changes' goes with 'file'", "changes")
        key = "expr" if "expr" in row.values else "file"
        result: Expression | np.ndarray
        if key == "expr":
            result = _expression(row, row.values["expr"], known, row.span(key))
        else:
            try:
                result = npy_file(row.values["file"], row.folder, row.values.get("changes", ()))
            except ValueProblem as problem:
                raise row.fail(str(problem), problem.key, problem.help, problem.code) from None
        rtol = _tolerance(row, "rtol", 1e-5 if buffers[arg].type.startswith("f") else 0.0)
        atol = _tolerance(row, "atol", 0.0)
        found.append(Expectation(arg, result, rtol, atol, *row.span(key), _after(row, n_steps)))
    return tuple(found)


def _tolerance(row: LaunchTable, key: str, default: float) -> float:
    value = row.values.get(key, default)
    if type(value) not in (int, float) or not 0 <= value <= sys.float_info.max:
        raise row.fail(f"'{key}' must be a number >= 0", key)
    return float(value)


def _after(row: LaunchTable, n_steps: int) -> int:
    """The number of the launch after which something is expected; 0 where that is the last."""
    after = row.optional_whole("after", 1)
    if after is None:
        return 0
    if not n_steps:
        raise row.fail("'after' needs a list of launches", "after", "write [[launch]], or leave it out")
    if after > n_steps:
        raise row.fail(f"no launch number {after}", "after", f"there are {n_steps}, counted from 1")
    return 0 if after == n_steps else after
