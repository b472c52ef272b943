"""A run without time: elements that changed, and which arguments are buffers."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import parse_launch
from ptxtool.parse import parse
from ptxtool.runs.functional_runs import changed, run_functional

NUMBERS = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .align 4 .b8 pair[8])
{
	.reg .b32 %r<4>;
	.reg .b64 %d<3>;
	ld.param.u64 %d1, [x];
	ld.param.u32 %r2, [pair+4];
	mov.u32 %r1, %tid.x;
	mad.wide.u32 %d2, %r1, 4, %d1;
	mul.lo.u32 %r3, %r1, %r2;
	st.global.u32 [%d2], %r3;
	ret;
}
"""
LAUNCH = """grid = 1
block = 4
[[args]]
name = "x"
type = "u32"
value = [5, 5, 10, 5]
output = true
[[args]]
name = "pair"
type = "u32"
value = [1, 5]
[[expect]]
arg = "x"
expr = "np.array([0, 5, 10, 16])"
"""


@pytest.mark.parametrize(
    ("before", "after", "n"),
    [
        (np.zeros(3, np.float32), np.array([0, -0.0, 0], np.float32), 1),
        (np.array([np.nan, 1.0]), np.array([np.nan, 1.0]), 0),
        (np.zeros(2, np.uint32), np.array([0xFFFFFFFF, 0], np.uint32), 1),
        (np.zeros((2, 3), np.uint8), np.array([[1, 0, 0], [0, 2, 3]], np.uint8), 3),
    ],
)
def test_elements_have_changed_where_their_bytes_have(before: np.ndarray, after: np.ndarray, n: int) -> None:
    assert changed(before, after) == n


def test_arguments_by_value_are_no_buffers_and_results_are_compared() -> None:
    # thread t stores 5 * t: 0, 5, 10, 15, of which the second and third were there before
    launch = parse_launch(Source("launch.toml", LAUNCH), Path())
    outcome = run_functional(parse(NUMBERS).kernels["k"], launch)
    assert [(b.name, b.changed) for b in outcome.buffers] == [("x", 2)]
    assert outcome.buffers[0].array.tolist() == [0, 5, 10, 15]
    assert outcome.checked == ("x",)
    (wrong,) = outcome.wrong
    assert (wrong.code, "[3]: got 15, expected 16" in wrong.message) == ("E409", True)
    assert launch.inputs[0].fresh().tolist() == [5, 5, 10, 5]
