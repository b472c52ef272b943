"""The values of a launch file: how an input is computed, and the element types.

For `launch_file.py`. An input is computed by exactly one of `value`, `range`, `random`, `file`, `expr`; with `shape` or
`count` a `value` becomes a buffer, without it a scalar. A `struct` is the bytes of its members, each at a multiple of
its size, as C lays them out. The results are complete and read-only.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ptxtool.base.diag import error
from ptxtool.formats.expression import ExpressionError, compile_expression, short
from ptxtool.isa.types import TYPES

DTYPES: dict[str, Any] = {
    **{f"{kind}{bits}": np.dtype(f"uint{bits}") for kind in "ub" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
}
"""numpy's type for every element type that a launch file can name."""
assert DTYPES.keys() <= TYPES.keys()

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


def make_value(
    spec: Mapping[str, Any], folder: Path, known: Mapping[str, Any], undefined: bool = False
) -> np.ndarray | np.generic:
    """The array (a buffer) or numpy scalar of one `[[args]]` entry. `known` are the earlier values by name.

    An `undefined` one has no contents: its bytes are 0xFF.
    """
    if "struct" in spec:
        others = [key for key in ("type", "shape", "count", *SOURCES) if key in spec]
        if others:
            raise ValueProblem(others[0], f"'{others[0]}' beside 'struct', which says everything")
        return _struct(spec["struct"])
    name = spec.get("type")
    if not isinstance(name, str) or name.removeprefix(".") not in DTYPES:
        what = f"'{name}'" if name is not None else "no type"
        help = f"types are {', '.join(DTYPES)}"
        raise ValueProblem("type", f"{what} where an element type must stand", help)
    dtype = DTYPES[name.removeprefix(".")]
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
        array = _file(given, dtype, folder)
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
    """An array converted to a type; a value that the type does not have is an error."""
    found = np.asarray(array)
    if found.dtype == dtype:
        return found
    if found.dtype.kind not in "biuf":
        raise ValueProblem(key, f"'{short(array)}' is no number of type {dtype}")
    if dtype.kind in "iu" and found.size:
        if found.dtype.kind == "f" and not (np.isfinite(found).all() and (found == np.rint(found)).all()):
            raise ValueProblem(key, f"a fraction where type {dtype} needs whole numbers")
        limits = np.iinfo(dtype)
        low, high = found.min().item(), found.max().item()
        if low < limits.min or high > limits.max:
            wrong = low if low < limits.min else high
            raise ValueProblem(key, f"{wrong} does not fit type {dtype}")
    with np.errstate(all="ignore"):
        return found.astype(dtype)


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
    numbers = isinstance(given, list) and all(type(v) in (int, float) for v in given)
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


def _file(given: Any, dtype: Any, folder: Path) -> np.ndarray:
    array = read_npy(given, folder)
    if array.dtype != dtype:
        raise ValueProblem(
            "file", f"'{given}' holds {array.dtype}, not {dtype}", "convert the file, or change 'type'"
        )
    return array


def read_npy(given: Any, folder: Path) -> np.ndarray:
    """A .npy file's array. Raises `ValueProblem` where it cannot be read."""
    if not isinstance(given, str):
        raise ValueProblem("file", f"'{short(given)}' is no file name")
    try:
        with open(folder / given, "rb") as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
    except (OSError, ValueError, EOFError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ValueProblem("file", f"cannot read '{given}': {reason}", code="E501") from None
    return array


def npy_type(given: str, folder: Path) -> str:
    """The element type that a .npy file holds. Raises E501, and E502 for one that launch files do not name."""
    try:
        dtype = read_npy(given, folder).dtype
    except ValueProblem as problem:
        raise error(problem.code, str(problem), help="give the path of a .npy file") from None
    found = next((name for name, each in DTYPES.items() if each == dtype), None)
    if found is None:
        known = ", ".join(dict.fromkeys(map(str, DTYPES.values())))
        raise error("E502", f"'{given}' holds {dtype}", help=f"types are {known}")
    return found


def _expr(given: Any, dtype: Any, shape: ArrayShape, known: Mapping[str, Any]) -> np.ndarray:
    if not isinstance(given, str):
        raise ValueProblem("expr", f"'{short(given)}' where an expression in quotes must stand")
    try:
        found = compile_expression(given, frozenset(known)).evaluate(known)
    except ExpressionError as problem:
        raise ValueProblem("expr", str(problem), problem.help) from None
    try:
        array = np.asarray(found)
    except ValueError:
        raise ValueProblem("expr", f"'{given}' gives no regular array") from None
    if array.dtype.kind not in "biuf":
        raise ValueProblem("expr", f"'{given}' gives no numbers")
    with np.errstate(all="ignore"):
        array = array.astype(dtype)  # an expression is converted as numpy converts
    return np.full(shape, array) if shape is not None and array.ndim == 0 else array
