"""drop-redundant-demotions: which accesses go, by hand; `%r6` is the address of the slots, `%r7` the value register."""

import pytest
from demoted_kernel import WIDE, after, plus_after, remark

NAME = "drop-redundant-demotions"
LOAD, STORE = "ld.shared.b32 %r7, [%r6];", "st.shared.b32 [%r6], %r7;"
USE = "st.shared.u32 [0], %r7;"


def left(*body: str) -> list[str]:
    return after("\n".join(body), NAME)


def unchanged(*body: str) -> bool:
    return left(*body) == [line for line in body if not line.endswith(":")]


def test_two_loads() -> None:
    assert left(STORE, "bar.sync 0;", LOAD, USE, LOAD, USE) == ["bar.sync 0;", USE, USE]
    assert left("L:", LOAD, USE, LOAD, USE, "@%p0 bra L;") == [LOAD, USE, USE, "@%p0 bra L;"]


def test_a_load_of_what_was_stored() -> None:
    lines = left("L:", STORE, LOAD, USE, "@%p0 bra L;", LOAD, USE)
    assert lines == [STORE, USE, "@%p0 bra L;", LOAD, USE]


def test_a_store_of_what_was_loaded() -> None:
    assert left("L:", LOAD, STORE, USE, "@%p0 bra L;") == [LOAD, USE, "@%p0 bra L;"]


def test_two_stores() -> None:
    add = "add.u32 %r7, %r7, 1;"
    assert left(STORE, add, STORE, "bar.sync 0;", "mov.u32 %r7, 1;", LOAD, USE) == [
        add,
        STORE,
        "bar.sync 0;",
        "mov.u32 %r7, 1;",
        LOAD,
        USE,
    ]


def test_a_store_that_nothing_loads() -> None:
    assert left(LOAD, USE, "mov.u32 %r7, 1;", STORE) == [LOAD, USE, "mov.u32 %r7, 1;"]
    assert left("@%p0 mov.u32 %r7, 1;", f"@%p0 {STORE}") == ["@%p0 mov.u32 %r7, 1;"]


def test_a_store_that_the_next_iteration_loads() -> None:
    assert unchanged("L:", LOAD, "add.u32 %r7, %r7, 1;", STORE, "@%p0 bra L;")


@pytest.mark.parametrize(
    "between",
    [
        "mov.u32 %r7, 1;",
        "mov.u16 %rs7, 1;",  # the same unit
        "mov.u64 %rd3, 1;",
        "@%p0 mov.u32 %r7, 1;",
        "st.shared.b32 [%r6], %r1;",
        "@%p0 st.shared.b32 [%r6], %r1;",
        "X:",
    ],
)
def test_a_load_that_stays(between: str) -> None:
    lines = left(LOAD, USE, between, LOAD, USE, "@%p1 bra M;", "L:", "M:", "mov.u32 %r7, 3;", USE)
    assert lines.count(LOAD) == 2


@pytest.mark.parametrize("between", ["mov.u32 %r1, 1;", "st.shared.b32 [%r6+128], %r7;", "bar.sync 0;"])
def test_what_does_not_matter(between: str) -> None:
    other = ("ld.shared.b32 %r3, [%r6+128];", "st.shared.u32 [8], %r3;")
    lines = left(WIDE, LOAD, USE, between, LOAD, USE, *other)
    assert lines.count(LOAD) == 1


def test_a_load_without_which_a_register_is_needed() -> None:
    """Both values at once would be one register more than the kernel needs."""
    other = ("ld.shared.b32 %r3, [%r6+128];", "st.shared.u32 [8], %r3;")
    assert unchanged(LOAD, USE, *other, LOAD, USE)
    assert left(WIDE, LOAD, USE, *other, LOAD, USE)[-5:] == [LOAD, USE, *other, USE]


def test_halves_of_slots() -> None:
    half, use = "ld.shared.b16 %rs7, [%r6];", "st.shared.u16 [0], %rs7;"
    assert left(half, use, half, use) == [half, use, use]


def test_accesses_under_one_guard() -> None:
    """Directly one after the other they are as without a guard; the first load is needed, as are others later."""
    add = "@%p0 add.u32 %r7, %r7, 1;"
    run = [f"@%p0 {LOAD}", add, f"@%p0 {STORE}"]
    assert left("mov.u32 %r7, 1;", STORE, *run, *run, LOAD, USE)[1:] == [
        STORE,
        *run[1:],
        *run[1:],
        LOAD,
        USE,
    ]
    other = [f"@!%p0 {LOAD}", "@!%p0 st.shared.u32 [8], %r7;"]
    assert left("mov.u32 %r7, 1;", STORE, "mov.u32 %r7, 2;", *run[:2], *other)[-2:] == other
    assert left("mov.u32 %r7, 1;", STORE, *run, "mov.u32 %r1, 1;", *run, LOAD, USE).count(run[0]) == 1


def test_a_guard_that_changes() -> None:
    change = "@%p0 setp.eq.u32 %p0, %r0, 1;"
    lines = [
        "mov.u32 %r0, 1;",
        STORE,
        "mov.u32 %r7, 2;",
        f"@%p0 {LOAD}",
        change,
        f"@%p0 {LOAD}",
        "@%p0 " + USE,
    ]
    assert unchanged(*lines)


def test_the_halves_of_a_pair() -> None:
    """They are in the registers until the move writes the pair, which has their units."""
    halves = ["ld.shared.b32 %r4, [%r6];", "ld.shared.b32 %r5, [%r6+128];"]
    pair = [*halves, "mov.b64 %rd2, {%r4, %r5};", "st.shared.u64 [0], %rd2;"]
    stores = ["mov.b64 {%r4, %r5}, %rd2;", "st.shared.b32 [%r6], %r4;", "st.shared.b32 [%r6+128], %r5;"]
    assert left("L:", *stores, *pair, *pair, "@%p0 bra L;") == [
        *stores,
        *pair[2:],
        *pair,
        "@%p0 bra L;",
    ]


def test_remarks() -> None:
    assert remark("\n".join([STORE, LOAD, USE]), NAME) == "1 of 1 load and 1 of 1 store dropped"
    assert remark("\n".join([LOAD, USE]), NAME) == "nothing to do: 1 access, none redundant"


def test_idempotent() -> None:
    body = "\n".join(
        ["L:", STORE, LOAD, USE, "mov.u32 %r7, 1;", STORE, "bar.sync 0;", LOAD, USE, "@%p0 bra L;"]
    )
    assert after(body, f"{NAME},{NAME}") == after(body, NAME)


def test_ptxplus() -> None:
    """Of a guard the condition counts; the halves of a pair stay in the registers that hold it."""
    load, store, use = "ld.shared.u32 $r7, [$r6];", "st.shared.u32 [$r6], $r7;", "st.global.u32 [$r1], $r7;"
    head = ["mov.u32 $r7, 0x01;", store, "mov.u32 $r7, 0x02;", use]
    ne, eq = "@$p0.ne ", "@$p0.eq "

    def plus_left(*body: str) -> list[str]:
        return plus_after("\n".join([*head, *body]), NAME)[len(head) :]

    assert plus_left(ne + load, ne + use, ne + load, ne + use) == [ne + load, ne + use, ne + use]
    assert plus_left(ne + load, ne + use, eq + load, eq + use) == [ne + load, ne + use, eq + load, eq + use]
    pair = ["ld.shared.u32 $r8, [$r6];", "ld.shared.u32 $r9, [$r6+0x0080];", "st.global.bb64 [$r1], $r8;"]
    assert plus_left(*pair, *pair) == [*pair, pair[2]]
