"""`from_triton`: launch a Triton kernel on the simulator, with numpy arrays and Triton's own syntax.

The PTX of a compiled kernel (`triton.compile(...)`) is launched as it is: parameters are the arguments that are not
`tl.constexpr`, in order, then pointers to scratch memory (none, one or two of them, by Triton's version). A
`@triton.jit` function is compiled first, once per combination of argument types and constants; compiling needs no GPU.
A program is a CTA of 32 * num_warps threads with the shared memory that the compiler asked for.

Not handled: tensor descriptors, tuples as arguments, several CTAs per program (`num_ctas`), autotuning.

Reference: triton-lang, python/triton/compiler/compiler.py (`ASTSource`, `CompiledKernel`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Unpack

import numpy as np

from ptxsim.base.options import extent
from ptxsim.frontends.python_kernels import PythonKernel, Runner, Transfers, entry_name, parsed, wrong
from ptxsim.launch_options import LaunchOptions, RunKeywords
from ptxtool.base.diag import PtxError, error
from ptxtool.base.phrases import counted
from ptxtool.ir.blocks import block_bound
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

_POINTEES = {
    **{f"{sign}{bits}": int(bits) // 8 for sign in "iu" for bits in ("8", "16", "32", "64")},
    "i1": 1,
    "u1": 1,
    "fp16": 2,
    "bf16": 2,
    "fp32": 4,
    "fp64": 8,
}
"""Bytes of the elements that pointers point to; an 8-bit float has one."""

_TYPES = {
    **{f"{kind}{size}": f"{kind}{8 * size}" for kind in "iu" for size in (1, 2, 4, 8)},
    "b1": "i1",
    "f2": "fp16",
    "f4": "fp32",
    "f8": "fp64",
}
"""Triton's names of numpy's types, by kind and size."""

_FURTHER_TYPES = {"bfloat16": "bf16", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5"}
"""Its names of types that packages such as ml_dtypes give to numpy."""


def check_ctas(metadata: Any) -> None:
    """Raise E402 for a compiled kernel with several CTAs per program."""
    if int(getattr(metadata, "num_ctas", 1) or 1) > 1:
        raise error(
            "E402",
            f"{metadata.num_ctas} CTAs per program",
            help="use num_ctas=1, or run the script with 'ptxtool exec --arch sm_90 -- python SCRIPT'",
        )


def from_triton(
    kernel: Any,
    *,
    cc: tuple[int, int] = (8, 0),
    options: LaunchOptions | None = None,
    **changes: Unpack[RunKeywords],
) -> "TritonKernel":
    """Turn the result of `triton.compile`, or a `@triton.jit` function, into a kernel that runs on the simulator.

    Launch it as Triton does, `k[grid](x, y, n, BLOCK=128)`: numpy arrays (or CPU tensors) for pointers, updated in
    place. `grid` is a number, up to three, or a function of the constants. The result is that of `ptxsim.run`, whose
    options may be given here (`check=...`). `cc` is the compute capability to compile a `@triton.jit` function for.

    Raises `PtxError` E401 for any other object.
    """
    runner = Runner.of("run", options, changes)
    if hasattr(kernel, "asm") and hasattr(kernel, "metadata"):
        return TritonKernel(_Compiled(kernel), None, cc, runner)
    if hasattr(kernel, "arg_names") and hasattr(kernel, "params"):
        return TritonKernel(None, kernel, cc, runner)
    if hasattr(kernel, "fn") and hasattr(kernel, "arg_names"):
        raise wrong(
            f"{type(kernel).__name__} chooses its constants on a GPU",
            "give the @triton.jit function below it (.fn), and the constants at the launch",
        )
    raise wrong(
        f"{type(kernel).__name__} is no Triton kernel",
        "give a @triton.jit function, or what triton.compile returns",
    )


class TritonKernel(PythonKernel):
    """A Triton kernel on the simulator; see `from_triton`."""

    _compiler, _launch_syntax = "Triton", "[grid](...)"

    def __init__(self, compiled: "_Compiled | None", jitted: Any, cc: tuple[int, int], runner: Runner):
        self._one, self._jitted, self._cc, self._runner = compiled, jitted, cc, runner
        self._cache: dict[Any, _Compiled] = {}

    @property
    def name(self) -> str:
        return self._one.name if self._one else str(self._jitted.__name__)

    def __getitem__(self, grid: Any) -> Callable[..., Any]:
        """`k[grid]`: what to call with the arguments."""

        def start(*args: Any, **named: Any) -> Any:
            compiled, values, constants = self._prepared(args, named)
            size = extent("grid", grid({**constants, **values}) if callable(grid) else grid)
            transfers = Transfers()
            flat = compiled.arguments(values, size, transfers)
            try:
                result = self._runner(compiled.kernel, size, compiled.block, flat, compiled.shared)
            except PtxError as problem:
                raise self._advised(problem) from None
            transfers.finish()
            return result

        return start

    def _advised(self, problem: PtxError) -> PtxError:
        """The same; where instructions of newer machines are refused, with a machine that does without them."""
        if self._one is not None or self._cc[0] not in (9, 10) or problem.diagnostics[0].code != "E403":
            return problem
        help = "compile for a machine without them: from_triton(kernel, cc=(8, 0))"
        return PtxError(replace(d, help=help) for d in problem.diagnostics)

    def kernel(self, *args: Any, **named: Any) -> Function:
        """The parsed PTX kernel for arguments of these types (a compiled one needs none)."""
        return self._one.kernel if self._one else self._prepared(args, named)[0].kernel

    def _prepared(
        self, args: Sequence[Any], named: Mapping[str, Any]
    ) -> "tuple[_Compiled, dict[str, Any], dict[str, Any]]":
        """The compiled kernel, the values of its parameters and its constants, by name."""
        if self._one is not None:
            return self._one, self._one.bound(args, named), self._one.constants
        values, options = _bound_to_function(self._jitted, args, named)
        constants = {
            p.name: values.pop(p.name)
            for p in self._jitted.params
            if p.is_constexpr or values[p.name] is None
        }
        signature = {name: _type_name(name, value) for name, value in values.items()}
        aligned = tuple(n for n, value in values.items() if _is_aligned(value))
        key = (*signature.items(), *constants.items(), *sorted(options.items()), aligned)
        if key not in self._cache:
            self._cache[key] = _Compiled(
                _compile(self._jitted, signature, constants, options, aligned, self._cc), signature, constants
            )
        return self._cache[key], values, constants


class _Compiled:
    """A compiled kernel: its parsed PTX and what its launch needs."""

    def __init__(
        self,
        compiled: Any,
        types: Mapping[str, str] | None = None,
        constants: Mapping[str, Any] | None = None,
    ):
        metadata = compiled.metadata
        check_ctas(metadata)
        self.name = str(metadata.name)
        self.shared = int(metadata.shared)
        self.scratch = int(getattr(metadata, "global_scratch_size", 0) or 0)
        self.profile = int(getattr(metadata, "profile_scratch_size", 0) or 0)
        source = getattr(compiled, "src", None)
        if types is None:
            types, constants = _declared(source)
        self.types: dict[str, str] = dict(types or {})
        self.constants: dict[str, Any] = dict(constants or {})
        self.order = [*getattr(getattr(source, "fn", None), "arg_names", ())]
        ptx = str(compiled.asm["ptx"])
        number = len(parse(ptx, f"{self.name}.ptx").kernels[entry_name(ptx)].params)
        if not self.types:  # scratch memory is not declared: all parameters are arguments
            self.types = {f"arg{n}": "" for n in range(number)}
        self.n_scratch = number - len(self.types)
        if not 0 <= self.n_scratch <= 2:
            raise wrong(
                f"'{self.name}' has {counted(number, 'PTX parameter')} for {counted(len(self.types), 'argument')}",
                "tensor descriptors and tuples as arguments are not supported",
            )
        names = [*self.types, "global_scratch", "profile_scratch"][:number]
        self.kernel = parsed(self.name, ptx, names)
        self.block = _required_threads(self.kernel) or 32 * int(metadata.num_warps)

    def bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """Values of the parameters by name. The constants may be given too, as they were compiled."""
        every = self.order or list(self.types)
        names = list(self.types) if len(args) <= len(self.types) and not named else every
        given = dict(zip(names, args, strict=False)) | dict(named)
        unknown = [n for n in named if n not in self.types and n not in self.constants]
        twice = [n for n in named if n in names[: len(args)]]
        missing = [n for n in self.types if n not in given]
        if len(args) > len(names) or unknown or twice or missing:
            what = (
                f"no argument '{missing[0]}'"
                if missing
                else f"argument '{(unknown or twice)[0]}'{' twice' * bool(twice)}"
                if unknown or twice
                else counted(len(args), "argument")
            )
            raise wrong(f"{what} for kernel '{self.name}'", f"its arguments are {', '.join(self.types)}")
        for name, constant in self.constants.items():
            if name in given and given[name] != constant:
                raise wrong(
                    f"{name}={given[name]!r} for kernel '{self.name}', which was compiled with {constant!r}",
                    "compile it for each value, or give the @triton.jit function to from_triton",
                )
        return {name: given[name] for name in self.types}

    def arguments(self, values: Mapping[str, Any], grid: Sequence[int], transfers: Transfers) -> list[Any]:
        """The values of all PTX parameters in order."""
        flat = [_argument(name, self.types[name], value, transfers) for name, value in values.items()]
        programs = prod(grid)
        sizes = [self.scratch * programs, self.profile * programs][: self.n_scratch]
        return [*flat, *(np.zeros(size, np.uint8) for size in sizes)]


# ---- triton


def _declared(source: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """Types of the parameters, and values of the constants, that a compiled kernel says it was made for."""
    signature = getattr(source, "signature", None) or {}
    names = [*getattr(getattr(source, "fn", None), "arg_names", signature)]

    def name_of(key: Any) -> str:
        key = key[0] if isinstance(key, tuple) and len(key) == 1 else key
        return str(names[key]) if isinstance(key, int) else str(key)

    constants = {name_of(k): v for k, v in (getattr(source, "constants", None) or {}).items()}
    types = {name_of(k): str(t) for k, t in signature.items()}
    return {n: t for n, t in types.items() if t != "constexpr" and n not in constants}, constants


def _bound_to_function(
    jitted: Any, args: Sequence[Any], named: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments of a `@triton.jit` function by name, and what is left over: options of the compiler."""
    own = {n: v for n, v in named.items() if n in jitted.arg_names}
    options = {n: v for n, v in named.items() if n not in jitted.arg_names}
    try:
        bound = jitted.signature.bind(*args, **own)
    except TypeError as problem:
        raise wrong(
            f"kernel '{jitted.__name__}': {problem}", f"its arguments are {', '.join(jitted.arg_names)}"
        ) from None
    bound.apply_defaults()
    return dict(bound.arguments), options


