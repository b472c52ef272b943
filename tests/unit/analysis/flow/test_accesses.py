"""Live intervals and accesses of webs, kept in arrays."""

import numpy as np
import pytest

from ptxtool.analysis.flow.accesses import Access, Accesses, Intervals, accesses_of, rows

INTERVALS = Intervals.of([[(1, 4), (6, 9)], [], [(3, 8)]])


def numbers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_intervals_web_by_web() -> None:
    assert len(INTERVALS) == 3
    assert [*INTERVALS] == [((1, 4), (6, 9)), (), ((3, 8),)]
    assert INTERVALS[2] == ((3, 8),)
    assert INTERVALS.owner.tolist() == [0, 0, 2]


def test_some_webs_and_more_webs() -> None:
    some = INTERVALS.at(numbers(2, 1, 0))
    assert [*some] == [((3, 8),), (), ((1, 4), (6, 9))]
    assert [*some.joined(Intervals.of([[], [(0, 2)]]))] == [*some, (), ((0, 2),)]


def test_units_in_use_at_every_point() -> None:
    """The first web takes one unit, the last one two."""
    assert INTERVALS.units_in_use(numbers(1, 9, 2), 10).tolist() == [0, 1, 1, 3, 2, 2, 3, 3, 1, 0]


def test_rows_of_arrays() -> None:
    index, first = rows(numbers(0, 2, 2, 5), numbers(2, 0))
    assert index.tolist() == [2, 3, 4, 0, 1]
    assert first.tolist() == [0, 3, 5]


def accesses(named: list[tuple[int, int, bool]], *intervals: list[tuple[int, int]]) -> Accesses:
    """The accesses of webs with these intervals, of (web, instruction, whether it writes), of 5 instructions."""
    webs, instructions, written = zip(*named, strict=True)
    return accesses_of(numbers(*webs), numbers(*instructions), np.array(written), Intervals.of(intervals), 5)


@pytest.mark.parametrize(
    ("intervals", "expected"),
    [
        # the write at instruction 1, point 3, begins an interval; one that does not begin any continues a value
        ([(3, 8)], ((1, False, True), (4, True, False))),
        ([(1, 8)], ((1, True, True), (4, True, False))),
    ],
)
def test_a_write_that_continues_a_value_reads_it(
    intervals: list[tuple[int, int]], expected: tuple[Access, ...]
) -> None:
    found = accesses([(0, 4, False), (0, 1, True)], intervals)
    assert found[0] == expected
    assert found.with_plain_writes([1])[0] == ((1, False, True), (4, True, False))


def test_reads_and_writes_of_one_instruction_are_one_access() -> None:
    found = accesses([(1, 2, True), (0, 2, False), (1, 2, False), (1, 0, True)], [(0, 4)], [(1, 4), (5, 6)])
    assert len(found) == 2
    assert (found[0], found[1]) == (((2, True, False),), ((0, False, True), (2, True, True)))
    assert found.with_plain_writes([2])[1] == found[1]  # it names what it reads
