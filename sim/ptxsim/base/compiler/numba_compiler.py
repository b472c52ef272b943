"""numba, as this package compiles with it: a safe disk cache, views of memory by address, calls by symbol.

Imported when something has to be compiled and never before (`jit.py`): importing numba takes half a second.

* Functions are compiled without reference counting (`_nrt=False`): records and arrays are borrowed from Python, which
  keeps them alive for the run; compiled functions allocate nothing, and no function returns an array.
* `_Dispatcher` adapts numba while it compiles a function of this package, and only then: other users of numba in the
  process find its settings, its functions and its cache folder unchanged.
* Inner functions are kept on disk where `code_cache` says, a folder for every source: as LLVM's code, which is
  optimised and becomes machine code with the entry that calls them, once.
"""

import contextlib
import dis
import hashlib
import itertools
import os
import pickle
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from time import process_time
from types import CellType, CodeType, FunctionType
from typing import Any, ClassVar

import numba
import numpy as np
from llvmlite import ir
from llvmlite.binding import Linkage
from numba import types as types
from numba.core import cgutils, config, cpu, errors, event, postproc, typeinfer
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.lowering import Lower
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.types import functions
from numba.extending import intrinsic, typeof_impl
from numba.np import arrayobj

from ptxsim.base import wide_masks
from ptxsim.base.code_cache import folder
from ptxsim.base.compiler.branch_weights import lower_block
from ptxsim.base.compiler.compiler_passes import call_type, plain, post_process, refresh_registries
from ptxsim.base.compiler.fixed_fields import Compiler, FixedRecord
from ptxsim.base.compiler.wide_types import INT128, WideRecordType
from ptxsim.base.later import Later, now, on_loading

WORTH_SAVING = 0.25
"""Seconds of compiling. Of the 600 functions of the cycle loop 500 need less; saving them takes a tenth of its time."""
OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}

_fix_integer_index = arrayobj.fix_integer_index


def _index_from_the_start(context: Any, builder: Any, index_type: Any, index: Any, size: Any) -> Any:
    """`numba.np.arrayobj.fix_integer_index` without the code for indices that count from an array's end.

    No function of this package has such an index, and with 100 accesses per simulated instruction that code was a
    fifth of all machine code."""
    if index_type.signed and "6ptxsim" in builder.function.name:
        return context.cast(builder, index, index_type, types.intp)
    return _fix_integer_index(context, builder, index_type, index, size)


def _nothing(*_: Any, **__: Any) -> None:
    pass


_ADAPTED: tuple[tuple[Any, str, Any], ...] = (
    (arrayobj, "fix_integer_index", _index_from_the_start),
    (Lower, "lower_block", lower_block),
    (config, "LLVM_REFPRUNE_PASS", 0),  # nothing of ours is counted by references
    (config, "SLP_VECTORIZE", 1),  # LLVM unrolls the loops over 32 lanes before it could vectorise them
    (event, "install_timer", lambda *_: nullcontext()),  # two for each function that waits for a callee
    (event, "start_event", _nothing),  # two for each call of LLVM
    (event, "end_event", _nothing),
    (cpu.CPUContext, "load_additional_registries", refresh_registries),
    (postproc.PostProcessor, "run", post_process),
    (functions.BaseFunction, "get_call_type", call_type),
    (type(errors.termcolor()), "_markup", plain),
)
"""What is another one in numba while it compiles a function of ours."""
cpu_target.target_context.refresh()  # loads numba's registries


@contextmanager
def _adapted() -> Iterator[None]:
    """Adapt numba for a compilation, under its compiler lock, so that no other thread compiles meanwhile; a
    compilation that starts another one enters twice.
    """
    with global_compiler_lock:
        before = [(owner, name, getattr(owner, name, None)) for owner, name, _ in _ADAPTED]
        for owner, name, value in _ADAPTED:
            setattr(owner, name, value)
        try:
            yield
        finally:
            for owner, name, value in before:
                setattr(owner, name, value)


# ---- names of a function as numba's own objects


