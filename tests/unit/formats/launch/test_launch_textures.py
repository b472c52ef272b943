"""Textures and surfaces in launch files: what is read, what a run makes of them, and every mistake."""

from pathlib import Path

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, check_arguments, parse_launch
from ptxtool.parse import parse
from ptxtool.runs.launch_inputs import simulator_value

KERNEL = """.version 8.0
.target sm_75
.address_size 64
.global .texref image;
.visible .entry k(.param .u64 t, .param .u64 s, .param .u64 q)
{
	.reg .b32 %r<8>;
	.reg .f32 %f<8>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [t];
	ld.param.u64 %d2, [s];
	ld.param.u64 %d3, [q];
	mov.u32 %r1, %tid.x;
	cvt.rn.f32.u32 %f5, %r1;
	tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}];
	tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f6}, [image, {%f5}];
	add.f32 %f1, %f1, %f2;
	shl.b32 %r2, %r1, 2;
	sust.b.1d.b32.trap [%d2, {%r2}], {%f1};
	mad.wide.u32 %d4, %r1, 4, %d3;
	st.global.f32 [%d4], %f1;
	ret;
}
"""
TEXT = """grid = 1
block = 4

[[args]]
name = "t"
type = "f32"
value = [1.0, 2.0, 3.0, 4.0]
texture = { filter = "linear" }

[[args]]
name = "s"
type = "f32"
count = 4
output = true
surface = {}

[[args]]
name = "q"
type = "f32"
count = 4
output = true

[textures.image]
type = "u8"
value = [0, 255, 0, 255]
read = "normalized"

[[expect]]
arg = "s"
expr = "np.array([1.0, 2.5, 2.5, 4.5])"

[[expect]]
arg = "q"
expr = "np.array([1.0, 2.5, 2.5, 4.5])"
"""


def read(text: str = TEXT) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def test_what_is_read() -> None:
    launch = read()
    texture, surface, buffer = (i.opaque for i in launch.inputs)
    assert texture is not None
    assert (texture.kind, dict(texture.options)) == ("texture", {"filter": "linear"})
    assert surface is not None
    assert (surface.kind, dict(surface.options)) == ("surface", {})
    assert buffer is None
    (named,) = launch.texture_inputs
    assert named.name == "image"
    assert named.opaque is not None
    assert dict(named.opaque.options) == {"read": "normalized"}


@pytest.mark.parametrize("timed", [False, True])
def test_runs(timed: bool) -> None:
    # coordinate k: half of texels k - 1 and k of the filtered one, and texel k of the other
    from ptxtool.runs.functional_runs import run_functional
    from ptxtool.runs.launch_runs import run_launch

    kernel = parse(KERNEL).kernels["k"]
    problems = run_launch(kernel, read()).problems if timed else run_functional(kernel, read()).problems
    assert [str(p) for p in problems] == []


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ('filter = "linear"', 'filter = "cubic"', "'cubic' is no filter", 8),
        ('filter = "linear"', "sampler = 1", "unknown key 'sampler'", 8),
        ('filter = "linear"', 'address = ["wrap", "none"]', "no address mode", 8),
        ('filter = "linear"', "normalized = 1", "'normalized' must be true or false", 8),
        ('filter = "linear"', "channels = 3", "'3' channels", 8),
        ('filter = "linear"', 'compare = "below"', "'below' is no compare", 8),
        ('filter = "linear"', "samples = 0", "'0' samples", 8),
        ('filter = "linear"', "samples = true", "'True' samples", 8),
        ('{ filter = "linear" }', '"linear"', "'texture' must be a table", 8),
        ("value = [1.0, 2.0, 3.0, 4.0]", "value = 1.0", "scalar 't' cannot be a texture", 8),
        ("surface = {}", "surface = {}\ntexture = {}", "a texture and a surface", 15),
        ("surface = {}", 'surface = { filter = "point" }', "unknown key 'filter'", 15),
        ('read = "normalized"', 'read = "half"', "'half' is no read", 23),
        ("value = [0, 255, 0, 255]", "value = 1", "scalar 'image' cannot be a texture", 23),
    ],
)
def test_mistakes(old: str, new: str, message: str, line: int) -> None:
    with pytest.raises(PtxError) as caught:
        read(TEXT.replace(old, new))
    (problem,) = caught.value.diagnostics
    assert message in problem.message
    assert problem.help
    assert problem.code == "E502"
    assert f"launch.toml:{line}:" in str(problem)


