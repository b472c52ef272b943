"""A launch that has been read, and the comparison of a run's results with the expected ones.

For everything that runs a kernel; `launch_file.py` reads the file. Values are computed when the file is read and are
read-only; `Launch.arguments()` gives fresh copies to run with.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ptxtool.base.diag import Diagnostic, error
from ptxtool.base.source import Source
from ptxtool.formats.expression import Expression, ExpressionError
from ptxtool.formats.launch.launch_textures import Opaque
from ptxtool.formats.launch.launch_values import ValueProblem, to_dtype

InputValue = np.ndarray | np.generic | int | float


@dataclass(frozen=True)
class Input:
    """One argument: a read-only array (a buffer) or a scalar, as it is before the launch.

    A scalar of type "" is a plain number: it has the type of the parameter that it is passed to.
    """

    name: str
    type: str
    value: InputValue = field(repr=False)
    output: bool = False
    undefined: bool = False
    """An output without contents: `value` is filled with bytes 0xFF, which `run --check init` treats as unwritten."""

    opaque: Opaque | None = None
    """The texture, surface or tensor map that the array is passed as, if it is one."""

    address: int | None = None
    """Where the buffer lies in global memory, if that is fixed."""

    @property
    def is_buffer(self) -> bool:
        return isinstance(self.value, np.ndarray)

    def fresh(self) -> Any:
        """A copy to run with."""
        return self.value.copy() if isinstance(self.value, np.ndarray) else self.value


@dataclass(frozen=True)
class ModuleAddresses:
    """Where the kernel's module lies."""

    variables: int
    """The address of its variables in global memory."""
    constants: int
    """The offset of its constants in constant memory."""
    code: int
    """The bytes of code of the modules before it."""
    constant_memory: int
    """The address of its constants in global memory, 0 without constants."""


@dataclass(frozen=True)
class Expectation:
    """What one buffer must hold afterwards: equal within `atol + rtol * abs(expected)`.

    In a list of launches it is compared after launch number `after`; 0 is the last.
    """

    arg: str
    result: Expression | np.ndarray
    rtol: float
    atol: float
    start: int = 0
    end: int = 0
    after: int = 0


@dataclass(frozen=True, kw_only=True)
class LaunchHead:
    """What every launch has. `registers` is per thread, for allocation, `scheduler` the name of a warp scheduler,
    `cluster` the extent of its clusters; they are None where the file has none."""

    kernel: str | None
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int] | None = None
    dynamic_shared: int
    registers: int | None
    scheduler: str | None
    scheduler_place: tuple[int, int]

    @property
    def head(self) -> dict[str, Any]:
        """These fields by name."""
        return {each.name: getattr(self, each.name) for each in fields(LaunchHead)}


