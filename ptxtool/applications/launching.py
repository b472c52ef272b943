"""The launches of one process: on the machine, with or without time, recorded where that is asked for.

Where only some launches are simulated (`sampling.py`), the others run without time: memory is right in any case. A
launch whose number of warp instructions decides is run without time first, and simulated from the same memory if it has
to be.

A launch without time takes the seconds that its instructions need at one warp instruction per SM and cycle, so that an
application that measures time ends.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from ptxtool.applications.device import FUNCTIONAL_SHARED_BYTES
from ptxtool.applications.protocol import Error, Gone
from ptxtool.applications.recording import PendingRecord
from ptxtool.applications.reporter import Reporter
from ptxtool.applications.settings import Settings
from ptxtool.applications.snapshot import Snapshot
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.results.applications import Launch

if TYPE_CHECKING:
    from ptxsim.launch_options import LaunchOptions
    from ptxsim.loaded_modules import LoadedKernel
    from ptxsim.machine import Machine
    from ptxtool.applications.rewriting import Rewriter
    from ptxtool.ir.nodes import Function

_ERRORS = {
    "E301": Error.OUT_OF_RESOURCES,
    "E401": Error.INVALID_VALUE,
    "E402": Error.OUT_OF_RESOURCES,
    "E403": Error.NOT_SUPPORTED,
    "E404": Error.ILLEGAL_ADDRESS,
    "E405": Error.MISALIGNED,
    "E406": Error.TIMEOUT,
    "E407": Error.TIMEOUT,
    "E408": Error.TIMEOUT,
    "E413": Error.ASSERT,
    "E415": Error.STACK,
}
"""What CUDA returns for what stops a launch; `_error_of` has the rest."""
_MOST_GRID, _MOST_BLOCK, MOST_THREADS = (2**31 - 1, 65535, 65535), (1024, 1024, 64), 1024
_HOST_WAITS = (
    "a launch ends before its call returns: a kernel cannot wait for what its own host thread does next"
)
_LOOK_SECONDS = 0.2
"""How often a launch looks whether its process still lives."""


class Launcher:
    """Runs the launches of one process on its machine."""

    def __init__(
        self, settings: Settings, reporter: Reporter, machine: "Machine", gone: Callable[[], bool]
    ) -> None:
        """`gone` says whether the process has ended; a launch asks it."""
        self.settings, self.reporter, self.machine, self._gone = settings, reporter, machine, gone
        self.seconds = 0.0
        """Simulated so far."""
        self._limits: dict[str, int] = {}
        self._options: dict[tuple[int, tuple[int, ...] | None, bool], LaunchOptions] = {}
        self._cluster: tuple[int, ...] | None = None
        """What the launch under way asks for."""
        self._printed: list[str] = []
        self._rewriter = self._made_rewriter() if settings.stages else None
        self._snapshot = Snapshot(machine.heap)
        self._static_bytes: IdentityCache[tuple[int, int]] = IdentityCache(64)

    def _made_rewriter(self) -> "Rewriter":
        """Imports all passes."""
        from ptxtool.applications.rewriting import Rewriter

        settings, reporter = self.settings, self.reporter
        limits = settings.gpu if settings.timed or settings.gpu_chosen else None
        return Rewriter(settings.stages, self.machine, limits, reporter.problem, reporter.rewritten.append)

    def limit(self, name: str, n_bytes: int) -> None:
        """Choose the bytes of the stack or of the kernels' heap. Raises E401 for a number that cannot be."""
        change: dict[str, Any] = {name: n_bytes}
        replace(self.settings.options, **change)
        self._limits[name] = n_bytes
        self._options.clear()

    def launch(
        self,
        kernel: "LoadedKernel",
        grid: tuple[int, ...],
        block: tuple[int, ...],
        parameters: bytes,
        dynamic_shared: int,
        cooperative: bool,
        cluster: tuple[int, ...] | None = None,
    ) -> tuple[int, str]:
        """Launch, and report it; the error that CUDA has for it, and what the kernel printed.

        Raises `Gone` where the process has ended in the launch.
        """
        self._printed.clear()
        self._cluster = cluster
        entry = Launch(len(self.reporter.launches) + 1, kernel.name, grid, block, dynamic_shared)
        record: PendingRecord | None = None
        try:
            _check_extents(grid, block)
            kernel = self.text_of(kernel, prod(block), dynamic_shared)
            _check_cluster(kernel.function, cluster, grid)
            if cooperative:
                self._check_cooperative(kernel, grid, block, dynamic_shared)
            record = self._record(entry, kernel, parameters)
            with self._watched():
                entry = self._run(entry, kernel, parameters)
        except PtxError as problem:
            code = _error_of(problem)
            self.reporter.problem(_advised(problem), str(entry))
            entry = replace(entry, error=code)
        except Gone:
            self.reporter.tell(f"ptxtool exec: {entry}: the process has ended, and so has the launch")
            if record is not None:
                record.discard()
            raise
        if record is not None:
            record.end(entry)
        self.reporter.launches.append(entry)
        self.seconds += entry.seconds
        return entry.error, "".join(self._printed)

    def text_of(self, kernel: "LoadedKernel", threads: int = 0, dynamic_shared: int = 0) -> "LoadedKernel":
        """What runs of a kernel, after the passes, in CTAs of so many threads (0: unknown)."""
        if self._rewriter is None:
            return kernel
        from ptxtool.passes.context import CtaSize

        return self._rewriter.kernel(kernel, CtaSize(threads, dynamic_shared) if threads else None)

    def _record(self, entry: Launch, kernel: "LoadedKernel", parameters: bytes) -> PendingRecord | None:
        """Begin to record a launch, if it is to be."""
        if self.reporter.recorder is None:
            return None
        settings: dict[str, Any] = {"dynamic_shared": entry.dynamic_shared, **self._limits}
        if self._cluster is not None:
            settings["cluster"] = list(self._cluster)
        return self.reporter.recorder.begin(entry, kernel, parameters, self.machine.heap, settings)

    def _run(self, entry: Launch, kernel: "LoadedKernel", parameters: bytes) -> Launch:
        """Run a launch as it was chosen: with time, without, or first the one and then the other."""
        sampling = self.reporter.sampling
        if sampling is None:
            return (self._simulate if self.settings.timed else self._compute)(entry, kernel, parameters)
        is_chosen = sampling.is_chosen(entry)
        if is_chosen:
            return sampling.simulated(self._simulate(entry, kernel, parameters))
        if is_chosen is None:
            self._snapshot.take()
        computed = self._compute(entry, kernel, parameters)
        if is_chosen is False or sampling.represents(computed):
            return sampling.estimated(computed)
        self._snapshot.restore()
        self._printed.clear()
        return sampling.simulated(self._simulate(entry, kernel, parameters))

    def _simulate(self, entry: Launch, kernel: "LoadedKernel", parameters: bytes) -> Launch:
        """Run a launch with time."""
        options = self._options_of(entry.dynamic_shared, timed=True)
        timed = self.machine.launch(kernel, entry.grid, entry.block, parameters=parameters, options=options)
        seconds = timed.cycles / self.settings.hertz
        self.reporter.simulated(entry, kernel.function, timed)
        entry = replace(entry, cycles=timed.cycles, out_of_bounds=timed.out_of_bounds)
        return replace(entry, warp_instructions=timed.warp_instructions, seconds=seconds)

    def _compute(self, entry: Launch, kernel: "LoadedKernel", parameters: bytes) -> Launch:
        """Run a launch without time."""
        options = self._options_of(entry.dynamic_shared, timed=False)
        found = self.machine.run(kernel, entry.grid, entry.block, parameters=parameters, options=options)
        for diagnostic in found.problems:
            self.reporter.diagnostic(replace(diagnostic, message=f"{entry}: {diagnostic.message}"))
        seconds = found.warp_instructions / (self.settings.hertz * self.settings.gpu.sm.count)
        findings = len(found.problems) + found.lost_problems
        entry = replace(entry, findings=findings, out_of_bounds=found.out_of_bounds)
        return replace(entry, warp_instructions=found.warp_instructions, seconds=seconds)

    def _options_of(self, dynamic_shared: int, timed: bool) -> "LaunchOptions":
        """The options of launches with time or without."""
        options = self._options.get((dynamic_shared, self._cluster, timed))
        if options is None:
            changes: dict[str, Any] = {
                "dynamic_shared": dynamic_shared,
                "cluster": self._cluster,
                "output": self._printed.append,
                **self._limits,
            }
            options = self.settings.options if timed == self.settings.timed else self.settings.untimed_options
            options = self._options[dynamic_shared, self._cluster, timed] = replace(options, **changes)
        return options

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        """End the launch with `Gone` when its process does."""
        if threading.current_thread() is not threading.main_thread():
            yield  # no other thread has signals; the next answer finds out
            return

        def look(*_: object) -> None:
            if self._gone():
                raise Gone

        before = signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _LOOK_SECONDS, _LOOK_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def _check_cooperative(
        self, kernel: "LoadedKernel", grid: tuple[int, ...], block: tuple[int, ...], dynamic_shared: int
    ) -> None:
        """A cooperative launch has all its CTAs resident at once. Raises E402."""
        most = self.resident(kernel.function, prod(block), dynamic_shared) * self.settings.gpu.sm.count
        if self.settings.timed and prod(grid) > most:
            what = f"a cooperative launch of {prod(grid)} CTAs: {self.settings.gpu.name} holds {most} of them at once"
            raise _Refused(what, "launch as many as cudaOccupancyMaxActiveBlocksPerMultiprocessor says", 720)

    def static_bytes(self, function: "Function") -> tuple[int, int]:
        """A kernel's own shared memory, and the constants of its module: programs ask for every size of a block."""
        from ptxsim.lowering.variable_layout import lay_out

        def laid_out() -> tuple[int, int]:
            layout = lay_out(function)
            return layout.static_shared_bytes, len(layout.constant_bytes)

        return self._static_bytes.get(function, None, laid_out)

    def resident(self, function: "Function", threads: int, dynamic_shared: int) -> int:
        """CTAs of a kernel that an SM holds; 0 where none fits. Where no machine limits launches every SM has room for
        one that can be launched."""
        from ptxtool.analysis.occupancy.occupancy import occupancy
        from ptxtool.analysis.regalloc.register_need import registers_per_thread

        registers = self.settings.options.registers or registers_per_thread(function)
        scratchpad = self.static_bytes(function)[0] + dynamic_shared
        try:
            return occupancy(self.settings.gpu, threads, registers, scratchpad).resident_ctas
        except PtxError:
            settings = self.settings
            if settings.timed or settings.gpu_chosen:
                return 0
            return int(threads <= MOST_THREADS and scratchpad <= FUNCTIONAL_SHARED_BYTES)


