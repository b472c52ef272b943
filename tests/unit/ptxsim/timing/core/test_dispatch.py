"""CTA dispatch: which SM and which slots each CTA gets (timing-model section 1.8)."""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.measure import parsed, run

import ptxsim
import ptxsim.launcher
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


_PLACES = """
.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>;
	.reg .b64 %l<4>;
	ld.param.u64 %l1, [p];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ctaid.y;
	mov.u32 %r3, %ctaid.z;
	mad.lo.u32 %r1, %r2, 3, %r1;
	mad.lo.u32 %r1, %r3, 6, %r1;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.u32 %r1, %r1, %r4, %r5;
	mul.wide.u32 %l2, %r1, 8;
	add.s64 %l1, %l1, %l2;
	mov.u32 %r6, %smid;
	mov.u32 %r7, %warpid;
	st.global.v2.u32 [%l1], {%r6, %r7};
	ret;
}
"""


@pytest.mark.parametrize(("gpu", "first"), [(OLD, 1), (NEW, 0)])
def test_ctas_go_round_the_sms_in_x_then_y_then_z(gpu: str, first: int) -> None:
    places = np.zeros((4 * 2 * 3, 96, 2), np.uint32)
    ptxsim.launch(parsed(_PLACES), (3, 2, 4), 96, [places], gpu=gpu, registers=16)
    sms = [(first + n) % 14 for n in range(24)]
    assert places[:, 0, 0].tolist() == sms
    # the slots of an SM in order, three warps each: the second CTA of an SM has warps 3, 4 and 5
    assert places[:, ::32, 1].tolist() == [[3 * (n // 14) + w for w in range(3)] for n in range(24)]


def test_of_the_sms_at_a_port_one_takes_a_cta_in_a_cycle() -> None:
    """GPGPU-Sim's clusters of two cores: 0, 2, ..., 12 in the first cycle, 1, 3, ..., 13 in the second."""
    gpu = with_settings(load_gpu(NEW), ["icnt.sms_per_port=2"])
    places = np.zeros((24, 32, 2), np.uint32)
    ptxsim.launch(parsed(_PLACES), 24, 32, [places], gpu=gpu, registers=16)
    turn = [*range(0, 14, 2), *range(1, 14, 2)]
    assert places[:, 0, 0].tolist() == (turn + turn)[:24]


@pytest.mark.parametrize("skip", [True, False])
def test_a_launch_takes_its_time_before_the_first_cta(skip: bool) -> None:
    # 100 cycles, and 2 for each of 24 CTAs; nothing goes to DRAM, whose clock runs meanwhile
    def cycles(launch: int, cta: int) -> int:
        settings = [f"dispatch.launch_cycles={launch}", f"dispatch.cta_launch_cycles={cta}"]
        gpu = with_settings(load_gpu("gpgpusim42-qv100"), settings)
        return int(run("add.f32 %f1, %f1, %f2;", grid=24, gpu=gpu, event_skip=skip).cycles)

    assert cycles(100, 2) == cycles(0, 0) + 148


def test_a_small_grid_spreads_over_the_sms() -> None:
    # 20 CTAs: at most ceil(20 / 14) on an SM, of which 8 could hold all
    places = np.zeros((20, 32, 2), np.uint32)
    ptxsim.launch(parsed(_PLACES), 20, 32, [places], gpu=OLD, registers=16)
    assert sorted(np.bincount(places[:, 0, 0], minlength=14)) == [1] * 8 + [2] * 6


@pytest.mark.parametrize("skip", [True, False])
def test_more_sms_than_a_word_has_bits(skip: bool) -> None:
    gpu = with_settings(load_gpu(OLD), ["sm.count=128"])
    places = np.zeros((300, 32, 2), np.uint32)
    ptxsim.launch(parsed(_PLACES), 300, 32, [places], gpu=gpu, registers=16, event_skip=skip)
    # in turn from SM 1 on, of which every one has room for more than three
    assert places[:, 0, 0].tolist() == [(1 + n) % 128 for n in range(300)]


def test_a_run_of_128_sms_is_the_same_with_every_cycle() -> None:
    launch, kernel = sample("saxpy")
    options: dict[str, Any] = {
        "gpu": with_settings(load_gpu("gtx980-finereg"), ["sm.count=128"]),
        "registers": launch.registers,
    }
    found, memory = [], []
    for skip in (True, False):
        arguments = launch.arguments()
        result = ptxsim.launch(kernel, launch.grid, launch.block, arguments, event_skip=skip, **options)
        found.append(result.to_dict())
        memory.append(arguments)
    assert found[0] == found[1]
    expected = launch.arguments()
    ptxsim.run(kernel, launch.grid, launch.block, expected)
    for arguments in memory:
        for got, want in zip(arguments, expected, strict=True):
            assert np.array_equal(got, want)