def test_a_texture_for_another_parameter() -> None:
    kernel = parse(KERNEL.replace(".param .u64 t,", ".param .f32 t,")).kernels["k"]
    (problem,) = check_arguments(read(), kernel)
    assert "argument 't' for parameter '.f32 t' is a texture" in problem.message


def test_what_no_texture_can_be_made_of() -> None:
    from ptxtool.runs.functional_runs import run_functional

    launch = read(TEXT.replace('filter = "linear"', "channels = 4"))
    with pytest.raises(PtxError) as caught:
        run_functional(parse(KERNEL).kernels["k"], launch)
    (problem,) = caught.value.diagnostics
    assert problem.code == "E401"
    assert "launch.toml:8:" in str(problem)


MAP_KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 out)
{
	.reg .pred %p;
	.reg .b64 %d<4>;
	.shared .align 128 .b8 tile[128];
	.shared .align 8 .b64 bar;
	mov.b64 %d1, map;
	cvta.param.u64 %d1, %d1;
	ld.param.u64 %d2, [out];
	mbarrier.init.shared.b64 [bar], 1;
	mbarrier.arrive.expect_tx.shared.b64 _, [bar], 32;
	cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%d1, {2, 1}], [bar];
L:
	mbarrier.try_wait.parity.shared.b64 %p, [bar], 0;
	@!%p bra L;
	cp.async.bulk.global.shared::cta.bulk_group [%d2], [tile], 32;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
	ret;
}
"""
MAP_TEXT = """grid = 1
block = 1

[[args]]
name = "m"
type = "u32"
range = [0, 32]
tensor_map = { box = [4, 2], sizes = [8, 4], strides = [32] }

[[args]]
name = "q"
type = "u32"
count = 8
output = true
"""


def test_a_tensor_map(tmp_path: Path) -> None:
    """Rows of 8 numbers from 0 on: the box at column 2 of row 1 has 10 to 13 and 18 to 21."""
    launch = parse_launch(Source("l.toml", MAP_TEXT), tmp_path)
    kernel = parse(MAP_KERNEL).kernels["k"]
    assert not check_arguments(launch, kernel)
    values = [simulator_value(launch, i, i.fresh()) for i in launch.inputs]
    ptxsim.run(kernel, 1, 1, values)
    assert isinstance(values[1], np.ndarray)
    assert values[1].tolist() == [10, 11, 12, 13, 18, 19, 20, 21]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{ box = [4, 2], sizes = [8, 4], strides = [32] }", "{}", "a tensor map without a box"),
        (
            "{ box = [4, 2], sizes = [8, 4], strides = [32] }",
            "{ box = 4 }",
            "'box' must be a list of whole numbers",
        ),
        (
            "{ box = [4, 2], sizes = [8, 4], strides = [32] }",
            "{ box = [4, 2], swizzle = 128 }",
            "'swizzle' must be a text",
        ),
        (
            "{ box = [4, 2], sizes = [8, 4], strides = [32] }",
            "{ box = [4, 2], filter = 1 }",
            "unknown key 'filter'",
        ),
    ],
)
def test_mistakes_in_a_tensor_map(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(PtxError) as caught:
        parse_launch(Source("l.toml", MAP_TEXT.replace(old, new)), tmp_path)
    assert message in str(caught.value)


def test_a_tensor_map_for_another_parameter(tmp_path: Path) -> None:
    launch = parse_launch(Source("l.toml", MAP_TEXT), tmp_path)
    kernel = parse(MAP_KERNEL.replace("map[128]", "map[64]")).kernels["k"]
    (problem,) = check_arguments(launch, kernel)
    assert problem.code == "E401"
    assert "is a tensor map" in problem.message
