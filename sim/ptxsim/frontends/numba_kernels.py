"""`from_numba`: launch a `numba.cuda` kernel on the simulator, with numpy arrays and numba's own syntax.

The Python function is compiled to PTX once per combination of argument types, by numba and NVIDIA's libnvvm, which
need no GPU. An array becomes the parameters of numba's array structure: meminfo, parent, number of items, item size,
data, shape and strides (in bytes); a tuple its elements, a complex number its two parts, a record a pointer.

Not handled: functions linked from other files (`link=`), grid-wide synchronisation, exceptions (a thread that raises
ends silently, as without `debug=True` on a GPU), arrays that numba keeps on a device.

Reference: numba-cuda, numba/cuda/dispatcher.py (`_Kernel._prepare_args`).
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, Unpack

import numpy as np

from ptxsim.frontends.python_kernels import PythonKernel, Runner, Transfers, is_transposed, parsed, wrong
from ptxsim.launch_options import LaunchOptions, RunKeywords
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import counted
from ptxtool.ir.nodes import Function

_INSTALL = 'pip install "numba-cuda[cu13]" brings it, with all that compiling for CUDA needs (no GPU)'


def from_numba(
    kernel: Any,
    signature: Any = None,
    *,
    cc: tuple[int, int] = (7, 5),
    options: LaunchOptions | None = None,
    **changes: Unpack[RunKeywords],
) -> "NumbaKernel":
    """Turn a `@cuda.jit` function, or a plain Python function, into a kernel that runs on the simulator.

    Launch it as numba does, `k[grid, block](x, y, n)` or `k[grid, block, stream, shared_bytes](...)`: arrays are
    updated in place, and the result is that of `ptxsim.run`, whose options may be given here (`check=...`).
    `signature` fixes the argument types (one signature or a list, as for `@cuda.jit`); by default they follow from the
    arguments. `cc` is the compute capability to compile for.

    Raises `PtxError`: E401 for an object that is no kernel, E502 where numba.cuda is missing.
    """
    cuda = _cuda()
    dispatcher = _dispatcher(cuda, kernel)
    if signature is None:
        fixed = list(dispatcher.overloads) if not getattr(dispatcher, "_can_compile", True) else []
    else:
        given = signature if isinstance(signature, list) else [signature]
        fixed = [_argument_types(one) for one in given]
    return NumbaKernel(cuda, dispatcher, tuple(fixed), cc, Runner.of("run", options, changes))


class NumbaKernel(PythonKernel):
    """A `numba.cuda` kernel on the simulator; see `from_numba`."""

    _compiler, _launch_syntax = "numba", "[grid, block](...)"

    def __init__(
        self,
        cuda: ModuleType,
        dispatcher: Any,
        signatures: tuple[tuple[Any, ...], ...],
        cc: tuple[int, int],
        runner: Runner,
    ):
        self._cuda, self._dispatcher, self._signatures, self._cc = cuda, dispatcher, signatures, cc
        self._runner = runner
        self._compiled: dict[tuple[Any, ...], Function] = {}

    @property
    def name(self) -> str:
        return str(self._dispatcher.py_func.__name__)

    def __getitem__(self, configuration: Any) -> Callable[..., Any]:
        """`k[grid, block]` or `k[grid, block, stream, shared_bytes]`: what to call with the arguments."""
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise wrong(
                f"launch configuration {configuration!r}",
                "write kernel[grid, block] or kernel[grid, block, stream, shared_bytes]",
            )
        grid, block, *rest = configuration
        shared = rest[1] if len(rest) == 2 else 0

        return lambda *args: self._launch(grid, block, shared, args)

    def forall(self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., Any]:
        """As numba's `forall`: enough CTAs for `ntasks` threads, of `tpb` threads each (128 if that is 0)."""
        block = tpb or 128
        return self[max(1, -(-ntasks // block)), block, stream, sharedmem]

    def kernel(self, *args: Any) -> Function:
        """The parsed PTX kernel for arguments of these types: what ptxtool's analyses take."""
        return self._function(self._types(_unwrapped(args)))

    def _launch(self, grid: Any, block: Any, shared: int, args: Sequence[Any]) -> Any:
        types = self._types(_unwrapped(args))
        kernel = self._function(types)
        transfers = Transfers()
        flat: list[Any] = []
        for type_, value, name in zip(types, args, _names(self._dispatcher), strict=True):
            flat += _flat(type_, value, name, transfers)
        result = self._runner(kernel, grid, block, flat, shared, transfers.undefined)
        transfers.finish()
        return result

    def _types(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The argument types to compile for."""
        names = _names(self._dispatcher)
        if len(args) != len(names):
            raise wrong(
                f"kernel '{self.name}' takes {counted(len(names), 'argument')}, not {len(args)}",
                f"its arguments are {', '.join(names)}" if names else "it has no arguments",
            )
        given = tuple(
            _type_of(self._dispatcher, value, name) for value, name in zip(args, names, strict=True)
        )
        if not self._signatures or given in self._signatures:
            return given
        convert = self._dispatcher.typingctx.can_convert
        ranked = []
        for number, signature in enumerate(self._signatures):
            steps = [convert(a, b) for a, b in zip(given, signature, strict=False)]
            if len(signature) == len(given) and None not in steps:
                ranked.append((sorted(steps, reverse=True), number))  # the fewest doubtful steps
        if not ranked:
            known = "; ".join(f"({', '.join(map(str, s))})" for s in self._signatures)
            raise wrong(
                f"arguments ({', '.join(map(str, given))}) for kernel '{self.name}'",
                f"its signature is {known}" if len(self._signatures) == 1 else f"its signatures are {known}",
            )
        return self._signatures[min(ranked)[1]]

    def _function(self, types: tuple[Any, ...]) -> Function:
        if types not in self._compiled:
            ptx = _compile(self._cuda, self._dispatcher, types, self._cc)
            arguments = zip(types, _names(self._dispatcher), strict=True)
            names = [part for type_, name in arguments for part in _parts(type_, name)]
            self._compiled[types] = parsed(self.name, ptx, names)
        return self._compiled[types]


# ---- numba


def _cuda() -> ModuleType:
    try:
        from numba import cuda
    except ImportError as problem:
        raise error("E502", f"numba.cuda cannot be imported: {problem}", help=_INSTALL) from None
    return cuda


def _dispatcher(cuda: ModuleType, kernel: Any) -> Any:
    """The dispatcher of a kernel; a plain function gets one."""
    if type(kernel).__name__ == "FakeCUDAKernel":
        what = f"'{kernel.fn.__name__}' was made under NUMBA_ENABLE_CUDASIM, which compiles nothing"
        raise error("E502", what, help="unset NUMBA_ENABLE_CUDASIM before numba is imported")
    if callable(kernel) and hasattr(kernel, "__code__") and not hasattr(kernel, "py_func"):
        kernel = cuda.jit(kernel)
    if not hasattr(kernel, "py_func") or not hasattr(kernel, "targetoptions"):
        raise wrong(
            f"{type(kernel).__name__} is no numba.cuda kernel", "give a function decorated with @cuda.jit"
        )
    if kernel.targetoptions.get("device"):
        raise wrong(f"'{kernel.py_func.__name__}' is a device function", "give a kernel that calls it")
    return kernel


def _argument_types(signature: Any) -> tuple[Any, ...]:
    from numba.core import sigutils

    types, result = sigutils.normalize_signature(signature)
    if result is not None and str(result) not in ("none", "void"):
        raise wrong(f"signature '{signature}' gives a result", "a kernel returns nothing: write void(...)")
    return tuple(types)


def _names(dispatcher: Any) -> list[str]:
    code = dispatcher.py_func.__code__
    return list(code.co_varnames[: code.co_argcount])


def _type_of(dispatcher: Any, value: Any, name: str) -> Any:
    try:
        return dispatcher.typeof_pyval(value)
    except Exception as problem:  # numba has several kinds of typing errors
        raise wrong(
            f"argument '{name}' is of {type(value)}: {str(problem).splitlines()[0]}",
            "give numpy arrays, numbers, tuples or records",
        ) from None


def _compile(cuda: ModuleType, dispatcher: Any, types: tuple[Any, ...], cc: tuple[int, int]) -> str:
    """PTX of the Python function. Errors in it are numba's own exceptions."""
    given = dispatcher.targetoptions
    options = {"fastmath": bool(given.get("fastmath")), "opt": given.get("opt", True)}
    if given.get("launch_bounds") is not None:
        options["launch_bounds"] = given["launch_bounds"]
    options["lineinfo"] = bool(given.get("lineinfo"))
    try:
        with _pretended_device(dispatcher, cc):
            ptx, _ = cuda.compile_ptx(dispatcher.py_func, types, cc=cc, **options)
    except Exception as problem:
        missing = _missing(problem)
        if missing is None:
            raise
        raise missing from problem
    return str(ptx)


@contextmanager
def _pretended_device(dispatcher: Any, cc: tuple[int, int]) -> Iterator[None]:
    """Let numba compile device functions, which it does for the current device: it asks that for nothing but its
    compute capability."""
    module = sys.modules[type(dispatcher).__module__]
    original = getattr(module, "get_current_device", None)
    if original is None:
        yield
        return
    module.get_current_device = lambda: SimpleNamespace(compute_capability=cc)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        module.get_current_device = original  # type: ignore[attr-defined]


def _missing(problem: BaseException) -> PtxError | None:
    """What to install, if an exception says that a library of CUDA is not there."""
    kinds = ("NvvmSupportError", "DynamicLibNotFoundError", "CudaSupportError", "NvrtcSupportError")
    chain: BaseException | None = problem
    while chain is not None:
        if type(chain).__name__ in kinds or isinstance(chain, OSError | ImportError):
            lines = [line for line in str(chain).splitlines() if line.strip()]
            text = f"numba cannot compile for CUDA: {lines[0] if lines else type(chain).__name__}"
            help = f"a library of CUDA (libnvvm, nvrtc) was not found: {_INSTALL}"
            if type(chain).__name__ == "CudaSupportError":
                help = "the kernel uses something that numba compiles only where there is a GPU"
            return error("E502", text, help=help)
        chain = chain.__cause__ or chain.__context__
    return None


# ---- arguments


def _unwrapped(args: Sequence[Any]) -> list[Any]:
    """Arguments without `cuda.In`, `cuda.Out` and `cuda.InOut`."""
    return [a.value if _transfer(a) else a for a in args]


def _transfer(value: Any) -> str:
    """Which wrapper of `numba.cuda.args` a value is in; "" for none."""
    kind = type(value)
    return kind.__name__ if kind.__module__.endswith("cuda.args") and hasattr(value, "value") else ""


def _kind(type_: Any) -> str:
    """The class of numba types that decides how an argument is passed: by name, because numba and numba-cuda have each
    their own classes."""
    names = {base.__name__ for base in type(type_).__mro__}
    known = [
        "Array",
        "Record",
        "BaseTuple",
        "EnumMember",
        "Integer",
        "Boolean",
        "Float",
        "Complex",
        "NoneType",
    ]
    is_date = names & {"NPDatetime", "NPTimedelta", "_NPDatetimeBase"}
    return next((kind for kind in known if kind in names), "date" if is_date else "")


def _parts(type_: Any, name: str) -> Iterator[str]:
    """Names for the parameters of one argument, in order."""
    kind = _kind(type_)
    if kind == "Array":
        yield from (f"{name}_{part}" for part in ("meminfo", "parent", "items", "itemsize"))
        yield name
        yield from (f"{name}_{part}{n}" for part in ("shape", "stride") for n in range(type_.ndim))
    elif kind == "BaseTuple":
        for n, one in enumerate(type_):
            yield from _parts(one, f"{name}_{n}")
    elif kind == "Complex":
        yield from (f"{name}_real", f"{name}_imag")
    else:
        yield name


def _flat(type_: Any, value: Any, name: str, transfers: Transfers) -> list[Any]:
    """The values of the parameters of one argument, in order."""
    wrapper = _transfer(value)
    if wrapper:
        value = value.value
    kind = _kind(type_)
    if kind == "Array":
        buffer = transfers.buffer(value, wrapper != "In", wrapper != "Out")
        layout = buffer.T if is_transposed(value) else buffer
        return [0, 0, value.size, value.itemsize, buffer, *value.shape, *layout.strides]
    if kind == "Record":
        return [transfers.buffer(np.asarray(value), wrapper != "In", wrapper != "Out")]
    if kind == "BaseTuple":
        return [each for t, v in zip(type_, value, strict=True) for each in _flat(t, v, name, transfers)]
    if kind == "EnumMember":
        return _flat(type_.dtype, value.value, name, transfers)
    if kind == "Complex":
        return [value.real, value.imag]
    if kind == "Float":
        return [int(np.float16(value).view(np.uint16))] if type_.bitwidth == 16 else [float(value)]
    if kind in ("Integer", "Boolean"):
        return [int(value) if float(value).is_integer() else value]
    if kind == "date":
        return [int(value.view(np.int64))]
    if kind == "NoneType":
        return [0]
    raise wrong(f"argument '{name}' has numba type {type_}", "give arrays, numbers, tuples or records")
