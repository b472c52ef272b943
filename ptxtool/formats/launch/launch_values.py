"""The values of a launch file: how an input is computed, and the element types.

For `launch_file.py`. An input is computed by exactly one of `value`, `range`, `random`, `file`, `expr`; with `shape` or
`count` a `value` becomes a buffer, without it a scalar. A `struct` is the bytes of its members, each at a multiple of
its size, as C lays them out. The results are complete and read-only. A value that its type does not have is an error,
never wrapped. A scalar without a type is a plain number, which takes the type of the parameter it is passed to.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.base.diag import error
from ptxtool.formats.changed_pages import replace_pages
from ptxtool.formats.expression import ExpressionError, compile_expression, short
from ptxtool.formats.npy import NpyError, read_npy
from ptxtool.isa.types import TYPES

DTYPES: dict[str, Any] = {
    **{f"{kind}{bits}": np.dtype(f"uint{bits}") for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
}
"""numpy's type for every element type that a launch file can name."""
assert DTYPES.keys() <= TYPES.keys()
_SIGNED = {f"i{bits}": f"s{bits}" for bits in (8, 16, 32, 64)}

SOURCES = ("value", "range", "random", "file", "expr")
MAX_ELEMENTS = 1 << 30

ArrayShape = tuple[int, ...] | None


class ValueProblem(Exception):
    """A value that cannot be computed; `key` is the key at fault. `launch_file.py` adds the place."""

    def __init__(self, key: str, message: str, help: str = "", code: str = "E502"):
        super().__init__(message)
        self.key = key
        self.help = help
        self.code = code


def element_type(name: Any) -> str:
    """The element type that a text names: `i32` and `.s32` are `s32`."""
    plain = str(name).removeprefix(".")
    return _SIGNED.get(plain, plain)


def make_value(
    spec: Mapping[str, Any], folder: Path, known: Mapping[str, Any], undefined: bool = False
) -> np.ndarray | np.generic | int | float:
    """The array (a buffer) or numpy scalar of one `[[args]]` entry. `known` are the earlier values by name.

    An `undefined` one has no contents: its bytes are 0xFF. A scalar without a type is a plain number. Raises
    `ValueProblem`.
    """
    if "changes" in spec and "file" not in spec:
        raise ValueProblem("changes", "'changes' goes with 'file'")
    if "struct" in spec:
        others = [key for key in ("type", "shape", "count", *SOURCES) if key in spec]
        if others:
            raise ValueProblem(others[0], f"'{others[0]}' beside 'struct', which says everything")
        return _struct(spec["struct"])
    name = spec.get("type")
    if name is None and not spec.keys() & {"shape", "count"} and len(spec.keys() & set(SOURCES)) == 1:
        return _untyped(spec, known)
    if not isinstance(name, str) or element_type(name) not in DTYPES:
        raise _no_type(name)
    dtype = DTYPES[element_type(name)]
    shape = _shape(spec)
    if undefined:
        assert shape is not None
        filled: np.ndarray = np.full(shape, -1, f"i{dtype.itemsize}").view(dtype)
        filled.flags.writeable = False
        return filled
    sources = [key for key in SOURCES if key in spec]
    if len(sources) != 1:
        found = " and ".join(f"'{s}'" for s in sources) or "none of them"
        raise ValueProblem(
            sources[1] if sources else "", f"exactly one of {', '.join(SOURCES)} must be given, not {found}"
        )
    key = sources[0]
    given = spec[key]
    if key == "value":
        array = _value(given, dtype, shape)
    elif key == "range":
        array = _range(given, dtype)
    elif key == "random":
        array = _random(given, dtype, shape)
    elif key == "file":
        array = _file(given, dtype, folder, spec.get("changes", []))
    else:
        array = _expr(given, dtype, shape, known)
    if shape is not None and array.shape != shape:
        if array.size != np.prod(shape, dtype=np.int64):
            raise ValueProblem(
                key, f"{array.size} elements where shape {list(shape)} needs {int(np.prod(shape))}"
            )
        array = array.reshape(shape)
    if array.ndim == 0:
        return array[()]
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def _no_type(name: object) -> ValueProblem:
    what = f"'{short(name)}'" if name is not None else "no type"
    help = f"types are {', '.join(DTYPES)}; only a scalar takes the type of its parameter"
    return ValueProblem("type", f"{what} where an element type must stand", help)


def _untyped(spec: Mapping[str, Any], known: Mapping[str, Any]) -> int | float:
    """A scalar as the number it is written as, or as its expression's value."""
    if "expr" in spec:
        found = np.asarray(_evaluated(spec["expr"], known))
        if found.ndim == 0 and found.dtype.kind in "biuf":
            number: int | float = found.item()
            return number
    elif type(spec.get("value")) is float or (type(spec.get("value")) is int and _has_64_bits(spec["value"])):
        return spec["value"]  # type: ignore[no-any-return]
    raise _no_type(None)


