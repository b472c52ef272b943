"""Names of registers and the units they mean."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.regalloc.physical import RegisterUnits, units_of
from ptxtool.ir.nodes import Function


def place(function: Function, name: str) -> RegisterUnits | None:
    register = function.registers.resolve(name, 0)
    assert register is not None
    return units_of(register)


@pytest.mark.parametrize(
    ("declaration", "name", "expected"),
    [
        (".b32 %r<9>", "%r5", RegisterUnits("general", 5, 1)),
        (".f32 %f<9>", "%f0", RegisterUnits("general", 0, 1)),
        (".b64 %rd<9>", "%rd5", RegisterUnits("general", 10, 2)),
        (".f64 accumulator12", "accumulator12", RegisterUnits("general", 24, 2)),
        (".b128 %rq<9>", "%rq5", RegisterUnits("general", 20, 4)),
        (".v4 .f32 %v3", "%v3", RegisterUnits("general", 12, 4)),
        (".b16 %rs<9>", "%rs5", RegisterUnits("general", 5, 1)),
        (".b8 %rb<9>", "%rb5", RegisterUnits("general", 5, 1)),
        (".pred %p<9>", "%p2", RegisterUnits("predicate", 2, 1)),
        (".b32 sum", "sum", None),
        (".b32 %r1_", "%r1_", None),
        (f".b32 %r{'1' * 400}", f"%r{'1' * 400}", None),
    ],
)
def test_ptx(declaration: str, name: str, expected: RegisterUnits | None) -> None:
    assert place(ptx("exit;", f".reg {declaration};"), name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("$r5", RegisterUnits("general", 5, 1)),
        ("$ofs1", RegisterUnits("address", 1, 1)),
        ("$p2", RegisterUnits("predicate", 2, 1)),
        ("$r124", None),
        ("$o127", None),
    ],
)
def test_ptxplus(name: str, expected: RegisterUnits | None) -> None:
    assert place(ptxplus("exit;"), name) == expected
