"""Rows of a kernel that is being lowered: constants, temporaries, parts of registers."""

import pytest
from small_lowering import PTXPLUS, builder

from ptxsim.lowering.rows import Unsupported
from ptxtool.ir.nodes import Name, Vector


def test_a_constant_has_one_row_for_each_width() -> None:
    b = builder()
    assert b.constant(-1) == b.constant(0xFFFFFFFF)
    assert b.constant(-1, 64) == b.constant(2**64 - 1, 64)
    assert list(b.constants[32]) == [0xFFFFFFFF]
    assert list(b.constants[64]) == [2**64 - 1]


def test_what_a_launch_determines_shares_no_row() -> None:
    """The launch writes its value there: an equal constant would change with it."""
    b = builder()
    zero, size, total = (
        b.constant(0),
        b.launch_constant("dynamic_smem_size"),
        b.launch_constant("total_smem_size"),
    )
    assert len({zero, size, total, b.constant(1)}) == 4
    assert b.launch_constant("dynamic_smem_size") == size


def test_a_temporary_row_is_free_after_its_instruction() -> None:
    b = builder()
    first, second = b.temporary(), b.temporary()
    assert first != second
    b.release_temporaries()
    assert {b.temporary(), b.temporary()} == {first, second}
    assert b.temporary() not in (first, second)


def test_an_immediate_is_kept_as_32_signed_bits() -> None:
    b = builder()
    b.emit("mov_u32", 0, e=0xFFFFFFFF)
    assert b.uops[-1][-1] == -1


def test_the_elements_of_a_vector_register_follow_one_another() -> None:
    b = builder(".reg .v4 .b32 %v; ret;")
    register = b.register("%v")
    assert register is not None
    first = b.row_of(register, "x")
    assert [b.row_of(register, part) for part in "zwrgba"] == [(32, first[1] + k) for k in (2, 3, 0, 1, 2, 3)]
    with pytest.raises(Unsupported, match="vector register '%v' without a component"):
        b.row_of(register)


def test_the_halves_of_128_bits() -> None:
    b = builder(".reg .b128 %q; ret;")
    assert b.halves(Name("%q")) == (Name("%q", "x"), Name("%q", "y"))
    four = tuple(Name(f"%r{n}") for n in range(4))
    assert b.halves(Vector(four)) == (Vector(four[:2]), Vector(four[2:]))
    with pytest.raises(Unsupported, match="this 128-bit operand"):
        b.halves(Name("%rd1"))


def test_ptxplus_knows_registers_of_the_hardware_that_are_not_declared() -> None:
    b = builder("exit;", PTXPLUS)
    first = b.register("$ofs7")
    assert first is not None
    assert b.register("$ofs7") is first
    assert builder().register("%r99") is None