@dataclass(frozen=True, kw_only=True)
class LaunchEntry(LaunchHead):
    """One of a list of launches. `arguments` are names of inputs, and numbers."""

    arguments: tuple[str | int | float, ...]
    copy_back: tuple[str, ...]
    """Buffers that are copied to the host after it."""
    timed: bool
    """False: executed, but no part of what is simulated."""
    stream: int
    """The stream that it is launched on; 0: all streams wait for it, and it waits for all."""
    after: tuple[int, ...]
    """The launches on streams, by their numbers in the list, that have to end before it begins."""
    place: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Launch(LaunchHead):
    """A launch file that has been read; `stack_bytes` of a thread, `heap_bytes`, `scratchpad` bytes of a CTA,
    `out_of_bounds` and `ptxplus_semantics` are None where the file has none.

    A list of launches is `steps`, each as often as it is made; kernel, grid and block are the first one's then, and
    `launch_steps.py` makes launches of them.
    """

    source: Source = field(repr=False)
    file: Path | None
    inputs: tuple[Input, ...]
    constant_inputs: tuple[Input, ...]
    definitions: tuple[tuple[str, Expression], ...]
    expectations: tuple[Expectation, ...]
    texture_inputs: tuple[Input, ...] = ()
    memory: tuple[Input, ...] = ()
    """Blocks of global memory that are no arguments, each with its address."""
    module: ModuleAddresses | None = None
    """Where the kernel's module lies, if that is fixed."""
    stack_bytes: int | None = None
    heap_bytes: int | None = None
    out_of_bounds: str | None = None
    """"error" or "count": what becomes of global accesses outside of all buffers."""
    scratchpad: int | None = None
    """What a CTA is counted with, in place of what its text and dynamic shared memory take."""
    gpu: str | None = None
    """The packaged machine of `sim` and `compare` where the command line names none."""
    ptxplus_semantics: str | None = None
    steps: tuple[LaunchEntry, ...] = ()
    files: tuple[Path, ...] = ()
    """Those that arguments and expected results come from."""
    arguments_place: tuple[int, int] | None = None
    """Of all arguments, where they are no `[[args]]` of their own."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def contents(self) -> tuple[Input, ...]:
        """The arguments, and the memory beside them."""
        return self.inputs + self.memory

    @property
    def is_placed(self) -> bool:
        """Whether memory has fixed addresses. Numbers may be pointers then."""
        return self.module is not None or any(i.address is not None for i in self.contents)

    def arguments(self) -> list[Any]:
        """The arguments in parameter order: fresh arrays, and scalars."""
        return [i.fresh() for i in self.inputs]

    @property
    def limits(self) -> dict[str, Any]:
        """The options that the file sets of runs with and without time."""
        names = ("stack_bytes", "heap_bytes", "out_of_bounds", "ptxplus_semantics")
        return {name: given for name in names if (given := getattr(self, name)) is not None}

    def constants(self) -> dict[str, Any]:
        """Contents of module variables by symbol name."""
        return {i.name: np.array(i.value) for i in self.constant_inputs}

    @cached_property
    def _before(self) -> Mapping[str, Any]:
        """The names of expressions: inputs before the launch, and the definitions."""
        names: dict[str, Any] = {i.name: i.value for i in self.contents}
        for name, expression in self.definitions:
            names[name] = _evaluate(expression, names, self.source)
        return MappingProxyType(names)

    def expected(self) -> dict[str, np.ndarray]:
        """The expected contents of every buffer that has some, in the buffer's type and shape."""
        return {wanted.arg: self._expected(wanted) for wanted in self.expectations}

    def _expected(self, wanted: Expectation) -> np.ndarray:
        value = next(i.value for i in self.contents if i.name == wanted.arg)
        assert isinstance(value, np.ndarray)
        help = f"the expectation needs the shape {list(value.shape)}"
        result = wanted.result
        if isinstance(result, Expression):
            found = _evaluate(result, self._before, self.source, wanted)
            try:
                result = np.asarray(found)
            except ValueError:  # a list of items that differ in shape
                message = f"the expression for '{wanted.arg}' gives no regular array"
                raise error("E502", message, self.source, wanted.start, wanted.end, help) from None
        if result.size == 1 and result.ndim == 0:
            result = np.full(value.shape, result)
        if result.size != value.size:
            message = f"{result.size} expected elements for '{wanted.arg}', which has {value.size}"
            raise error("E502", message, self.source, wanted.start, wanted.end, help)
        result = result.reshape(value.shape)
        if (
            value.dtype.kind == "f" and result.dtype.kind in "biuf"
        ):  # as a kernel rounds: too large is infinite
            with np.errstate(all="ignore"):
                return result.astype(value.dtype)
        try:
            return to_dtype(result, value.dtype, "expr")
        except ValueProblem as problem:
            message = f"expected result for '{wanted.arg}': {problem}"
            raise error("E502", message, self.source, wanted.start, wanted.end, problem.help) from None

    @property
    def compared(self) -> tuple[str, ...]:
        """The buffers with expected contents, each once."""
        return tuple(dict.fromkeys(wanted.arg for wanted in self.expectations))

    def check(self, after: Sequence[Any], step: int = 0) -> tuple[Diagnostic, ...]:
        """Compare `contents` after a run with the expected results: one E409 for every buffer that differs.

        `step` is the number of a launch of a list; 0 after the last.
        """
        found: list[Diagnostic] = []
        for wanted in self.expectations:
            if wanted.after != step:
                continue
            index = next(k for k, i in enumerate(self.contents) if i.name == wanted.arg)
            message = difference(after[index], self._expected(wanted), wanted.rtol, wanted.atol)
            if message:
                when = f" after launch {step}" if step else ""
                text = f"argument '{wanted.arg}' is not as expected{when}: {message}"
                help = "correct the kernel, or the expectation and its rtol and atol"
                found.append(Diagnostic("E409", text, self.source, wanted.start, wanted.end, help))
        return tuple(found)


def difference(got: Any, expected: np.ndarray, rtol: float, atol: float) -> str:
    """In words, how an array differs from the expected one; "" where it does not. NaN equals NaN."""
    got = np.asarray(got).reshape(expected.shape)
    if expected.dtype.kind == "f":
        exact = expected.astype(np.float64)
        found = got.astype(np.float64)
        with np.errstate(all="ignore"):
            wrong = ~np.isclose(found, exact, rtol=rtol, atol=atol, equal_nan=True)
    elif rtol or atol:
        distance = np.abs(got.astype(object) - expected.astype(object))
        wrong = (distance > atol + rtol * np.abs(expected.astype(object))).astype(bool)
    else:
        wrong = got != expected
    n = int(np.count_nonzero(wrong))
    if not n:
        return ""
    first = tuple(int(k) for k in np.argwhere(wrong)[0])
    place = ", ".join(str(k) for k in first)
    text = f"{n} of {expected.size} elements; the first at [{place}]: got {got[first]}, expected {expected[first]}"
    if expected.dtype.kind != "f":
        return text
    with np.errstate(all="ignore"):
        relative = np.where(wrong, np.abs(found - exact) / np.abs(exact), 0)
    finite = relative[np.isfinite(relative)]
    return f"{text}; largest relative difference {finite.max() if finite.size else np.inf:.3g}"


def _evaluate(
    expression: Expression, names: Mapping[str, Any], source: Source, wanted: Expectation | None = None
) -> Any:
    try:
        return expression.evaluate(names)
    except ExpressionError as problem:
        start, end = (wanted.start, wanted.end) if wanted else (0, 0)
        raise error("E502", str(problem), source, start, end, problem.help) from None
