"""A launch that has been read: fresh arguments, and results against the expected ones."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_data import Launch, difference
from ptxtool.formats.launch.launch_file import parse_launch

TEXT = """grid = [4, 2]
block = 128
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
[define]
t = "a @ a"
[[expect]]
arg = "c"
expr = "t * n"
rtol = 1e-4
"""


def read(text: str) -> Launch:
    return parse_launch(Source("launch.toml", text), Path())


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
    assert problem.line == 22
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


def test_wrong_size_of_an_expectation() -> None:
    launch = read(TEXT.replace('"t * n"', '"t[0]"'))
    with pytest.raises(PtxError, match="4 expected elements for 'c', which has 16"):
        launch.check(launch.arguments())


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


@pytest.mark.parametrize("got", [0.0, -np.inf, np.nan])
def test_only_infinity_is_near_infinity(got: float) -> None:
    expected = np.array([np.inf, 1], np.float32)
    assert difference(np.array([got, 1], np.float32), expected, 0.5, 0) != ""
    assert difference(expected, expected, 0.5, 0) == ""


def test_expected_whole_numbers_do_not_wrap() -> None:
    argument = '[[args]]\nname = "x"\ntype = "u8"\ncount = 1\noutput = true\n'
    text = f'grid = 1\nblock = 1\n{argument}[[expect]]\narg = "x"\nexpr = "300"\n'
    launch = parse_launch(Source("launch.toml", text), Path())
    with pytest.raises(PtxError, match=r"expected result for 'x': 300 does not fit type uint8") as caught:
        launch.check([np.array([44], np.uint8)])
    assert caught.value.diagnostics[0].line == 10


def test_an_expectation_of_items_that_differ_in_shape() -> None:
    launch = read(TEXT.replace('"t * n"', '"n, t"'))
    with pytest.raises(PtxError, match="the expression for 'c' gives no regular array"):
        launch.expected()
