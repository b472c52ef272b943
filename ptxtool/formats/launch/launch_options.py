"""A launch from the options of a command line: `--grid`, `--block`, `--arg`, `--constant`, as the launch file that says
the same.

An `--arg` for each of the kernel's parameters, in order; `NAME:` in front gives it a name for later expressions:

    5   0.5   0x3f800000        a number, in the parameter's type
    f32[1024]                   a buffer of zeros
    f32[1024]=?                 a buffer that has never been written
    f32[64,64]=EXPR             a buffer with the value of an expression (docs/launch-file.md)
    f32[1024]=random(SEED)      a buffer of random numbers, 0 to 1 for floating point, all bits for whole numbers
    data.npy                    a buffer from a file
    {f32 0.5, s32 1 2 3}        a structure by value, from its members
    texture(OPTION, ...) BUFFER a buffer as a texture, likewise `surface`; options as in docs/launch-file.md

A `--constant` is a variable's name, a colon, and one of these; textures are those of `.texref` and PTXPlus's `.tex`.

The text of that launch file is made first, so that its reader is the only one there is, and its diagnostics show
what was understood.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path

from ptxtool.base.diag import PtxError, error
from ptxtool.base.sizes import sizes
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.formats.launch.launch_values import DTYPES, element_type, npy_type
from ptxtool.ir.nodes import Declaration, Function

SOURCE_NAME = "<options>"

_NAME = re.compile(r"([A-Za-z_]\w*):(?!:)")
_SYMBOL = re.compile(r"([A-Za-z_$%][\w$]*):(?!:)")
_BUFFER = re.compile(r"\.?(?P<type>[a-z]+[0-9]+)\[(?P<shape>[0-9, ]+)\](?:=(?P<expr>.+))?", re.DOTALL)
_RANDOM = re.compile(r"random(?:\((\d*)\))?")
_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9.][0-9.eE+-]*|inf|nan)")
_STRUCT = re.compile(r"\{(.*)\}", re.DOTALL)
_OPAQUE = re.compile(r"(?P<kind>texture|surface)(?:\((?P<options>[^()]*)\))?\s+(?P<buffer>.+)", re.DOTALL)
_FORMS = (
    "forms are 5, 0.5, f32[1024], f32[1024]=?, f32[64,64]=EXPR, f32[1024]=random(1), data.npy, "
    "{f32 0.5, s32 3} and texture(linear) f32[64,64]"
)


def launch_from_options(
    kernel: Function,
    grid: str,
    block: str,
    args: Sequence[str],
    dynamic_shared: int = 0,
    folder: Path | None = None,
    constants: Sequence[str] = (),
) -> Launch:
    """The launch that the options mean. Files are relative to `folder` (the current one by default).

    Raises E401 for more or fewer `args` than parameters, or a number where a parameter is no number, and E502 for one
    that has none of the forms.
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
        lines += ["", "[[args]]", *_argument(given, parameter, here)]
    for given in constants:
        lines += ["", *_constant(given, kernel, here)]
    return parse_launch(Source(SOURCE_NAME, "\n".join(lines) + "\n"), here, allow_outside=True)


def _extents(option: str, given: str) -> str:
    numbers = sizes(given)
    if numbers is None:
        raise error("E502", f"--{option} '{given}' is no list of sizes", help=f"for example --{option} 16,16")
    return str(list(numbers))


def _argument(given: str, parameter: Declaration, folder: Path) -> list[str]:
    """The keys of one `[[args]]`."""
    declarator = parameter.declarators[0]
    name = _NAME.match(given)
    text = given[name.end() :] if name else given
    lines = [f"name = {json.dumps(name[1] if name else _as_name(declarator.name))}"]
    opaque = _OPAQUE.fullmatch(text)
    if opaque:
        options = ", ".join(_options(opaque["options"] or "", "--arg", given))
        lines.append(f"{opaque['kind']} = {{ {options} }}")
        text = opaque["buffer"]
    value = _value(text, parameter.type, folder)
    if value is None:
        raise _no_form("--arg", given)
    if _NUMBER.fullmatch(text) and declarator.dimensions:
        raise error(
            "E401",
            f"--arg '{given}' is a number, but parameter '.{parameter.type} {declarator.name}' is a structure by value",
            help=f"say of which types its members are, such as {{f32 {text}}}",
        )
    is_buffer = _NUMBER.fullmatch(text) is None and _STRUCT.fullmatch(text) is None
    return [*lines, *value, *(["output = true"] if is_buffer else [])]


