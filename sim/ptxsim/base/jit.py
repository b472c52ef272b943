"""How the simulator's functions are declared: numba compiles them when one has no machine code on disk.

* `njit` and `inline` declare functions for other compiled functions, `entry` those that Python calls. Nothing is
  compiled where they are declared, and numba is not imported: `Later` is what it will be given, `now()` makes it.
* `machine_code` runs entries. With all machine code on disk no name of numba's is ever made.
* `rows_*`, `flat_*` and `records` give an array over memory at an address (an integer in a record): arrays of varying
  size are reached through records that way. With `NUMBA_DISABLE_JIT=1` they do the same through ctypes.
"""

import ctypes
import os
from functools import lru_cache
from importlib import import_module
from types import FunctionType
from typing import Any

import numpy as np

from ptxsim.base import machine_code
from ptxsim.base.later import Expression, Function, Later

JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def compiled(module: str, name: str) -> Expression:
    """A name of a module that imports numba, which is imported when the name is needed."""
    return Expression(lambda: getattr(import_module(module), name), name)


def _of_compiler(name: str) -> Any:
    return compiled("ptxsim.base.compiler.numba_compiler", name)


def _dispatcher(*arguments: Any) -> Any:
    return _of_compiler("dispatcher").now()(*arguments)


types = _of_compiler("types")
"""`numba.types`."""
record_type = _of_compiler("record_type")
"""`record_type(dtype)`: numba's type of one record."""
array_of = _of_compiler("array_of")
"""`array_of(dtype)`: numba's type of a one-dimensional array of records. `array_of(dtype, (("field", value), ...))`: of
records with these values in all of them, which are constants in compiled code (fixed_fields.py)."""
is_record_of = _of_compiler("is_record_of")
"""`is_record_of(type, dtype)`: whether numba's type is that of a record of a dtype, for what writes code."""


def for_records(declared: Any, kind: str) -> Any:
    """Name a declared function for records of another type than the usual one, such as "wide" ones (wide_masks.py):
    its machine code has a file of its own."""
    if isinstance(declared, Function):
        declared.__name__ += f"_{kind}"
    return declared


class Entry(Function):
    """A function that Python calls: with arrays of records, whole numbers, and functions that it calls itself. Returns
    an int64, or nothing that means something. Raises what a function of the user's has raised."""

    def __call__(self, *arguments: Any) -> int:
        return machine_code.call(self, arguments)


def _decorator(kind: Any, inlined: bool) -> Any:
    """Declare a function, with or without a signature; with NUMBA_DISABLE_JIT=1, the Python function itself."""
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": inlined}

    def declared(function: FunctionType, signature: Any = None) -> Any:
        if JIT_DISABLED:
            return function
        return kind(function, signature, options, lambda: _dispatcher(function, signature, True, options))

    def decorate(first: Any) -> Any:
        return (
            declared(first) if isinstance(first, FunctionType) else lambda function: declared(function, first)
        )

    return decorate


njit = _decorator(Function, False)
"""`@njit` or `@njit(signature)`: a function for other compiled functions, compiled for the first of them. Without
wrappers for Python it compiles a third faster; Python cannot call it. LLVM decides whether it is inlined into its
callers: `forceinline=False` has no other meaning, but without it numba would take the flag from the function whose
compilation asked for this one, and `inline` would spread to everything below (the cycle of an SM was 170 KB of code,
and a quarter of all compiling)."""
inline = _decorator(Function, True)
"""The same for a function with one call, or a few lines: its code is inlined into its caller. The timing loop is a
quarter faster for it; a call with its arguments (an array is seven of them) costs as much as a small function does."""
entry = _decorator(Entry, False)
"""The same, with a signature, for the few functions that Python calls."""


def uncached(first: Any) -> Any:
    """`@uncached` or `@uncached(signature)`: numba's own form of a function, which Python calls with anything and which
    the disk cache does not keep."""
    if JIT_DISABLED:
        return first if isinstance(first, FunctionType) else lambda function: function

    def made(function: FunctionType, signature: Any = None) -> Any:
        dispatcher = _dispatcher(function, signature, False, {})
        dispatcher.compile_declared()
        return dispatcher

    return made(first) if isinstance(first, FunctionType) else lambda function: made(function, first)


