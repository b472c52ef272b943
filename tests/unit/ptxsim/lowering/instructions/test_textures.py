"""`tex` of PTXPlus: a texture by the name that a `.tex` line declares, all coordinates in one operand."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference

import ptxsim
from ptxsim import Texture
from ptxtool import api
from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_options import launch_from_options
from ptxtool.parse import parse

RUNS = pytest.mark.parametrize(
    "run", [ptxsim.run, ptxsim.launch, run_reference], ids=["run", "launch", "reference"]
)

# thread t: texA[t], and row 1, column t of texB, whose texels have two channels
TEXT = """.version 1.4+
.target sm_10, map_f64_to_f32
.tex .u64 texA;
.tex .u64 texB;
.entry k ( .param .u64 out )
{
	.reg .u32 $r<12>;
	cvt.u32.u16 $r1, $r0.lo;
	mov.u32 $r4, $r1;
	tex.1d.v4.f32.s32 { $r4,_,_,_} , texA,{ $r4,_,_,_};
	cvt.rn.f32.u32 $r5, $r1;
	mov.u32 $r6, 0x3fc00000;
	tex.2d.b32.f32 {$r2,$r3,_,_}, texB, {$r5,$r6};
	shl.u32 $r1, $r1, 0x4;
	add.u32 $r1, s[0x0010], $r1;
	st.global.u32 [$r1], $r4;
	st.global.u32 [$r1+4], $r2;
	st.global.u32 [$r1+8], $r3;
	l_exit: exit;
}
"""


@RUNS
def test_fetches(run: Callable[..., Any]) -> None:
    one, two = np.array([1.5, -2, 8], np.float32), np.arange(24, dtype=np.float32).reshape(3, 4, 2)
    out = np.zeros((4, 4), np.float32)
    textures = {"texA": Texture(one), "texB": Texture(two, channels=2)}
    run(parse(TEXT).kernels["k"], 1, 4, [out], textures=textures)
    # the fourth texel of texA is that of the edge
    assert out.tolist() == [[1.5, 8, 9, 0], [-2, 10, 11, 0], [8, 12, 13, 0], [8, 14, 15, 0]]


@RUNS
def test_textures_that_an_entry_declares(run: Callable[..., Any]) -> None:
    """As decuda's converter printed them: texel (2,1,0) of ref2, and the second channel of texel 1 of ref1."""
    text = """.version 1+
.target compute_10
.entry k ( .param .u64 out )
	.tex  .u64 ref1
	.tex  .u64 ref2
{
	.reg .u32 $r<8>;
	mov.b32 $r1, 0x40000000;
	mov.b32 $r2, 0x3f800000;
	tex.3d.b32.f32 {$r4,_,_,_}, ref2, {$r1,$r2,$r3};
	tex.1d.b32.f32 {_,$r5,_,_}, ref1, {$r2,_,_,_};
	mov.u32 $r6, s[0x0010];
	mov.bb64 g[$r6], {$r4,$r5};
	l_exit: exit;
}
"""
    out = np.zeros(2, np.float32)
    line, cube = (
        np.arange(8, dtype=np.float32).reshape(4, 2),
        np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    )
    run(
        parse(text).kernels["k"],
        1,
        1,
        [out],
        textures={"ref1": Texture(line, channels=2), "ref2": Texture(cube)},
    )
    assert out.tolist() == [6, 3]


def test_a_texture_that_nobody_gave() -> None:
    with pytest.raises(PtxError) as problem:
        ptxsim.run(parse(TEXT).kernels["k"], 1, 4, [np.zeros(16, np.float32)])
    (found,) = problem.value.diagnostics
    assert "texA" in found.message


def test_from_the_command_line() -> None:
    function = parse(TEXT).kernels["k"]
    given = ("texA:texture f32[3]=[1.5, -2, 8]", "texB:texture(linear, channels=2) f32[3,4,2]=np.arange(24)")
    outcome = api.run(function, launch_from_options(function, "1", "4", ["f32[4,4]"], constants=given))
    # between texels 0 and 1 of row 1, then one, two, and at the edge: bytes of filtered neighbours
    assert outcome.buffers[0].array.tolist() == [
        [1.5, 8, 9, 0],
        [-2, 9, 10, 0],
        [8, 11, 12, 0],
        [8, 13, 14, 0],
    ]


def test_from_a_launch_file(tmp_path: Path) -> None:
    (tmp_path / "k.ptxplus").write_text(TEXT)
    launch = tmp_path / "launch.toml"
    launch.write_text(
        'grid = 1\nblock = 4\n[[args]]\nname = "out"\ntype = "f32"\nshape = [4, 4]\nvalue = 0\noutput = true\n'
        '[textures.texA]\ntype = "f32"\nvalue = [1.5, -2, 8]\n'
        '[textures.texB]\ntype = "f32"\nshape = [3, 4, 2]\nvalue = 1\nchannels = 2\n'
        '[[expect]]\narg = "out"\nexpr = "np.array([[1.5, 1, 1, 0], [-2, 1, 1, 0], [8, 1, 1, 0], [8, 1, 1, 0]])"\n'
    )
    outcome = api.run(api.load(tmp_path / "k.ptxplus").kernels["k"], launch)
    assert outcome.problems == ()
