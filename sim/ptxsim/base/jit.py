"""How the simulator's functions are compiled: numba with a safe disk cache, and views of memory by address.

* `njit` compiles without reference counting (`_nrt=False`): records and arrays are borrowed from Python, which keeps
  them alive for the run; compiled functions allocate nothing, and no function returns an array.
* LLVM unrolls the loops over 32 lanes before it could vectorise them: its pass for straight code (SLP) is switched on.
* Machine code is kept on disk where `machine_code` says, a folder for every source.
* `rows_*`, `flat_*` and `records` give an array over memory at an address (an integer in a record): arrays of varying
  size are reached through records that way. With `NUMBA_DISABLE_JIT=1` they do the same through ctypes.
"""

import ctypes
from functools import lru_cache
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import config
from numba.extending import intrinsic

from ptxsim.base.code_cache import folder

OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}


def _index_from_the_start() -> None:
    """Leave out numba's code for indices that count from an array's end, in this package's functions: none has such an
    index, and with 100 accesses a simulated instruction that code was a fifth of all."""
    from numba.np import arrayobj

    general = arrayobj.fix_integer_index

    def fix_integer_index(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
        if index_type.signed and "6ptxsim" in builder.function.name:
            return context.cast(builder, index, index_type, types.intp)
        return general(context, builder, index_type, index, size)

    arrayobj.fix_integer_index = fix_integer_index


_index_from_the_start()


def _decorator(**options: Any) -> Any:
    """`numba.njit` with these options and the cache folder of the function's source."""

    def decorate(first: Any) -> Any:
        if isinstance(first, FunctionType):
            config.CACHE_DIR = str(folder(first.__module__))
            return numba.njit(cache=True, **options)(first)

        def with_signature(function: FunctionType) -> Any:
            config.CACHE_DIR = str(folder(function.__module__))
            before, config.SLP_VECTORIZE = config.SLP_VECTORIZE, 1
            try:
                return numba.njit(first, cache=True, **options)(function)
            finally:
                config.SLP_VECTORIZE = before

        return with_signature

    return decorate


njit = _decorator(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=False, **OPTIONS)
"""`@njit` or `@njit(signature)`: a function for other compiled functions. Without wrappers for Python it compiles a
third faster; Python must not call it. LLVM decides whether it becomes part of its callers: the flag says no more than
that, but unsaid, numba would take it from the function whose compilation asked for this one, and `inline` would spread
to everything below (the cycle of an SM was 170 KB of code, and a quarter of all compiling)."""
inline = _decorator(no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True, **OPTIONS)
"""The same for a function with one call, or a few lines: its code becomes its caller's. The timing loop is a quarter
faster for it; a call with its arguments (an array is seven of them) costs as much as a small function does."""
entry = _decorator(**OPTIONS)
"""The same for the few functions that Python calls."""


def for_python(function: Any) -> Any:
    """A compiled function as one that Python may call (tests of single pieces).

    Not from the disk cache: numba finds the function there without its wrapper, and a call would crash.
    """
    return numba.njit(**OPTIONS)(function.py_func) if hasattr(function, "py_func") else function


JIT_DISABLED = bool(config.DISABLE_JIT)

_CTYPES: dict[str, Any] = {
    "uint8": ctypes.c_uint8,
    "uint16": ctypes.c_uint16,
    "uint32": ctypes.c_uint32,
    "int32": ctypes.c_int32,
    "float32": ctypes.c_float,
    "uint64": ctypes.c_uint64,
    "int64": ctypes.c_int64,
    "float64": ctypes.c_double,
}


def _view(name: str, columns: int) -> Any:
    """`view(address, n)`: an array of n elements (columns 0) or of n rows of `columns` elements."""
    if JIT_DISABLED:

        @lru_cache(maxsize=4096)
        def python_view(address: int, n: int) -> Any:
            count = int(n) * (columns or 1)
            array = np.ctypeslib.as_array((_CTYPES[name] * count).from_address(int(address)))
            return array.reshape(-1, columns) if columns else array

        return python_view

    return _compiled_view(getattr(types, name), columns)


def _compiled_view(element: Any, columns: int) -> Any:
    from numba.np.arrayobj import make_array, populate_array

    array_type = types.Array(element, 2 if columns else 1, "C")

    @intrinsic
    def view(typing_context: Any, address: Any, n: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = make_array(array_type)(context, builder)
            machine_type = context.get_data_type(element)
            size = context.get_abi_sizeof(machine_type)
            data = builder.inttoptr(arguments[0], machine_type.as_pointer())

            def constant(value: int) -> Any:
                return context.get_constant(types.intp, value)

            shape = [arguments[1], constant(columns)] if columns else [arguments[1]]
            strides = [constant(size * columns), constant(size)] if columns else [constant(size)]
            populate_array(
                array, data=data, shape=shape, strides=strides, itemsize=constant(size), meminfo=None
            )
            return array._getvalue()

        return array_type(types.uint64, types.int64), generate

    return view


# 32 lanes a row
rows_u32 = _view("uint32", 32)
rows_i32 = _view("int32", 32)
rows_f32 = _view("float32", 32)
rows_u64 = _view("uint64", 32)
rows_i64 = _view("int64", 32)
rows_f64 = _view("float64", 32)
flat_u8 = _view("uint8", 0)
flat_u16 = _view("uint16", 0)
flat_u32 = _view("uint32", 0)
flat_i32 = _view("int32", 0)
flat_u64 = _view("uint64", 0)
flat_i64 = _view("int64", 0)


def records(dtype: np.dtype[Any]) -> Any:
    """`view(address, n)`: an array of n records of a dtype."""
    if JIT_DISABLED:

        @lru_cache(maxsize=64)
        def python_view(address: int, n: int) -> Any:
            data = (ctypes.c_uint8 * (dtype.itemsize * int(n))).from_address(int(address))
            return np.frombuffer(data, dtype)  # type: ignore[call-overload]

        return python_view
    return _compiled_view(numba.from_dtype(dtype), 0)


def record_at(dtype: np.dtype[Any]) -> Any:
    """`at(address, i)`: record i of an array at an address, for the price of an addition."""
    if JIT_DISABLED:

        @lru_cache(maxsize=4096)
        def python_at(address: int, i: int) -> Any:
            data = (ctypes.c_uint8 * dtype.itemsize).from_address(int(address) + int(i) * dtype.itemsize)
            return np.frombuffer(data, dtype)[0]  # type: ignore[call-overload]

        return python_at
    record_model = numba.from_dtype(dtype)

    @intrinsic
    def at(typing_context: Any, address: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            offset = builder.mul(arguments[1], context.get_constant(types.int64, dtype.itemsize))
            where = builder.add(arguments[0], offset)
            return builder.inttoptr(where, context.get_value_type(record_model))

        return record_model(types.uint64, types.int64), generate

    return at


def _address_of() -> Any:
    """`address_of(array)`: where an array's first element lies."""
    if JIT_DISABLED:
        return lambda array: array.ctypes.data
    from numba.np.arrayobj import make_array

    @intrinsic
    def operation(typing_context: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.ptrtoint(data, context.get_value_type(types.uint64))

        return types.uint64(array), generate

    return operation


address_of = _address_of()


def record_type(dtype: np.dtype[Any]) -> Any:
    """numba's type of one record of a dtype."""
    return numba.from_dtype(dtype)


def array_of(dtype: np.dtype[Any]) -> Any:
    """numba's type of a one-dimensional array of records."""
    return types.Array(numba.from_dtype(dtype), 1, "C")


def record(fields: list[Any]) -> np.dtype[Any]:
    """A record dtype: aligned fields, readable as attributes from Python too (for runs without compilation)."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


def _bit_intrinsic(name: str, python: Any) -> Any:
    """`ctz(x)` and `popcount(x)` of an int64 seen as 64 bits."""
    if JIT_DISABLED:
        return python

    from llvmlite import ir

    @intrinsic
    def operation(typing_context: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if name == "ctz":
                return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))
            return builder.ctpop(arguments[0])

        return types.int64(types.int64), generate

    return operation


def _python_ctz(value: Any) -> int:
    bits = int(value) & 0xFFFFFFFFFFFFFFFF
    return (bits & -bits).bit_length() - 1 if bits else 64


def _python_popcount(value: Any) -> int:
    return (int(value) & 0xFFFFFFFFFFFFFFFF).bit_count()


ctz = _bit_intrinsic("ctz", _python_ctz)
popcount = _bit_intrinsic("popcount", _python_popcount)


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
