"""`prove`: run a kernel before and after it was rewritten, with the same inputs, and compare the memory.

Both texts are run without time and with time, each compared with the other's run of the same kind. Elements are equal
if their bits are, or within a tolerance that the caller gives: another order of atomic additions of floats gives other
sums. Runs say nothing about other inputs; the static proofs of `ptxtool.validate` are about all inputs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ptxtool.base.diag import Diagnostic, PtxError, error
from ptxtool.formats.gpu import Gpu, machine_of
from ptxtool.formats.launch.launch_data import Launch
from ptxtool.formats.launch.launch_values import DTYPES
from ptxtool.ir.nodes import Function, Module
from ptxtool.results.outcome import Outcome
from ptxtool.results.proofs import Proof, Trial
from ptxtool.results.run_results import Run
from ptxtool.results.sequences import SequenceOutcome, SequenceRun
from ptxtool.runs.functional_runs import changed, run_functional
from ptxtool.runs.launch_lists import run_sequence, simulate_sequence
from ptxtool.runs.launch_runs import run_launch
from ptxtool.runs.random_inputs import with_random_inputs

if TYPE_CHECKING:
    from ptxsim.timing.drive import Progress

KernelNamed = Callable[[Module, str | None], Function]
"""Finds a kernel of a module by its name, the only one for none; raises E205."""
_OTHER = "the rewritten kernel computes something else"
_MORE, _LEAST = 20, 100_000
"""The rewritten kernel may take 20 times the instructions or cycles of the original, and this many in any case."""


@dataclass(frozen=True)
class ProofOptions:
    """How kernels are compared: inputs, tolerances, the machine of the timed runs."""

    kernel: str | None = None
    random: int = 0
    seed: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    gpu: "str | Gpu" = ""
    timed: bool = True
    announce: Callable[[str], object] | None = None
    progress: "Progress | None" = None

    def __post_init__(self) -> None:
        for name in ("random", "seed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise error("E502", f"{name} = {value!r}", help="give a whole number of at least 0")
        for name in ("rtol", "atol"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not 0 <= value < float("inf"):
                raise error("E502", f"{name} = {value!r}", help="give a number of at least 0")


@dataclass(frozen=True)
class _Ended:
    """What a run left: buffers and variables by name, the lines that it printed in any order, and how long it took."""

    buffers: dict[str, np.ndarray]
    printed: list[str]
    length: int


def prove(
    before: Module, after: Module, launch: Launch, kernel_named: KernelNamed, options: ProofOptions
) -> Proof:
    """Run two texts with the launch's inputs, then with random ones, until their results differ.

    Raises what the runs of the original raise with the launch's own inputs; with random inputs such a trial is skipped.
    """
    launch = _plain(launch)
    names = [step.kernel or options.kernel for step in launch.steps] or [options.kernel or launch.kernel]
    kernels = {kernel_named(before, name).name for name in names}
    problems = _lacking(after, names, kernel_named)
    trials: list[Trial] = []
    compared: tuple[str, ...] = ()
    for seed in (None, *range(options.seed, options.seed + options.random)):
        if problems:
            break
        inputs = launch if seed is None else with_random_inputs(launch, seed, compared)
        runs = _Runs(before, after, inputs, seed, names[0], kernel_named, options)
        changes, skipped = 0, ""
        try:
            for timed in (False, True)[: 1 + options.timed]:
                found = runs.original(timed)
                compared, changes = tuple(found.buffers), _changes(inputs, found)
                problems = runs.compared(found, timed)
                if problems:
                    break
        except PtxError as problem:
            if seed is None:
                raise
            skipped = f"{problem.diagnostics[0].code}: {problem.diagnostics[0].message}"
        trials.append(Trial(seed, changes, not problems, skipped))
    return Proof(
        before=before.source.name,
        after=after.source.name,
        kernels=tuple(sorted(kernels)),
        launch=_shown(launch.source.name),
        buffers=compared,
        unseen=tuple(name for name, type_ in _variables(before).items() if not type_),
        timed=options.timed,
        trials=tuple(trials),
        problems=problems,
    )


def _plain(launch: Launch) -> Launch:
    """The launch without what it expects, and without schedulers: those of the machine change nothing but the time."""
    steps = {id(step): replace(step, scheduler=None) for step in launch.steps}  # repetitions stay one object
    again = tuple(steps[id(step)] for step in launch.steps)
    return replace(launch, expectations=(), scheduler=None, steps=again)


def _lacking(after: Module, names: Iterable[str | None], kernel_named: KernelNamed) -> tuple[Diagnostic, ...]:
    """What is wrong with a rewritten text that has not the kernels of the original."""
    try:
        for name in names:
            kernel_named(after, name)
    except PtxError as problem:
        return (Diagnostic("E305", f"{_OTHER}: a kernel is gone", after.source), *problem.diagnostics)
    return ()


def _changes(launch: Launch, found: "_Ended") -> int:
    """How many elements of buffers are other ones than before the run, and of variables without contents not 0."""
    before = {i.name: i.value for i in (*launch.contents, *launch.constant_inputs)}
    pairs = [(before.get(name, np.zeros_like(array)), array) for name, array in found.buffers.items()]
    return sum(
        changed(was, now) for was, now in pairs if isinstance(was, np.ndarray) and was.dtype == now.dtype
    )


@dataclass(frozen=True)
class _Runs:
    """The runs of both texts with one set of inputs."""

    before: Module
    after: Module
    launch: Launch
    seed: int | None
    name: str | None
    """The first kernel's, None for the only one."""
    kernel_named: KernelNamed
    options: ProofOptions

    def original(self, timed: bool) -> _Ended:
        return self.run(self.before, timed, None)

    def compared(self, found: _Ended, timed: bool) -> tuple[Diagnostic, ...]:
        """Run the rewritten text; what differs from what the original left."""
        try:
            other = self.run(self.after, timed, _MORE * found.length + _LEAST)
        except PtxError as problem:
            stops = self.problem(timed, "it stops, and the original does not")
            return (stops, *problem.diagnostics)
        what = next(self.differences(found, other), "")
        return (self.problem(timed, what),) if what else ()

    def differences(self, found: _Ended, other: _Ended) -> Iterator[str]:
        for name, expected in found.buffers.items():
            now = other.buffers.get(name)
            if now is None or now.nbytes != expected.nbytes:
                yield f"variable '{name}' is gone, or has another size"
            elif text := difference(expected, now, self.options.rtol, self.options.atol):
                yield f"'{name}'{text}"
        if found.printed != other.printed:
            yield "it prints something else"

    def problem(self, timed: bool, what: str) -> Diagnostic:
        how = "with time" if timed else "without time"
        inputs = "the launch's inputs" if self.seed is None else f"random inputs, seed {self.seed}"
        message = f"{_OTHER}: {what} ({how}, {inputs})"
        kernel = self.kernel_named(self.after, self.name)
        return Diagnostic("E305", message, kernel.source, kernel.start, kernel.body_start, self.advice())

    def advice(self) -> str:
        """How to see it again."""
        files = self.before.source.name, self.after.source.name
        launch = self.launch.source.name
        if files[0] == files[1] or launch.startswith("<"):
            return f"both ran with {_shown(launch)}"
        again = "" if self.seed is None else f" --random 1 --seed {self.seed}"
        return f"to see it again: ptxtool prove {files[0]} {files[1]} --launch {launch}{again}"

    def run(self, module: Module, timed: bool, most: int | None) -> _Ended:
        """Run the launch, or the list of launches, of a text. `most` is where an endless loop is given up."""
        if self.options.announce is not None:
            which = "after" if module is self.after else "before"
            self.options.announce(f"{which}, {'with' if timed else 'without'} time")
        variables: dict[str, np.ndarray] = {}
        ended = (self._timed if timed else self._untimed)(module, most, variables)
        for name, type_ in _variables(self.before).items():
            dtype = DTYPES.get(type_, np.dtype(np.uint8))
            if type_ and name in variables and variables[name].nbytes % dtype.itemsize == 0:
                ended.buffers[name] = variables[name].view(dtype)
        return ended

    def _untimed(self, module: Module, most: int | None, variables: dict[str, np.ndarray]) -> _Ended:
        from ptxsim.launch_options import LaunchOptions

        options = LaunchOptions(max_instructions=most, variables=variables)
        outcome: Outcome | SequenceOutcome
        if self.launch.steps:
            outcome = run_sequence(lambda name: self._named(module, name), self.launch, options)
        else:
            outcome = run_functional(self.kernel_named(module, self.name), self.launch, options)
        steps = outcome.steps if isinstance(outcome, SequenceOutcome) else (outcome,)
        buffers = {buffer.name: buffer.array for buffer in outcome.buffers}
        printed = "".join(step.printed for step in steps)
        return _Ended(buffers, sorted(printed.splitlines()), sum(step.warp_instructions for step in steps))

    def _timed(self, module: Module, most: int | None, variables: dict[str, np.ndarray]) -> _Ended:
        from ptxsim.launch_options import LaunchOptions

        options = LaunchOptions(
            gpu=machine_of(self.options.gpu),
            max_cycles=most,
            variables=variables,
            progress=self.options.progress,
        )
        run: Run | SequenceRun
        if self.launch.steps:
            run = simulate_sequence(lambda name: self._named(module, name), self.launch, options)
        else:
            run = run_launch(self.kernel_named(module, self.name), self.launch, options)
        if run.problems:
            raise PtxError(run.problems)
        arrays = zip(self.launch.contents, run.arguments, strict=True)
        buffers = {i.name: array for i, array in arrays if i.is_buffer}
        printed = "".join(result.printed for result in run.results)
        return _Ended(buffers, sorted(printed.splitlines()), sum(result.cycles for result in run.results))

    def _named(self, module: Module, name: str | None) -> Function:
        return self.kernel_named(module, name or self.options.kernel)


