"""Lists of launches: the `[[launch]]` entries of a launch file.

For `launch.py`, and for those who run such a file. Buffers and scalars are defined once, as `[[args]]`; an entry names
those that its kernel gets, so that memory goes from one launch to the next. What an entry does not say, the head of the
file says for all. `launch_of_step` makes an entry a launch by itself, against its kernel's parameters.

Reference: docs/launch-file.md.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ptxtool.base.diag import error
from ptxtool.formats.launch.launch_data import Input, Launch, Step
from ptxtool.formats.launch.launch_tables import LaunchTables
from ptxtool.formats.launch.launch_values import DTYPES, ValueProblem, make_value
from ptxtool.ir.nodes import Function

_FOR_ALL = ("kernel", "grid", "block", "dynamic_shared", "registers", "scheduler")
"""Keys that the head of the file may say for all entries."""
_KEYS = (*_FOR_ALL, "args", "repeat", "copy_back", "time")
MOST_STEPS = 1_000_000


def read_steps(reader: LaunchTables, data: Mapping[str, Any], inputs: tuple[Input, ...]) -> tuple[Step, ...]:
    """The launches of a file in order, each as often as it is repeated; none where the file has no list."""
    if "launch" not in data:
        if "repeat" in data:
            place = reader.place(key="repeat")
            raise reader.fail("'repeat' needs a list of launches", place, "write [[launch]], or leave it out")
        return ()
    rows = reader.rows(data["launch"], "launch")
    if not rows:
        raise reader.fail("an empty list of launches", reader.place("launch"), "write [[launch]]")
    names = {i.name: i for i in inputs}
    once: list[Step] = []
    for index, row in enumerate(rows):
        reader.only(row, _KEYS, "launch", index)
        step = _step(reader, {**{k: data[k] for k in _FOR_ALL if k in data}, **row}, index, names)
        once += [step] * reader.whole(row, "repeat", 1, "launch", index, 1)
    n = reader.whole(data, "repeat", 1, default=1)
    if n * len(once) > MOST_STEPS:
        raise reader.fail(
            f"{n * len(once)} launches; at most {MOST_STEPS} are possible", reader.place("launch")
        )
    return tuple(once * n)


def _step(reader: LaunchTables, row: Mapping[str, Any], index: int, names: Mapping[str, Input]) -> Step:
    arguments = row.get("args", [])
    place = reader.place("launch", index, "args")
    known = f"arguments are {', '.join(names) or 'none'}; define them as [[args]]"
    if not isinstance(arguments, list):
        raise reader.fail("'args' must be a list", place, f"{known}, or give numbers")
    for given in arguments:
        if isinstance(given, str) and given not in names:
            raise reader.fail(f"no argument named '{given}'", place, known)
        if type(given) not in (str, int, float):
            raise reader.fail(f"'{given}' is neither a name nor a number", place, known)
    timed = row.get("time", True)
    if not isinstance(timed, bool):
        raise reader.fail("'time' must be true or false", reader.place("launch", index, "time"))
    return replace(
        reader.one(row, "launch", index),
        arguments=tuple(arguments),
        copy_back=_copy_back(reader, row, index, names),
        timed=timed,
        place=place,
    )


def _copy_back(
    reader: LaunchTables, row: Mapping[str, Any], index: int, names: Mapping[str, Input]
) -> tuple[str, ...]:
    given, place = row.get("copy_back", []), reader.place("launch", index, "copy_back")
    buffers = [name for name, i in names.items() if i.is_buffer and i.opaque is None]
    if not isinstance(given, list) or not all(name in buffers for name in given):
        wrong = next((n for n in given if n not in buffers), given) if isinstance(given, list) else given
        help = f"give a list of names; buffers are {', '.join(buffers) or 'none'}"
        raise reader.fail(f"'{wrong}' in 'copy_back' is no buffer", place, help)
    return tuple(given)


def launch_of_step(launch: Launch, step: Step, kernel: Function) -> Launch:
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
        kernel=kernel.name,
        grid=step.grid,
        block=step.block,
        dynamic_shared=step.dynamic_shared,
        registers=step.registers,
        scheduler=step.scheduler,
        scheduler_place=step.scheduler_place,
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
