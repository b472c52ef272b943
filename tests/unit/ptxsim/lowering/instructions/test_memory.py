"""Loads, stores and atomics: the registers of vectors, extension of what is loaded, and refusals."""

import pytest
from small_lowering import PTX, PTXPLUS, fields, lowered, refusal, steps

from ptxsim.base.program import LOCAL, PARAM
from ptxsim.execute import codes

FUNCTION = ".func f(.param .b32 x) { ret; }"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ld.global.u32 %r1, [%rd1];", [codes.LOAD_32]),
        ("ld.global.s8 %r1, [%rd1];", [codes.LOAD_S8]),
        ("ld.global.u8 %h1, [%rd1];", [codes.LOAD_U8]),
        # a 16-bit register holds values zero-extended
        ("ld.global.s8 %h1, [%rd1];", [codes.LOAD_S8, "sext8_u32", "zext16_u32"]),
        ("ld.global.s32 %rd1, [%rd1];", [codes.LOAD_32, "sext_u64"]),
        ("ld.global.u16 %rd1, [%rd1];", [codes.LOAD_U16, "zext_u64"]),
    ],
)
def test_what_is_loaded_is_extended_to_its_register(text: str, expected: list[object]) -> None:
    assert steps(lowered(text)) == [codes.ACCESS64, *expected]


def test_elements_of_128_bits_are_two_of_64() -> None:
    program = lowered(".reg .b128 %q; ld.global.b128 %q, [%rd1+32];")
    assert steps(program) == [codes.ACCESS64, codes.LOAD_64, codes.LOAD_64]
    assert fields(program, "c")[0] >> 8 == 16
    assert fields(program, "e") == [32, 0, 8]


def test_gpgpu_sim_does_not_extend_bytes_by_their_sign() -> None:
    for semantics, code in (("hardware", codes.LOAD_S8), ("gpgpu-sim", codes.LOAD_U8)):
        program = lowered("ld.global.s8 $r1, [$r2];", PTXPLUS, ptxplus_semantics=semantics)
        assert code in steps(program)


def test_parameters_of_a_call_lie_in_local_memory_those_of_the_kernel_do_not() -> None:
    body = "ld.param.u32 %r1, [n]; { .param .b32 x; st.param.b32 [x], %r1; call f, (x); }"
    program = lowered(body, before=FUNCTION)
    assert fields(program, "c", 0)[0] & 0xFF == PARAM
    assert fields(program, "c", 1)[0] & 0xFF == LOCAL


def test_an_atomic_of_packed_halves_is_one_for_each_half() -> None:
    program = lowered("atom.global.add.noftz.f16x2 %r1, [%rd1], %r2;")
    assert steps(program).count(codes.ATOMIC16) == 2
    atomics = [k for k, step in enumerate(steps(program)) if step == codes.ATOMIC16]
    assert [fields(program, "e")[k] for k in atomics] == [0, 2]
    assert {fields(program, "c")[k] for k in atomics} == {codes.ADD | codes.FLOAT << 8}


def test_compare_and_swap_has_two_operands() -> None:
    program = lowered("atom.global.cas.b64 %rd1, [%rd2], %rd3, %rd4;")
    k = steps(program).index(codes.ATOMIC64)
    rows = {
        name: int(program.register_rows[program.register_names.index(name)][1]) for name in ("%rd3", "%rd4")
    }
    assert (fields(program, "a")[k], fields(program, "b")[k]) == (rows["%rd3"], rows["%rd4"])
    assert fields(program, "c")[k] & 0xFF == codes.SWAP


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        ("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", PTX, "3 registers for 2 values"),
        ("ld.global.v2.u32 %r1, [%rd1];", PTX, "1 registers for 2 values"),
        ("st.param.u32 [n], %r1;", PTX, "a store to this state space"),
    ],
)
def test_accesses_that_are_refused(body: str, text: str, reason: str) -> None:
    assert refusal(body, text) == reason
