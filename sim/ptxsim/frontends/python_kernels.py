"""What kernels written in Python have in common here, whichever compiler they come from: for `numba_kernels.py` and
`triton_kernels.py`.

A compiler gives PTX whose parameters are not the Python function's: an array is several numbers, names are mangled,
layouts are the caller's. `Transfers` makes of every array a buffer that the simulator can point to, and brings the
results back; `renamed` gives entry and parameters the names that the user wrote, because reports quote them;
`Runner` says how a launch is run: `ptxsim.run` or `ptxsim.launch`, with which options.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ptxsim.base.notice import say_if_compiling
from ptxtool.base.diag import PtxError, error
from ptxtool.ir.nodes import Function


def wrong(message: str, help: str) -> PtxError:
    """E401 without a place: the fault is in the Python program."""
    return error("E401", message, help=help)


@dataclass(frozen=True)
class Runner:
    """How kernels are run: one of the two functions, imported when it is needed, and its options."""

    function: Literal["run", "launch"] = "run"
    options: Mapping[str, Any] = field(default_factory=dict)

    def __call__(
        self,
        kernel: Function,
        grid: Any,
        block: Any,
        args: Sequence[Any],
        dynamic_shared: int,
        undefined: Sequence[Any] = (),
    ) -> Any:
        options = {"output": _print} | dict(self.options)
        if undefined and self.function == "run":
            options["undefined"] = [*options.get("undefined", ()), *undefined]
        say_if_compiling(self.function)
        if self.function == "run":
            from ptxsim.functional_run import run as function
        else:
            from ptxsim.launcher import launch as function  # type: ignore[assignment]
        return function(kernel, grid, block, args, dynamic_shared=dynamic_shared, **options)

    def timed(self, options: Mapping[str, Any]) -> "Runner":
        return Runner("launch", options)

    def functional(self, options: Mapping[str, Any]) -> "Runner":
        return Runner("run", options)


def _print(text: str) -> None:
    """What kernels print comes out where Python's own output does."""
    print(text, end="")


class Transfers:
    """The arrays of one call: as buffers, and back. The same array is the same buffer each time it is asked for."""

    def __init__(self) -> None:
        self._buffers: dict[
            int, tuple[Any, Any]
        ] = {}  # id -> the array, its buffer: the array must stay alive
        self._written_back: list[tuple[Any, Any]] = []
        self.undefined: list[Any] = []
        """Buffers whose contents the kernel must not read before it writes them."""

    def buffer(self, array: Any, write_back: bool = True, is_defined: bool = True) -> Any:
        """A C-contiguous, writable array of a plain type: the caller's own memory where that is one."""
        known = self._buffers.get(id(array))
        if known is not None:
            return known[1]
        memory = array.T if is_transposed(array) else array
        if memory.dtype.kind in "mM":  # dates are integers
            memory = memory.view(np.int64)
        fits = memory.flags.c_contiguous and memory.flags.writeable and memory.dtype.byteorder != ">"
        if not (fits and write_back):
            copy = np.array(memory, order="C", copy=True)
            if write_back and array.flags.writeable:
                self._written_back.append((memory, copy))
            memory = copy
        if not is_defined:
            self.undefined.append(memory)
        self._buffers[id(array)] = array, memory
        return memory

    def finish(self) -> None:
        """Copy results to the arrays that could not be buffers themselves."""
        for array, copy in self._written_back:
            array[...] = copy


def is_transposed(array: Any) -> bool:
    """True for an array whose transpose, and not itself, is C-contiguous: its buffer has the axes in reverse order."""
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)


def renamed(ptx: str, entry: str, name: str, parameters: Sequence[str]) -> str:
    """PTX text with its entry called `name`, and the entry's parameters `name_x` for each x in `parameters`.

    What else begins with the entry's name follows. A name that the text already uses is not given a second time.
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
    """The name of the first entry of PTX text; E401 where there is none."""
    found = re.search(r"\.entry\s+([\w$]+)", ptx)
    if found is None:
        raise wrong("the compiled text has no '.entry'", "give a kernel, not a device function")
    return found[1]


def plural(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
