"""Launch files: what is read, what is made of it, and what every mistake is answered with."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, load_launch, parse_launch

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


def test_limits() -> None:
    assert read(TEXT).limits == {}
    launch = read(f'stack_bytes = 4096\nout_of_bounds = "count"\n{TEXT}')
    assert launch.limits == {"stack_bytes": 4096, "out_of_bounds": "count"}
    with pytest.raises(PtxError, match=r"launch.toml:1:1: error\[E502\]: out_of_bounds = 'warn'"):
        read(f'out_of_bounds = "warn"\n{TEXT}')


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


def test_what_a_cta_is_counted_with_and_the_semantics() -> None:
    launch = read(f'scratchpad = 0\nptxplus_semantics = "gpgpu-sim"\n{TEXT}')
    assert (launch.scratchpad, launch.limits) == (0, {"ptxplus_semantics": "gpgpu-sim"})
    with pytest.raises(
        PtxError, match=r"launch.toml:1:1: error\[E502\]: 'scratchpad' must be a whole number"
    ):
        read(f"scratchpad = -1\n{TEXT}")
    with pytest.raises(PtxError, match=r"launch.toml:1:1: error\[E502\]: ptxplus_semantics = 'sim'"):
        read(f'ptxplus_semantics = "sim"\n{TEXT}')


def test_the_machine_of_a_launch() -> None:
    assert read(TEXT).gpu is None
    assert read('gpu = "gtx480"\n' + TEXT).gpu == "gtx480"
    with pytest.raises(PtxError, match=r"launch.toml:1:1: error\[E502\]: no GPU named 'gtx48'") as caught:
        read('gpu = "gtx48"\n' + TEXT)
    assert "did you mean 'gtx480'?" in caught.value.diagnostics[0].help