def _has_64_bits(number: int) -> bool:
    if not -(2**63) <= number < 2**64:
        raise ValueProblem("value", f"{short(number)} does not fit 64 bits", "use a smaller number")
    return True


def _struct(given: Any) -> np.ndarray:
    """The bytes of a structure from pairs of type and value; a list of values is an array."""
    pairs = isinstance(given, list) and all(isinstance(m, list) and len(m) == 2 and m[1] != [] for m in given)
    if not pairs or not given:
        help = 'for example [["f32", 0.5], ["s32", [1, 2, 3]]]'
        raise ValueProblem("struct", f"'{short(given)}' where pairs of type and value must stand", help)
    data, widest = bytearray(), 1
    for kind, value in given:
        try:
            values = value if isinstance(value, list) else [value]
            member = np.array([make_value({"type": kind, "value": v}, Path(), {}) for v in values])
        except ValueProblem as problem:
            raise ValueProblem("struct", str(problem), problem.help) from None
        size = member.dtype.itemsize
        data += bytes(-len(data) % size) + member.tobytes()
        widest = max(widest, size)
    data += bytes(-len(data) % widest)
    made = np.frombuffer(bytes(data), np.uint8)
    made.flags.writeable = False
    return made


def to_dtype(array: Any, dtype: Any, key: str) -> np.ndarray:
    """An array converted to a type. Raises `ValueProblem` for a value that the type does not have.

    Fractions are rounded to a floating-point type; one beyond its range is an error.
    """
    found = np.asarray(array)
    if found.dtype == dtype:
        return found
    if found.dtype.kind not in "biuf":
        raise ValueProblem(key, f"'{short(array)}' is no number of type {dtype}")
    if dtype.kind in "iu" and found.size:
        limits = np.iinfo(dtype)
        if found.dtype.kind == "f":
            with np.errstate(all="ignore"):
                wrong = found[~(np.isfinite(found) & (found == np.rint(found)))]
            if wrong.size:
                what = "a fraction" if np.isfinite(wrong[0]) else str(wrong[0])
                needs = f"{what} where type {dtype} needs whole numbers"
                raise ValueProblem(key, f"{needs}, {limits.min} to {limits.max}: {wrong[0]}")
        low, high = found.min().item(), found.max().item()
        if low < limits.min or high > limits.max:
            raise _beyond(key, low if low < limits.min else high, dtype, limits)
    with np.errstate(all="ignore"):
        converted = found.astype(dtype)
    if dtype.kind == "f":
        beyond = found[np.isinf(converted) & np.isfinite(found)]
        if beyond.size:
            raise _beyond(key, beyond[0], dtype, np.finfo(dtype))
    return converted


def _beyond(key: str, value: object, dtype: Any, limits: Any) -> ValueProblem:
    wraps = f"; to wrap, write .astype(np.{dtype})" if key == "expr" and dtype.kind != "f" else ""
    message = f"{value} does not fit type {dtype}: {limits.min} to {limits.max}"
    return ValueProblem(key, message, f"use a type that holds the value{wraps}")


def _shape(spec: Mapping[str, Any]) -> ArrayShape:
    if "shape" in spec and "count" in spec:
        raise ValueProblem("count", "'shape' and 'count' say the same thing: give one of them")
    key = "shape" if "shape" in spec else "count"
    if key not in spec:
        return None
    given = spec[key]
    extents = given if isinstance(given, list) else [given]
    if not extents or not all(type(e) is int and e > 0 for e in extents):
        raise ValueProblem(key, f"'{short(given)}' where positive whole numbers must stand")
    n = 1
    for extent in extents:
        n *= extent
    if n > MAX_ELEMENTS:
        raise ValueProblem(key, f"{n} elements are too many: at most {MAX_ELEMENTS}")
    return tuple(extents)


def _value(given: Any, dtype: Any, shape: ArrayShape) -> np.ndarray:
    if isinstance(given, str) and given.lower().startswith("0x"):
        try:
            given = int(given, 16)
        except ValueError:
            raise ValueProblem("value", f"'{given}' is no hexadecimal number") from None
        if dtype.kind == "f":  # bits, as in the instruction set's own literals
            if given >> (8 * dtype.itemsize):
                raise ValueProblem("value", f"{given:#x} does not fit type {dtype}")
            given = np.array(given, f"u{dtype.itemsize}").view(dtype)
    if isinstance(given, bool | str | dict):
        raise ValueProblem("value", f"'{short(given)}' is no number")
    try:
        array = to_dtype(np.array(given), dtype, "value")
    except (ValueError, OverflowError):
        raise ValueProblem("value", f"'{short(given)}' is no regular list of numbers") from None
    return np.full(shape, array) if shape is not None and array.ndim == 0 else array