def _compile(
    jitted: Any,
    signature: Mapping[str, str],
    constants: Mapping[str, Any],
    options: Mapping[str, Any],
    aligned: Sequence[str],
    cc: tuple[int, int],
) -> Any:
    """Compile for a GPU that need not be there. Errors in the function are Triton's own exceptions."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = jitted.arg_names
    source = ASTSource(
        fn=jitted,
        signature={n: signature.get(n, "constexpr") for n in names},
        constexprs=dict(constants),
        attrs={(names.index(n),): [["tt.divisibility", 16]] for n in aligned},
    )
    target = GPUTarget("cuda", 10 * cc[0] + cc[1], 32)
    return triton.compile(source, target=target, options=dict(options))


# ---- arguments


def _array(value: Any) -> Any:
    """A numpy array of what is one or shares its memory with one, such as a tensor on the CPU; else None."""
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "__array__") and not isinstance(value, np.generic):
        return np.asarray(value)
    return None


def _type_name(name: str, value: Any) -> str:
    """Triton's type for a value."""
    array = _array(value)
    if array is not None:
        further = _FURTHER_TYPES.get(array.dtype.name)
        pointee = further or _TYPES.get(f"{array.dtype.kind}{array.dtype.itemsize}")
        if pointee is None:
            raise wrong(f"argument '{name}' is an array of {array.dtype}", "give an array of numbers")
        return f"*{pointee}"
    if isinstance(value, bool | np.bool_):
        return "i1"
    if isinstance(value, int | np.integer):
        if not -(1 << 63) <= value < 1 << 64:
            raise wrong(f"argument '{name}' is {value}, more than 64 bits", "give a smaller number")
        return "i32" if -(1 << 31) <= value < 1 << 31 else "i64" if value < 1 << 63 else "u64"
    if isinstance(value, float | np.floating):
        return "fp32"
    raise wrong(f"argument '{name}' is of {type(value)}", "give numpy arrays and numbers")


