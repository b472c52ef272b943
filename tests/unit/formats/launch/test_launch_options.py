"""`--grid`, `--block` and `--arg` as a launch."""

from pathlib import Path

import numpy as np
import pytest

import ptxtool
from ptxtool.base.diag import PtxError
from ptxtool.formats.launch.launch_file import check_arguments
from ptxtool.formats.launch.launch_options import launch_from_options

KERNEL = ptxtool.parse(
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".entry k(.param .u64 _Z1kPf_param_0, .param .f32 scale, .param .u32 n)\n{\nret;\n}\n"
).kernels["k"]


def launch(*args: str, grid: str = "2", block: str = "32", folder: Path | None = None):
    return launch_from_options(KERNEL, grid, block, args, folder=folder)


def test_sizes():
    made = launch("f32[4]", "1", "2", grid="3,4", block="8x4x2")
    assert (made.grid, made.block) == ((3, 4, 1), (8, 4, 2))


def test_sizes_between_any_white_space():
    assert launch("f32[4]", "1", "2", grid=" 3 ,\x1f4\x1c", block="8").grid == (
        3,
        4,
        1,
    )  # `int` takes no \x1f


def test_arguments_take_the_names_and_types_of_the_parameters():
    made = launch("f32[2,3]", "0.5", "7")
    assert [(i.name, i.type) for i in made.inputs] == [("param_0", "f32"), ("scale", "f32"), ("n", "u32")]
    buffer, scale, n = made.arguments()
    assert buffer.shape == (2, 3)
    assert not buffer.any()
    assert (scale, n) == (np.float32(0.5), 7)
    assert isinstance(n, np.uint32)


def test_bits_of_a_number():
    assert launch("f32[1]", "0x3f800000", "0x10").arguments()[1:] == [1.0, 16]


def test_expressions_see_earlier_arguments():
    buffer, _, n = launch("x:s32[4]=np.arange(4) * 2", "1", "3").arguments()
    assert buffer.tolist() == [0, 2, 4, 6]
    assert n == 3


@pytest.mark.parametrize(("kind", "low", "high"), [("f32", 0, 1), ("u8", 0, 255), ("s16", -32768, 32767)])
def test_random_numbers_fill_the_type(kind, low, high):
    first, again, other = (
        launch(f"{kind}[4096]={text}", "1", "1").arguments()[0]
        for text in ("random", "random(0)", "random(1)")
    )
    assert (first == again).all()
    assert (first != other).any()
    assert low <= first.min() < first.max() <= high
    spread = float(first.max()) - float(first.min())
    assert spread > 0.9 * (high - low)


def test_a_file_brings_its_type(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(6, dtype=np.int16).reshape(2, 3))
    made = launch("a.npy", "1", "1", folder=tmp_path)
    assert made.inputs[0].type == "s16"
    assert made.arguments()[0].tolist() == [[0, 1, 2], [3, 4, 5]]


STRUCTS = ptxtool.parse(
    ".version 7.0\n.target sm_70\n.address_size 64\n.const .align 4 .b8 weights[12];\n.global .u32 flag;\n"
    ".entry k(.param .align 8 .b8 s[32], .param .u64 t, .param .align 2 .b8 h[2])\n{\nret;\n}\n"
).kernels["k"]


def structs(*args: str, constants: tuple[str, ...] = ()):
    return launch_from_options(STRUCTS, "1", "1", args, constants=constants)


def test_structures_by_value():
    """Members at multiples of their sizes: f32 at 0, f64 at 8, two u16 at 16, u8 at 20, padding up to 24 and 32."""
    made = structs("p:{f32 0.5, f64 -2, u16 1 0xffff, u8 7, s64 -1}", "u8[1]", "{f16 1.5}")
    assert check_arguments(made, STRUCTS) == ()
    struct, _, half = made.arguments()
    assert struct.tobytes() == bytes.fromhex(
        "0000003f 00000000 00000000000000c0 0100ffff 07000000 ffffffffffffffff"
    )
    assert half.view(np.float16).tolist() == [1.5]
    assert [i.name for i in made.inputs] == ["p", "t", "h"]


def test_textures():
    made = structs(
        "{u64 1 2 3 4}", "t:texture(linear, address=wrap, normalized, channels=2) f32[4,4,2]=1", "{u16 1}"
    )
    opaque = made.inputs[1].opaque
    assert opaque is not None
    assert (opaque.kind, dict(opaque.options)) == (
        "texture",
        {"filter": "linear", "address": "wrap", "normalized": True, "channels": 2},
    )
    assert made.arguments()[1].shape == (4, 4, 2)
    plain = structs("{u64 1 2 3 4}", "surface u8[8]=?", "{u16 1}").inputs[1].opaque
    assert plain is not None
    assert (plain.kind, dict(plain.options)) == ("surface", {})