def _variables(module: Module) -> dict[str, str]:
    """The variables of a module in global memory with their types; "" for one with an initial value.

    These are not compared: an address of a function or variable in them may be another one after a rewriting.
    """
    found: dict[str, str] = {}
    for name, declared in module.variables.items():
        if declared.space == "global":
            initial = any(d.name == name and d.value is not None for d in declared.declarators)
            found[name] = "" if initial else declared.type
    return found


def _shown(launch: str) -> str:
    """A launch in words: its file, or that of the command line."""
    return "the launch of the command line" if launch.startswith("<") else launch


def difference(before: np.ndarray, after: np.ndarray, rtol: float, atol: float) -> str:
    """In words, the first element of a buffer that is another one after the rewriting; "" if there is none.

    Bits are compared; with a tolerance, floats may differ by `atol + rtol * abs(before)`, and NaN equals NaN.
    """
    width = before.dtype.itemsize
    old, new = (np.ascontiguousarray(a).reshape(-1) for a in (before, after))
    other = (old.view(np.uint8).reshape(-1, width) != new.view(np.uint8).reshape(-1, width)).any(axis=1)
    if before.dtype.kind == "f" and (rtol or atol):
        with np.errstate(all="ignore"):
            exact, found = old.astype(np.float64), new.astype(np.float64)
            close = np.abs(found - exact) <= atol + rtol * np.abs(exact)
        other &= ~(close | (found == exact) | (np.isnan(found) & np.isnan(exact)))
    n = int(np.count_nonzero(other))
    if not n:
        return ""
    first = int(np.flatnonzero(other)[0])
    place = ", ".join(str(int(k)) for k in np.unravel_index(first, before.shape))
    was, now = old[first], new[first]
    shown = f"{now}, {was} before"
    if str(was) == str(now):  # two NaNs, or 0.0 and -0.0 in a type that prints alike
        shown = f"0x{now.tobytes()[::-1].hex()}, 0x{was.tobytes()[::-1].hex()} before"
    return f"[{place}] is {shown}; {n} of {before.size} elements differ"
