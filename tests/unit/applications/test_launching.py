"""Launches of a process: simulated time, limits, cooperative ones, and the end of the process in the middle."""

import struct
import time

import pytest

from ptxsim.launch_options import LaunchOptions
from ptxsim.loaded_modules import LoadedKernel
from ptxsim.machine import Machine
from ptxtool.applications.launching import Launcher
from ptxtool.applications.protocol import Error, Gone
from ptxtool.applications.reporter import Reporter
from ptxtool.applications.sampling import Sampling
from ptxtool.applications.settings import Settings
from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.formats.gpu import load_gpu

TEXT = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry wait(.param .u32 n)
{
	.reg .u32 %r<3>;
	.reg .pred %p;
	ld.param.u32 %r1, [n];
	mov.u32 %r2, 0;
again:
	add.u32 %r2, %r2, 1;
	setp.lt.u32 %p, %r2, %r1;
	@%p bra again;
	ret;
}
"""


class Process:
    """A launcher, its kernel, and what it told."""

    def __init__(self, timed: bool = False, gone: bool = False, sim_launches: str | None = None):
        self.told: list[Diagnostic | str] = []
        gpu = load_gpu("tesla-c2050")
        settings = Settings(gpu, LaunchOptions(), timed=timed)
        machine = Machine(gpu, memory=1 << 20)
        reporter = Reporter(self.told.append)
        if sim_launches is not None:
            reporter.sampling = Sampling.of(sim_launches, gpu)
        self.launcher = Launcher(settings, reporter, machine, lambda: gone)
        self.kernel: LoadedKernel = machine.load(TEXT, "wait.ptx").kernels["wait"]

    def launch(self, n: int, *, grid: int = 1, cooperative: bool = False) -> int:
        extents = (grid, 1, 1), (32, 1, 1)
        code, printed = self.launcher.launch(
            self.kernel, *extents, struct.pack("<I", n), dynamic_shared=0, cooperative=cooperative
        )
        assert printed == ""
        return code


def test_seconds_without_time_are_those_of_the_instructions() -> None:
    process = Process()
    for launches in (1, 2):
        assert process.launch(5) == Error.SUCCESS
        # 3 instructions outside of the loop and 3 in each of its 5 turns, on 14 SMs at 575 MHz
        assert process.launcher.seconds == pytest.approx(launches * 18 / (14 * 575e6))


def test_seconds_with_time_are_those_of_the_cycles() -> None:
    process = Process(timed=True)
    assert process.launch(5) == Error.SUCCESS
    (launch,) = process.launcher.reporter.launches
    assert launch.cycles > 18
    assert process.launcher.seconds == pytest.approx(launch.cycles / 575e6)


def test_some_launches_are_simulated_and_the_others_estimated() -> None:
    process = Process(timed=True, sim_launches="2-3")
    for _ in range(4):
        assert process.launch(5) == Error.SUCCESS
    early, second, third, late = process.launcher.reporter.launches
    assert [launch.warp_instructions for launch in (early, second, third, late)] == [18] * 4
    assert (early.cycles, early.seconds) == (0, pytest.approx(18 / (14 * 575e6)))
    assert not second.is_estimated
    assert (late.cycles, late.is_estimated) == (third.cycles, True)
    assert second.cycles > third.cycles > 18  # which finds its code in the caches
    assert process.launcher.seconds == pytest.approx(
        early.seconds + (second.cycles + 2 * third.cycles) / 575e6
    )
    completed = process.launcher.reporter.all_launches()
    error = (second.cycles - third.cycles) / third.cycles
    assert [launch.cycles for launch in completed] == [
        third.cycles,
        second.cycles,
        third.cycles,
        third.cycles,
    ]
    assert [launch.uncertainty for launch in completed] == [
        pytest.approx(error),
        None,
        None,
        pytest.approx(error),
    ]


def test_launches_that_are_alike_stand_for_one_another() -> None:
    process = Process(timed=True, sim_launches="similar")
    for n in (5, 5, 5, 50, 5):
        assert process.launch(n) == Error.SUCCESS
    launches = process.launcher.reporter.launches
    assert [launch.is_estimated for launch in launches] == [False, False, True, False, True]
    assert [launch.warp_instructions for launch in launches] == [18, 18, 18, 153, 18]


def test_a_cooperative_launch_is_resident_at_once() -> None:
    process = Process(timed=True)
    assert process.launch(1, grid=14 * 8, cooperative=True) == Error.SUCCESS
    assert process.launch(1, grid=14 * 8 + 1, cooperative=True) == 720  # cudaErrorCooperativeLaunchTooLarge
    assert "holds 112 of them at once" in str(process.told[-1])
    assert process.launch(1, grid=14 * 8 + 1) == Error.SUCCESS


def test_variables_are_laid_out_once_for_every_size_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of a module take longer than the answer: programs ask for all sizes."""
    from ptxsim.lowering import variable_layout

    process, laid_out, lay_out = Process(), [], variable_layout.lay_out
    monkeypatch.setattr(variable_layout, "lay_out", lambda kernel: laid_out.append(kernel) or lay_out(kernel))
    function = process.kernel.function
    assert [process.launcher.resident(function, 32 * n, 0) for n in (1, 6, 12, 24)] == [8, 8, 4, 2]
    assert process.launcher.static_bytes(function) == (0, 0)
    assert laid_out == [function]


def test_limits() -> None:
    process = Process()
    process.launcher.limit("stack_bytes", 1 << 12)
    with pytest.raises(PtxError, match="stack_bytes"):
        process.launcher.limit("stack_bytes", 1 << 50)
    assert process.launch(1) == Error.SUCCESS


def test_the_process_ends_in_a_launch() -> None:
    process = Process(gone=True)
    since = time.monotonic()
    with pytest.raises(Gone):
        process.launch(2_000_000_000)
    assert time.monotonic() - since < 300
    assert process.told[-1] == (
        "ptxtool exec: launch 1, wait, grid 1x1x1, block 32x1x1: the process has ended, and so has the launch"
    )
    assert process.launcher.reporter.launches == []
