"""`gtx-titan-x` at work: distances and rates that its file states, and operands in one of four banks.

Distances of dependent instructions are latency + 6, and a cycle more for each read that waits for its bank.
"""

import pytest
from microkernels.measure import cost, lines, rate

GPU = "gtx-titan-x"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add.u32 %r20, %r20, %r21;", 7),
        ("fma.rn.f32 %f20, %f20, %f21, %f22;", 7),
        ("fma.rn.f32 %f20, %f20, %f24, %f22;", 8),  # two operands in bank 0
        ("fma.rn.f32 %f20, %f20, %f24, %f28;", 9),  # three
        ("mul.lo.u32 %r20, %r20, %r21;", 13),
        ("rcp.approx.f32 %f20, %f20;", 14),
        (
            "fma.rn.f64 %d20, %d20, %d21, %d22;",
            48,
        ),  # registers 40, 42 and 44: banks 0, 2 and 0, a cycle for the last
        ("ld.shared.u32 %r20, [%r20];", 24),
    ],
)
def test_distances(line: str, expected: int) -> None:
    setup = "mov.u32 %r20, tile;\n\tst.shared.u32 [%r20], %r20;"
    assert cost(line, setup=setup, gpu=GPU)() == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [  # instructions a cycle of an SM: lanes of the GPU file / 32
        ("mov.b32 %r{k}, 5;", 4.0),
        ("max.s32 %r{k}, %r18, 7;", 2.0),
        ("rcp.approx.f32 %f{k}, %f18;", 1.0),
        ("fma.rn.f64 %d{k}, %d17, %d18, %d19;", 0.125),
    ],
)
def test_rates(line: str, expected: float) -> None:
    eight = lines(line, 8)
    assert rate(eight, 64, 2, 6, gpu=GPU, block=1024, grid=2)() == pytest.approx(expected, rel=0.03)


def test_one_bank_has_the_operands_of_one_instruction_at_a_time() -> None:
    """Three reads one after another from each of four partitions: 4 / 3 a cycle, less what waits for writes."""
    found = rate(lines("fma.rn.f32 %f{k}, %f20, %f24, %f28;", 8), 64, 2, 6, gpu=GPU, block=1024, grid=2)()
    assert 1.1 < found <= 4 / 3
