"""Whether an address fits: its base, its width, its state space; addresses as values; coordinates."""

import pytest
from operand_places import place

from ptxtool.sema.operands.fit import problem
from ptxtool.sema.operands.shapes import OperandShape, shape

Place = tuple[str, int, int]
LD, GENERIC, SHARED = ("ld.global.u32", 1, 2), ("ld.u32", 1, 2), ("ld.shared.u32", 1, 2)


def memory(kind: str, type_: str = "", what: str = "") -> OperandShape:
    return shape("memory", what, (shape(kind, type_),))


def texture(n: int, type_: str = "f32") -> OperandShape:
    coordinates = shape("vector", items=(shape("register", type_),) * n)
    return shape("memory", "", (shape("opaque", "texref"), coordinates))


@pytest.mark.parametrize(
    ("at", "found"),
    [
        (LD, memory("register", "u64")),
        (LD, memory("register", "b64")),
        (LD, memory("variable", "global")),
        (SHARED, memory("register", "u32")),
        (SHARED, memory("variable", "shared")),
        (GENERIC, memory("variable", "shared")),
        (("ld.local.u32", 1, 2), memory("constant", "int")),
        (("st.param.u32", 0, 2), memory("variable", "param::out")),
        (("mov.u64", 1, 2), shape("variable", "global")),
        (("mov.u32", 1, 2), shape("variable", "shared")),
        (("tex.2d.v4.f32.f32", 1, 2), texture(2)),
        (("tex.2d.v4.f32.f32", 1, 2), texture(4)),
    ],
)
def test_what_fits(at: Place, found: OperandShape) -> None:
    assert problem(place(*at), found, None) is None


@pytest.mark.parametrize(
    ("at", "found", "code", "message"),
    [
        (
            LD,
            shape("register", "u64"),
            "E206",
            "is a '.u64' register, 'ld.global.u32' takes an address in brackets here",
        ),
        (LD, memory("register", "u64", "offset"), "E206", "has an offset that is no whole number"),
        (LD, memory("register", "u64", "index"), "E206", "indexes what is no array"),
        (
            LD,
            memory("register", "u32"),
            "E207",
            "has a '.u32' register as its base, an address in '.global' has 64 bits",
        ),
        (
            GENERIC,
            memory("register", "u32"),
            "E207",
            "has a '.u32' register as its base, a generic address has 64 bits",
        ),
        (
            LD,
            memory("variable", "shared"),
            "E208",
            "is in '.shared' memory, 'ld.global.u32' accesses '.global'",
        ),
        (
            GENERIC,
            memory("variable", "const"),
            "E208",
            "is in '.const' memory, which has no generic address here",
        ),
        (GENERIC, memory("variable", "param::in"), "E208", "is a parameter, which has no generic address"),
        (
            ("st.param.u32", 0, 2),
            memory("variable", "param::in"),
            "E206",
            "is a parameter of this function, which it cannot write",
        ),
        (
            ("ld.param.u32", 1, 2),
            memory("variable", "param::out"),
            "E206",
            "is a result of this function, which it cannot read",
        ),
        (
            ("mov.u32", 1, 2),
            shape("variable", "global"),
            "E207",
            "is an address in '.global', which has 64 bits, 'mov.u32' takes '.u32'",
        ),
        (
            ("tex.2d.v4.f32.f32", 1, 2),
            texture(3),
            "E210",
            "has 3 coordinates, 'tex.2d.v4.f32.f32' takes 2 or 4 here",
        ),
        (
            ("tex.3d.v4.f32.f32", 1, 2),
            texture(2),
            "E210",
            "has 2 coordinates, 'tex.3d.v4.f32.f32' takes 4 here",
        ),
        (
            ("tex.2d.v4.f32.s32", 1, 2),
            texture(2),
            "E207",
            "has a '.f32' register among its coordinates, 'tex.2d.v4.f32.s32' takes 32-bit integers",
        ),
        (("tex.2d.v4.f32.f32", 1, 2), memory("opaque", "texref"), "E206", "has no coordinates"),
    ],
)
def test_what_does_not(at: Place, found: OperandShape, code: str, message: str) -> None:
    trouble = problem(place(*at), found, None)
    assert trouble is not None
    assert (trouble.code, trouble.message) == (code, message)
    assert trouble.help


def test_addresses_of_32_bits_are_as_wide_as_their_file_says() -> None:
    narrow = place(*LD, is_64_bit=False)
    assert problem(narrow, memory("register", "u32"), None) is None
    assert problem(place("mov.u32", 1, 2, is_64_bit=False), shape("variable", "global"), None) is None