@cache
def _names(code: CodeType) -> tuple[str, ...]:
    """The global names that a function and those within it read."""
    names = [str(i.argval) for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL"]
    within = (_names(constant) for constant in code.co_consts if isinstance(constant, CodeType))
    return tuple(dict.fromkeys(itertools.chain(names, *within)))


def _copied(function: FunctionType) -> FunctionType:
    """A copy with globals and closure of its own, which `_resolve` fills."""
    closure = tuple(CellType() for _ in function.__closure__ or ())
    module_names = {"__name__": function.__module__, "__builtins__": __builtins__}
    copy = FunctionType(
        function.__code__, module_names, function.__name__, function.__defaults__, closure or None
    )
    copy.__module__, copy.__qualname__, copy.__doc__ = (
        function.__module__,
        function.__qualname__,
        function.__doc__,
    )
    return copy


def _resolve(copy: FunctionType, function: FunctionType) -> None:
    """Give a copy what its names stand for, made now where it is still to be made."""
    for name in _names(function.__code__):
        if name in function.__globals__:
            copy.__globals__[name] = now(function.__globals__[name])
    for mine, cell in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        mine.cell_contents = now(cell.cell_contents)


def resolve_names(names: dict[str, Any]) -> None:
    """The same for the names of a user's file, which numba compiles as it is."""
    for name, value in names.items():
        names[name] = now(value)


def resolved_intrinsic(function: FunctionType) -> Any:
    """numba's intrinsic of a function that numba asks for a call's types and code."""
    copy = _copied(function)
    _resolve(copy, function)
    return intrinsic(copy)


@typeof_impl.register(Later)
def _typeof(value: Later, _: Any) -> Any:
    """What numba asks for something that is read from its module, as in `jit.ctz(mask)`."""
    return cpu_target.typing_context.resolve_value_type(value.now())


# ---- inner functions, whose machine code is made with that of the entry that calls them


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The LLVM code of a function and of all that it calls, to be linked into an entry: never machine code itself."""

    def _optimize_final_module(self) -> None:
        """LLVM optimises an entry as a whole."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        return 0

    @property
    def codegen(self) -> Any:
        return _NoEnvironments

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()

    def serialize_using_bitcode(self) -> Any:
        return self.name, "bitcode", self._get_module_for_linking().as_bitcode()


class _NoEnvironments:
    """In place of the code generator, which would look for the machine code's place for a function's constants."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        pass


class _EntryLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The machine code of an entry or a boundary: LLVM knows that nothing else calls the functions in it."""

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        pass_manager, builder = self._codegen._module_pass_manager()
        pass_manager.run(self._final_module, builder)


class _EntryCompiler(Compiler):
    """numba's compiler, into an `_EntryLibrary`."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any):
        super().__init__(typing, target, library, *rest)
        self.state.library = _EntryLibrary(target.codegen(), "entry")
        self.state.library.enable_object_caching()


class _InnerCompiler(Compiler):
    """numba's compiler, into an `_InnerLibrary`."""

    def __init__(self, typing: Any, target: Any, library: Any, *rest: Any):
        super().__init__(typing, target, library, *rest)
        self.state.library = _InnerLibrary(target.codegen(), "inner")
        self.state.args = _Types(self.state.args)


class _Types(tuple[Any, ...]):
    """Types of arguments, which numba writes as text before each pass: all fields of all records."""

    def __str__(self) -> str:
        return "..."


# ---- the disk cache


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

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        codegen = target_context.codegen()
        codegen._library_class = _InnerLibrary
        try:
            compiled = super().rebuild(target_context, payload)
        finally:
            del codegen._library_class
        # what it calls by symbol (execute/boundary.py) was defined when its callers were compiled, in another process
        called = {f.name for f in compiled.library._final_module.functions if f.is_declaration}
        for tell in on_loading:
            tell(called)
        return compiled


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
    """The disk cache of a function. What is not saved, as it compiles in no time or the disk is full, the next process
    compiles again."""

    _impl_class = _CacheFiles
    _started = 0.0

    def __init__(self, function: FunctionType):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _CheckedFiles(
            self._cache_path, self._impl.filename_base, locator.get_source_stamp()
        )

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        self._started = process_time()
        return super().load_overload(signature, target_context)

    def save_overload(self, signature: Any, data: Any) -> None:
        if process_time() - self._started > WORTH_SAVING:
            with contextlib.suppress(OSError):
                super().save_overload(signature, data)


# ---- compiling


class _Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """numba's dispatcher, for functions of this package."""

    signature: Any = None
    """The only signature, of a function that is not compiled or loaded yet."""
    original: Any
    """The function, of which numba has a copy."""

    def enable_caching(self) -> None:
        self._cache = _FunctionCache(self.py_func)

    def compile(self, signature: Any) -> Any:
        with _adapted():
            _resolve(self.py_func, self.original)
            return super().compile(signature)

    def compile_declared(self) -> None:
        """Compile or load the only signature, if it is not there yet."""
        with global_compiler_lock:
            # a function that calls itself asks again meanwhile
            signature, self.signature = self.signature, None
            if signature is None:
                return
            try:
                with typeinfer.register_dispatcher(self):
                    self.compile(now(signature))
            except BaseException:  # an interrupt, too: the next caller tries again
                self.signature = signature
                raise
            self.disable_compile()

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """What numba asks when it compiles a caller. Machine code on disk holds its callees: most are never asked."""
        self.compile_declared()
        return super().get_call_template(arguments, keywords)


def dispatcher(function: FunctionType, signature: Any, cache: bool, options: dict[str, Any]) -> Any:
    """numba's form of a function, compiled for its first compiled caller; with `signature`, for that one only."""
    options = {"nopython": True, "boundscheck": None, **OPTIONS, **options}
    made = _Dispatcher(
        _copied(function), targetoptions=options, pipeline_class=_InnerCompiler if cache else _EntryCompiler
    )
    made.original, made.signature = function, signature
    if cache:
        made.enable_caching()
    return made


def compiled_object(function: Any) -> tuple[str, bytes, int]:
    """Compile a function with one signature: its symbol, its object file, and its address in this process."""
    made = dispatcher(function.py_func, function.signature, False, function.options)
    made.compile_declared()
    (compiled,) = made.overloads.values()
    symbol, library = compiled.fndesc.llvm_func_name, compiled.library
    address = library.get_pointer_to_function(symbol)
    object_code: bytes = library._get_compiled_object()
    _kept.append(made)  # its code stays where it is
    return symbol, object_code, address


_kept: list[Any] = []


def address_of_dispatcher(made: Any) -> int:
    """The machine code of a function that numba has compiled for one signature."""
    (compiled,) = made.overloads.values()
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


# ---- types, and operations on records by address


def record_type(dtype: np.dtype[Any]) -> Any:
    """numba's type of one record of a dtype."""
    return WideRecordType(dtype) if wide_masks.is_wide(dtype) else numba.from_dtype(dtype)


def array_of(dtype: np.dtype[Any], values: tuple[tuple[str, int], ...] = ()) -> Any:
    """numba's type of a one-dimensional array of records; `values` of fields that are constants in all of them."""
    element = numba.from_dtype(dtype)
    return types.Array(FixedRecord(element, values) if values else element, 1, "C")


def is_record_of(type_: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a type is that of one record of a dtype, with constant fields or without."""
    return bool(getattr(type_, "whole", type_) == record_type(dtype))


def records(dtype: np.dtype[Any], columns: int = 0) -> Any:
    """See `jit.records`."""
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


def record_at(dtype: np.dtype[Any]) -> Any:
    """See `jit.record_at`."""
    record_model = record_type(dtype)

    @intrinsic
    def at(typing_context: Any, address: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            offset = builder.mul(arguments[1], context.get_constant(types.int64, dtype.itemsize))
            where = builder.add(arguments[0], offset)
            return builder.inttoptr(where, context.get_value_type(record_model))

        return record_model(types.uint64, types.int64), generate

    return at


@intrinsic
def address_of(typing_context: Any, array: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = arrayobj.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.ptrtoint(data, context.get_value_type(types.uint64))

    return types.uint64(array), generate


def _bit_intrinsic(count: Any) -> Any:
    """An operation on the bits of an int64, or of an int128."""

    @intrinsic
    def operation(typing_context: Any, value: Any) -> Any:
        taken = INT128 if value == INT128 else types.int64

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found = count(builder, arguments[0])
            return builder.trunc(found, context.get_value_type(types.int64)) if taken == INT128 else found

        return types.int64(taken), generate

    return operation


ctz = _bit_intrinsic(lambda builder, value: builder.cttz(value, ir.Constant(ir.IntType(1), 0)))
popcount = _bit_intrinsic(lambda builder, value: builder.ctpop(value))


# ---- words that several threads read and write


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, ir.IntType(64).as_pointer())


@intrinsic
def load_acquire(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(builder, arguments[0]), "acquire", 8)

    return types.int64(types.uint64), generate


@intrinsic
def store_release(typing_context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[1], _pointer(builder, arguments[0]), "release", 8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64), generate


@intrinsic
def exchange(typing_context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("xchg", _pointer(builder, arguments[0]), arguments[1], "acq_rel")

    return types.int64(types.uint64, types.int64), generate


@intrinsic
def add_to(typing_context: Any, address: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, arguments[0]), arguments[1], "acq_rel")

    return types.int64(types.uint64, types.int64), generate


@intrinsic
def call_at(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function = builder.inttoptr(arguments[0], ir.FunctionType(ir.IntType(32), ()).as_pointer())
        builder.call(function, ())
        return context.get_dummy_value()

    return types.void(types.uint64), generate


_PAUSES: dict[str, tuple[str, tuple[int, ...]]] = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "amd64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
    "arm64": ("llvm.aarch64.hint", (1,)),
}
"""By processor: LLVM's intrinsic, and its arguments."""


@intrinsic
def pause(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        found = _PAUSES.get(platform.machine().lower())
        if found is not None:
            name, numbers = found
            function_type = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * len(numbers))
            function = cgutils.get_or_insert_function(builder.module, function_type, name)
            builder.call(function, [ir.Constant(ir.IntType(32), number) for number in numbers])
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def ticks(typing_context: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        function_type = ir.FunctionType(ir.IntType(64), ())
        if platform.machine().lower() in ("aarch64", "arm64"):  # whose cycle counter programs may not read
            return builder.asm(function_type, "mrs $0, cntvct_el0", "=r", (), side_effect=True)
        name = "llvm.readcyclecounter"
        return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), ())

    return types.int64(), generate


# ---- calls by symbol (execute/boundary.py)


def call_across(symbol: str, narrow: Any, wide: Any, define: Callable[[str], None]) -> Any:
    """The intrinsic that calls a function by its symbol; `wide` is its signature where the first argument is a wide
    record, which has a symbol of its own, or None. `define` gives a symbol its machine code."""
    narrow_call = wide_call = _call(symbol, now(narrow))
    if wide is not None:
        wide = now(wide)
        wide_call = _call(f"{symbol}_wide", wide)

    def choose(first: Any) -> Any:
        is_wide = wide is not None and getattr(first, "whole", first) == wide.args[0]
        define(f"{symbol}_wide" if is_wide else symbol)
        return wide_call if is_wide else narrow_call

    # numba reads an intrinsic's arguments from its Python signature
    names = ", ".join(f"a{i}" for i in range(len(now(narrow).args)))
    scope: dict[str, Any] = {"choose": choose}
    exec(f"def call(typing_context, {names}):\n    return choose(a0)\n", scope)
    return intrinsic(scope["call"])


def _call(symbol: str, signature: Any) -> Any:
    """The type of a call, and the function that writes it."""

    def emit(context: Any, builder: Any, _: Any, values: Any) -> Any:
        convention = context.call_conv
        function_type = convention.get_function_type(signature.return_type, signature.args)
        target = builder.module.globals.get(symbol)
        if target is None:
            target = ir.Function(builder.module, function_type, symbol)
        # as numba calls, but without clearing the result before or testing for an error after: our functions raise none
        with builder.goto_entry_block():
            result, error = (builder.alloca(parameter.pointee) for parameter in function_type.args[:2])
        packed = convention._get_arg_packer(signature.args).as_arguments(builder, values)
        builder.call(target, [result, error, *packed])
        return context.get_returned_value(builder, signature.return_type, builder.load(result))

    return signature, emit


# ---- exceptions


def raised(text: bytes) -> Exception:
    """The exception that a compiled function has raised, at its place: only a user's functions raise any."""
    kind, arguments, place = pickle.loads(text)
    problem: Exception = kind(*(arguments or ()))
    if place is None:
        return problem
    _, file, line = place
    with contextlib.suppress(kind):  # a frame in the user's file, as numba's own callers add it
        exec(compile("\n" * (line - 1) + "raise problem", file, "exec"), {"problem": problem})
    return problem
