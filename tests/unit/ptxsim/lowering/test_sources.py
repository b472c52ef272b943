"""Operands as sources: constants extended by their types, registers, special registers."""

import pytest
from small_lowering import PTX, PTXPLUS, builder, constant, fields, lowered, refusal, steps

from ptxsim.execute import codes
from ptxsim.lowering.rows import TRUE
from ptxtool.ir.nodes import Immediate
from ptxtool.isa.types import TYPES


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("s16", "0xFFFE", 0xFFFFFFFE),
        ("u16", "0xFFFE", 0x0000FFFE),
        ("s16", "0x7FFE", 0x00007FFE),
        ("s8", "200", 0xFFFFFFC8),
        ("f32", "0f3F800000", 0x3F800000),
    ],
)
def test_constants_are_extended_by_the_sign_of_their_type(type_: str, text: str, expected: int) -> None:
    b = builder()
    row = b.value(Immediate(text), TYPES[type_])
    assert list(b.constants[32])[~row] == expected


@pytest.mark.parametrize(
    ("name", "value"), [("WARP_SZ", 32), ("%gridid", 0), ("%envreg7", 0), ("%nsmid", 14), ("%nwarpid", 48)]
)
def test_special_registers_that_are_constants(name: str, value: int) -> None:
    """Table 1 of the machine file: a C2050 has 14 SMs of 48 warps."""
    program = lowered(f"mov.u32 %r1, {name};")
    assert steps(program) == ["mov_u32"]
    assert constant(program, *fields(program, "a")) == value


@pytest.mark.parametrize(("name", "shift"), [("clock", 0), ("clock_hi", 32), ("globaltimer_hi", 32)])
def test_parts_of_the_clock(name: str, shift: int) -> None:
    program = lowered(f"mov.u32 %r1, %{name};")
    assert steps(program)[0] == codes.CLOCK32
    assert fields(program, "e")[0] == shift


def test_halves_of_a_ptxplus_register_are_extended_if_their_type_is_signed() -> None:
    assert steps(lowered("add.u32 $r1, $r2, $r3;", PTXPLUS)) == ["add_u32"]
    assert steps(lowered("cvt.u32.u16 $r1, $r2.hi;", PTXPLUS)) == ["high16_u32", "mov_u32"]
    assert steps(lowered("cvt.s32.s16 $r1, $r2.lo;", PTXPLUS)) == ["zext16_u32", "sext16_u32", "mov_u32"]


def test_predicates_are_negated_once() -> None:
    b = builder()
    assert b.predicate(Immediate("1")) == TRUE
    assert steps(lowered("selp.u32 %r1, 1, 2, %p1;")) == ["sel_u32"]
    assert steps(lowered("vote.sync.any.pred %p1, !%p2, -1;"))[:2] == [codes.PREDICATE, codes.VOTE]
    assert steps(lowered("vote.sync.any.pred %p1, %p2, -1;"))[0] == codes.VOTE


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        ("add.u32 %r1, %p1, 1;", PTX, "predicate '%p1' as a value"),
        ("add.u32 %r1, %r2, {%r3, %r4};", PTX, "a vector operand here"),
        ("add.u32 %r1, %r2, nothing;", PTX, "'nothing' as an operand"),
        ("selp.u32 %r1, 1, 2, %r3;", PTX, "a predicate operand that is no predicate register"),
        ("add.u32 $r1, $r2, [$r3];", PTXPLUS, "an address as a value"),
    ],
)
def test_operands_that_are_refused(body: str, text: str, reason: str) -> None:
    assert refusal(body, text) == reason