def test_variables_of_the_module():
    made = structs(
        "{u64 1 2 3 4}", "u8[1]", "{u16 1}", constants=("weights:f32[3]=[0.25, 0.5, 0.25]", "flag:7")
    )
    assert made.constants()["weights"].tolist() == [0.25, 0.5, 0.25]
    assert made.constants()["flag"] == np.uint32(7)


@pytest.mark.parametrize(
    ("args", "constants", "code", "reported"),
    [
        (("1", "u8[1]", "1"), (), "E401", "'1' is a number, but parameter '.b8 s' is a structure by value"),
        (("{f32 x}", "u8[1]", "{u16 1}"), (), "E502", "'{f32 x}' is none of the forms"),
        (("{f32}", "u8[1]", "{u16 1}"), (), "E502", "none of the forms"),
        (("{f31 1}", "u8[1]", "{u16 1}"), (), "E502", "'f31' where an element type must stand"),
        (("{u8 300}", "u8[1]", "{u16 1}"), (), "E502", "300 does not fit"),
        (("{u8 3}", "texture(nearest) f32[4]", "{u16 1}"), (), "E502", "unknown key 'nearest'"),
        (("{u8 3}", "texture(filter=cubic) f32[4]", "{u16 1}"), (), "E502", "'cubic' is no filter"),
        (("{u8 3}", "texture(a b) f32[4]", "{u16 1}"), (), "E502", "none of the forms"),
        (("{u8 3}", "texture 5", "{u16 1}"), (), "E502", "cannot be a texture"),
        (("{u8 3}", "u8[1]", "{u16 1}"), ("f32[3]=1",), "E502", "'f32[3]=1' has no name"),
        (("{u8 3}", "u8[1]", "{u16 1}"), ("flag:u32[1]=?",), "E502", "none of the forms"),
        (("{u8 3}", "u8[1]", "{u16 1}"), ("flag:x",), "E502", "none of the forms"),
    ],
)
def test_what_can_be_wrong_with_these(args, constants, code, reported):
    with pytest.raises(PtxError) as caught:
        structs(*args, constants=constants)
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert reported in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].help


@pytest.mark.parametrize(
    ("args", "code", "reported"),
    [
        (("f32[4]",), "E401", "3 arguments, 1 given"),
        (("f32[4]", "1", "2", "3"), "E401", "3 arguments, 4 given"),
        (("f32[]", "1", "2"), "E502", "none of the forms"),
        (("f32[0]", "1", "2"), "E502", "positive whole numbers"),
        (("f32[4]=", "1", "2"), "E502", "none of the forms"),
        (("f32[4]=1 +", "1", "2"), "E502", "argument 'param_0'"),
        (("f32[4]", "one", "2"), "E502", "none of the forms"),
        (("f32[4]", "1", "1.5"), "E502", "whole numbers"),
        (("f32[4]", "1", "-1"), "E502", "does not fit"),
        (("f32[4]", "1.2.3", "2"), "E502", "none of the forms"),
        (("9x:f32[4]", "1", "2"), "E502", "none of the forms"),
        (("a:f32[4]", "a:1", "2"), "E502", "two arguments named 'a'"),
    ],
)
def test_what_can_be_wrong(args, code, reported):
    with pytest.raises(PtxError) as caught:
        launch(*args)
    assert [d.code for d in caught.value.diagnostics] == [code]
    assert reported in caught.value.diagnostics[0].message
    assert caught.value.diagnostics[0].help


def test_an_equals_sign_after_a_name_has_what_was_meant():
    with pytest.raises(PtxError) as caught:
        launch("f32[4]", "n=64", "2")
    assert caught.value.diagnostics[0].help.startswith("did you mean 'n:64'? forms are")
    with pytest.raises(PtxError) as caught:
        launch("f32[4]", "f32[4", "2")
    assert caught.value.diagnostics[0].help.startswith("forms are")


@pytest.mark.parametrize("sizes", ["", "0", "1,2,3,4", "-1", "1.5", "²"])
def test_wrong_sizes(sizes):
    with pytest.raises(PtxError) as caught:
        launch("f32[4]", "1", "2", block=sizes)
    assert caught.value.diagnostics[0].code == "E502"
