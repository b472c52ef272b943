"""Lists of launches: the `[[launch]]` entries of a launch file.

For `launch_file.py`, and for code that runs such a file. Buffers and scalars are defined once, as `[[args]]`; an entry
names those that are passed to its kernel, so that memory goes from one launch to the next. Keys that an entry does not
set have the value of the file's head. `launch_of_step` makes an entry a launch by itself, for its kernel's parameters.

Reference: docs/launch-file.md.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ptxtool.base.diag import error
from ptxtool.formats.launch.launch_data import Input, Launch, LaunchEntry
from ptxtool.formats.launch.launch_tables import LaunchTable, key_span
from ptxtool.formats.launch.launch_values import DTYPES, ValueProblem, make_value
from ptxtool.ir.nodes import Function

_FOR_ALL = ("kernel", "grid", "block", "cluster", "dynamic_shared", "registers", "scheduler")
"""Keys that the head of the file may set for all entries."""
_KEYS = (*_FOR_ALL, "args", "repeat", "copy_back", "time", "stream", "after")
MOST_STEPS = 1_000_000


def read_steps(head: LaunchTable, inputs: tuple[Input, ...]) -> tuple[LaunchEntry, ...]:
    """The launches of a file in order, each as often as it is repeated; none where the file has no list."""
    if "launch" not in head.values:
        if "repeat" in head.values:
            help = "write [[launch]], or leave it out"
            raise head.fail("'repeat' needs a list of launches", "repeat", help)
        return ()
    for_all = {key: head.values[key] for key in _FOR_ALL if key in head.values}
    names = {i.name: i for i in inputs}
    once: list[LaunchEntry] = []
    for row in head.rows("launch", _KEYS):
        step = _step(replace(row, values={**for_all, **row.values}), names, len(once))
        if step.after and "repeat" in head.values:
            help = "repeat single entries instead, or write the list out"
            raise row.fail("'after' in a list that is repeated as a whole", "after", help)
        once += [step] * row.whole("repeat", 1, 1)
    span = key_span(head.source, "launch")
    if not once:
        raise head.fail("an empty list of launches", help="write [[launch]]", span=span)
    n = head.whole("repeat", 1, 1)
    if n * len(once) > MOST_STEPS:
        raise head.fail(f"{n * len(once)} launches; at most {MOST_STEPS} are possible", span=span)
    return tuple(once * n)


def _step(row: LaunchTable, names: Mapping[str, Input], n_before: int) -> LaunchEntry:
    """An entry; `n_before` launches are made before it."""
    arguments = row.values.get("args", [])
    known = f"arguments are {', '.join(names) or 'none'}; define them as [[args]]"
    if not isinstance(arguments, list):
        raise row.fail("'args' must be a list", "args", f"{known}, or give numbers")
    for given in arguments:
        if isinstance(given, str) and given not in names:
            raise row.fail(f"no argument named '{given}'", "args", known)
        if type(given) not in (str, int, float):
            raise row.fail(f"'{given}' is neither a name nor a number", "args", known)
    timed, stream = row.flag("time", True), row.whole("stream", 0, 0)
    if stream and not timed:
        help = "leave out 'stream': without time launches are executed in their order"
        raise row.fail("a stream for a launch without time", "stream", help)
    return LaunchEntry(
        **row.launch().head,
        arguments=tuple(arguments),
        copy_back=_copy_back(row, names),
        timed=timed,
        stream=stream,
        after=_after(row, stream, n_before),
        place=row.span("args"),
    )


def _after(row: LaunchTable, stream: int, n_before: int) -> tuple[int, ...]:
    """The numbers of launches that an entry waits for."""
    given = row.values.get("after", [])
    if not isinstance(given, list) or not all(type(n) is int and 1 <= n <= n_before for n in given):
        help = f"launches are counted from 1; before this one there {'is' if n_before == 1 else 'are'} {n_before}"
        raise row.fail("'after' must be a list of numbers of earlier launches", "after", help)
    if given and not stream:
        raise row.fail(
            "'after' without a stream", "after", "give 'stream': a launch without one waits for all"
        )
    return tuple(given)


def _copy_back(row: LaunchTable, names: Mapping[str, Input]) -> tuple[str, ...]:
    given = row.values.get("copy_back", [])
    buffers = [name for name, i in names.items() if i.is_buffer and i.opaque is None]
    if not isinstance(given, list) or not all(name in buffers for name in given):
        wrong = next((n for n in given if n not in buffers), given) if isinstance(given, list) else given
        help = f"give a list of names; buffers are {', '.join(buffers) or 'none'}"
        raise row.fail(f"'{wrong}' in 'copy_back' is no buffer", "copy_back", help)
    return tuple(given)


def launch_of_step(launch: Launch, step: LaunchEntry, kernel: Function) -> Launch:
    """An entry of a list as a launch for a kernel: its arguments in the order of the parameters.

    Raises E401 for a number that a parameter cannot be.
    """
    named = {i.name: i for i in launch.inputs}
    made: list[Input] = []
    for k, given in enumerate(step.arguments):
        if isinstance(given, str):
            made.append(named[given])
            continue
        parameter = kernel.parameters[k] if k < len(kernel.parameters) else None
        kind = parameter.type if parameter is not None and parameter.type in DTYPES else "s32"
        try:
            made.append(Input(f"arg{k}", kind, make_value({"type": kind, "value": given}, Path(), {})))
        except ValueProblem as problem:
            text = f"argument {k + 1} of '{kernel.name}': {problem}"
            raise error("E401", text, launch.source, *step.place, problem.help) from None
    return replace(
        launch,
        **(step.head | {"kernel": kernel.name}),
        inputs=tuple(made),
        definitions=(),
        expectations=(),
        steps=(),
        arguments_place=step.place,
    )


def only_one(launch: Launch) -> Launch:
    """A launch that stands by itself. Raises E502 for a list of launches, which cannot be used here."""
    if not launch.steps:
        return launch
    n = len(launch.steps)
    raise error(
        "E502",
        f"a list of {n} launch{'es' * (n != 1)}, where one launch is needed",
        launch.source,
        *launch.steps[0].place,
        "'ptxtool run' and 'ptxtool sim' take lists; here give a launch file of one launch (--launch), or --grid, "
        "--block and --arg",
    )
