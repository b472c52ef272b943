"""Problems of operands in words: what stands there, what the place takes, and the next step."""

import pytest
from operand_places import place

from ptxtool.sema.operands.shapes import OperandShape, shape
from ptxtool.sema.operands.wording import (
    Problem,
    either,
    range_of,
    wanted,
    wrong_constant,
    wrong_kind,
    wrong_type,
)

ADD = ("add.u32", 1, 3)


@pytest.mark.parametrize(
    ("found", "help"),
    [
        (shape("memory"), "'ld' puts it into a register first"),
        (shape("variable", "shared"), "'ld.shared' reads its value into a register first, 'mov' its address"),
        (shape("sink"), "'_' drops results, it has no value"),
        (shape("text"), "write a register"),
    ],
)
def test_something_of_another_kind_where_a_value_is_read(found: OperandShape, help: str) -> None:
    problem = wrong_kind(place(*ADD), found, "a register")
    assert (problem.code, problem.help) == ("E206", help)
    assert problem.message.endswith(", 'add.u32' takes a register here")


@pytest.mark.parametrize(
    ("found", "help"),
    [
        (shape("memory"), "write to a register, and 'st' stores that"),
        (shape("variable", "global"), "write to a register, and 'st.global' stores that"),
        (shape("variable", "param::in"), "parameters cannot be written: copy it into a register"),
    ],
)
def test_something_of_another_kind_where_a_result_is_written(found: OperandShape, help: str) -> None:
    assert wrong_kind(place("add.u32", 0, 3), found, "a register").help == help


@pytest.mark.parametrize(
    ("at", "found", "name", "trouble", "help"),
    [
        (ADD, "u64", "u32", "width", "it has 64 bits, 32 fit; 'cvt' converts"),
        (("add.u32", 0, 3), "u64", "u32", "width", "it has 64 bits, 32 fit; name another register"),
        (
            ADD,
            "f32",
            "u32",
            "type",
            "registers of '.u32' and '.b32' fit; 'mov.b32' copies the bits, 'cvt' converts",
        ),
        (ADD, "pred", "u32", "type", "'selp' makes a value of a predicate"),
        (("selp.u32", 3, 4), "u32", "pred", "type", "'setp' makes a predicate of a value"),
        (
            ("setp.eq.u32", 0, 3),
            "u32",
            "pred",
            "type",
            "name a '.pred' register: '.reg .pred %p<8>;' declares some",
        ),
    ],
)
def test_a_register_of_another_type(
    at: tuple[str, int, int], found: str, name: str, trouble: str, help: str
) -> None:
    problem = wrong_type(place(*at), shape("register", found), name, trouble, relaxed=False)
    message = f"is a '.{found}' register, '{at[0]}' takes '.{name}' here"
    assert problem == Problem("E207", message, help)


@pytest.mark.parametrize(
    ("name", "help"),
    [
        ("f32", "write a fraction ('1.0'), or its bits: '0f' and 8 hexadecimal digits"),
        ("f64", "write a fraction ('1.0'), or its bits: '0d' and 16 hexadecimal digits"),
        ("u32", "write a whole number"),
        ("f16x2", "there are no constants of '.f16x2': 'mov' puts its bits into a register first"),
    ],
)
def test_a_constant_of_another_kind(name: str, help: str) -> None:
    assert wrong_constant(place(*ADD), shape("constant", "int"), name).help == help


def test_what_a_place_takes() -> None:
    def first(opcode: str, number: int, n_operands: int) -> str:
        at = place(opcode, number, n_operands)
        return wanted(at, at.spec.fits[0])

    assert first("add.u32", 0, 3) == "a '.u32' register"
    assert first("add.u32", 1, 3) == "a '.u32' register or a constant"
    assert first("mul.wide.s16", 0, 3) == "a '.s32' register"
    assert first("setp.eq.u32", 0, 3) == "a predicate register"
    assert first("ld.global.v4.f32", 0, 2) == "a vector of 4 '.f32' registers"


def test_bounds_of_a_constant() -> None:
    registers = place("setmaxnreg.inc.sync.aligned.u32", 0, 1)
    assert range_of(registers.spec.fits[0]) == "from 24 to 256 that 8 divides"
    assert range_of(place("bar.sync", 0, 1).spec.fits[1]) == "from 0 to 15"
    assert range_of(place(*ADD).spec.fits[0]) == ""


def test_alternatives_of_alternatives_are_one_list() -> None:
    assert (
        either(["a register or a constant", "an address", "a constant"])
        == "a register, a constant or an address"
    )
