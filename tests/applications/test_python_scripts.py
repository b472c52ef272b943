"""Python scripts whose kernels are compiled when they run, by numba, Triton, Inductor, unchanged."""

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


@pytest.mark.slow
@pytest.mark.parametrize("timed", [False, True])
def test_a_triton_script(
    timed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Autotuning launches `scale` twice for each size of a block; the second launch decides."""
    pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    script = PROGRAMS / "triton_kernels.py"
    ran = run(capfd, sys.executable, "-W", "ignore", script, timed=timed, gpu_chosen=True)
    assert (ran.run.status, ran.printed) == (0, "kernels are right\n")
    assert (ran.run.processes, ran.diagnostics, ran.run.missing) == (1, [], ())
    launches = [(launch.kernel, launch.grid[0]) for launch in ran.run.launches]
    scales = [("scale", 313), ("scale", 313), ("scale", 20), ("scale", 20)]
    work = [launch.cycles if timed else launch.warp_instructions for launch in ran.run.launches]
    assert work[3] != work[5]
    chosen = ("scale", 313 if work[3] < work[5] else 20)
    others = [("add", 1), ("add", 1), ("product", 2), ("add", 1)]
    assert launches == [("add", 40), ("add", 1), *scales, chosen, *others]
    assert all(launch.cycles > 0 for launch in ran.run.launches if timed)


@pytest.mark.slow
def test_triton_programs_of_two_ctas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    ran = run(capfd, sys.executable, "-W", "ignore", PROGRAMS / "triton_clusters.py", target=90)
    assert (ran.run.status, ran.printed, ran.diagnostics) == (0, "kernels are right\n", [])
    assert [(launch.kernel, launch.grid[0]) for launch in ran.run.launches] == [("scale", 8), ("total", 8)]


@pytest.mark.slow
def test_models_that_torch_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Inductor fuses the first function, and what comes before, between and after the model's products, backward
    too: each of its kernels is launched."""
    pytest.importorskip("triton")
    pytest.importorskip("torch")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "inductor"))
    ran = run(capfd, sys.executable, "-W", "ignore", PROGRAMS / "inductor_kernels.py", gpu_chosen=True)
    assert (ran.run.status, ran.printed) == (0, "kernels are right\n")
    assert (ran.run.processes, ran.diagnostics, ran.run.missing) == (1, [], ())
    kernels = " ".join({launch.kernel for launch in ran.run.launches})
    for name in ("add_mul_relu_sum", "native_layer_norm", "gelu", "softmax", "softmax_backward_data"):
        assert f"fused_{name}_" in kernels or f"fused__{name}_" in kernels


@pytest.mark.slow
@pytest.mark.parametrize("timed", [False, True])
def test_a_tinygrad_script(
    timed: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("tinygrad")
    monkeypatch.setenv("DEV", "CUDA:PTX")
    script = PROGRAMS / "tinygrad_kernels.py"
    ran = run(capfd, sys.executable, script, timed=timed, gpu_chosen=True)
    assert (ran.run.status, ran.printed) == (0, "kernels are right\n")
    assert (ran.run.processes, ran.diagnostics) == (1, [])
    assert len(ran.run.launches) >= 7
    assert all(launch.cycles > 0 for launch in ran.run.launches if timed)
