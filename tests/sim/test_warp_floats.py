"""`redux.sync` of floats, by hand and in all three runs."""

import math

import numpy as np
import pytest
from three_ways import words

NAN = float("nan")


def bits(value: float) -> int:
    return 0x7FFFFFFF if math.isnan(value) else int(np.float32(value).view(np.uint32))


@pytest.mark.parametrize(
    ("operation", "values", "expected"),
    [
        ("min", [3.0, -2.5, 7.0], -2.5),
        ("max", [3.0, -2.5, 7.0], 7.0),
        ("min", [0.0, -0.0], -0.0),
        ("max", [-0.0, 0.0], 0.0),
        ("max.abs", [3.0, -8.5, 7.0], 8.5),
        ("min.abs", [-3.0, -8.5, 7.0], 3.0),
        ("min", [NAN, 4.0, 5.0], 4.0),
        ("max", [NAN, -4.0, -5.0], -4.0),
        ("min.NaN", [NAN, 4.0, 5.0], NAN),
        ("max.NaN", [4.0, 5.0], 5.0),
        ("max.abs.NaN", [4.0, -5.0, NAN], NAN),
        ("min", [NAN], NAN),
        ("min", [math.inf, -math.inf, 1e-45], -math.inf),
    ],
)
def test_redux(operation: str, values: list[float], expected: float) -> None:
    body = f"ld.global.f32 %f1, [%d5]; redux.sync.{operation}.f32 %f2, %f1, -1; mov.b32 %r6, %f2;"
    assert words(body, 32, np.resize([bits(v) for v in values], 32)) == [bits(expected)] * 32
