"""A run without time as a table of its buffers."""

import numpy as np

from ptxtool.report.simulations.outcome import buffer_table
from ptxtool.results.outcome import Buffer


def row(array: np.ndarray, changed: int = 0) -> list[str]:
    return str(buffer_table([Buffer("x", "t", array, changed)], "title")).splitlines()[3].split()


def test_the_ends_leave_out_what_is_no_number() -> None:
    found = row(np.array([[np.nan, 2.5], [-1, 7]], np.float32), 3)
    assert found == ["x", "t", "2", "x", "2", "3", "-1", "7", "nan", "2.5", "-1", "7"]


def test_a_buffer_of_no_numbers_has_no_ends() -> None:
    assert row(np.array([np.nan], np.float64)) == ["x", "t", "1", "nan"]


def test_the_first_six_elements_are_shown() -> None:
    assert row(np.arange(6, dtype=np.uint8))[-6:] == ["0", "1", "2", "3", "4", "5"]
    assert row(np.arange(7, dtype=np.uint8))[-7:] == ["0", "1", "2", "3", "4", "5", "..."]
