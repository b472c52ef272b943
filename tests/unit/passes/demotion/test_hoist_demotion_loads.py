"""hoist-demotion-loads: where loads move, by hand; `%r6` is the address of the slots, `%r7` the value register."""

import pytest
from demoted_kernel import WIDE, after, plus_after, remark

NAME = "hoist-demotion-loads"
BUSY = WIDE.count("\n")
LOAD, USE = "ld.shared.b32 %r7, [%r6];", "st.shared.u32 [0], %r7;"
BETWEEN = ["bar.sync 0;", "st.shared.u32 [4], 1;"]


def moved(*body: str, passes: str = NAME) -> list[str]:
    return after("\n".join([WIDE, *body]), passes)[BUSY:]


def test_to_the_start_of_a_block() -> None:
    assert moved("L:", *BETWEEN, LOAD, USE, "@%p0 bra L;") == [LOAD, *BETWEEN, USE, "@%p0 bra L;"]


@pytest.mark.parametrize(
    "stop",
    [
        "mov.u32 %r7, 1;",  # the register
        "st.shared.u32 [8], %r7;",
        "mov.u16 %rs7, 1;",  # other names of its unit
        "st.shared.u64 [8], %rd3;",
        "st.shared.b32 [%r6], %r1;",  # its slot
        "@%p0 st.shared.b32 [%r6], %r1;",
        "st.shared.b16 [%r6], %rs1;\nst.shared.b32 [%r6], %r1;",
    ],
)
def test_what_ends_the_way(stop: str) -> None:
    lines = [*BETWEEN, *stop.split("\n"), *BETWEEN, LOAD, USE]
    assert moved("L:", *lines) == [*lines[:-4], LOAD, *BETWEEN, USE]


def test_what_does_not() -> None:
    """Another slot, another load, a barrier."""
    body = [
        "st.shared.b32 [%r6+128], %r1;",
        "ld.shared.b32 %r1, [%r6+256];",
        "st.shared.u32 [8], %r1;",
        *BETWEEN,
    ]
    assert moved("L:", *body, LOAD, USE) == [LOAD, *body, USE]


def test_loads_that_meet_keep_their_order() -> None:
    other = "ld.shared.b32 %r1, [%r6+128];"
    body = ["L:", *BETWEEN, LOAD, USE, *BETWEEN, other, "st.shared.u32 [8], %r1;"]
    found = [LOAD, other, *BETWEEN, USE, *BETWEEN, "st.shared.u32 [8], %r1;"]
    assert moved(*body) == found
    assert moved(*body, passes=f"{NAME},{NAME}") == found


def test_never_into_a_run_of_one_guard() -> None:
    """The load under the guard and its instruction stay side by side."""
    run = ["@%p0 ld.shared.b32 %r1, [%r6+128];", "@%p0 st.shared.u32 [8], %r1;"]
    assert moved("L:", "@%p0 st.shared.u32 [0], %r7;", *run, LOAD, USE) == [
        "@%p0 st.shared.u32 [0], %r7;",
        *run,
        LOAD,
        USE,
    ]
    assert moved("L:", "mov.u32 %r7, 1;", *run, LOAD, USE)[1:] == [LOAD, *run, USE]


def test_loads_under_a_guard_stay() -> None:
    assert moved("L:", *BETWEEN, f"@%p0 {LOAD}", f"@%p0 {USE}") == [*BETWEEN, f"@%p0 {LOAD}", f"@%p0 {USE}"]


def test_no_more_registers() -> None:
    """Without the room of `WIDE` the value would be in use beside %r0 and %r1."""
    sum_ = ["mov.u32 %r0, 1;", "mov.u32 %r1, 2;", "add.u32 %r0, %r0, %r1;", "st.shared.u32 [4], %r0;"]
    assert after("\n".join([*sum_, LOAD, USE]), NAME) == [*sum_[:3], LOAD, sum_[3], USE]
    assert moved("L:", *sum_, LOAD, USE) == [LOAD, *sum_, USE]


def test_not_before_the_address() -> None:
    assert after("\n".join([*BETWEEN, LOAD, USE]), NAME) == [LOAD, *BETWEEN, USE]


def test_remark() -> None:
    assert remark("\n".join([*BETWEEN, LOAD, USE]), NAME) == "1 of 1 load moved up, past 2 instructions"
    assert remark("\n".join([LOAD, USE]), NAME) == "nothing to do: none of 1 load can move"


def test_ptxplus() -> None:
    """Past a barrier and other shared memory; into no run of one guard, but between two conditions."""
    load, use = "ld.shared.u32 $r7, [$r6];", "st.global.u32 [$r1], $r7;"
    between = ["bar.sync 0x00000000;", "mov.u32 s[0x0010], $r2;"]
    write, run = "mov.u32 $r7, 0x01;", ["@$p0.ne mov.u32 $r7, 0x01;", "@$p0.eq mov.u32 $r2, $r3;"]
    assert plus_after("\n".join([write, *between, load, use]), NAME) == [write, load, *between, use]
    assert plus_after("\n".join([*run, load, use]), NAME) == [run[0], load, run[1], use]
    same = [run[0], run[1].replace("eq", "ne")]
    assert plus_after("\n".join([*same, load, use]), NAME) == [*same, load, use]
