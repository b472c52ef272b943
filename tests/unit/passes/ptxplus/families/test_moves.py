"""Moves: packing and unpacking, masks of lanes, addresses; what is refused."""

import pytest
from ptxplus_selection import HEAD, computed, kernel, refusals, virtual


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.b64 {%r4, %r5}, %d1; mov.b64 %d0, {%r5, %r4};", 0x89ABCDEF_01234567),
        ("mov.b64 {_, %r5}, %d1; mov.b64 %d0, {%r5, 7};", 0x00000007_01234567),
        (
            "mov.b64 {%h0, %h1, %h2, %h3}, %d1; mov.b64 %d0, {%h3, %h2, %h1, %h0};",
            0xCDEF_89AB_4567_0123,
        ),
        ("mov.b32 {%h0, %h1}, %r1; mov.b32 %r4, {%h1, %h0}; cvt.u64.u32 %d0, %r4;", 0xCDEF89AB),
    ],
)
def test_the_lowest_element_comes_first(body: str, expected: int) -> None:
    assert computed(body, "%d0", 0x01234567_89ABCDEF) == expected


def test_elements_that_are_parts_of_the_source_trade_places() -> None:
    """Both words are read before one is written."""
    body = (
        "mov.b64 {%r4, %r5}, %d1; mov.b64 %d2, {%r4, %r5}; mov.b64 {%r5, %r4}, %d2; mov.b64 %d0, {%r4, %r5};"
    )
    assert computed(body, "%d0", 0x01234567_89ABCDEF) == 0x89ABCDEF_01234567


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("eq", "shl.b32 $v0, 0x00000001, $v1;"),
        ("lt", "sub.u32 $v0, $v2, 0x00000001;"),
        ("le", "or.b32 $v0, $v3, $v2;"),
        ("ge", "not.b32 $v0, $v3;"),
        ("gt", "not.b32 $v0, $v4;"),
    ],
)
def test_masks_of_lanes(name: str, last: str) -> None:
    """With a bit for this lane, that bit less 1 are the lanes before it; greater is neither of the two."""
    found = virtual(f"mov.u32 %r1, %lanemask_{name};")
    assert found[0] == "mov.u32 $v1, %laneid;"
    assert last in found


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("mov.u64 %d1, %globaltimer;", "'%globaltimer' has 64 bits, and PTXPlus's clock 32"),
        ("mov.pred %p1, %r1;", "a predicate operand that is no predicate register"),
    ],
)
def test_refused(code: str, reason: str) -> None:
    with_end = f"{code}\nst.global.u64 [%d2], %d1;"
    assert refusals(HEAD + kernel(with_end))[0] == (7, reason)
