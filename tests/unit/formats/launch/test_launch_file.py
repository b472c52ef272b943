"""Launch files: what is read, what is made of it, and what every mistake is answered with."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, check_arguments, difference, load_launch, parse_launch
from ptxtool.parse import parse

TEXT = """kernel = "k"
grid = [4, 2]
block = 128
registers = 20
dynamic_shared = 256

[[args]]
name = "a"
type = "f32"
shape = [4, 4]
random = { seed = 1, low = -1, high = 1 }

[[args]]
name = "c"
type = "f32"
shape = [4, 4]
value = 0
output = true

[[args]]
name = "n"
type = "s32"
value = 4

[constants]
w = { type = "f32", value = [1.0, 2.0] }

[define]
t = "a @ a"

[[expect]]
arg = "c"
expr = "t * n"
rtol = 1e-4
"""


def read(text: str, folder: Path = Path()) -> Launch:
    return parse_launch(Source("launch.toml", text), folder)


def arguments(rows: str) -> list[object]:
    return read(f"grid = 1\nblock = 1\n{rows}").arguments()


def test_everything_in_it() -> None:
    launch = read(TEXT)
    assert (launch.kernel, launch.file, launch.registers, launch.dynamic_shared) == ("k", None, 20, 256)
    assert (launch.grid, launch.block) == ((4, 2, 1), (128, 1, 1))
    assert (launch.threads, launch.blocks) == (128, 8)
    a, c, n = launch.arguments()
    assert a.dtype == c.dtype == np.float32
    assert a.shape == (4, 4)
    assert -1 <= a.min() < a.max() < 1
    assert n == 4
    assert n.dtype == np.int32
    assert [i.output for i in launch.inputs] == [False, True, False]
    np.testing.assert_array_equal(launch.constants()["w"], np.array([1, 2], np.float32))


def test_arguments_are_fresh_and_always_the_same() -> None:
    launch = read(TEXT)
    first = launch.arguments()
    kept = first[0].copy()
    first[0][:] = 9
    np.testing.assert_array_equal(launch.arguments()[0], kept)
    np.testing.assert_array_equal(read(TEXT).arguments()[0], kept)


def test_check() -> None:
    launch = read(TEXT)
    after = launch.arguments()
    after[1][:] = after[0] @ after[0] * 4
    assert launch.check(after) == ()
    after[1][2, 3] += 1
    (problem,) = launch.check(after)
    assert problem.code == "E409"
    assert problem.line == 33
    assert "'c' is not as expected: 1 of 16 elements; the first at [2, 3]: got " in problem.message


def test_expectations_see_the_inputs_as_they_were() -> None:
    text = """grid = 1