def _is_aligned(value: Any) -> bool:
    """Whether Triton would compile for a value that is a multiple of 16: every buffer is, in the simulator."""
    return _array(value) is not None or (
        isinstance(value, int | np.integer) and not isinstance(value, bool) and value % 16 == 0
    )


def _argument(name: str, type_: str, value: Any, transfers: Transfers) -> Any:
    """The value of a PTX parameter."""
    array = _array(value)
    if array is None:
        if type_.startswith("*"):
            raise wrong(f"argument '{name}' of type {type_} is {value!r}", "give a numpy array")
        return int(value) if isinstance(value, bool | np.bool_) else value
    if type_ and not type_.startswith("*"):
        raise wrong(f"argument '{name}' of type {type_} is an array", "give a number")
    size = _POINTEES.get(type_.lstrip("*k"), 1 if type_.startswith("*fp8") else 0)
    if size and array.dtype.itemsize != size:
        raise wrong(
            f"argument '{name}' of type {type_} is an array of {array.dtype}", "give an array of its type"
        )
    return transfers.buffer(array)


def _required_threads(kernel: Function) -> int:
    """The number of threads that `.reqntid` asks for, 0 without: it counts warps that the compiler added."""
    bound = block_bound(kernel)
    return bound.threads if bound and bound.is_exact else 0
