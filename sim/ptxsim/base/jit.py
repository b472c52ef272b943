"""How the simulator's functions are compiled: numba with a safe disk cache, and views of memory by address.

* `njit` compiles without reference counting (`_nrt=False`): records and arrays are borrowed from Python, which keeps
  them alive for the run; compiled functions allocate nothing, and no function returns an array.
* `_Dispatcher` adapts numba while it compiles a function of this package, and only then: other users of numba in the
  process find its settings, its functions and its cache folder unchanged.
* Machine code is kept on disk where `code_cache` says, a folder for every source.
* `rows_*`, `flat_*` and `records` give an array over memory at an address (an integer in a record): arrays of varying
  size are reached through records that way. With `NUMBA_DISABLE_JIT=1` they do the same through ctypes.
"""

import contextlib
import ctypes
import hashlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from types import FunctionType
from typing import Any, ClassVar

import numba
import numpy as np
from numba import types
from numba.core import config, typeinfer
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic
from numba.np import arrayobj

from ptxsim.base.code_cache import folder
from ptxsim.base.wide_masks import INT128, WideRecordType, is_wide

OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}
JIT_DISABLED = bool(config.DISABLE_JIT)

_fix_integer_index = arrayobj.fix_integer_index


def _index_from_the_start(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """`numba.np.arrayobj.fix_integer_index` without the code for indices that count from an array's end.

    No function of this package has such an index, and with 100 accesses per simulated instruction that code was a
    fifth of all machine code."""
    if index_type.signed and "6ptxsim" in builder.function.name:
        return context.cast(builder, index, index_type, types.intp)
    return _fix_integer_index(context, builder, index_type, index, size)


@contextmanager
def _adapted() -> Iterator[None]:
    """Adapt numba for a compilation: `_index_from_the_start`, and LLVM's vectoriser of straight code (SLP).

    LLVM unrolls the loops over 32 lanes before it could vectorise them. Under numba's compiler lock, so that no other
    thread compiles meanwhile; a compilation that starts another one enters twice.
    """
    with global_compiler_lock:
        before = arrayobj.fix_integer_index, config.SLP_VECTORIZE
        arrayobj.fix_integer_index, config.SLP_VECTORIZE = _index_from_the_start, 1
        try:
            yield
        finally:
            arrayobj.fix_integer_index, config.SLP_VECTORIZE = before


class _Locator(_SourceFileBackedLocatorMixin, _CacheLocator):  # type: ignore[misc]
    """The folder of the machine code of a function's source (`code_cache.folder`)."""

    def __init__(self, function: FunctionType, file: str):
        self._py_file, self._lineno = file, function.__code__.co_firstlineno
        self._path = str(folder(function.__module__) / self.get_suitable_cache_subpath(file))

    def get_cache_path(self) -> str:
        return self._path

    def ensure_cache_path(self) -> None:
        with contextlib.suppress(OSError):  # a disk that has become full: see `_FunctionCache`
            os.makedirs(self._path, 0o700, exist_ok=True)


class _CacheFiles(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar[list[Any]] = [_Locator]


class _CheckedFiles(IndexDataCacheFile):  # type: ignore[misc]
    """numba's files of a function, each with a digest: damaged ones are as if they were not there."""

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return hashlib.sha256(data).digest() + data

    def _load_index(self) -> dict[Any, str]:
        try:
            with open(self._index_path, "rb") as file:
                version = file.read(len(self._mark))
                stamp, overloads = self._checked(file.read())
        except (OSError, ValueError):
            return {}
        return overloads if version == self._mark and stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        with self._open_for_write(self._index_path) as file:
            file.write(self._mark + self._dump((self._source_stamp, overloads)))

    def _load_data(self, name: str) -> Any:
        try:
            with open(self._data_path(name), "rb") as file:
                return self._checked(file.read())
        except ValueError as problem:
            raise OSError(str(problem)) from None  # `load` returns None

    @property
    def _mark(self) -> bytes:
        return f"ptxtool {self._version}\n".encode()

    @staticmethod
    def _checked(data: bytes) -> Any:
        """What was dumped. Raises ValueError for damaged data, which is not unpickled."""
        if hashlib.sha256(data[32:]).digest() != data[:32]:
            raise ValueError("damaged machine code")
        return pickle.loads(data[32:])


class _FunctionCache(FunctionCache):  # type: ignore[misc]
    """The disk cache of a function. What cannot be saved is compiled again by the next process."""

    _impl_class = _CacheFiles

    def __init__(self, function: FunctionType):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, locator.get_source_stamp()
        )

    def save_overload(self, signature: Any, data: Any) -> None:
        with contextlib.suppress(OSError):
            super().save_overload(signature, data)


class _Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """numba's dispatcher, for functions of this package."""

    signature: Any = None
    """The only signature, of a function that is not compiled or loaded yet."""

    def enable_caching(self) -> None:
        self._cache = _FunctionCache(self.py_func)

    def compile(self, signature: Any) -> Any:
        with _adapted():
            return super().compile(signature)

    def compile_declared(self) -> None:
        """Compile or load the only signature, if it is not there yet."""
        with global_compiler_lock:
            signature, self.signature = (
                self.signature,
                None,
            )  # a function that calls itself asks again meanwhile
            if signature is None:
                return
            try:
                with typeinfer.register_dispatcher(self):
                    self.compile(signature)
            except BaseException:  # an interrupt, too: the next caller tries again
                self.signature = signature
                raise
            self.disable_compile()

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """What numba asks when it compiles a caller. Machine code on disk holds its callees: most are never asked."""
        self.compile_declared()
        return super().get_call_template(arguments, keywords)


def _decorator(cache: bool = True, at_once: bool = True, **options: Any) -> Any:
    """`numba.njit` with these options and a `_Dispatcher`, used with or without a signature.

    at_once: compile or load a function with a signature where it is defined, not for its first compiled caller."""
    options = {"nopython": True, "boundscheck": None, **OPTIONS, **options}

    def decorate(first: Any) -> Any:
        def compiled(function: FunctionType, signature: Any = None) -> Any:
            if JIT_DISABLED:
                return function
            dispatcher = _Dispatcher(function, targetoptions=options)
            if cache:
                dispatcher.enable_caching()
            dispatcher.signature = signature
            if at_once:
                dispatcher.compile_declared()
            return dispatcher

        if isinstance(first, FunctionType):
            return compiled(first)
        return lambda function: compiled(function, first)

    return decorate


njit = _decorator(at_once=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=False)
"""`@njit` or `@njit(signature)`: a function for other compiled functions. Without wrappers for Python it compiles a
third faster; Python must not call it. LLVM decides whether it is inlined into its callers: `forceinline=False` has no
other meaning, but without it numba would take the flag from the function whose compilation asked for this one, and
`inline` would spread to everything below (the cycle of an SM was 170 KB of code, and a quarter of all compiling)."""
inline = _decorator(at_once=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
"""The same for a function with one call, or a few lines: its code is inlined into its caller. The timing loop is a
quarter faster for it; a call with its arguments (an array is seven of them) costs as much as a small function does."""
entry = _decorator()
"""The same for the few functions that Python calls."""
uncached = _decorator(cache=False)
"""The same for functions that the disk cache does not keep."""


def for_python(function: Any) -> Any:
    """A compiled function as one that Python may call (tests of single pieces).

    Not from the disk cache: numba finds the function there without its wrapper, and a call would crash.
    """
    return uncached(function.py_func) if hasattr(function, "py_func") else function


def _array_at(dtype: np.dtype[Any], address: Any, n: Any) -> Any:
    """An array over memory, without compilation."""
    memory = (ctypes.c_uint8 * (dtype.itemsize * int(n))).from_address(int(address))
    return np.frombuffer(memory, dtype)  # type: ignore[call-overload]


def records(dtype: np.dtype[Any], columns: int = 0) -> Any:
    """`view(address, n)`: an array of n elements of a dtype (columns 0), or of n rows of `columns` elements."""
    if JIT_DISABLED:

        @lru_cache(maxsize=4096)
        def python_view(address: int, n: int) -> Any:
            array = _array_at(dtype, address, int(n) * (columns or 1))
            return array.reshape(-1, columns) if columns else array

        return python_view

    element = numba.from_dtype(dtype)
    array_type = types.Array(element, 2 if columns else 1, "C")

    @intrinsic
    def view(typing_context: Any, address: Any, n: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = arrayobj.make_array(array_type)(context, builder)
            machine_type = context.get_data_type(element)
            size = context.get_abi_sizeof(machine_type)
            data = builder.inttoptr(arguments[0], machine_type.as_pointer())

            def constant(value: int) -> Any:
                return context.get_constant(types.intp, value)

            shape = [arguments[1], constant(columns)] if columns else [arguments[1]]
            strides = [constant(size * columns), constant(size)] if columns else [constant(size)]
            arrayobj.populate_array(
                array, data=data, shape=shape, strides=strides, itemsize=constant(size), meminfo=None
            )
            return array._getvalue()

        return array_type(types.uint64, types.int64), generate

    return view


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
    if JIT_DISABLED:

        @lru_cache(maxsize=4096)
        def python_at(address: int, i: int) -> Any:
            return _array_at(dtype, int(address) + int(i) * dtype.itemsize, 1)[0]

        return python_at
    record_model = record_type(dtype)

    @intrinsic
    def at(typing_context: Any, address: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            offset = builder.mul(arguments[1], context.get_constant(types.int64, dtype.itemsize))
            where = builder.add(arguments[0], offset)
            return builder.inttoptr(where, context.get_value_type(record_model))

        return record_model(types.uint64, types.int64), generate

    return at


def _address_of() -> Any:
    """`address_of(array)`: the address of an array's first element."""
    if JIT_DISABLED:
        return lambda array: array.ctypes.data

    @intrinsic
    def operation(typing_context: Any, array: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            data = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.ptrtoint(data, context.get_value_type(types.uint64))

        return types.uint64(array), generate

    return operation


address_of = _address_of()


def record_type(dtype: np.dtype[Any]) -> Any:
    """numba's type of one record of a dtype."""
    return WideRecordType(dtype) if is_wide(dtype) else numba.from_dtype(dtype)


def array_of(dtype: np.dtype[Any]) -> Any:
    """numba's type of a one-dimensional array of records."""
    return types.Array(numba.from_dtype(dtype), 1, "C")


def record(fields: list[Any]) -> np.dtype[Any]:
    """A record dtype: aligned fields, readable as attributes from Python too (for runs without compilation)."""
    return np.dtype((np.record, np.dtype(fields, align=True)))


def _bit_intrinsic(name: str, python: Any) -> Any:
    """`ctz(x)` and `popcount(x)` of an int64 seen as 64 bits, or of an int128 (wide_masks.py)."""
    if JIT_DISABLED:
        return python

    from llvmlite import ir

    @intrinsic
    def operation(typing_context: Any, value: Any) -> Any:
        taken = INT128 if value == INT128 else types.int64

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            if name == "ctz":
                found = builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))
            else:
                found = builder.ctpop(arguments[0])
            return builder.trunc(found, ir.IntType(64)) if taken == INT128 else found

        return types.int64(taken), generate

    return operation


def _python_ctz(value: Any) -> int:
    bits = int(value)
    return (bits & -bits).bit_length() - 1 if bits else 64


def _python_popcount(value: Any) -> int:
    bits = int(value)
    return (bits & 0xFFFFFFFFFFFFFFFF if bits < 0 else bits).bit_count()


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
