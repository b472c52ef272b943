"""What made-up runs show, in a line for each scheme and machine."""

import pytest
from scheme_results import MATRIX, RESULT

from ptxtool.sweep.reproduction.register_schemes.exhibits import Exhibits
from ptxtool.sweep.reproduction.register_schemes.findings import findings, gain_text


def test_a_line_for_each_scheme() -> None:
    found = findings(MATRIX, Exhibits(MATRIX, RESULT))
    assert [(f.question, f.ours) for f in found] == [
        ("regmutex on gpu", "gain +11.8%, +0.0 to +25.0%; CTAs x1.22; energy -10.6%"),
        ("unified on gpu", "loss -10.1%, -20.0 to +1.0%; CTAs x1.41; energy +11.2%"),
    ]


@pytest.mark.parametrize(
    ("mean", "text"),
    [
        (2.0, "no result (+2.0%)"),
        (-1.5, "no result (-1.5%)"),
        (2.1, "gain +2.1%"),
        (-2.1, "loss -2.1%"),
    ],
)
def test_a_mean_within_noise_is_no_result(mean: float, text: str) -> None:
    assert gain_text(mean) == text
