"""Where results go: halves merged, narrow registers extended, pairs split, flags set."""

import pytest
from small_lowering import PTX, PTXPLUS, builder, emitted, fields, lowered, refusal, steps

from ptxsim.execute.codes import PREDICATE
from ptxsim.lowering.builder import RULES, rule
from ptxtool.ir.nodes import Name
from ptxtool.isa.types import TYPES


def test_halves_are_merged_into_their_register_last() -> None:
    program = lowered("mov.u16 $r1.hi, $r2.lo;", PTXPLUS)
    assert steps(program)[-1] == "merge_high_u32"
    row = int(program.register_rows[1][1])
    assert (fields(program, "d")[-1], fields(program, "a")[-1]) == (row, row)
    assert steps(lowered("mov.u16 $r1.lo, $r2.lo;", PTXPLUS))[-1] == "merge_low_u32"


@pytest.mark.parametrize(
    ("destination", "type_", "last"),
    [
        ("%h1", "s16", ["zext16_u32"]),  # 16-bit registers hold values zero-extended
        ("%h1", "s8", ["sext8_u32", "zext16_u32"]),
        ("%r1", "s16", ["sext16_u32"]),
        ("%r1", "u8", ["zext8_u32"]),
        ("%rd1", "s32", ["sext_u64"]),
        ("%rd1", "u32", ["zext_u64"]),
        ("%r1", "s32", []),
    ],
)
def test_a_result_is_extended_to_its_register(destination: str, type_: str, last: list[str]) -> None:
    b = builder()
    place = b.place(Name(destination), TYPES[type_])
    place.finish()
    assert emitted(b) == last


def test_a_sink_is_not_written() -> None:
    b = builder()
    rows = {b.row_of(register)[1] for register in b.registers if register.bits == 32}
    assert b.place(Name("_"), TYPES["u32"]).row not in rows
    assert b.predicate_destination(Name("_")) >= b.n_rows[1] - 1


def test_a_64_bit_result_in_ptxplus_takes_the_next_register_too() -> None:
    b = builder("exit;", PTXPLUS)
    place = b.place(Name("$r4"), TYPES["u64"])
    place.finish()
    assert emitted(b) == ["trunc_u64", "high_u64"]
    low, high = (b.row_of(register)[1] for name in ("$r4", "$r5") if (register := b.register(name)))
    assert [uop[1] for uop in b.uops] == [low, high]


def test_a_nan_sets_zero_and_sign() -> None:
    """The comparison of a float with itself is false for a NaN: its complement goes into Z and S."""
    b = builder("exit;", PTXPLUS)
    b.set_flags(10, 0, TYPES["f32"])
    assert emitted(b) == ["num_f32", "eq_f32", PREDICATE, "lt_f32", PREDICATE, PREDICATE, PREDICATE]
    assert [uop[1] for uop in b.uops if uop[0] == PREDICATE] == [10, 11, 12, 13]
    assert b.uops[0][-1] == 1  # inverted
    as_gpgpu_sim = builder("exit;", PTXPLUS, as_gpgpu_sim=True)
    as_gpgpu_sim.set_flags(10, 0, TYPES["f32"])
    assert "num_f32" not in emitted(as_gpgpu_sim)


def test_a_rule_is_registered_under_each_of_its_names() -> None:
    try:
        made = rule("no_such_sem", "nor_this")(lambda builder, op: None)
        assert RULES["no_such_sem"] is RULES["nor_this"] is made
    finally:
        del RULES["no_such_sem"], RULES["nor_this"]


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        ("add.u32 nothing, %r1, 1;", PTX, "'nothing' as a destination"),
        ("add.u32 %p1, %r1, 1;", PTX, "predicate '%p1' as a destination"),
        ("add.u32 5, %r1, 1;", PTX, "this destination"),
        ("add.u32 {%r1, %r2}, %r1, 1;", PTX, "a vector destination here"),
        ("setp.eq.u32 %r1, %r2, 1;", PTX, "a destination that is no predicate register"),
        ("add.u32 $r1|$r2, $r3, $r4;", PTXPLUS, "this pair of destinations"),
    ],
)
def test_destinations_that_are_refused(body: str, text: str, reason: str) -> None:
    assert refusal(body, text) == reason
