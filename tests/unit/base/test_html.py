"""HTML for notebooks: escaped, short, with pictures of the right size."""

import re

from ptxtool.base.html import MOST_ROWS, curve, table

HOSTILE = '<script>alert("x")</script>&\u202e\x1b[31m'


def test_hostile_names_are_inert() -> None:
    page = table(HOSTILE, [HOSTILE], [(HOSTILE, 1)], HOSTILE) + curve([1], HOSTILE)
    assert "<script" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page
    assert page.count("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;") == 5


def test_a_table_is_short_and_says_what_it_leaves_out() -> None:
    page = table("t", ["n"], [(n,) for n in range(MOST_ROWS + 3)])
    assert page.count("<tr>") == 1 + MOST_ROWS
    assert "and 3 more" in page
    assert "more" not in table("t", ["n"], [(1,)])


def test_numbers_are_on_the_right_and_nothing_is_empty() -> None:
    cells = re.findall(r"<td[^>]*text-align:(\w+)\">([^<]*)<", table("t", "abcd", [(7, 1.5, "x", None)]))
    assert cells == [("right", "7"), ("right", "1.50"), ("left", "x"), ("left", "")]


def test_a_curve_has_a_step_per_value() -> None:
    # two values, 240 wide each; the larger one, 4, is 56 high of 60
    points = re.search(r'points="([^"]*)"', curve([2, 4], "two"))
    assert points is not None
    assert points[1] == "0,60 0.0,32.0 240.0,32.0 240.0,4.0 480.0,4.0 480,60"
    assert curve([], "none") == curve([0, 0], "none") == ""