def _constant(given: str, kernel: Function, folder: Path) -> list[str]:
    """The table of one `[constants.NAME]`."""
    name = _SYMBOL.match(given)
    if name is None:
        raise error(
            "E502", f"--constant '{given}' has no name", help="for example --constant weights:f32[3]=1"
        )
    found = next(
        (d for d in kernel.module.declarations() if name[1] in [each.name for each in d.declarators]), None
    )
    text, table, options = given[name.end() :], "constants", []
    opaque = _OPAQUE.fullmatch(text)
    if opaque:
        text, table = opaque["buffer"], f"{opaque['kind']}s"
        options = _options(opaque["options"] or "", "--constant", given)
    value = _value(text, found.type if found else "b32", folder)
    if value is None or text.endswith("=?"):
        raise _no_form("--constant", given)
    return [f"[{table}.{json.dumps(name[1])}]", *value, *options]


def _value(text: str, kind: str, folder: Path) -> list[str] | None:
    """The keys that make a value; a number has type `kind`. None for what has none of the forms."""
    buffer = _BUFFER.fullmatch(text)
    if buffer:
        shape = [int(n) for n in buffer["shape"].replace(",", " ").split()]
        lines = [f'type = "{buffer["type"]}"', f"shape = {shape}"]
        return lines if buffer["expr"] == "?" else [*lines, _contents(buffer["expr"], buffer["type"])]
    if text.endswith(".npy"):
        return [f'type = "{npy_type(text, folder)}"', f"file = {json.dumps(text)}"]
    struct = _STRUCT.fullmatch(text)
    if struct:
        members = [_member(member.split()) for member in struct[1].split(",")]
        return None if None in members else [f"struct = [{', '.join(map(str, members))}]"]
    number = _number(text)
    return None if number is None else [f'type = "{kind}"', f"value = {number}"]


def _member(words: list[str]) -> str | None:
    """`f32 0.5` or `s32 1 2 3` as a pair."""
    numbers = [_number(word) for word in words[1:]]
    if not numbers or None in numbers:
        return None
    value = numbers[0] if len(numbers) == 1 else f"[{', '.join(map(str, numbers))}]"
    return f"[{json.dumps(words[0])}, {value}]"


def _options(given: str, option: str, whole: str) -> list[str]:
    """`linear, address=wrap, normalized` as keys; a word alone is a filter, or a switch that is on."""
    found: list[str] = []
    for item in filter(None, (part.strip() for part in given.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        if not re.fullmatch(r"\w+", name) or not re.fullmatch(r"\w*", value):
            raise _no_form(option, whole)
        if not value:
            name, value = ("filter", f'"{name}"') if name in ("linear", "point") else (name, "true")
        elif not value.isdecimal():
            value = value if value in ("true", "false") else json.dumps(value)
        found.append(f"{name} = {value}")
    return found


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
    dtype = DTYPES.get(element_type(kind))
    if dtype is None or dtype.kind == "f":
        return f"random = {{ seed = {seed} }}"
    low, high = (0, 1 << min(8 * dtype.itemsize, 31))
    if dtype.kind == "i":
        low, high = -high // 2, high // 2
    return f"random = {{ seed = {seed}, low = {low}, high = {high} }}"


def _number(text: str) -> str | None:
    """A number as TOML writes it, None for what is none."""
    if not _NUMBER.fullmatch(text):
        return None
    if text[:2].lower() == "0x":
        return json.dumps(text)
    for kind in (int, float):
        try:
            return repr(kind(text))
        except ValueError:
            pass
    return None


def _no_form(option: str, given: str) -> PtxError:
    name, equals, value = given.partition("=")
    meant = f"did you mean '{name}:{value}'? " if equals and name.isidentifier() else ""
    return error("E502", f"{option} '{given}' is none of the forms", help=meant + _FORMS)
