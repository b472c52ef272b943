"""Predictions that are worked out by hand: stalls of blocks, loops and calls, contention, occupancy."""

from dataclasses import replace

import pytest
from kernels import ptxplus

from ptxtool.analysis.demotion.predictor import MachineTiming, Prediction, UnitTiming, exposed, predict
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

HEAD = ".version 8.0\n.target sm_70\n.address_size 64\n"
TIMING = MachineTiming(
    {
        ("alu", "int"): UnitTiming(1, 128, "SP"),
        ("add", "int"): UnitTiming(4, 128, "SP"),
        ("mad", "int"): UnitTiming(4, 128, "SP"),
        ("add", "fp64"): UnitTiming(8, 4, "SFU"),
        ("branch", "int"): UnitTiming(1, 128, "SP"),
        ("compare", "int"): UnitTiming(1, 128, "SP"),
    },
    max_throughput=128,
    memory_throughput=128,
    memory_units=frozenset({"ld", "st"}),
)


def kernel(body: str, before: str = "") -> Function:
    declared = ".reg .b32 %r<20>; .reg .b64 %rd<10>; .reg .f64 %fd<9>; .reg .pred %p<2>;"
    return parse(f"{HEAD}{before}.entry k() {{\n{declared}\n{body}\n}}").kernels["k"]


def stalls(body: str, occupancy: float = 0.5, before: str = "") -> tuple[float, float]:
    found = predict(kernel(body, before), TIMING, occupancy)
    return found.stalls, found.naive


def test_a_dependent_instruction_waits_for_the_pipeline() -> None:
    """mov at 0, which takes 1 + 5 cycles; the add at 6 is ready 4 + 5 + 2 later, at 17; then add and ret: 19."""
    body = "mov.u32 %r1, 1; add.u32 %r2, %r1, %r1; add.u32 %r3, %r2, 1; ret;"
    first = 6 + (4 + 5 + 1) + 1 + 1  # %r1 is read once, whatever it is named
    assert stalls(body) == (first, first)


def test_independent_instructions_take_a_slot_each() -> None:
    assert stalls("mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 1; ret;") == (4, 4)


def test_what_was_issued_meanwhile_shortens_the_wait() -> None:
    """Memory: 24 cycles from the issue of the load, of which two pass with moves; without memory it is 1 + 5 + 1."""
    body = "ld.shared.u32 %r1, [%r0]; mov.u32 %r2, 1; mov.u32 %r3, 1; add.u32 %r4, %r1, 1; ret;"
    assert stalls(body) == (24 + 1 + 1, 7 + 1 + 1)
    assert stalls(body.replace(".shared", ".global")) == (200 + 2, 9)
    assert stalls(body.replace(".shared", ".local")) == (202, 9)
    assert stalls(body.replace("ld.shared", "ld")) == (202, 9)


def test_stores_are_not_waited_for() -> None:
    assert stalls("st.global.u32 [%r0], %r1; mov.u32 %r1, 1; ret;") == (3, 3)


def test_a_register_in_flight_is_not_overwritten() -> None:
    assert stalls("ld.shared.u32 %r1, [%r0]; ld.shared.u32 %r1, [%r2]; ret;")[0] == 24 + 2


def test_units_with_few_lanes_are_contended() -> None:
    """FP64 has 4 of 128 lanes: a slot of 32 cycles at full occupancy, 16 at half; never less than one."""
    body = "add.f64 %fd1, %fd2, %fd3; mov.u32 %r1, 1; ret;"
    assert stalls(body, 1.0)[0] == 32 + 2
    assert stalls(body, 0.5)[0] == 16 + 2
    assert stalls(body, 1 / 64)[0] == 3
    assert stalls(body)[1] == 3


def test_the_busiest_bank_of_registers() -> None:
    """Of four banks in two partitions %r1, %r5 and %r9 are in one: four accesses with %r13, half a cycle each; %rd3 is
    unit 6, beside %r2. Without banks the schedulers are busiest: four slots of a quarter cycle."""
    body = "mad.lo.u32 %r13, %r1, %r5, %r9; mov.b64 %rd3, {%r2, %r3}; st.shared.u64 [%r2], %rd3; ret;"
    banked = replace(TIMING, register_banks=4, partitions=2)
    assert predict(kernel(body), banked, 0.5).busy == 4 * 0.5
    assert predict(kernel(body), TIMING, 0.5).busy == 1.0


def test_loops_count_ten_times_and_nested_ones_again() -> None:
    """In the loop: the test waits for %r1, the branch for %p0 (1 + 5 + 1 after it), so 7 + 7 + 1 with three slots."""
    loop = "L: mov.u32 %r1, 1; setp.lt.u32 %p0, %r1, 9; @%p0 bra L;"
    turn = 6 + 7 + 1
    assert stalls(f"{loop} ret;") == (10 * turn + 1, turn + 1)
    nested = f"M: mov.u32 %r2, 1; {loop} @%p0 bra M; ret;"
    assert stalls(nested) == (100 * turn + 10 * 2 + 1, turn + 3)


