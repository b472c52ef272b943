"""A kernel in a test: run on numpy arrays under all checks, held to numbers of registers and cycles.

What is wrong is an `AssertionError` with the diagnostics as text, raised at the line of the test.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ptxtool import api
from ptxtool.analysis.flow.pressure import pressure
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.results.register_counts import RegisterCounts

if TYPE_CHECKING:
    from ptxsim.base.options import Extent
    from ptxsim.functional_run import FunctionalResult
    from ptxsim.launch_options import LaunchKeywords
    from ptxtool.results.simulation import SimResult


@contextmanager
def _as_failure() -> Iterator[None]:
    """Turn what ptxtool reports into a failed assertion."""
    __tracebackhide__ = True
    try:
        yield
    except PtxError as problem:
        raise AssertionError(str(problem)) from None


@dataclass(frozen=True)
class KernelUnderTest:
    """One kernel of a file. Every method raises `AssertionError` for what ptxtool reports as an error."""

    function: Function = field(repr=False)

    def run(
        self,
        grid: "Extent",
        block: "Extent",
        args: Sequence[Any],
        *,
        check: Collection[str] = ("all",),
        **options: Any,
    ) -> "FunctionalResult":
        """Execute the kernel, without time; arrays in `args` are updated in place.

        `check` are those of `ptxsim.run`: "memory", "init", "races", "barriers", by default all. A finding fails the
        test, and the arrays are as the run left them. The other options are those of `ptxsim.run`, too.
        """
        __tracebackhide__ = True
        import ptxsim

        with _as_failure():
            result = ptxsim.run(self.function, grid, block, args, check=tuple(check), **options)
        lost = f"\nand {result.lost_problems} more" if result.lost_problems else ""
        if result.problems:
            raise AssertionError("\n".join(map(str, result.problems)) + lost)
        return result

    def simulate(
        self, grid: "Extent", block: "Extent", args: Sequence[Any], **options: "Unpack[LaunchKeywords]"
    ) -> "SimResult":
        """Simulate the kernel cycle by cycle; arrays in `args` are updated in place. Options: `ptxsim.launch`."""
        __tracebackhide__ = True
        import ptxsim

        with _as_failure():
            return ptxsim.launch(self.function, grid, block, args, **options)

    @cached_property
    def _counts(self) -> RegisterCounts:
        return api.register_counts(self.function.module, [self.function])[0]

    @cached_property
    def registers(self) -> int:
        """Registers per thread: by ptxas where it is installed and compiles the text, else by our allocator."""
        __tracebackhide__ = True
        with _as_failure():
            counts = self._counts
        if counts.used is not None:
            return counts.used.registers
        if counts.need is None:
            raise AssertionError(f"{self.function.name}: registers cannot be counted: {counts.problem}")
        return counts.need.registers

    @cached_property
    def live_registers(self) -> int:
        """The most 32-bit registers that are live at once in a warp."""
        __tracebackhide__ = True
        with _as_failure():
            return pressure(self.function).maximum

    def assert_registers(self, at_most: int) -> None:
        """Fail if a thread needs more registers; the message names what is live where most are."""
        __tracebackhide__ = True
        if self.registers > at_most:
            head = f"{self.function.name} has {self.registers} registers per thread, {at_most} are allowed"
            raise AssertionError(f"{head}\n{self._counts}\n{pressure(self.function)}")

    def assert_cycles(
        self,
        at_most: int,
        grid: "Extent",
        block: "Extent",
        args: Sequence[Any],
        **options: "Unpack[LaunchKeywords]",
    ) -> "SimResult":
        """Simulate the kernel and fail if it takes more cycles; the message has the counters."""
        __tracebackhide__ = True
        result = self.simulate(grid, block, args, **options)
        if result.cycles > at_most:
            raise AssertionError(
                f"{self.function.name} takes {result.cycles} cycles, {at_most} are allowed\n{result}"
            )
        return result


@dataclass(frozen=True)
class KernelLoader:
    """What the fixture `ptx_kernel` returns; `folder` is the test's."""

    folder: Path

    def __call__(self, file: "str | Path", name: str | None = None) -> KernelUnderTest:
        """A kernel of a file, or of a packaged sample; `name` where the file has several. Its text is checked."""
        __tracebackhide__ = True
        with _as_failure():
            beside = self.folder / file
            module = api.load(beside if beside.exists() else file)
            problems = [found for found in api.check(module) if found.is_error]
            if problems:
                raise PtxError(problems)
            return KernelUnderTest(api.kernel(module, name))
