"""Registers accessed in 1000 instructions of an SM: shares worked out by hand."""

import numpy as np
import pytest
from kernels import sample

import ptxsim
from ptxtool.parse import parse
from ptxtool.results.hotspots import RegisterUse

LOOP = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u32 n)
{
	.reg .u32 %r<6>;
	.reg .pred %p<2>;
	mov.u32 %r1, %tid.x;
	setp.gt.u32 %p1, %r1, 31;
	@%p1 bra DONE;
	ld.param.u32 %r2, [n];
TRIP:
	add.u32 %r3, %r4, %r3;
	sub.u32 %r2, %r2, 1;
	setp.ne.u32 %p0, %r2, 0;
	@%p0 bra TRIP;
DONE:
	BARRIER
	ret;
}
"""


def use(text: str, trips: int, block: int = 64, grid: int = 1, registers: int = 8) -> RegisterUse | None:
    kernel = parse(text).kernels["k"]
    found = ptxsim.launch(
        kernel, grid, block, [np.uint32(trips)], registers=registers, hotspots=True
    ).hotspots
    assert found is not None
    return found.register_use


def test_a_warp_that_has_left_counts_in_the_window_in_which_it_issued() -> None:
    """Window 1: %r1 to %r4 of warp 0 and %r1 of warp 1, of 16; then %r2 to %r4 of the 8 of warp 0."""
    text = LOOP.replace("BARRIER", "")
    assert use(text, 700) == RegisterUse(1000, 2, pytest.approx((31.25 + 37.5) / 2), 31.25, 37.5)


def test_a_warp_that_waits_has_its_registers() -> None:
    """Then 3 of the 16 of both."""
    found = use(LOOP.replace("BARRIER", "bar.sync 0;"), 1200)
    assert found == RegisterUse(1000, 4, pytest.approx((31.25 + 3 * 18.75) / 4), 18.75, 31.25)


def test_every_sm_has_windows_of_its_own() -> None:
    """Two CTAs of one warp on two SMs: 4 of 8, then 3 of 8. A window that is not full is left out."""
    text = LOOP.replace("BARRIER", "")
    assert use(text, 700, block=32, grid=2) == RegisterUse(1000, 4, pytest.approx(43.75), 37.5, 50.0)
    assert use(text, 200, block=32, grid=2) is None


def test_virtual_registers_count_as_the_ones_that_they_are_assigned() -> None:
    """Three names for each value of the loop are one register; %r1 is dead when the others begin."""
    text = LOOP.replace("BARRIER", "").replace("%r<6>", "%r<900>").replace("%r1,", "%r801,")
    body = "".join(f"\tadd.u32 %r{k}, %r2, {k};\n\tadd.u32 %r3, %r3, %r{k};\n" for k in range(600, 603))
    found = use(text.replace("\tadd.u32 %r3, %r4, %r3;\n", body), 500, block=32, registers=6)
    assert found is not None
    assert (found.least, found.most) == (50.0, 50.0)  # the counter, the sum, and one of the three at a time


@pytest.mark.parametrize("scheme", ["none", "finereg"])
def test_shares_are_of_the_warps_in_the_pipeline(scheme: str) -> None:
    launch, kernel = sample("stencil")
    registers = {"registers": launch.registers, "dynamic_shared": launch.dynamic_shared}
    found = ptxsim.launch(
        kernel,
        launch.grid,
        launch.block,
        launch.arguments(),
        gpu="gtx980-finereg",
        scheme=scheme,
        hotspots=True,
        **registers,
    )
    assert found.hotspots is not None
    used = found.hotspots.register_use
    assert used is not None
    assert 0 < used.least <= used.mean <= used.most <= 100
    assert found.warp_instructions - 16 * 1000 < 1000 * used.windows <= found.warp_instructions
