"""Private and shared registers, and whether a kernel's registers can be physical ones."""

from fractions import Fraction

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.sharing.shared_registers import is_virtual, private_registers, touches_shared_registers
from ptxtool.base.diag import PtxError

HALF = Fraction(50)


@pytest.mark.parametrize(
    ("percent", "registers", "private"),
    [(0, 10, 10), (50, 11, 5), (90, 10, 1), (90, 9, 0), (Fraction(25, 2), 8, 7)],
)
def test_private_is_the_floor_of_the_rest(percent: int | Fraction, registers: int, private: int) -> None:
    assert private_registers(ptx("ret;"), Fraction(percent), registers) == private


def test_without_a_count_it_is_the_kernels_own() -> None:
    """PTXPlus declares 10 general registers."""
    assert private_registers(ptxplus("exit;"), HALF) == 5
    with pytest.raises(PtxError, match=r"E502.*registers = -1 is less than 0"):
        private_registers(ptx("ret;"), HALF, -1)


@pytest.mark.parametrize(
    ("registers", "body", "taken", "expected"),
    [
        (".reg .b32 %r<4>;", "ret;", 4, False),
        (".reg .b32 %r<4>;", "ret;", 3, True),
        (".reg .b64 %rd<2>;", "ret;", 4, False),
        (".reg .b64 %rd<2>;", "ret;", 3, True),
        (".reg .b32 sum;", "ret;", 4, True),  # no number
        ("", "ret;", 0, False),
        # %r1 and %f1 mean one unit
        (
            ".reg .b32 %r<2>; .reg .f32 %f<2>;",
            "mov.u32 %r1, 1; mov.f32 %f1, 0f00000000; add.f32 %f0, %f1, %f1;",
            2,
            False,
        ),
        (
            ".reg .b32 %r<2>; .reg .f32 %f<2>;",
            "mov.u32 %r1, 1; mov.f32 %f1, 0f00000000; st.shared.f32 [%r1], %f1;",
            2,
            True,
        ),
    ],
)
def test_which_registers_cannot_be_physical(registers: str, body: str, taken: int, expected: bool) -> None:
    assert is_virtual(ptx(body, registers), taken) == expected


def test_registers_of_ptxplus_are_physical() -> None:
    assert not is_virtual(ptxplus("exit;"), 1)


def test_a_guard_and_an_address_are_touches() -> None:
    """In declaration order: %p0, %p1, %r0, %r1."""
    kernel = ptx(
        "@%p1 bar.sync 0; st.shared.u32 [%r1], 1; mov.u32 %r0, 1; ret;", ".reg .pred %p<2>; .reg .b32 %r<2>;"
    )
    assert touches_shared_registers(kernel, 3) == (False, True, False, False)
    assert touches_shared_registers(kernel, 1) == (True, True, True, False)
