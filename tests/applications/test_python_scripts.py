"""Python scripts whose kernels are compiled when they run, by numba: unchanged, with and without time."""

import sys
from pathlib import Path

import pytest
from cuda_programs import PROGRAMS, run

import ptxsim
from ptxtool.base.diag import PtxError


@pytest.fixture
def script() -> Path:
    """The script of numba kernels; skips the test where numba cannot compile them."""
    pytest.importorskip("numba.cuda")
    try:
        ptxsim.from_numba(lambda: None).kernel()
    except PtxError as problem:
        pytest.skip(problem.diagnostics[0].message)
    return PROGRAMS / "numba_kernels.py"


@pytest.mark.slow
@pytest.mark.parametrize("timed", [False, True])
def test_a_numba_script(timed: bool, script: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ran = run(capfd, sys.executable, "-W", "ignore", script, timed=timed, gpu_chosen=True)
    lines = ["tesla-c2050 (7, 5)", "thread 0 has 5", "thread 1 has 5", "raised: no", "kernels are right"]
    assert (ran.run.status, ran.printed.splitlines()) == (0, lines)
    assert (ran.run.processes, ran.diagnostics, ran.run.missing) == (1, [], ())
    assert sum("histogram" in launch.kernel for launch in ran.run.launches) == 1
    assert all(launch.cycles > 0 for launch in ran.run.launches if timed)
