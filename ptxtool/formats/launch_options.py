"""A launch from the options of a command line: `--grid`, `--block`, `--arg`, as the launch file that says the same.

An `--arg` for each of the kernel's parameters, in order; `NAME:` in front gives it a name for later expressions:

    5   0.5   0x3f800000        a number, in the parameter's type
    f32[1024]                   a buffer of zeros
    f32[1024]=?                 a buffer that nobody has written
    f32[64,64]=EXPR             a buffer with the value of an expression (docs/launch-file.md)
    f32[1024]=random(SEED)      a buffer of random numbers, 0 to 1 for floating point, all bits for whole numbers
    data.npy                    a buffer from a file

The text of that launch file is made first, so that its reader is the only one there is, and its diagnostics show
what was understood.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from ptxtool.base.diag import PtxError, error
from ptxtool.base.source import Source
from ptxtool.formats.launch import Launch, parse_launch
from ptxtool.formats.launch_values import DTYPES, npy_type
from ptxtool.ir.nodes import Function

SOURCE_NAME = "<options>"

_NAME = re.compile(r"([A-Za-z_]\w*):(?!:)")
_BUFFER = re.compile(r"\.?(?P<type>[a-z]+[0-9]+)\[(?P<shape>[0-9, ]+)\](?:=(?P<expr>.+))?", re.DOTALL)
_RANDOM = re.compile(r"random(?:\((\d*)\))?")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9.][0-9.eE+-]*|inf|nan)")
_FORMS = "forms are 5, 0.5, f32[1024], f32[1024]=?, f32[64,64]=EXPR, f32[1024]=random(1), data.npy"


def launch_from_options(
    kernel: Function,
    grid: str,
    block: str,
    args: Sequence[str],
    dynamic_shared: int = 0,
    folder: Path | None = None,
) -> Launch:
    """The launch that the options mean. Files are relative to `folder` (the current one by default).

    Raises E401 for more or fewer `args` than parameters, and E502 for one that has none of the forms.
    """
    parameters = kernel.parameters
    if len(args) != len(parameters):
        names = ", ".join(f".{p.type} {p.declarators[0].name}" for p in parameters)
        raise error(
            "E401",
            f"kernel '{kernel.name}' takes {len(parameters)} argument{'s' * (len(parameters) != 1)}, {len(args)} given",
            kernel.source,
            kernel.start,
            kernel.body_start,
            f"give an --arg for each of {names}" if names else "leave out --arg",
        )
    here = folder or Path()
    lines = [f"grid = {_extents('grid', grid)}", f"block = {_extents('block', block)}"]
    if dynamic_shared:
        lines.append(f"dynamic_shared = {dynamic_shared}")
    for parameter, given in zip(parameters, args, strict=True):
        lines += ["", "[[args]]", *_argument(given, parameter.declarators[0].name, parameter.type, here)]
    return parse_launch(Source(SOURCE_NAME, "\n".join(lines) + "\n"), here)


def _extents(option: str, given: str) -> str:
    numbers = given.replace("x", ",").split(",")
    if not all(n.strip().isdecimal() for n in numbers):
        raise error("E502", f"--{option} '{given}' is no list of sizes", help=f"for example --{option} 16,16")
    return f"[{', '.join(str(int(n)) for n in numbers)}]"


def _argument(given: str, parameter: str, kind: str, folder: Path) -> list[str]:
    """The keys of one `[[args]]`."""
    name = _NAME.match(given)
    text = given[name.end() :] if name else given
    lines = [f"name = {json.dumps(name[1] if name else _as_name(parameter))}"]
    buffer = _BUFFER.fullmatch(text)
    if buffer:
        shape = [int(n) for n in buffer["shape"].replace(",", " ").split()]
        lines += [f'type = "{buffer["type"]}"', f"shape = {shape}", "output = true"]
        return lines if buffer["expr"] == "?" else [*lines, _contents(buffer["expr"], buffer["type"])]
    if text.endswith(".npy"):
        return [*lines, f'type = "{npy_type(text, folder)}"', "output = true", f"file = {json.dumps(text)}"]
    if _NUMBER.fullmatch(text):
        value = json.dumps(text) if text[:2].lower() == "0x" else _number(text)
        return [*lines, f'type = "{kind}"', f"value = {value}"]
    raise _no_form(given)


def _as_name(parameter: str) -> str:
    """A parameter's name as one for expressions: `_Z4fooPf_param_0` is `param_0`, `__cudaparm_foo_x` is `x`."""
    short = re.search(r"(param_\d+)$", parameter)
    return short[1] if short else re.sub(r"\W", "_", parameter)


def _contents(expression: str | None, kind: str) -> str:
    if expression is None:
        return "value = 0"
    random = _RANDOM.fullmatch(expression.strip())
    if random is None:
        return f"expr = {json.dumps(expression, ensure_ascii=False)}"
    seed = int(random[1] or 0)
    dtype = DTYPES.get(kind)
    if dtype is None or dtype.kind == "f":
        return f"random = {{ seed = {seed} }}"
    low, high = (0, 1 << min(8 * dtype.itemsize, 31))
    if dtype.kind == "i":
        low, high = -high // 2, high // 2
    return f"random = {{ seed = {seed}, low = {low}, high = {high} }}"


def _number(text: str) -> str:
    """A number as TOML writes it."""
    try:
        return str(int(text))
    except ValueError:
        pass
    try:
        return repr(float(text))
    except ValueError:
        raise _no_form(text) from None


def _no_form(given: str) -> PtxError:
    return error("E502", f"--arg '{given}' is none of the forms", help=_FORMS)
