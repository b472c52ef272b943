"""Whether an operand fits its place: values, vectors, pairs, immediates, selectors."""

import pytest
from operand_places import place

from ptxtool.sema.operands.fit import problem
from ptxtool.sema.operands.shapes import UNDECLARED, OperandShape, shape


def register(type_: str, length: int = 1) -> OperandShape:
    return shape("register", type_, (), length)


def vector(*types: str) -> OperandShape:
    return shape("vector", items=tuple(shape("sink") if t == "_" else register(t) for t in types))


def pair(first: OperandShape, second: OperandShape) -> OperandShape:
    return shape("pair", "", (first, second))


ONE, HALF = shape("constant", "int"), shape("constant", "f64")
Place = tuple[str, int, int]


@pytest.mark.parametrize(
    ("at", "found", "value"),
    [
        (("add.u32", 1, 3), ONE, 5),
        (("add.f32", 1, 3), HALF, None),
        (("add.u32", 1, 3), UNDECLARED, None),  # reported elsewhere
        (("cvt.u64.u8", 1, 2), register("b32"), None),
        (("setp.eq.u32", 0, 3), pair(register("pred"), shape("sink")), None),
        (("setp.eq.u32", 0, 3), pair(shape("sink"), register("pred")), None),
        (("selp.u32", 3, 4), shape("negated", "", (register("pred"),)), None),
        (("ld.global.v2.f32", 0, 2), vector("f32", "_"), None),
        (("ld.global.v2.f32", 0, 2), register("f32", 2), None),
        (("bra", 0, 1), shape("label"), None),
        (("bar.sync", 0, 1), ONE, 15),
        (("mov.u32", 1, 2), shape("special", "u32"), None),
        (("vadd.u32.u32.u32", 1, 3), shape("selected", "b3", (register("u32"),)), None),
    ],
)
def test_what_fits(at: Place, found: OperandShape, value: int | None) -> None:
    assert problem(place(*at), found, value) is None


@pytest.mark.parametrize(
    ("at", "found", "value", "code", "message"),
    [
        (
            ("add.u32", 1, 3),
            register("f32"),
            None,
            "E207",
            "is a '.f32' register, 'add.u32' takes '.u32' here",
        ),
        (
            ("add.u32", 1, 3),
            register("u32", 2),
            None,
            "E210",
            "is a vector of 2, 'add.u32' takes one register here",
        ),
        (("add.f32", 1, 3), ONE, 1, "E207", "is an integer constant, 'add.f32' takes '.f32' here"),
        (("add.u32", 0, 3), ONE, 1, "E206", "is a constant, 'add.u32' cannot write to it"),
        (("mov.u32", 0, 2), shape("special", "u32"), None, "E206", "cannot be written"),
        (
            ("add.u32", 1, 3),
            shape("negated", "", (register("pred"),)),
            None,
            "E206",
            "is negated, 'add.u32' takes no '!' here",
        ),
        (
            ("add.u32", 0, 3),
            pair(register("u32"), register("pred")),
            None,
            "E206",
            "is a pair of destinations, 'add.u32' takes a '.u32' register here",
        ),
        (
            ("setp.eq.u32", 0, 3),
            pair(register("pred"), register("u32")),
            None,
            "E207",
            "has a '.u32' register after the bar",
        ),
        (
            ("ld.global.v2.f32", 0, 2),
            vector("f32", "f32", "f32"),
            None,
            "E210",
            "has 3 elements, 'ld.global.v2.f32' takes a vector of 2 here",
        ),
        (("ld.global.v2.f32", 0, 2), vector("_", "_"), None, "E206", "holds nothing but '_'"),
        (("st.global.v2.f32", 1, 2), vector("f32", "_"), None, "E206", "reads '_'"),
        (("ld.global.v2.f32", 0, 2), vector("f32", "f64"), None, "E207", "has elements of different widths"),
        (("bra", 0, 1), register("u32"), None, "E206", "is a '.u32' register, 'bra' takes a label here"),
        (("bar.sync", 0, 1), ONE, 16, "E209", "is out of range"),
        (
            ("mov.u32", 1, 2),
            shape("special", "u64"),
            None,
            "E207",
            "is a special register of '.u64', 'mov.u32' takes '.u32' here",
        ),
        (
            ("vadd.u32.u32.u32", 1, 3),
            shape("selected", "b4", (register("u32"),)),
            None,
            "E206",
            "has the selector '.b4', which 'vadd.u32.u32.u32' does not have here",
        ),
    ],
)
def test_what_does_not(at: Place, found: OperandShape, value: int | None, code: str, message: str) -> None:
    trouble = problem(place(*at), found, value)
    assert trouble is not None
    assert (trouble.code, trouble.message) == (code, message)
    assert trouble.help


def test_elements_that_are_packed_fill_the_value() -> None:
    pack = place("mov.b64", 1, 2, form=1)
    for fits in (vector("b32", "u32"), vector("b16", "b16", "b16", "b16"), register("f32", 2)):
        assert problem(pack, fits, None) is None
    trouble = problem(pack, vector("b32", "b32", "b32"), None)
    assert trouble is not None
    assert (trouble.code, trouble.message) == ("E207", "has 96 bits together, 'mov.b64' takes 64")
    trouble = problem(pack, vector("pred", "pred"), None)
    assert trouble is not None
    assert (trouble.code, trouble.message) == ("E207", "holds predicates")
