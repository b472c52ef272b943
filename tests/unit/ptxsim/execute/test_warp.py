"""The lane that a shuffle reads: clamp, segments, and lanes out of range (PTX manual, `shfl`)."""

import pytest
from uncompiled import in_python

from ptxsim.execute.codes import BUTTERFLY, DOWN, INDEX, UP
from ptxsim.execute.warp import shuffle_source

WHOLE_DOWN, WHOLE_UP = 31, 0
EIGHTS = 24 << 8  # segments of 8 lanes: bits 3 and 4 of a lane's number are kept


@pytest.mark.parametrize(
    ("mode", "lane", "by", "limits", "expected"),
    [
        (UP, 5, 2, WHOLE_UP, 3),
        (UP, 1, 2, WHOLE_UP, None),
        (UP, 9, 2, EIGHTS, None),  # lane 7 is of another segment
        (UP, 10, 2, EIGHTS, 8),
        (DOWN, 30, 1, WHOLE_DOWN, 31),
        (DOWN, 31, 1, WHOLE_DOWN, None),
        (DOWN, 6, 2, EIGHTS | 7, None),
        (DOWN, 6, 33, EIGHTS | 7, 7),  # only 5 bits of the distance count
        (BUTTERFLY, 6, 1, WHOLE_DOWN, 7),
        (BUTTERFLY, 3, 4, 5, None),  # 7 is above the clamp
        (INDEX, 17, 3, EIGHTS | 7, 19),
        (INDEX, 17, 11, EIGHTS | 7, 19),  # bits of the segment are the lane's own
        (INDEX, 17, 6, EIGHTS | 4, None),
    ],
)
def test_where_a_shuffle_reads(mode: int, lane: int, by: int, limits: int, expected: int | None) -> None:
    assert in_python(shuffle_source)(mode, lane, by, limits) == (-1 - lane if expected is None else expected)
