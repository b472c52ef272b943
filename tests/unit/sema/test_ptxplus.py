"""PTXPlus: what the hardware has and GPGPU-Sim's grammar does not, parts of registers, destinations."""

import pytest
from diagnosed import reported


def in_ptxplus(body: str) -> list[tuple[str, str]]:
    text = f".version 1.4+\n.target sm_10\n.entry k\n{{\n.reg .u32 $r<4>;\n.reg .pred $p<2>;\n{body}\nexit;\n}}\n"
    return [(code, marked) for _, code, marked in reported(text)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("@$p0.ne bra L;\nL:", []),
        ("@!$p0 bra L;\nL:", []),
        ("@!$p0.ne bra L;\nL:", [("W206", "$p0.ne")]),  # a condition cannot be negated
        ("@$p0.nsf bra L;\nL:", []),
        ("@$p0.eq bra L;\nL:", []),
        ("add.u32 $r1, $r2, 0x1f;", []),
        ("mov.u16 $r1.lo, $r2.hi;", []),
        ("mov.u32 $r1, $r2.mid;", [("E206", "$r2.mid")]),
        ("set.eq.u32.u32 $p0/$r1, $r2, $r3;", []),
    ],
)
def test_guards_and_operands(body: str, expected: list[tuple[str, str]]) -> None:
    assert in_ptxplus(body) == expected