def test_what_is_in_flight_is_waited_for_in_the_only_successor() -> None:
    """The load is issued before the branch; the next block has no other predecessor."""
    body = "ld.shared.u32 %r1, [%r0]; @%p0 bra E; add.u32 %r2, %r1, 1; E: ret;"
    assert stalls(body)[0] == 2 + (24 - 2 + 1) + 1
    joined = "ld.shared.u32 %r1, [%r0]; @%p0 bra E; mov.u32 %r3, 1; E: add.u32 %r2, %r1, 1; ret;"
    assert stalls(joined)[0] == 2 + 1 + 2


def test_calls_add_the_stalls_of_the_function() -> None:
    """Ten times in a loop, and what the function has in a loop of its own ten times that."""
    own = "M: mov.u32 %r1, 1; @%p0 bra M; ret;"
    function = f".func f() {{ .reg .b32 %r<3>; .reg .pred %p<2>; {own} }}\n"
    assert stalls("call f, (); ret;", before=function)[0] == 2 + (10 * 2 + 1)
    assert stalls("L: call f, (); @%p0 bra L; ret;", before=function)[0] == 10 * (2 + 21) + 1
    assert stalls("L: call f, (); @%p0 bra L; ret;", before=function)[1] == 2 + 1 + 3


def test_recursion_is_refused() -> None:
    function = ".func f() { call f, (); ret; }\n"
    with pytest.raises(PtxError, match=r"E301.*'f' is recursive"):
        stalls("call f, (); ret;", before=function)


def test_ptxplus_memory_operands() -> None:
    """`mov` with memory goes to the load-store unit; arithmetic with memory takes no trip."""

    def of(body: str) -> float:
        return predict(ptxplus(f"{body} exit;"), TIMING, 1.0).stalls

    assert of("mov.u32 $r1, s[0x10]; add.u32 $r2, $r1, $r1;") == 24 + 2
    assert of("mov.u32 $r1, g[$r2]; add.u32 $r2, $r1, $r1;") == 200 + 2
    assert of("add.u32 $r1, s[0x10], $r0; add.u32 $r2, $r1, $r1;") == 4 + 5 + 1 + 2


def test_occupancy_hides_stalls() -> None:
    """The factors of the paper's fit: half the occupancy leaves 1.82 times the stalls, a quarter 3.31 times."""
    assert exposed(0.5) / exposed(1.0) == pytest.approx(1.82, abs=0.005)
    assert exposed(0.25) / exposed(1.0) == pytest.approx(3.31, abs=0.005)
    assert Prediction(0.375, 100.0, 1.0).relative_to(1.0) == pytest.approx(233, abs=0.5)
    assert Prediction(0.75, 100.0, 1.0).relative_to(0.75) == pytest.approx(100)


def test_no_warp_waits_less_than_its_turn() -> None:
    """In the loop a double, which occupies the SFU for 32 / 4 cycles; the schedulers for a quarter cycle each."""
    found = predict(
        kernel("L: add.f64 %fd1, %fd2, %fd3; @%p0 bra L; st.shared.u32 [%r1], %r1; ret;"), TIMING, 0.5
    )
    assert found.busy == 10 * 8
    moves = predict(kernel("mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 1; ret;"), TIMING, 0.5)
    assert moves.busy == 4 * 0.25
    called = ".func f() { .reg .b32 %r<3>; mov.u32 %r1, 1; ret; }\n"
    assert predict(kernel("call f, (); ret;", called), TIMING, 0.5).busy == 4 * 0.25
    few, many = Prediction(0.5, 1000.0, 1.0, 10.0), Prediction(0.5, 1000.0, 1.0, 100.0)
    assert few.bounded(0.5, 64) == few.relative_to(0.5) == 1000
    assert many.bounded(0.5, 64) == 32 * 100


def test_issue_slots_are_a_part_of_the_stalls() -> None:
    """A loop of four instructions, of which the addition waits 23 cycles for the load, ten times."""
    body = "$L: ld.shared.u32 %r1, [%r0]; add.u32 %r2, %r1, 1; setp.eq.u32 %p1, %r3, 0; bra $L;"
    found = predict(kernel(body), TIMING, 0.5)
    assert found.slots == 10 * 4
    assert found.stalls == 10 * (4 + 23)
    doubles = predict(kernel("add.f64 %fd1, %fd2, %fd3; ret;"), TIMING, 0.5)
    assert (doubles.slots, doubles.stalls) == (16 + 1, 16 + 1)  # 128 / 4 lanes, at half of the occupancy
