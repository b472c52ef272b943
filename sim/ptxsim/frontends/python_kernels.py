"""Kernels written in Python, from whichever compiler: the common part of `numba_kernels.py` and `triton_kernels.py`.

The PTX of a compiler has other parameters than the Python function: an array is several numbers, names are mangled,
layouts are the caller's. `Transfers` turns every array into a buffer of the simulator and copies the results back;
`parsed` gives entry and parameters the names of the Python source, because reports quote them; `PythonKernel` has
what all compilers' kernels do, and `Runner` whether `ptxsim.run` or `ptxsim.launch` runs them, with which options.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, Unpack

import numpy as np

from ptxsim.base.notice import say_if_compiling
from ptxsim.launch_options import LaunchKeywords, LaunchOptions, RunKeywords, options_of
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def wrong(message: str, help: str) -> PtxError:
    """E401 without a position: the fault is in the Python program."""
    return error("E401", message, help=help)


@dataclass(frozen=True)
class Runner:
    """How kernels are run: by `ptxsim.run` or `ptxsim.launch`, imported on first use, and with which options."""

    function: Literal["run", "launch"]
    options: LaunchOptions

    @classmethod
    def of(
        cls, function: Literal["run", "launch"], options: LaunchOptions | None, changes: Mapping[str, Any]
    ) -> "Runner":
        """By default, the kernel prints where Python's own output goes."""
        return cls(function, options_of(function, options or LaunchOptions(output=_print), changes))

    def __call__(
        self,
        kernel: Function,
        grid: Any,
        block: Any,
        args: Sequence[Any],
        dynamic_shared: int,
        undefined: Sequence[Any] = (),
    ) -> Any:
        options = replace(self.options, dynamic_shared=dynamic_shared)
        say_if_compiling(self.function)
        if self.function == "launch":
            from ptxsim.launcher import timed_launch

            return timed_launch(kernel, grid, block, args, options)
        from ptxsim.functional_run import functional_launch

        options = replace(options, undefined=[*options.undefined, *undefined])
        return functional_launch(kernel, grid, block, args, options)


def _print(text: str) -> None:
    print(text, end="")


class PythonKernel:
    """A kernel written in Python, on the simulator: what all compilers' kernels have in common."""

    _compiler: str
    _launch_syntax: str
    _runner: Runner

    @property
    def name(self) -> str:
        """The Python function's name."""
        raise NotImplementedError

    def kernel(self, *args: Any, **named: Any) -> Function:
        """The parsed PTX kernel for arguments of these types."""
        raise NotImplementedError

    def ptx(self, *args: Any, **named: Any) -> str:
        """The PTX text for arguments of these types."""
        return self.kernel(*args, **named).source.text

    def timed(self, *, options: LaunchOptions | None = None, **changes: Unpack[LaunchKeywords]) -> Self:
        """The same kernel, run by `ptxsim.launch` with these options: a launch returns a `SimResult`."""
        return self._with(Runner.of("launch", options, changes))

    def functional(self, *, options: LaunchOptions | None = None, **changes: Unpack[RunKeywords]) -> Self:
        """The same kernel, run by `ptxsim.run` with these options, such as `check=("memory", "races")`."""
        return self._with(Runner.of("run", options, changes))

    def __repr__(self) -> str:
        return f"<{self._compiler} kernel '{self.name}' on the simulator>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        raise wrong(f"kernel '{self.name}' without a grid", f"write {self.name}{self._launch_syntax}")

    def _with(self, runner: Runner) -> Self:
        other = copy(self)  # compiled kernels are shared
        other._runner = runner
        return other


class Transfers:
    """The buffers of the arrays of one call. The same array is always the same buffer."""

    def __init__(self) -> None:
        self._buffers: dict[int, tuple[Any, Any]] = {}
        """The array, which must stay alive, and its buffer, by the array's id."""
        self._written_back: list[tuple[Any, Any]] = []
        self.undefined: list[Any] = []
        """Buffers whose contents the kernel must not read before it writes them."""

    def buffer(self, array: Any, write_back: bool = True, is_defined: bool = True) -> Any:
        """A C-contiguous, writable array of a plain type: the caller's own memory if it is such an array."""
        known = self._buffers.get(id(array))
        if known is not None:
            return known[1]
        memory = array.T if is_transposed(array) else array
        if memory.dtype.kind in "mM":  # dates are integers
            memory = memory.view(np.int64)
        fits = memory.flags.c_contiguous and memory.flags.writeable and memory.dtype.byteorder != ">"
        if not (fits and write_back):
            buffer = np.array(memory, order="C", copy=True)
            if write_back and array.flags.writeable:
                self._written_back.append((memory, buffer))
            memory = buffer
        if not is_defined:
            self.undefined.append(memory)
        self._buffers[id(array)] = array, memory
        return memory

    def finish(self) -> None:
        """Copy results to the arrays that could not be buffers themselves."""
        for array, buffer in self._written_back:
            array[...] = buffer


def is_transposed(array: Any) -> bool:
    """True for an array whose transpose, and not itself, is C-contiguous: its buffer has the axes in reverse order."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def parsed(name: str, ptx: str, parameters: Sequence[str]) -> Function:
    """The kernel of PTX text, with its entry and parameters called as `renamed` does."""
    module = parse(renamed(ptx, entry_name(ptx), name, parameters), f"{name}.ptx")
    return next(iter(module.kernels.values()))


def renamed(ptx: str, entry: str, name: str, parameters: Sequence[str]) -> str:
    """PTX text with its entry called `name`, and the entry's parameters `name_x` for each x in `parameters`.

    Other names that begin with the entry's are renamed alike. A name that the text already uses is not used again.
    """
    name = re.sub(r"\W", "_", name) or "kernel"
    new = {f"{entry}_param_{n}": f"{name}_{p}" for n, p in enumerate(parameters)}
    words = set(re.findall(r"[\w$]+", ptx))
    for word in words:
        if word.startswith(entry):
            new.setdefault(word, name + word[len(entry) :])
    taken = words - set(new)
    return re.sub(r"[\w$]+", lambda m: new[m[0]] if new.get(m[0], "") not in {"", *taken} else m[0], ptx)


def entry_name(ptx: str) -> str:
    """The name of the first entry of PTX text. Raises E401 if there is none."""
    found = re.search(r"\.entry\s+([\w$]+)", ptx)
    if found is None:
        raise wrong("the compiled text has no '.entry'", "give a kernel, not a device function")
    return found[1]
