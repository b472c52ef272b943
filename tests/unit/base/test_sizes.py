"""Lists of sizes."""

import pytest

from ptxtool.base.sizes import sizes


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("256", (256,)),
        ("16,16", (16, 16)),
        ("8x4x2", (8, 4, 2)),
        (" 3 ,\x1f4\x1c", (3, 4)),  # `int` takes no \x1f
        ("9" * 20, (10**20 - 1,)),
        ("9" * 21, None),
        ("9" * 5000, None),
        ("", None),
        ("1,,2", None),
        ("-1", None),
        ("1.5", None),
    ],
)
def test_sizes(text: str, found: tuple[int, ...] | None) -> None:
    assert sizes(text) == found