def for_python(function: Any) -> Any:
    """A compiled function as one that Python may call (tests of single pieces)."""
    return uncached(function.py_func) if hasattr(function, "py_func") else function


def intrinsic(function: Any) -> Later:
    """`numba.extending.intrinsic`: an operation whose code a function writes."""

    return Later(lambda: _of_compiler("resolved_intrinsic").now()(function))


def _array_at(dtype: np.dtype[Any], address: Any, n: Any) -> Any:
    """An array over memory, without compilation."""
    memory = (ctypes.c_uint8 * (dtype.itemsize * int(n))).from_address(int(address))
    return np.frombuffer(memory, dtype)  # type: ignore[call-overload]


def records(dtype: np.dtype[Any], columns: int = 0) -> Any:
    """`view(address, n)`: an array of n elements of a dtype (columns 0), or of n rows of `columns` elements."""
    if not JIT_DISABLED:
        return _of_compiler("records")(dtype, columns)

    @lru_cache(maxsize=4096)
    def python_view(address: int, n: int) -> Any:
        array = _array_at(dtype, address, int(n) * (columns or 1))
        return array.reshape(-1, columns) if columns else array

    return python_view


# 32 lanes a row
rows_u32 = records(np.dtype(np.uint32), 32)
rows_i32 = records(np.dtype(np.int32), 32)
rows_f32 = records(np.dtype(np.float32), 32)
rows_u64 = records(np.dtype(np.uint64), 32)
rows_i64 = records(np.dtype(np.int64), 32)
rows_f64 = records(np.dtype(np.float64), 32)
flat_u8 = records(np.dtype(np.uint8))
flat_u16 = records(np.dtype(np.uint16))
flat_u32 = records(np.dtype(np.uint32))
flat_i32 = records(np.dtype(np.int32))
flat_u64 = records(np.dtype(np.uint64))
flat_i64 = records(np.dtype(np.int64))
flat_f32 = records(np.dtype(np.float32))
flat_f64 = records(np.dtype(np.float64))


def record_at(dtype: np.dtype[Any]) -> Any:
    """`at(address, i)`: record i of an array at an address, for the price of an addition."""
    if not JIT_DISABLED:
        return _of_compiler("record_at")(dtype)

    @lru_cache(maxsize=4096)
    def python_at(address: int, i: int) -> Any:
        return _array_at(dtype, int(address) + int(i) * dtype.itemsize, 1)[0]

    return python_at


def _python_address_of(array: Any) -> int:
    address: int = array.ctypes.data
    return address


address_of: Any = _python_address_of if JIT_DISABLED else _of_compiler("address_of")
"""`address_of(array)`: the address of an array's first element."""


def record(fields: list[Any]) -> np.dtype[Any]:
    """A record dtype: aligned fields, readable as attributes from Python too (for runs without compilation)."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


CACHE_LINE = 64
"""Bytes of a line of the host's caches."""


def record_of_lines(fields: list[Any]) -> np.dtype[Any]:
    """A record of whole cache lines: as few as possible are touched for a part of it."""
    rest = -record(fields).itemsize % CACHE_LINE
    return record([*fields, ("rest", "u1", (rest,))]) if rest else record(fields)


def _python_ctz(value: Any) -> int:
    bits = int(value)
    return (bits & -bits).bit_length() - 1 if bits else 64


def _python_popcount(value: Any) -> int:
    bits = int(value)
    return (bits & 0xFFFFFFFFFFFFFFFF if bits < 0 else bits).bit_count()


ctz: Any = _python_ctz if JIT_DISABLED else _of_compiler("ctz")
popcount: Any = _python_popcount if JIT_DISABLED else _of_compiler("popcount")
"""`ctz(x)` and `popcount(x)` of an int64 seen as 64 bits, or of an int128 (wide_masks.py)."""


@inline
def bit(position):
    """Mask with one bit, as int64 (bit 63 is the sign bit; use only bitwise operators on masks)."""
    return np.int64(1) << np.int64(position)


@inline
def from_bit(position):
    """Mask of the bits from `position` upwards; none from 64 upwards."""
    if position >= 64:
        return np.int64(0)
    return -(np.int64(1) << np.int64(position))
