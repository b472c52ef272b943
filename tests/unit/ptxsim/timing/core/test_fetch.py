"""Which warp fetches next: timing-model section 1.2, and what GPGPU-Sim's runs show beyond it.

The scan begins after the warp that fetched last; a warp that the instruction cache refuses has had its turn, too.
"""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import one_sm, parsed
from microkernels.scheme import EMPTY

import ptxsim
import ptxsim.launcher
import ptxtool
from ptxtool.formats.gpu import Gpu

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"

CLOCKS = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<8>;
	.reg .b64 %l<4>;
	mov.u32 %r1, %clock;
	mov.u32 %r2, %tid.x;
	shr.u32 %r2, %r2, 5;
	mul.wide.u32 %l2, %r2, 4;
	ld.param.u64 %l1, [p];
	add.u64 %l3, %l1, %l2;
	st.global.u32 [%l3], %r1;
	ret;
}
"""


def first_issues(gpu: str, warps: int, **options: Any) -> Any:
    """The cycle in which each warp of a CTA issues its first instruction."""
    clocks = np.zeros(warps, np.uint32)
    kernel = ptxtool.parse(CLOCKS, name="clocks.ptx").kernels["k"]
    ptxsim.launch(kernel, 1, 32 * warps, [clocks], gpu=gpu, **options)
    return clocks.astype(np.int64)


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-c2050"])
def test_warps_fetch_in_turn(gpu: str) -> None:
    # all miss, in turn; when the line is here they get it in the same order, one a cycle
    clocks = first_issues(gpu, 4)
    assert list(clocks - clocks[0]) == [0, 1, 2, 3]


@pytest.mark.parametrize("warps", [35, 40, 47])
def test_a_refused_warp_has_had_its_turn(warps: int) -> None:
    # Warp k misses in cycle k + 1; warp 31 fills the entry. From cycle 33 on one of the others is refused in every
    # cycle, in turn. The line comes two cycles before warp 0 issues; the turn goes on after the 32 warps it serves.
    clocks = first_issues("gpgpusim42-c2050", warps)
    assert list(clocks[:32] - clocks[0]) == list(range(32))
    refused = clocks[0] - 2 - 33
    assert int(np.argmin(clocks[32:])) == refused % (warps - 32)
    assert list(first_issues("gpgpusim42-c2050", warps, event_skip=False)) == list(clocks)


def second_launch(gpu: str | Gpu, grid: int = 1, block: int = 32, launches: int = 2) -> int:
    """Cycles of an empty kernel after launches of the same one."""
    machine = ptxsim.Machine(gpu)
    return [
        machine.launch(parsed(EMPTY), grid, block, [np.zeros(4, np.uint32)], registers=20).cycles
        for _ in range(launches)
    ][-1]


@pytest.mark.parametrize("gpu", [OLD, NEW])
def test_an_empty_kernel_of_one_warp(gpu: str) -> None:
    # TM42 1.8, measured: 10. Launch at the end of cycle 0, fetch 1, decode 2, issue 3, write-back and retirement 9
    assert second_launch(one_sm(gpu)) == 10


@pytest.mark.parametrize(("block", "cycles"), [(32, 209), (256, 1291)])
def test_2240_empty_ctas(block: int, cycles: int) -> None:
    # TM42 1.8, measured; of 8 warps: a fetch a warp
    assert second_launch(NEW, 2240, block) == cycles


@pytest.mark.parametrize(
    ("gpu", "miss"),
    [
        # TM 1.2 (about 145 to issue): request 7 + 1, ROP 120, tags 1, reply of 5 flits 11 + 1, the cluster's FIFO 1;
        # decode and issue, which a hit has as well, are the next 2
        (OLD, 142),
        (NEW, 139),  # TM42 1.2, measured
    ],
)
def test_an_instruction_miss_that_the_l2_holds(gpu: str, miss: int) -> None:
    # the next launch is on the next SM, whose L1I is empty
    assert second_launch(gpu) - second_launch(one_sm(gpu)) == miss
