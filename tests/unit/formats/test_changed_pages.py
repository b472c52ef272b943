"""Changed pages of an array, and what is no such file."""

import numpy as np
import pytest

from ptxtool.formats.changed_pages import PAGE_BYTES, n_pages, pages_of, replace_pages


@pytest.mark.parametrize("n_bytes", [PAGE_BYTES, 3 * PAGE_BYTES, 2 * PAGE_BYTES + 5])
def test_pages_replace_those_of_another_array(n_bytes: int) -> None:
    random = np.random.default_rng(n_bytes)
    before, after = (random.integers(0, 256, n_bytes, np.uint8) for _ in range(2))
    last = n_pages(n_bytes) - 1
    rows = pages_of(after, [last])
    assert (rows.dtype, rows.shape, rows[0, 0]) == (np.uint32, (1, 1025), last)
    expected = before.copy()
    expected[last * PAGE_BYTES :] = after[last * PAGE_BYTES :]
    replace_pages(before, rows)
    assert before.tobytes() == expected.tobytes()
    replace_pages(before, pages_of(after, range(last + 1)))
    assert before.tobytes() == after.tobytes()


def test_elements_may_be_of_any_size() -> None:
    before, after = np.zeros((2, 1024), np.float64), np.ones((2, 1024), np.float64)
    replace_pages(before, pages_of(after, [0, 3]))
    assert before.sum() == 1024
    assert before[0, :512].all()
    assert before[1, 512:].all()


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (np.zeros((1, 1024), np.uint32), "no array of pages"),
        (np.zeros((1, 1025), np.int32), "no array of pages"),
        (np.zeros(1025, np.uint32), "no array of pages"),
        (np.full((1, 1025), 2, np.uint32), "page 2 of 2"),
    ],
)
def test_rows_that_are_no_pages(rows: np.ndarray, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        replace_pages(np.zeros(2 * PAGE_BYTES, np.uint8), rows)