def _range(given: Any, dtype: Any) -> np.ndarray:
    numbers = isinstance(given, list) and all(type(v) in (int, float) and abs(v) < 2.0**64 for v in given)
    if not numbers or len(given) not in (2, 3) or (len(given) == 3 and given[2] == 0):
        raise ValueProblem("range", f"'{short(given)}' where [start, stop] or [start, stop, step] must stand")
    start, stop, step = (*given, 1)[:3]
    if (stop - start) / step > MAX_ELEMENTS:
        raise ValueProblem("range", f"more than {MAX_ELEMENTS} elements")
    array = to_dtype(np.arange(start, stop, step), dtype, "range")
    if not array.size:
        raise ValueProblem("range", f"{given} has no elements")
    return array


def _random(given: Any, dtype: Any, shape: ArrayShape) -> np.ndarray:
    if not isinstance(given, dict) or set(given) - {"seed", "low", "high"}:
        raise ValueProblem("random", f"'{short(given)}' where a table of seed, low and high must stand")
    if shape is None:
        raise ValueProblem("random", "'random' needs a 'shape' or 'count'")
    seed, low, high = given.get("seed", 0), given.get("low", 0), given.get("high", 1)
    if type(seed) is not int or seed < 0:
        raise ValueProblem("random", f"seed '{short(seed)}' is no whole number >= 0")
    if type(low) not in (int, float) or type(high) not in (int, float) or not low < high:
        raise ValueProblem("random", f"low '{short(low)}' must be a number below high '{short(high)}'")
    generator = np.random.Generator(np.random.PCG64(seed))
    if dtype.kind == "f":
        return np.asarray(low + (high - low) * generator.random(shape), dtype)
    limits = np.iinfo(dtype)
    if type(low) is not int or type(high) is not int or low < limits.min or high - 1 > limits.max:
        raise ValueProblem("random", f"low {low} and high {high} must be whole numbers that fit type {dtype}")
    return np.asarray(generator.integers(low, high, shape, dtype))


def _file(given: Any, dtype: Any, folder: Path, changes: Any) -> np.ndarray:
    array = npy_file(given, folder, changes)
    if array.dtype != dtype:
        raise ValueProblem(
            "file", f"'{given}' holds {array.dtype}, not {dtype}", "convert the file, or change 'type'"
        )
    return array


def npy_file(given: Any, folder: Path, changes: Any = ()) -> np.ndarray:
    """A .npy file's array, with the pages of the files of `changes`. Raises `ValueProblem` where one cannot be read."""
    array = _read(given, folder)
    if not isinstance(changes, Sequence) or isinstance(changes, str):
        raise ValueProblem("changes", "'changes' must be a list of file names")
    if changes:
        array = np.ascontiguousarray(array)
    for name in changes:
        try:
            replace_pages(array, _read(name, folder))
        except ValueError as problem:
            help = "give files of changed pages, as 'ptxtool exec --record' writes them"
            raise ValueProblem("changes", f"cannot use '{short(name, 200)}': {problem}", help) from None
    return array


def _read(given: Any, folder: Path) -> np.ndarray:
    if not isinstance(given, str):
        raise ValueProblem("file", f"'{short(given)}' is no file name")
    try:
        return read_npy(folder / given)
    except NpyError as problem:
        message = f"cannot read '{short(given, 200)}': {problem}"
        raise ValueProblem(
            "file", message, "give the path of a .npy file, as numpy.save writes it", "E501"
        ) from None


def npy_type(given: str, folder: Path) -> str:
    """The element type that a .npy file holds. Raises E501, and E502 for one that launch files do not name."""
    try:
        dtype = npy_file(given, folder).dtype
    except ValueProblem as problem:
        raise error(problem.code, str(problem), help="give the path of a .npy file") from None
    found = next((name for name, each in DTYPES.items() if each == dtype), None)
    if found is None:
        known = ", ".join(dict.fromkeys(map(str, DTYPES.values())))
        raise error("E502", f"'{given}' holds {dtype}", help=f"types are {known}")
    return found


def _evaluated(given: Any, known: Mapping[str, Any]) -> np.ndarray:
    if not isinstance(given, str):
        raise ValueProblem("expr", f"'{short(given)}' where an expression in quotes must stand")
    try:
        found = compile_expression(given, frozenset(known)).evaluate(known)
    except ExpressionError as problem:
        raise ValueProblem("expr", str(problem), problem.help) from None
    try:
        return np.asarray(found)
    except ValueError:
        raise ValueProblem("expr", f"'{short(given)}' gives no regular array") from None


def _expr(given: Any, dtype: Any, shape: ArrayShape, known: Mapping[str, Any]) -> np.ndarray:
    array = _evaluated(given, known)
    if array.dtype.kind not in "biuf":
        raise ValueProblem("expr", f"'{short(given)}' gives no numbers")
    array = to_dtype(array, dtype, "expr")
    return np.full(shape, array) if shape is not None and array.ndim == 0 else array
