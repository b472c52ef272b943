"""Random inputs: other contents in the shape and range of a launch's own, the same for the same seed."""

from pathlib import Path

import numpy as np
import pytest

from ptxtool.base.source import Source
from ptxtool.formats.launch.launch_file import Launch, parse_launch
from ptxtool.runs.random_inputs import random_like, with_random_inputs

LAUNCH = """grid = 1
block = 4
[[args]]
name = "x"
type = "u32"
value = [5, 9, 7, 5]
[[args]]
name = "pair"
type = "u32"
value = [1, 5]
[[args]]
name = "n"
type = "u32"
value = 4
[constants.c]
type = "f32"
value = [1.0, 2.0]
"""


def read() -> Launch:
    return parse_launch(Source("launch.toml", LAUNCH), Path())


def test_buffers_and_constants_are_redrawn_and_the_rest_stays() -> None:
    first, again, other = (with_random_inputs(read(), seed, ["x"]) for seed in (1, 1, 2))
    x = [np.asarray(each.inputs[0].value) for each in (first, again, other)]
    assert x[0].tolist() == x[1].tolist()
    assert [each.inputs[1].value.tolist() for each in (first, other)] == [[1, 5], [1, 5]]
    assert first.inputs[2].value == 4
    assert np.asarray(first.constant_inputs[0].value).tolist() != [1.0, 2.0]
    draws = {tuple(np.asarray(with_random_inputs(read(), seed, ["x"]).inputs[0].value)) for seed in range(20)}
    assert len(draws) > 10
    assert {value for draw in draws for value in draw} == {5, 6, 7, 8, 9}
    arguments = first.arguments()
    arguments[0][0] = 1  # a copy to run with


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (np.array([[-3, 3]] * 50, np.int8), -3, 3),
        (np.array([0, 2**64 - 1] * 50, np.uint64), 0, 2**64 - 1),
        (np.array([2.0, np.inf, 4.0, np.nan] * 50, np.float32), 2, 4),
        (np.zeros(100, np.float16), -1, 1),
        (np.full(100, np.nan), -1, 1),
        (np.array([-1.7e308, 1.7e308] * 50), -1.7e308, 1.7e308),
    ],
)
def test_elements_are_drawn_from_the_range_of_the_buffer(value: np.ndarray, low: float, high: float) -> None:
    made = random_like(value, np.random.default_rng(7))
    assert (made.shape, made.dtype) == (value.shape, value.dtype)
    assert len(np.unique(made)) > 5
    assert low <= made.min() <= made.max() <= high
    assert not made.flags.writeable


@pytest.mark.parametrize("value", [np.zeros(9, np.uint32), np.full(3, 7, np.int16), np.zeros(0, np.float32)])
def test_equal_integers_stay_they_may_be_locks(value: np.ndarray) -> None:
    assert random_like(value, np.random.default_rng(7)).tolist() == value.tolist()
