"""A pytest plugin: the fixture `ptx_kernel` runs kernels on numpy arrays in a test, without a GPU.

Loaded by pytest in every project where ptxtool is installed, so it imports nothing before a test asks for the fixture.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import pytest

if TYPE_CHECKING:
    from ptxsim import FunctionalResult, SimResult
    from ptxtool.ir.nodes import Function

T = TypeVar("T")


class KernelUnderTest:
    """One kernel. A method that finds something wrong fails the test with diagnostics, not with a stack trace."""

    def __init__(self, function: "Function"):
        self.function = function

    def run(self, grid: Any, block: Any, *args: Any, check: str = "", **options: Any) -> "FunctionalResult":
        """Run without time; arrays are updated in place. Fails on what `ptxsim.run` reports, or `check` finds.

        `grid` and `block` are a number or up to three, `args` the parameters in order: numpy arrays and scalars.
        """
        import ptxsim

        found = _reported(lambda: ptxsim.run(self.function, grid, block, args, check=check or (), **options))
        if found.problems:
            _fail(found.problems)
        return found

    def check(self, grid: Any, block: Any, *args: Any, **options: Any) -> "FunctionalResult":
        """Run under all checks: accesses out of bounds, uninitialised reads, races, divergent barriers."""
        return self.run(grid, block, *args, check="all", **options)

    def check_races(self, grid: Any, block: Any, *args: Any, **options: Any) -> "FunctionalResult":
        """Run, and fail on a race."""
        return self.run(grid, block, *args, check="races", **options)

    def simulate(self, grid: Any, block: Any, *args: Any, **options: Any) -> "SimResult":
        """Run cycle by cycle; the counters. `options` are those of `ptxsim.launch`, such as `gpu`."""
        import ptxsim

        return _reported(lambda: ptxsim.launch(self.function, grid, block, args, **options))

    @property
    def registers(self) -> int:
        """The 32-bit registers per thread that the allocator needs."""
        from ptxtool.analysis.regalloc.register_need import register_need

        return _reported(lambda: register_need(self.function)).registers

    def assert_registers(self, most: int) -> None:
        """Fail where a thread needs more registers."""
        if self.registers > most:
            pytest.fail(
                f"'{self.function.name}' needs {self.registers} registers per thread, at most {most} are accepted; "
                "'ptxtool pressure' shows where",
                pytrace=False,
            )

    def assert_cycles(self, most: int, grid: Any, block: Any, *args: Any, **options: Any) -> "SimResult":
        """Simulate, and fail where it takes more cycles, or does not end; the counters."""
        result = self.simulate(grid, block, *args, **options)
        if result.status != "done" or result.cycles > most:
            pytest.fail(
                f"'{self.function.name}' took {result.cycles} cycles on {result.gpu} ({result.status}), "
                f"at most {most} are accepted; 'ptxtool sim --hotspots' shows where they go",
                pytrace=False,
            )
        return result


@pytest.fixture
def ptx_kernel(request: pytest.FixtureRequest) -> Callable[..., KernelUnderTest]:
    """`ptx_kernel(file, name=None)`: a kernel of a file, which is looked for beside the test first, or of a text.

    A text has a line end in it; `name` may be left out where the file has one kernel. Fails on errors of the text.
    """
    folder = request.path.parent

    def load(file: "str | Path", name: str | None = None) -> KernelUnderTest:
        from ptxtool import api

        def found() -> "Function":
            if isinstance(file, str) and "\n" in file:
                module = api.parse(file, "<text of the test>")
            else:
                beside = folder / file
                module = api.load(beside if beside.exists() else file)
            return api.kernel(module, name)

        function = _reported(found)
        errors = [d for d in api.check(function.module) if d.is_error]
        if errors:
            _fail(errors)
        return KernelUnderTest(function)

    return load


def _reported(do: Callable[[], T]) -> T:
    """The result; a `PtxError` fails the test with its diagnostics."""
    from ptxtool.base.diag import PtxError

    try:
        return do()
    except PtxError as problem:
        pytest.fail(str(problem), pytrace=False)


def _fail(found: Sequence[object]) -> NoReturn:
    pytest.fail("\n".join(map(str, found)), pytrace=False)
