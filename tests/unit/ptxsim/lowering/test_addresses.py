"""Memory operands: the parts of an address in the micro-operation that checks it, and what comes after the access."""

import pytest
from small_lowering import PTX, PTXPLUS, constant, fields, lowered, refusal, steps

from ptxsim.base.program import CONST, GENERIC, GLOBAL, LOCAL, SHARED
from ptxsim.execute import codes

VARIABLES = ".shared .b32 first[3]; .shared .b32 second[4]; .const .b32 fixed[2]; .func f() { ret; }"


def test_a_number_after_a_register_is_an_offset() -> None:
    program = lowered("ld.global.v2.u32 {%r1, %r2}, [%rd1+-8];")
    assert steps(program)[0] == codes.ACCESS64
    assert fields(program, "c")[0] == GLOBAL | 8 << 8
    assert fields(program, "e") == [-8, 0, 4]  # of the address, then of each element
    assert constant(program, fields(program, "b")[0]) == 0


@pytest.mark.parametrize(
    ("body", "space", "address"),
    [
        # `second` lies after the 12 bytes of `first`
        ("ld.shared.u32 %r1, [second+4]; mov.u32 %r2, first;", SHARED, 16),
        ("ld.const.u32 %r1, [fixed+4];", CONST, 4),
        (".local .b32 own[4]; ld.local.u32 %r1, [own+8];", LOCAL, 8),
    ],
)
def test_the_place_of_a_variable_is_a_constant(body: str, space: int, address: int) -> None:
    program = lowered(body, before=VARIABLES)
    assert steps(program)[0] == codes.ACCESS32
    assert fields(program, "c")[0] == space | 4 << 8
    assert constant(program, fields(program, "a")[0]) == 0
    assert fields(program, "e")[0] == address


def test_a_generic_address_of_more_than_31_bits_is_a_constant_of_64() -> None:
    """Shared variables lie in a window at the top of the first 4 GiB."""
    program = lowered("ld.u32 %r1, [first+4];", before=VARIABLES)
    assert steps(program)[0] == codes.ACCESS64
    assert fields(program, "c")[0] == GENERIC | 4 << 8
    assert constant(program, fields(program, "a")[0], 64) == codes.SHARED_WINDOW + 4


def test_a_post_increment_comes_after_the_access() -> None:
    program = lowered("mov.u32 $r1, s[$ofs1+=0x0010];", PTXPLUS)
    k = steps(program).index("add_u32")
    assert steps(program).index(codes.LOAD_32) < k
    assert fields(program, "d")[k] == fields(program, "a")[k] == fields(program, "a")[0]
    assert constant(program, fields(program, "b")[k]) == 16
    assert fields(program, "e")[0] == 0  # the address is that before


def test_a_second_register_is_added() -> None:
    program = lowered("mov.u32 $r1, s[$ofs1+$r2];", PTXPLUS)
    rows = {name: int(program.register_rows[index][1]) for name, index in (("$r2", 2), ("$ofs1", 9))}
    assert fields(program, "a")[0] == rows["$ofs1"]
    assert fields(program, "b")[0] == rows["$r2"]


@pytest.mark.parametrize(
    ("body", "text", "reason"),
    [
        ("ld.global.u32 %r1, [%rd1+0x80000000];", PTX, "an address offset of more than 31 bits"),
        ("ld.global.u32 %r1, [nowhere];", PTX, "the address 'nowhere'"),
        ("ld.global.u32 %r1, %rd1;", PTX, "an address without brackets"),
        ("{ .param .b32 x; ld.shared.u32 %r1, [x]; }", PTX, "'x' in this state space"),
        ("mov.u32 constant0[0x0000], $r1;", PTXPLUS, "a store to constant memory"),
        (
            "mov.u32 $r1, s[$r1.lo+=0x0010];",
            PTXPLUS,
            "a post-increment of something that is no whole register",
        ),
        (
            "mov.u32 $r1, c7[0x0000];",
            PTXPLUS,
            "'c7[...]' is not declared (add '.const .u32 c7[N] = { ... };')",
        ),
    ],
)
def test_addresses_that_are_refused(body: str, text: str, reason: str) -> None:
    assert refusal(body, text) == reason
