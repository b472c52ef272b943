"""How many elements the result of a numpy call has, before it is computed. For `expression.py`.

An expression comes from a file. `np.ones(10**12)` must be an error, not a computer without memory. Known are the
functions whose results can be larger than their arguments; for all others, and for what is not understood here, the
broadcast shape of the arguments is returned. Arguments that make no sense are numpy's to refuse.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

MOST_ELEMENTS = 1 << 28


def result_elements(name: str, args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    """An upper bound for the elements of `np.NAME(*args, **keywords)`, or of the method of that name."""
    try:
        known = _GROWING.get(name)
        return known(args, keywords) if known else _broadcast(args)
    except (TypeError, ValueError, IndexError, KeyError, ArithmeticError):
        return 0


def _broadcast(args: Sequence[Any]) -> int:
    return math.prod(np.broadcast_shapes(*(a.shape for a in args if isinstance(a, np.ndarray))))


def _argument(args: Sequence[Any], keywords: Mapping[str, Any], index: int, *names: str) -> Any:
    """An argument by its position or its name. Raises KeyError."""
    if index < len(args):
        return args[index]
    return next(keywords[name] for name in (*names, "") if name in keywords or not name)


def _product(extents: Any) -> int:
    """The elements of a shape: a number, or a sequence of them."""
    return math.prod(int(n) for n in np.atleast_1d(np.asarray(extents)).ravel())


def _shape(index: int) -> Callable[[Sequence[Any], Mapping[str, Any]], int]:
    return lambda args, keywords: _product(_argument(args, keywords, index, "shape"))


def _like(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    return _product(keywords["shape"]) if keywords.get("shape") is not None else 0


def _square(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    rows = int(_argument(args, keywords, 0, "N", "n"))
    columns = args[1] if len(args) > 1 else keywords.get("M")
    return rows * (rows if columns is None else int(columns))


def _diagonal(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    values = np.asarray(_argument(args, keywords, 0, "v"))
    above = abs(int(args[1] if len(args) > 1 else keywords.get("k", 0)))
    return (values.size + above) ** 2 if values.ndim == 1 else 0


def _arange(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    start, stop = (0, args[0]) if len(args) == 1 else (args[0], _argument(args, keywords, 1, "stop"))
    step = args[2] if len(args) > 2 else keywords.get("step", 1)
    return math.ceil((float(stop) - float(start)) / float(step))


def _linspace(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    return int(args[2] if len(args) > 2 else keywords.get("num", 50)) * _broadcast(args[:2])


def _repeat(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    times = np.asarray(_argument(args, keywords, 1, "repeats"))
    return np.size(_argument(args, keywords, 0, "a")) * max(1, int(times.max()))


def _tile(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    return np.size(_argument(args, keywords, 0, "A")) * _product(_argument(args, keywords, 1, "reps"))


def _pad(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    width = int(np.max(_argument(args, keywords, 1, "pad_width")))
    return math.prod(n + 2 * width for n in np.shape(_argument(args, keywords, 0, "array")))


def _outer(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    return math.prod(np.size(a) for a in (*args, *keywords.values()))


def _grid(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    return len(args) * math.prod(np.size(a) for a in args)


def _matmul(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    a, b = np.shape(args[0]), np.shape(args[1])
    if min(len(a), len(b)) < 2:
        return _dot(args, keywords)
    return int(math.prod(np.broadcast_shapes(a[:-2], b[:-2])) * a[-2] * b[-1])


def _dot(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    a, b = np.shape(args[0]), np.shape(args[1])
    inner = a[-1] if a else 1
    return int(math.prod(a) * math.prod(b) // max(1, inner * inner))


def _einsum(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    inputs, arrow, output = str(args[0]).replace(" ", "").partition("->")
    extents: dict[str, int] = {}
    for letters, array in zip(inputs.split(","), args[1:], strict=False):
        extents |= dict(zip(letters, np.shape(array), strict=False))
    return math.prod(extents.get(letter, 1) for letter in (output if arrow else extents))


def _indices(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    shape = _argument(args, keywords, 0, "dimensions")
    return len(shape) * _product(shape)


def _bincount(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    least = args[2] if len(args) > 2 else keywords.get("minlength", 0)
    return max(int(least), int(np.max(_argument(args, keywords, 0, "x"))) + 1)


def _histogram(args: Sequence[Any], keywords: Mapping[str, Any]) -> int:
    bins = args[1] if len(args) > 1 else keywords.get("bins", 10)
    return bins if isinstance(bins, int) else 0


_GROWING: dict[str, Callable[[Sequence[Any], Mapping[str, Any]], int]] = {
    **dict.fromkeys(("empty", "ones", "zeros", "full"), _shape(0)),
    **dict.fromkeys(("ones_like", "zeros_like", "full_like"), _like),
    **dict.fromkeys(("eye", "identity", "tri"), _square),
    **dict.fromkeys(("outer", "kron"), _outer),
    **dict.fromkeys(("dot", "inner"), _dot),
    "matmul": _matmul,
    "broadcast_to": _shape(1),
    "diag": _diagonal,
    "arange": _arange,
    "linspace": _linspace,
    "repeat": _repeat,
    "tile": _tile,
    "pad": _pad,
    "meshgrid": _grid,
    "einsum": _einsum,
    "indices": _indices,
    "bincount": _bincount,
    "histogram": _histogram,
}
