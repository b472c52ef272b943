"""Lists of launches: what is read, what an entry becomes for a kernel, and what every mistake is answered with."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, check_arguments, parse_launch
from ptxtool.formats.launch.launch_steps import launch_of_step, only_one
from ptxtool.parse import parse

HEAD = """grid = 4
block = 128
registers = 20

[[args]]
name = "x"
type = "f32"
count = 8
value = 1

[[args]]
name = "n"
type = "s32"
value = 8
"""
LIST = (
    HEAD
    + """
[[launch]]
kernel = "first"
args = ["x", "n"]

[[launch]]
kernel = "second"
grid = [2, 2]
block = 64
registers = 30
scheduler = "gto"
dynamic_shared = 16
args = ["n", 2.5]
repeat = 2
copy_back = ["x"]
time = false

[[expect]]
arg = "x"
expr = "x + n"
after = 2

[[expect]]
arg = "x"
expr = "x * n"
"""
)
KERNELS = parse(
    """.version 6.0
.target sm_35
.address_size 64
.visible .entry first(.param .u64 x, .param .s32 n) { ret; }
.visible .entry second(.param .s32 n, .param .f32 a) { ret; }
.visible .entry bytes(.param .u8 b) { ret; }
""",
    "k.ptx",
).kernels


def read(text: str) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


def test_what_an_entry_does_not_say_is_said_for_all() -> None:
    first, second, third = read(LIST).steps
    assert (first.kernel, first.grid, first.block, first.registers) == ("first", (4, 1, 1), (128, 1, 1), 20)
    assert (first.scheduler, first.dynamic_shared, first.copy_back, first.timed) == (None, 0, (), True)
    assert (second.kernel, second.grid, second.block, second.registers) == (
        "second",
        (2, 2, 1),
        (64, 1, 1),
        30,
    )
    assert (second.scheduler, second.dynamic_shared) == ("gto", 16)
    assert (second.arguments, second.copy_back, second.timed) == (("n", 2.5), ("x",), False)
    assert third is second


def test_the_whole_list_is_repeated() -> None:
    steps = read(f"repeat = 3\n{LIST}").steps
    assert [s.kernel for s in steps] == ["first", "second", "second"] * 3


def test_streams_of_launches() -> None:
    streams = read(LIST.replace("time = false", "stream = 3\nafter = [1]"))
    assert [(step.stream, step.after) for step in streams.steps] == [(0, ()), (3, (1,)), (3, (1,))]
    with pytest.raises(PtxError, match="'after' in a list that is repeated as a whole"):
        read("repeat = 2\n" + LIST.replace("time = false", "stream = 3\nafter = [1]"))


def test_one_launch_is_no_list() -> None:
    assert read(HEAD).steps == ()
    assert only_one(read(HEAD)).grid == (4, 1, 1)


def test_an_entry_as_a_launch_of_its_kernel() -> None:
    launch = read(LIST)
    single = launch_of_step(launch, launch.steps[1], KERNELS["second"])
    assert [(i.name, i.type, i.value) for i in single.inputs] == [
        ("n", "s32", 8),
        ("arg1", "f32", np.float32(2.5)),
    ]
    assert (single.grid, single.registers, single.scheduler) == ((2, 2, 1), 30, "gto")
    assert check_arguments(single, KERNELS["second"]) == ()


def test_arguments_that_do_not_fit_are_reported_at_their_entry() -> None:
    launch = read(LIST)
    single = launch_of_step(launch, launch.steps[0], KERNELS["second"])
    problems = check_arguments(single, KERNELS["second"])
    assert [(d.code, d.line) for d in problems] == [("E401", 18), ("E401", 18)]
    other = read(LIST.replace('["n", 2.5]', "[300]"))
    with pytest.raises(PtxError, match=r"launch.toml:27.*E401.*argument 1 of 'bytes': 300 does not fit"):
        launch_of_step(other, other.steps[1], KERNELS["bytes"])


def test_expected_results_of_launches() -> None:
    launch = read(LIST)
    assert [wanted.after for wanted in launch.expectations] == [2, 0]
    x, n = launch.arguments()
    assert launch.check([x + 8, n], 2) == ()
    (wrong,) = launch.check([x, n], 2)
    assert "after launch 2" in wrong.message
    assert launch.check([x * 8, n]) == ()
    assert launch.check([x, n], 1) == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ('args = ["x", "n"]', 'args = ["y"]', 18, "no argument named 'y'"),
        ('args = ["x", "n"]', "args = [true]", 18, "neither a name nor a number"),
        ('args = ["x", "n"]', 'args = "x"', 18, "'args' must be a list"),
        ('args = ["x", "n"]', "argument = []", 18, "unknown key 'argument'"),
        ('copy_back = ["x"]', 'copy_back = ["n"]', 29, "'n' in 'copy_back' is no buffer"),
        ('copy_back = ["x"]', "copy_back = true", 29, "'True' in 'copy_back' is no buffer"),
        ("repeat = 2", "repeat = 0", 28, "'repeat' must be a whole number >= 1"),
        ("time = false", "time = 1", 30, "'time' must be true or false"),
        ("grid = [2, 2]", "grid = [2, 0]", 22, "'grid' must be one to three positive whole numbers"),
        ("block = 64", "block = 2048", 23, "2048"),
        ("registers = 30", "registers = 0", 24, "'registers' must be a whole number >= 1"),
        ("time = false", "time = false\nstream = 1", 31, "a stream for a launch without time"),
        ("time = false", "stream = -1", 30, "'stream' must be a whole number >= 0"),
        ("time = false", "after = [1]", 30, "'after' without a stream"),
        (
            "time = false",
            "stream = 1\nafter = [2]",
            31,
            "'after' must be a list of numbers of earlier launches",
        ),
        (
            "time = false",
            "stream = 1\nafter = 1",
            31,
            "'after' must be a list of numbers of earlier launches",
        ),
        ("after = 2", "after = 4", 35, "no launch number 4"),
        ("after = 2", "after = 0", 35, "'after' must be a whole number >= 1"),
        ("grid = 4\n", "", 15, "missing key 'grid'"),
        ("grid = 4\n", "grid = 4\nrepeat = 500000\n", 17, "1500000 launches"),
    ],
)
def test_mistakes(old: str, new: str, line: int, message: str) -> None:
    assert old in LIST
    text = LIST.replace(old, new, 1)
    with pytest.raises(PtxError) as caught:
        read(text)
    (problem,) = caught.value.diagnostics
    assert (problem.code, message in problem.message) == ("E502", True), problem.message
    assert problem.line == line


def test_a_list_that_is_none() -> None:
    for given in ("3", "[]"):
        with pytest.raises(PtxError, match=r"launch.toml:1.*E502.*list of"):
            read(f"launch = {given}\n{HEAD}")


@pytest.mark.parametrize("key", ["repeat = 2\n", ""])
def test_keys_of_lists_need_a_list(key: str) -> None:
    text = key + HEAD + ("" if key else '[[expect]]\narg = "x"\nexpr = "x"\nafter = 1\n')
    with pytest.raises(PtxError, match=r"E502.*needs a list of launches"):
        read(text)


def test_a_list_where_one_launch_is_needed() -> None:
    with pytest.raises(PtxError, match=r"launch.toml:18.*E502.*a list of 3 launches"):
        only_one(read(LIST))
