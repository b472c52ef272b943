"""Machine code of whole functions: kept on disk as object files, loaded by LLVM alone, and called.

An entry or a boundary (execute/boundary.py) with everything that is linked into it is one object file, in the folder
of its source (`code_cache`), or prepared with the installation (`prepared_code`). Where every one is there, numba is
not imported: a run begins a second sooner. Where one is missing or damaged, numba compiles that function
(`numba_compiler`), and the file is written.

Reference: numba's calling convention, `numba.core.callconv.CPUCallConv`: a function takes the places of its result and
of an exception before its arguments, an array as seven words, a function as three, and returns a status.
"""

import contextlib
import ctypes
import hashlib
import importlib.machinery
import importlib.util
import os
import signal
import sys
import threading
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ptxsim.base import prepared_code
from ptxsim.base.code_cache import folder, sources
from ptxsim.base.later import on_loading

_lock = threading.RLock()
_declared: dict[str, Any] = {}
_part_of: dict[str, str] = {}
_needed: set[str] = set()
_defined: dict[str, int] = {}
_addresses: dict[int, tuple[Any, int]] = {}
_kept: list[Any] = []
_NO_RESULT = -2
_SIGNAL_WHEN_PARENT_ENDS = 1  # PR_SET_PDEATHSIG
_ENOUGH = 8
"""Functions to compile that are worth a second process."""


def declare(symbol: str, function: Any, part: str = "") -> None:
    """A function that others call by a symbol, which is defined before machine code is loaded from now on; of
    a part of the simulator when a launch needs that (`need`)."""
    _declared[symbol] = function
    if part:
        _part_of[symbol] = part


def define(symbol: str) -> None:
    """Load, or compile, what was declared and give it its symbol."""
    from llvmlite import binding

    with _lock:
        if symbol not in _defined:
            is_needed = _is_needed(symbol)
            _defined[symbol] = _machine_code(_declared[symbol]) if is_needed else _place_of_missing()
            binding.add_symbol(symbol, _defined[symbol])


def define_all(symbols: Collection[str]) -> None:
    """Define those that were declared."""
    for symbol in list(_declared):
        if symbol in symbols:
            define(symbol)


on_loading.append(define_all)


def need(parts: Collection[str]) -> bool:
    """Have parts of the simulator loaded for the calls that follow; whether one of them must be compiled. What was
    loaded without them is loaded again; calls that go on are not affected."""
    with _lock:
        more = set(parts) - _needed
        if not more:
            return False
        _needed.update(more)
        _defined.clear()
        _addresses.clear()
        return any(_part_of[symbol] in more and is_missing(_declared[symbol]) for symbol in _part_of)


def _is_needed(symbol: str) -> bool:
    return symbol not in _part_of or _part_of[symbol] in _needed


@ctypes.CFUNCTYPE(None)
def _missing() -> None:
    """In the place of a function that no launch has needed."""
    sys.stderr.write("ptxtool: internal error: a part of the simulator was not loaded\n")
    sys.stderr.flush()
    os.abort()


def _place_of_missing() -> int:
    return ctypes.cast(_missing, ctypes.c_void_p).value or 0


def declared() -> list[Any]:
    """The functions that have been declared so far."""
    return list(_declared.values())


def address(function: Any) -> int:
    """The address of the machine code of a function with one signature."""
    found = _addresses.get(id(function))
    if found is None:
        with _lock:
            beside = _compiled_beside(function)
            for symbol in list(_declared):  # in the order of declaration: callees come first
                define(symbol)
            if beside:
                os.waitpid(beside, 0)
            found = _addresses.setdefault(id(function), (function, _machine_code(function)))
    return found[1]


def call(function: Any, arguments: tuple[Any, ...]) -> int:
    """Call the machine code of a function; other threads of Python run meanwhile."""
    place = address(function)
    words: list[Any] = []
    kinds = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            words += [
                0,
                0,
                argument.size,
                argument.itemsize,
                argument.ctypes.data,
                argument.size,
                argument.itemsize,
            ]
            kinds.append("array")
        elif isinstance(argument, bool):
            words.append(argument)
            kinds.append("boolean")
        elif isinstance(argument, int | np.integer):
            words.append(int(argument))
            kinds.append("number")
        else:
            words += [0, 0, _address_of_function(argument)]
            kinds.append("function")
    result, problem = ctypes.c_int64(0), ctypes.c_void_p(0)
    run = _prototype(tuple(kinds))(place)
    status = run(ctypes.byref(result), ctypes.byref(problem), *words)
    if status not in (0, _NO_RESULT):
        _raise(problem)
    return result.value


@cache
def _prototype(kinds: tuple[str, ...]) -> Any:
    words: dict[str, list[Any]] = {
        "array": [ctypes.c_void_p] * 2 + [ctypes.c_int64] * 2 + [ctypes.c_void_p] + [ctypes.c_int64] * 2,
        "boolean": [ctypes.c_bool],
        "number": [ctypes.c_int64],
        "function": [ctypes.c_void_p] * 3,
    }
    arguments = [word for kind in kinds for word in words[kind]]
    return ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *arguments)


def _address_of_function(function: Any) -> int:
    if hasattr(function, "overloads"):  # numba has compiled it: one of the user's
        from ptxsim.base.compiler import numba_compiler

        return numba_compiler.address_of_dispatcher(function)
    return address(function)


