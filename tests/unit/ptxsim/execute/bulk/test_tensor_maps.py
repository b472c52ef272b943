"""The permutations of swizzles, as the manual's tables have them: where chunk j of line i lies."""

import pytest

from ptxsim.base.jit import for_python
from ptxsim.execute.bulk.tensor_maps import (
    ELEMENT_BYTES,
    ELEMENT_KINDS,
    GLOBAL_BYTES,
    NANS,
    TYPE_NAMES,
    UNIT_ELEMENTS,
    swizzled,
)

SWIZZLED = for_python(swizzled)


def line(i: int, mode: int, atomicity: int = 0, atom: int = 16) -> list[int]:
    """Where the chunks of a line of 128 bytes lie, in chunks of the line."""
    return [
        int(SWIZZLED(128 * i + atom * j, mode, atomicity)) // atom - i * 128 // atom
        for j in range(128 // atom)
    ]


def test_no_swizzle() -> None:
    assert line(5, 0) == list(range(8))


@pytest.mark.parametrize(
    ("i", "expected"),
    [(0, "01234567"), (1, "10325476"), (2, "23016745"), (3, "32107654"), (7, "76543210"), (8, "01234567")],
)
def test_128_bytes(i: int, expected: str) -> None:
    assert line(i, 3) == [int(c) for c in expected]


@pytest.mark.parametrize(
    ("i", "expected"), [(0, "01234567"), (1, "10325476"), (3, "32107654"), (4, "01234567")]
)
def test_64_bytes(i: int, expected: str) -> None:
    """A line has two rows of the box, permuted alike."""
    assert line(i, 2) == [int(c) for c in expected]


@pytest.mark.parametrize(("i", "expected"), [(0, "01234567"), (1, "10325476"), (2, "01234567")])
def test_32_bytes(i: int, expected: str) -> None:
    assert line(i, 1) == [int(c) for c in expected]


@pytest.mark.parametrize(("i", "expected"), [(0, "0123"), (1, "1032"), (2, "2301"), (3, "3210"), (4, "0123")])
def test_32_bytes_stay_together(i: int, expected: str) -> None:
    assert line(i, 3, 1, 32) == [int(c) for c in expected]


def test_64_bytes_stay_together() -> None:
    assert [line(i, 3, 3, 64) for i in range(3)] == [[0, 1], [1, 0], [0, 1]]


def test_every_type_has_its_facts() -> None:
    assert len(TYPE_NAMES) == len(ELEMENT_KINDS) == len(NANS)
    facts = zip(TYPE_NAMES, UNIT_ELEMENTS, ELEMENT_BYTES, GLOBAL_BYTES, strict=True)
    for name, unit, n_shared, n_global in facts:
        bits, _, padding = name.removesuffix(".ftz").lstrip("utsbf").partition("x16")
        assert int(bits) * unit == 8 * n_global
        assert 8 * n_shared == 8 * n_global + int(padding.removeprefix("_p") or 0)