block = 1
[[args]]
name = "x"
type = "s32"
range = [0, 4]
[[expect]]
arg = "x"
expr = "x + 1"
"""
    launch = read(text)
    assert launch.check([np.array([1, 2, 3, 4], np.int32)]) == ()
    (problem,) = launch.check([np.array([1, 2, 3, 5], np.int32)])
    assert problem.message.endswith("1 of 4 elements; the first at [3]: got 5, expected 4")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ('[[args]]\ntype = "u8"\nvalue = [1, 2, 255]', np.array([1, 2, 255], np.uint8)),
        ('[[args]]\ntype = "s16"\ncount = 3\nvalue = -1', np.array([-1, -1, -1], np.int16)),
        ('[[args]]\ntype = "u32"\nrange = [4, 10, 2]', np.array([4, 6, 8], np.uint32)),
        ('[[args]]\ntype = "f64"\nrange = [0, 1, 0.25]', np.array([0, 0.25, 0.5, 0.75])),
        (
            '[[args]]\ntype = "s32"\nrange = [0, 6]\nshape = [2, 3]',
            np.arange(6, dtype=np.int32).reshape(2, 3),
        ),
        ('[[args]]\ntype = "f32"\nvalue = "0x3f800000"', np.float32(1)),
        ('[[args]]\ntype = "u64"\nvalue = "0xffffffffffffffff"', np.uint64(2**64 - 1)),
        ('[[args]]\ntype = ".b32"\nvalue = 7', np.uint32(7)),
        ('[[args]]\nstruct = [["u8", 1], ["u16", [2, 3]]]', np.array([1, 0, 2, 0, 3, 0], np.uint8)),
        ('[[args]]\ntype = "f32"\nvalue = inf', np.float32(np.inf)),
        ('[[args]]\ntype = "f16"\nexpr = "np.arange(3) / 2"', np.array([0, 0.5, 1], np.float16)),
    ],
)
def test_values(rows: str, expected: np.ndarray) -> None:
    (found,) = arguments(rows)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == expected.dtype  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ('struct = [["u8", 1]]\ncount = 1', "'count' beside 'struct'"),
        ('struct = [["u8", 1]]\nvalue = 1', "'value' beside 'struct'"),
        ("struct = []", "where pairs of type and value must stand"),
        ("struct = [1, 2]", "where pairs of type and value must stand"),
        ('struct = [["u8", 256]]', "256 does not fit"),
        ('struct = [["u8", []]]', "where pairs of type and value must stand"),
        ("struct = [[1, 1]]", "'1' where an element type must stand"),
    ],
)
def test_wrong_structures(row: str, told: str) -> None:
    with pytest.raises(PtxError) as problem:
        arguments(f"[[args]]\n{row}")
    (found,) = problem.value.diagnostics
    assert told in found.message
    assert found.help
    assert found.line == (4 if "beside" not in told else 5)


def test_random_whole_numbers_keep_their_limits() -> None:
    (found,) = arguments('[[args]]\ntype = "s32"\ncount = 1000\nrandom = { seed = 3, low = -2, high = 3 }')
    assert isinstance(found, np.ndarray)
    assert sorted(set(found.tolist())) == [-2, -1, 0, 1, 2]


def test_expressions_see_earlier_arguments() -> None:
    rows = '[[args]]\nname = "x"\ntype = "s32"\nrange = [0, 3]\n[[args]]\ntype = "s32"\nexpr = "x.size"'
    assert arguments(rows)[1] == 3


def test_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([1.5, 2.5], np.float32))
    (tmp_path / "launch.toml").write_text(
        'file = "k.ptx"\ngrid = 1\nblock = 1\n[[args]]\nname = "x"\ntype = "f32"\nfile = "x.npy"\n'
        '[[expect]]\narg = "x"\nfile = "x.npy"\n'
    )
    launch = load_launch(tmp_path / "launch.toml")
    assert launch.file == tmp_path / "k.ptx"
    assert launch.arguments()[0].tolist() == [1.5, 2.5]
    assert launch.check(launch.arguments()) == ()
    np.save(tmp_path / "x.npy", np.array([1, 2], object), allow_pickle=True)
    with pytest.raises(PtxError, match=r"cannot read 'x\.npy'") as caught:
        load_launch(tmp_path / "launch.toml")
    assert caught.value.diagnostics[0].line == 7
    with pytest.raises(PtxError, match="cannot read"):
        load_launch(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("grid", "gird", 2, ["unknown key 'gird'", "did you mean 'grid'?"]),
        ("grid = [4, 2]", "", 1, ["missing key 'grid'"]),
        ("[4, 2]", "[4, 0]", 2, ["one to three positive whole numbers"]),
        ("[4, 2]", "[4, 2, 1, 1]", 2, ["one to three positive whole numbers"]),
        ("[4, 2]", "[4, 70000]", 2, ["'grid' is 70000 in y", "65535"]),
        ("block = 128", "block = [64, 32]", 3, ["a block of 2048 threads", "1024"]),
        ("registers = 20", "registers = 0", 4, ["whole number >= 1"]),
        ("dynamic_shared = 256", "dynamic_shared = -1", 5, ["whole number >= 0"]),
        ('kernel = "k"', "kernel = k", 1, ["not TOML"]),
        ('kernel = "k"', 'kernel = ""', 1, ["'kernel' must be a text"]),
        ('"f32"', '"f33"', 9, ["'f33' where an element type must stand", "types are u8"]),
        ('type = "f32"', "", 7, ["argument 'a'", "no type"]),
        ("shape = [4, 4]", "shape = [4, -4]", 10, ["'[4, -4]' where positive whole numbers"]),
        ("shape = [4, 4]", "shape = [4, 4]\ncount = 16", 11, ["say the same thing"]),
        ("shape = [4, 4]", "", 11, ["'random' needs a 'shape' or 'count'"]),
        ("seed = 1", "sede = 1", 11, ["a table of seed, low and high"]),
        ("low = -1", "low = 1", 11, ["low '1' must be a number below high '1'"]),
        ("value = 4", "value = 4.5", 23, ["argument 'n': a fraction where type int32"]),
        ("value = 4", 'value = "0xffffffff"', 23, ["4294967295 does not fit type int32"]),
        ("value = 4", "value = true", 23, ["'True' is no number"]),
        ("value = 4", 'value = "four"', 23, ["'four' is no number"]),
        (
            "value = 4",
            "value = 4\nrange = [0, 2]",
            24,
            ["exactly one of value, range", "'value' and 'range'"],
        ),
        ("value = 4", "", 20, ["exactly one of", "none of them"]),
        ("value = 4", "value = [1, [2]]", 23, ["no regular list"]),
        ("value = 4", "range = [5, 5]", 23, ["[5, 5] has no elements"]),
        ("value = 4", 'expr = "a.shape[5]"', 23, ["cannot be computed"]),
        ("value = 4", 'expr = "m + 1"', 23, ["unknown name 'm'"]),
        ("value = 4", "value = 4\noutput = true", 24, ["scalar 'n' cannot be an output"]),
        ('name = "n"', 'name = "a"', 21, ["two arguments named 'a'"]),
        ('name = "n"', 'name = "n-1"', 21, ["'n-1' cannot be an argument's name"]),
        ("value = 0", "range = [0, 15]", 17, ["15 elements where shape [4, 4] needs 16"]),
        ('t = "a @ a"', 't = "a @ b"', 29, ["unknown name 'b'"]),
        ('t = "a @ a"', 'a = "a @ a"', 29, ["'a' cannot be defined"]),
        ('arg = "c"', 'arg = "n"', 32, ["'n' is no buffer", "buffers are a, c"]),
        ('expr = "t * n"', "", 31, ["exactly one of 'expr' and 'file'"]),
        ('expr = "t * n"', 'expr = "tt * n"', 33, ["unknown name 'tt'", "did you mean 't'?"]),
        ("rtol = 1e-4", "rtol = -1", 34, ["'rtol' must be a number >= 0"]),
        ("w = {", "w = 3 #", 26, ["constant 'w' must be a table"]),
        ('type = "f32", value = [1.0', 'type = "u8", value = [1.5', 26, ["constant 'w'", "a fraction"]),
    ],
)
def test_mistakes_have_a_place(old: str, new: str, line: int, words: list[str]) -> None:
    assert old in TEXT
    with pytest.raises(PtxError) as caught:
        read(TEXT.replace(old, new, 1))
    (problem,) = caught.value.diagnostics
    assert problem.code in ("E501", "E502")
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert problem.line == line, str(caught.value)
    assert problem.help


def test_wrong_size_of_an_expectation() -> None:
    launch = read(TEXT.replace('"t * n"', '"t[0]"'))
    with pytest.raises(PtxError, match="4 expected elements for 'c', which has 16"):
        launch.check(launch.arguments())


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


def test_differences_in_words() -> None:
    expected = np.array([1.0, np.nan, np.inf, 0.0], np.float32)
    assert difference(expected.copy(), expected, 0, 0) == ""
    assert difference(expected + np.float32(1e-6), expected, 1e-5, 1e-5) == ""
    text = difference(np.array([1, 2, np.inf, 0], np.float32), expected, 0, 0)
    assert text.startswith("1 of 4 elements; the first at [1]: got 2.0, expected nan")
    text = difference(np.array([1.5, np.nan, np.inf, 0], np.float32), expected, 0.1, 0)
    assert text.endswith("largest relative difference 0.5")
    whole = np.array([2**63, 5], np.uint64)
    assert difference(whole.copy(), whole, 0, 0) == ""
    assert "1 of 2" in difference(np.array([2**63, 7], np.uint64), whole, 0, 1)
    assert difference(np.array([2**63, 7], np.uint64), whole, 0, 2) == ""
