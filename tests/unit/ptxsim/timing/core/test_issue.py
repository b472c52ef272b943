"""Issue: which warp each scheduler has, and which port an instruction gets (timing-model section 1.3)."""

from typing import Any
from unittest import mock

import pytest
from microkernels.measure import lines, one_sm, parsed, rate, run, slope

import ptxsim
import ptxsim.launcher
from ptxtool.formats.settings import with_settings

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


def state_of(body: str, **options: Any) -> Any:
    """What a run of a loop around `body` leaves in the records of its SMs."""
    kept: list[Any] = []
    drive = ptxsim.launcher.drive

    def keep(simulation: Any, *rest: Any) -> int:
        kept.append(simulation)
        return drive(simulation, *rest)

    with (
        mock.patch.object(ptxsim.launcher, "drive", keep),
        mock.patch.object(ptxsim.launcher.Simulation, "recycle"),
    ):
        run(body, **options)
    return kept[0].sms


def test_a_warp_belongs_to_scheduler_w_modulo_their_number() -> None:
    # of warps 0 to 4 those with an odd number leave before the loop
    odd = "mov.u32 %r1, %tid.x;\n\tand.b32 %r1, %r1, 32;\n\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 ret;"
    (sm,) = state_of("add.f32 %f1, %f1, %f2;", trips=50, setup=odd, block=160, gpu=one_sm(OLD))
    issued = sm["slots"][:2, 3:].sum(axis=1)
    before, loop, after = 5, 50 * 4, 1
    assert list(issued) == [3 * (before + loop + after), 2 * before]


_LOADS = "\n\t".join(f"ld.shared.u32 %r{k}, [%r1];" for k in range(4, 28))


_TWO_LOOPS = f"""
.version 4.0
.target sm_35
.address_size 64
.visible .entry k()
{{
	.reg .pred %p<2>;
	.reg .b32 %r<40>;
	.shared .align 128 .b32 tile[64];
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p1, %r1, 32;
	and.b32 %r1, %r1, 31;
	mul.lo.u32 %r1, %r1, 4;
	mov.u32 %r2, tile;
	add.u32 %r1, %r1, %r2;
	@%p1 bra SECOND;
FIRST:
	{_LOADS}
	bra FIRST;
SECOND:
	{_LOADS}
	bra SECOND;
}}
"""


@pytest.mark.parametrize(
    ("gpu", "share"),
    [
        # scheduler 0 is always first: warp 0 issues what it can fetch, 2 in 3 cycles, and warp 1 has what is left
        (OLD, 2 / 3),
        (NEW, 1 / 2),  # TM42 1.3: each in turn
    ],
)
def test_two_schedulers_share_the_only_port_of_memory(gpu: str, share: float) -> None:
    # warps 0 and 1, of two schedulers, load from shared memory all the time; the port takes one load a cycle
    kernel = parsed(_TWO_LOOPS)
    issues = ptxsim.launch(kernel, 1, 64, [], gpu=one_sm(gpu), max_cycles=5000).issues
    loads = [n for n, i in zip(issues, kernel.instructions, strict=True) if i.opcode.base == "ld"]
    first, second = sum(loads[:24]), sum(loads[24:])
    assert first / (first + second) == pytest.approx(share, abs=0.025)  # the branches cost something


def test_products_of_floats_go_to_the_sfu_where_the_sps_are_full() -> None:
    # a max holds its SP for two cycles: with an add after each, 2 SPs pass 2 x 2 instructions in 3 cycles; with a
    # product after each, the SFU passes some of these
    def pairs(second: str) -> float:
        return rate(f"max.f32 %f1, %f17, %f18;\n\t{second} %f3, %f19, %f20;", 48, 4, 12)()

    assert 1.15 < pairs("add.f32") <= 4 / 3
    assert pairs("mul.f32") > 4 / 3


@pytest.mark.parametrize(("per_warp", "cycles_of_32"), [(2, 28), (1, 32)])
def test_two_instructions_of_a_warp_for_different_units(per_warp: int, cycles_of_32: int) -> None:
    # Pascal: seven moves and a reciprocal; the I-buffer has them two by two, and only the last two are of two classes
    moves = lines("mov.u32 %r{a}, %r1;", 7)
    body = "\n\t".join(f"{moves}\n\trcp.approx.f32 %f{k}, %f17;" for k in range(1, 5))
    gpu = with_settings(one_sm("gpgpusim42-titanx"), [f"pipeline.issue_per_warp={per_warp}"])
    assert slope(body, few=1, many=3, gpu=gpu) == cycles_of_32
