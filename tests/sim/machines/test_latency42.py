"""The L1 and the memory of GPGPU-Sim 4.2 as a warp sees them, apart from the figures of `tests/microkernels`."""

from typing import Any

import numpy as np
import pytest
from microkernels import measure

import ptxsim
import ptxtool

GPU = "gpgpusim42-c2050"


def run(body: str, trips: int, words: Any, **options: Any) -> ptxsim.SimResult:
    """A loop around `body`; %l3 is the buffer, %l1 a lane's place in it, %l2 what it loads."""
    setup = "ld.param.u64 %l3, [p];\n\tmov.u64 %l1, %l3;"
    return measure.run(body, trips, setup, words=words, gpu=GPU, **options)


CHASE = "\tld.global.u64 %l2, [%l1];\n\tadd.u64 %l1, %l2, %l3;\n"


def ring(n_lines: int) -> Any:
    """Offsets of the next line, in a ring of lines."""
    words = np.zeros(16 * n_lines, np.uint64)
    words[::16] = 128 * ((np.arange(n_lines) + 1) % n_lines)
    return words


def test_a_fence_forgets_the_lines_of_the_l1() -> None:
    words = np.zeros(32, np.uint32)
    load = "\tld.global.u32 %r1, [%l3];\n\tadd.u32 %r2, %r1, 1;\n"
    plain = run(load, 5, words)
    fenced = run(load + "\tmembar.gl;\n", 5, words)
    assert (plain.stats["l1d_misses"], fenced.stats["l1d_misses"]) == (1, 5)


def test_an_sm_without_threads_forgets_the_lines_of_its_l1() -> None:
    # the last load is in the pipe before the L1 when its warp exits: nothing waits for it
    words = np.zeros(32, np.uint32)
    result = run("\tld.global.u32 %r1, [%l3];\n", 5, words)
    assert result.stats["l1d_misses"] == 2


def test_event_skip_changes_nothing() -> None:
    results = [run(CHASE * 3, 7, ring(160), grid=20, block=64, event_skip=skip) for skip in (True, False)]
    assert results[0].stats == results[1].stats


DISTANCE = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{
	.reg .b64 %l<4>;
	ld.param.u64 %l1, [p];
	ld.param.u64 %l2, [q];
	sub.u64 %l3, %l2, %l1;
	st.global.u64 [%l1], %l3;
	ret;
}
"""


@pytest.mark.parametrize(("gpu", "expected"), [("tesla-c2050", 1024 + 256), (GPU, (6 << 20) + 1024)])
def test_buffers_side_by_side(gpu: str, expected: int) -> None:
    # 6 MB more: neither bits 8 to 15 of a channel's addresses nor bits up to 19 of the set hash see them
    first, second = np.zeros(128, np.uint64), np.zeros(1, np.uint64)
    ptxsim.launch(ptxtool.parse(DISTANCE, name="d.ptx").kernels["k"], 1, 1, [first, second], gpu=gpu)
    assert int(first[0]) == expected
