"""Registers that an asynchronous instruction still uses are not touched until it was waited for."""

from collections.abc import Sequence

import pytest

from ptxtool.parse import parse
from ptxtool.validate.assignment import check_assignment

TEXT = """.version 8.6
.target TARGET
.address_size 64
.visible .entry k()
{
	.reg .b32 %r<20>; .reg .b64 %rd<20>;
	SPILL
BODY
}
"""
SPILL = ".local .align 8 .b8 __ptxtool_spill[16];"
WGMMA = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %rd9, 1, 1, 1, 0;"
    "wgmma.commit_group.sync.aligned;"
)
WAIT = "wgmma.wait_group.sync.aligned 0;"
PUT = "st.global.v4.b32 [%rd9], {%r0, %r1, %r2, %r3};"


def problems(target: str, before: str, after: str, inserted: Sequence[int] = ()) -> list[str]:
    """What the check says of two bodies whose registers are called alike, but for what was inserted."""
    old = TEXT.replace("TARGET", target).replace("SPILL", "").replace("BODY", before)
    new = TEXT.replace("TARGET", target).replace("SPILL", SPILL).replace("BODY", after)
    module = parse(new)
    n_new = len(module.kernels["k"].instructions)
    kept = iter(range(n_new))
    found = check_assignment(
        parse(old), module, {"k": [-1 if j in inserted else next(kept) for j in range(n_new)]}
    )
    return [d.message for d in found]


def reported(place: str, what: str, user: str = "wgmma.mma_async") -> list[str]:
    return [f"'{place}' is {what} while '{user}' may still use it"]


@pytest.mark.parametrize(
    ("between", "rest", "inserted", "expected"),
    [
        ("", "", (), []),
        ("", "st.local.b32 [__ptxtool_spill], %r0;", (3,), []),
        ("st.local.b32 [__ptxtool_spill], %r0;", "", (2,), reported("%r0", "read")),
        ("mov.b32 %r10, %r4;", "", (2,), []),
        ("mov.b32 %r4, %r10;", "", (2,), reported("%r4", "overwritten")),
        ("mov.b64 %rd2, %rd6;", "", (2,), reported("%rd2", "overwritten")),
        ("mov.b64 %rd4, %rd6;", "", (2,), []),
    ],
)
def test_registers_of_wgmma(between: str, rest: str, inserted: Sequence[int], expected: list[str]) -> None:
    after = WGMMA + between + WAIT + rest + PUT
    assert problems("sm_90a", WGMMA + WAIT + PUT, after, inserted) == expected


def test_a_value_of_the_original_in_the_place_of_a_fragment() -> None:
    before = WGMMA + "mov.b32 %r10, %clock;" + WAIT + PUT + "st.global.b32 [%rd9], %r10; exit;"
    assert problems("sm_90a", before, before.replace("%r10", "%r5")) == reported("%r5", "overwritten")
    later = WGMMA + WAIT + "mov.b32 %r10, %clock;" + PUT + "st.global.b32 [%rd9], %r10; exit;"
    assert problems("sm_90a", later, later.replace("%r10", "%r5")) == []


def test_the_original_may_do_as_it_likes() -> None:
    before = WGMMA + "mov.b32 %r5, %clock; st.global.b32 [%rd9], %r0;" + WAIT + PUT
    assert problems("sm_90a", before, before) == []


@pytest.mark.parametrize(
    ("copy", "expected"), [("%r4, %r16", []), ("%r14, %r16", reported("%r14", "overwritten"))]
)
def test_a_wait_for_all_but_one_group_leaves_the_last_in_flight(copy: str, expected: list[str]) -> None:
    again = WGMMA.replace("{%r0, %r1, %r2, %r3}", "{%r10, %r11, %r12, %r13}").replace("%r4", "%r14")
    before = WGMMA + again + WAIT.replace("0;", "1; {}") + WAIT + PUT
    after = before.replace("{}", f"mov.b32 {copy};")
    assert problems("sm_90a", before.replace("{}", ""), after, (5,)) == expected


def test_flights_go_around_a_loop() -> None:
    after = "L: mov.b32 %r5, %r5; mov.b32 %r10, %r0; " + WGMMA + "bra L;"
    found = problems("sm_90a", "L: " + WGMMA + "bra L;", after, (0, 1))
    assert found == [*reported("%r5", "overwritten"), *reported("%r0", "read")]


LOAD = "tcgen05.ld.sync.aligned.16x64b.x2.b32 {%r0, %r1}, [%r2];"
STORE = "tcgen05.st.sync.aligned.16x64b.x2.b32 [%r2], {%r0, %r1};"


@pytest.mark.parametrize(
    ("before", "copy", "expected"),
    [
        (LOAD, "%r3, %r1", reported("%r1", "read", "tcgen05.ld")),
        (LOAD, "%r2, %r3", []),
        (STORE, "%r1, %r3", reported("%r1", "overwritten", "tcgen05.st")),
        (STORE, "%r3, %r1", []),
    ],
)
def test_registers_of_tcgen05(before: str, copy: str, expected: list[str]) -> None:
    own, other = ("ld", "st") if before == LOAD else ("st", "ld")
    start = before + f"tcgen05.wait::{other}.sync.aligned;"
    end = f"tcgen05.wait::{own}.sync.aligned;"
    move = f"mov.b32 {copy};"
    assert problems("sm_100a", start + end, start + move + end, (2,)) == expected
    assert problems("sm_100a", start + end, start + end + move, (3,)) == []