class _Refused(PtxError):
    """A launch that CUDA refuses with an error of its own."""

    def __init__(self, message: str, help: str, code: int = Error.INVALID_CONFIGURATION):
        super().__init__(Diagnostic("E402", message, help=help))
        self.error = code


def _advised(problem: PtxError) -> PtxError:
    """The advice for a launch that waits: what it waits for may be the host."""
    first = problem.diagnostics[0]
    if first.code != "E407":
        return problem
    return PtxError(replace(first, help=f"{first.help}; {_HOST_WAITS}"))


def _error_of(problem: PtxError) -> int:
    """What CUDA returns for a launch that was stopped, or never began."""
    if isinstance(problem, _Refused):
        return problem.error
    code = problem.diagnostics[0].code
    return _ERRORS.get(code, Error.INVALID_PTX if code[1] in "12" else Error.LAUNCH_FAILURE)


def _check_extents(grid: tuple[int, ...], block: tuple[int, ...]) -> None:
    """Raises E402 for a grid or a block that no GPU takes."""
    for what, extent, most in (("grid", grid, _MOST_GRID), ("block", block, _MOST_BLOCK)):
        if any(not 1 <= n <= limit for n, limit in zip(extent, most, strict=True)):
            raise _Refused(
                f"this {what} cannot be launched", f"each size is 1 to {', '.join(map(str, most))} (x, y, z)"
            )
    if prod(block) > MOST_THREADS:
        raise _Refused(f"{prod(block)} threads in a block", f"a block has at most {MOST_THREADS}")


def _check_cluster(function: "Function", cluster: tuple[int, ...] | None, grid: tuple[int, ...]) -> None:
    """Raises E402 for clusters that the kernel or the grid forbids."""
    from ptxsim.lowering.cluster_launch import cluster_of

    x, y, z = grid
    try:
        cluster_of(function, cluster, (x, y, z), 0)
    except PtxError as problem:
        (first,) = problem.diagnostics
        raise _Refused(first.message, first.help or "", Error.INVALID_CLUSTER_SIZE) from None