class _Problem(ctypes.Structure):
    """The beginning of what numba's functions point at to tell an exception."""

    _fields_ = (("data", ctypes.c_void_p), ("size", ctypes.c_int32))


def _raise(problem: ctypes.c_void_p) -> None:
    from ptxsim.base.compiler import numba_compiler

    told = ctypes.cast(problem, ctypes.POINTER(_Problem)).contents
    raise numba_compiler.raised(ctypes.string_at(told.data, told.size))


# ---- files


def _machine_code(function: Any) -> int:
    """The address of a function's machine code, from disk or from the compiler."""
    path = _path(function)
    with contextlib.suppress(OSError, ValueError):
        return _loaded(*_checked(path.read_bytes()))
    with contextlib.suppress(ValueError):
        prepared = prepared_code.find(sources(function.__module__), _name(function))
        if prepared is not None:
            return _loaded(*_checked(prepared))
    from ptxsim.base.compiler import numba_compiler

    symbol, code, found = numba_compiler.compiled_object(function)
    with contextlib.suppress(OSError):  # a disk that is full: the next process compiles again
        _write(path, symbol, code)
    return found


def is_compiled(function: str) -> bool:
    """True if the machine code of a function, such as "ptxsim.functional.cta_loop.run_ctas", is on disk or prepared."""
    module, _, name = function.rpartition(".")
    file = f"{module.rpartition('.')[2]}.{name}"
    return any(folder(module).glob(f"{file}-*.o")) or prepared_code.holds(sources(module), file)


def is_missing(function: Any) -> bool:
    """Whether machine code of a declared function is neither on disk nor prepared."""
    name = _name(function)
    return not _path(function).exists() and not prepared_code.holds(sources(function.__module__), name)


def _compiled_beside(function: Any) -> int:
    """Compile a function in a process of its own, while this one compiles what it calls; its id, 0 if there is none.

    The process only writes the function's file, so the symbols that it calls may be at any address. Where it fails,
    this process compiles the function. A process with threads does not fork: another thread may hold a lock.
    """
    if (
        sys.platform != "linux"
        or threading.active_count() > 1
        or len(os.sched_getaffinity(0)) < 2
        or not is_missing(function)
        or sum(_is_needed(s) and s not in _defined and is_missing(f) for s, f in _declared.items()) < _ENOUGH
    ):
        return 0
    beside = os.fork()
    if beside == 0:
        try:
            from llvmlite import binding

            from ptxsim.base.compiler import numba_compiler

            ctypes.CDLL(None).prctl(_SIGNAL_WHEN_PARENT_ENDS, signal.SIGKILL)
            for symbol in _declared:
                binding.add_symbol(symbol, _defined.setdefault(symbol, 1))
            _write(_path(function), *numba_compiler.compiled_object(function)[:2])
        finally:
            os._exit(0)
    return beside


def _name(function: Any) -> str:
    """A function of a source, with the records of its signature and their layouts."""
    taken = hashlib.sha256(str(function.signature).encode()).hexdigest()[:12]
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}-{taken}"


def _path(function: Any) -> Path:
    return folder(function.__module__) / f"{_name(function)}-{_processor()}.o"


def stored(function: Any) -> tuple[str, str, bytes]:
    """A function that is on disk, for `prepared_code`: its sources, its name, its file's content."""
    return sources(function.__module__), _name(function), _path(function).read_bytes()


def _checked(data: bytes) -> tuple[str, bytes]:
    """The symbol and the object file of a function. Raises ValueError if the data is damaged."""
    digest, symbol, code = data[:32], *data[32:].partition(b"\0")[::2]
    if hashlib.sha256(data[32:]).digest() != digest:
        raise ValueError("damaged machine code")
    return symbol.decode(), code


def _write(path: Path, symbol: str, code: bytes) -> None:
    data = symbol.encode() + b"\0" + code
    path.parent.mkdir(0o700, parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}")
    temporary.write_bytes(hashlib.sha256(data).digest() + data)
    temporary.replace(path)  # atomically: other processes may write it too


def _loaded(symbol: str, code: bytes) -> int:
    from llvmlite import binding

    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _target_machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _kept.append(engine)
    found: int = engine.get_function_address(symbol)
    return found


@cache
def _target_machine() -> Any:
    """LLVM for this machine, with numba's functions in C, such as `frexp`, which machine code calls by name."""
    from llvmlite import binding

    path = importlib.util.find_spec("numba")
    assert path is not None
    assert path.submodule_search_locations is not None
    finder = importlib.machinery.FileFinder(
        path.submodule_search_locations[0],
        (importlib.machinery.ExtensionFileLoader, importlib.machinery.EXTENSION_SUFFIXES),
    )
    found = finder.find_spec("_helperlib")
    assert found is not None
    for name, place in importlib.util.module_from_spec(found).c_helpers.items():
        binding.add_symbol(f"numba_{name}", place)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(codemodel="jitdefault")


@cache
def _processor() -> str:
    """What machine code is made for: the processor, and what numba's variables change."""
    from llvmlite import binding

    features = binding.get_host_cpu_features().flatten()
    text = "|".join(
        [
            binding.get_process_triple(),
            binding.get_host_cpu_name(),
            features,
            *prepared_code.numba_variables(),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()[:12]
