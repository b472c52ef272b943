"""The arguments of a launch file against the parameters of a kernel."""

from pathlib import Path

import pytest

from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_arguments import check_arguments
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.parse import parse

TEXT = """grid = 1
block = 1
[[args]]
name = "a"
type = "f32"
count = 4
value = 0
[[args]]
name = "c"
type = "f32"
count = 16
value = 0
[[args]]
name = "n"
type = "s32"
value = 4
"""


def read(text: str) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


KERNEL = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 4 p0, .param PARAMS)
{ ret; }
"""


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        (".u64 p1, .param .u32 p2", ""),
        (".u64 p1, .param .b32 p2", ""),
        (".b8 p1[64], .param .s32 p2", ""),
        (".u64 p1", "takes 2 arguments, 3 given"),
        (
            ".f64 p1, .param .u32 p2",
            "'c' for parameter '.f64 p1' is a buffer, but the parameter is no pointer",
        ),
        (".b8 p1[60], .param .s32 p2", "'c' for parameter '.b8 p1' has 64 bytes, not 60"),
        (".u64 p1, .param .u64 p2", "'n' for parameter '.u64 p2' has 4 bytes, not 8"),
        (".u64 p1, .param .f32 p2", "'n' for parameter '.f32 p2' has type '.s32'"),
        (".u64 p1, .param .b8 p2[4]", "is a scalar, but the parameter is 4 bytes passed by value"),
        (".u64 p1, .param .u64 .ptr .global p2", "is a scalar, but the parameter is a pointer"),
    ],
)
def test_arguments_against_parameters(parameters: str, words: str) -> None:
    kernel = parse(KERNEL.replace("PARAMS", parameters)).kernels["k"]
    found = check_arguments(read(TEXT), kernel)
    assert len(found) == bool(words)
    assert all(problem.help for problem in found)
    for problem in found:
        assert problem.code == "E401"
        assert words in problem.message
        assert problem.line is not None


HANDLES = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p0)
{ ret; }
"""


@pytest.mark.parametrize(
    ("parameter", "reported"),
    [
        (".u64 p0", ""),
        (".texref p0", ""),
        (".surfref p0", "'t' for parameter '.surfref p0' is a texture"),
        (".u32 p0", "'t' for parameter '.u32 p0' is a texture"),
        (".f64 p0", "'t' for parameter '.f64 p0' is a texture"),
        (".u64 p0[2]", "is a texture"),
    ],
)
def test_a_texture_is_a_handle(parameter: str, reported: str) -> None:
    """A handle is a number of 64 bits, or a parameter of the texture's own type."""
    text = 'grid = 1\nblock = 1\n[[args]]\nname = "t"\ntype = "f32"\ncount = 4\nvalue = 0\ntexture = {}\n'
    kernel = parse(HANDLES.replace(".u64 p0", parameter)).kernels["k"]
    found = check_arguments(read(text), kernel)
    assert len(found) == bool(reported)
    assert all(reported in problem.message and problem.line == 5 for problem in found)


def test_a_missing_argument_is_reported_at_the_last_one() -> None:
    parameters = ".u64 p1, .param .u32 p2, .param .u32 p3"
    kernel = parse(KERNEL.replace("PARAMS", parameters)).kernels["k"]
    (found,) = check_arguments(read(TEXT), kernel)
    assert (found.message, found.line) == ("kernel 'k' takes 4 arguments, 3 given", 13)
    assert found.help == "its parameters are p0, p1, p2, p3"


@pytest.mark.parametrize(
    ("parameter", "value", "reported"),
    [
        (".u8 n", "255", ""),
        (".f32 n", "255", ""),
        (".f64 n", "0.5", ""),
        (".u64 n", "4", ""),
        (".u8 n", "300", "300 does not fit type uint8: 0 to 255"),
        (".s32 n", "0.5", "a fraction where type int32 needs whole numbers"),
        (".b8 n[4]", "4", "is a scalar, but the parameter is 4 bytes passed by value"),
    ],
)
def test_a_scalar_without_a_type_has_that_of_its_parameter(parameter: str, value: str, reported: str) -> None:
    kernel = KERNEL.replace(".param .u64 .ptr .global .align 4 p0, .param PARAMS", f".param {parameter}")
    launch = read(f'grid = 1\nblock = 1\n[[args]]\nname = "n"\nvalue = {value}\n')
    found = check_arguments(launch, parse(kernel, "k.ptx").kernels["k"])
    assert [reported in d.message and (d.line, d.code) == (5, "E401") for d in found] == [True] * bool(
        reported
    )
