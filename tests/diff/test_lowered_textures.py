"""Texture fetches and structures in lowered kernels: right, and with the two faults that the papers' runs had.

`WALK` walks a tree whose nodes are texels, as MUM does: node n is texel (n % 4, n // 4), with the number of the left
child, of the right one, and a key. `BOXES` has its number of rounds in a structure, as lavaMD does.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lowered import lowered
from reference.interpreter import run_reference

import ptxsim
from ptxsim import Texture
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

RUNS = pytest.mark.parametrize(
    "run", [ptxsim.run, ptxsim.launch, run_reference], ids=["run", "launch", "reference"]
)

WALK = """.version 9.0
.target sm_75
.address_size 64
.global .texref named;
.visible .entry walk(.param .u64 tree, .param .u64 out)
{
	.reg .b32 %r<12>;
	.reg .f32 %f<3>;
	.reg .b64 %rd<4>;
	.reg .pred %p<3>;
	ld.param.u64 %rd1, [tree];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 0;
	mov.u32 %r3, 0;
LOOP:
	and.b32 %r4, %r2, 3;
	shr.u32 %r5, %r2, 2;
	cvt.rn.f32.u32 %f1, %r4;
	cvt.rn.f32.u32 %f2, %r5;
	tex.2d.v4.u32.f32 {%r6, %r7, %r8, %r9}, [TREE, {%f1, %f2}];
	setp.gt.u32 %p1, %r1, %r8;
	selp.b32 %r2, %r7, %r6, %p1;
	add.u32 %r3, %r3, 1;
	setp.ne.u32 %p2, %r2, 0;
	setp.lt.and.u32 %p2, %r3, 8, %p2;
	@%p2 bra LOOP;
	mul.wide.u32 %rd3, %r1, 8;
	add.s64 %rd3, %rd2, %rd3;
	st.global.v2.u32 [%rd3], {%r3, %r8};
	ret;
}
"""
# left, right and key of nodes 0 to 6; 0 is the root, and no child
TREE = [(1, 2, 3), (3, 4, 1), (5, 6, 5), (0, 0, 0), (0, 0, 2), (0, 0, 4), (0, 0, 7), (9, 9, 9)]


def tree() -> Texture:
    texels = np.array([(*node, 0) for node in TREE], np.uint32).reshape(2, 4, 4)
    return Texture(texels, channels=4)


def walk(run: Callable[..., Any], kernel: Function, semantics: str) -> list[list[int]]:
    """Per thread, 8 of them, the steps and the last node's key."""
    out = np.full((8, 2), 99, np.uint32)
    run(kernel, 1, 8, [tree(), out], textures={"named": tree()}, ptxplus_semantics=semantics)
    return out.tolist()


@RUNS
@pytest.mark.parametrize("texture", ["%rd1", "named"])
def test_a_tree_of_texels(run: Callable[..., Any], texture: str) -> None:
    """Thread t goes right where it is greater than the key: 0 and 1 end at node 3, 2 and 3 at 4, and so on.

    As the papers ran it: the bits of the root's coordinates are 0, so that its left child, 1, arrives in the first
    component. The bits of 1.0 are far beyond the first row, so that the second fetch is its last texel, whose left
    child is 0. The other components are what their registers had.
    """
    kernel = parse(WALK.replace("TREE", texture)).kernels["walk"]
    expected = [[3, key] for key in (0, 0, 2, 2, 4, 4, 7, 7)]
    assert walk(run, kernel, "hardware") == expected
    assert walk(run, lowered(kernel), "hardware") == expected
    faulty = walk(run, lowered(kernel), "gpgpu-sim")
    assert faulty != expected
    assert faulty[0][0] == 2


BOXES = """.version 9.0
.target sm_75
.address_size 64
.visible .entry boxes(.param .align 8 .b8 grid[24], .param .u64 out)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<4>;
	.reg .pred %p<3>;
	ld.param.u32 %r1, [grid+8];
	ld.param.u64 %rd1, [out];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r5, %tid.x;
	mov.u32 %r3, 0;
	setp.ge.u32 %p1, %r2, %r1;
	@%p1 bra DONE;
	add.u32 %r3, %r5, 1;
DONE:
	mad.lo.u32 %r4, %r2, 4, %r5;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r3;
	ret;
}
"""


@RUNS
def test_a_number_of_boxes_in_a_structure(run: Callable[..., Any]) -> None:
    """Two boxes of three; as the papers ran it, none: of the structure one byte arrives, the number's is another."""
    kernel = parse(BOXES).kernels["boxes"]
    given = np.array([7, 0, 2, 0, 0, 0], np.uint32)
    found = []
    for text, semantics in (
        (kernel, "hardware"),
        (lowered(kernel), "hardware"),
        (lowered(kernel), "gpgpu-sim"),
    ):
        out = np.full((3, 4), 99, np.uint32)
        run(text, 3, 4, [given, out], ptxplus_semantics=semantics)
        found.append(out.tolist())
    assert found[:2] == [[[1, 2, 3, 4], [1, 2, 3, 4], [0] * 4]] * 2
    assert found[2] == [[0] * 4] * 3


VOLUME = """.version 9.0
.target sm_75
.address_size 64
.visible .entry k(.param .texref image, .param .u64 out)
{
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	cvt.rn.f32.u32 %f1, %r1;
	mul.f32 %f2, %f1, 0f3E800000;
	mov.f32 %f3, 0f3F800000;
	tex.3d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [image, {%f2, %f1, %f3, %f3}];
	and.b32 %r2, %r1, 1;
	tex.3d.v4.s32.s32 {%r3, %r4, %r5, %r6}, [image, {%r1, %r2, 1, 0}];
	mul.wide.u32 %rd2, %r1, 16;
	add.s64 %rd2, %rd1, %rd2;
	st.global.v4.f32 [%rd2], {%f4, %f5, %f6, %f7};
	st.global.u32 [%rd2+512], %r4;
	ret;
}
"""


@RUNS
@pytest.mark.parametrize("options", [{}, {"filter": "linear"}, {"address": "border"}])
def test_a_volume_with_an_opaque_parameter(run: Callable[..., Any], options: dict[str, Any]) -> None:
    """Three axes, counted and with fractions: the same memory, bit for bit."""
    kernel = parse(VOLUME).kernels["k"]
    texels = np.random.default_rng(1).normal(size=(3, 5, 4, 2)).astype(np.float32)
    found = []
    for text in (kernel, lowered(kernel)):
        out = np.zeros(32 * 8, np.uint32)
        run(text, 1, 32, [Texture(texels, channels=2, **options), out])
        found.append(out.tobytes())
    assert found[0] == found[1]
    assert any(found[0])
