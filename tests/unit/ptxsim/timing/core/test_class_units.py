"""Units of SP, SFU, tensor, DP and INT: how fast each is, and that they work side by side."""

import pytest
from microkernels.measure import cost, lines, one_sm, slope

from ptxtool.formats.settings import with_settings

GPU = "gpgpusim42-qv100"


@pytest.mark.parametrize(
    ("line", "latency"),
    [
        ("add.f32 %f1, %f1, %f2;", 4),
        ("add.s32 %r1, %r1, %r2;", 4),
        ("mad.lo.s32 %r1, %r1, %r2, %r3;", 5),
        ("max.f32 %f1, %f1, %f2;", 13),
        ("add.f64 %d1, %d1, %d2;", 8),
        ("div.rn.f32 %f1, %f1, %f2;", 39),
        ("rcp.approx.f32 %f1, %f1;", 100),
        ("shfl.down.b32 %r1, %r1, 1, 31;", 21),
    ],
)
def test_the_distance_in_a_chain_is_the_latency_and_five(line: str, latency: int) -> None:
    assert cost(line, gpu=GPU)() == latency + 5


@pytest.mark.parametrize(
    ("line", "per_cycle"),
    [
        ("fma.rn.f32 %f{k}, %f{a}, %f{b}, %f{c};", 2.0),  # four SP units, an interval of 2
        ("add.s32 %r{a}, %r1, %r2;", 2.0),  # INT
        ("mov.u32 %r{a}, %r1;", 4.0),  # INT, 1
        ("shfl.down.b32 %r{a}, %r1, 1, 31;", 1.0),  # INT, 4
        ("div.rn.f32 %f{k}, %f{a}, %f{b};", 1.0),  # SFU, 4
    ],
)
def test_throughput_of_an_sm_with_32_warps(line: str, per_cycle: float) -> None:
    eight = lines(line, 8)
    found = 32 * 8 / slope(eight, few=2, many=6, block=1024, gpu=GPU)
    assert found == pytest.approx(per_cycle, rel=0.05)


def test_integers_and_floats_have_their_own_units() -> None:
    """Eight warps, two to a scheduler: an addition of integers and one of floats in turn issue every cycle."""
    pair = "add.s32 %r{a}, %r1, %r2;\n\tadd.f32 %f{k}, %f{a}, %f{b};"
    both = slope(lines(pair, 4), few=2, many=6, block=256, gpu=GPU)
    assert both == 8 * 8 / 4  # 8 warps x 8 instructions by 4 schedulers
    shared = with_settings(one_sm(GPU), ['latency.add.int.unit="SP"'])
    assert slope(lines(pair, 4), few=2, many=6, block=256, gpu=shared) == pytest.approx(2 * both, rel=0.2)


def test_result_buses_bound_all_units() -> None:
    """One bus: one instruction of the SM is written back in a cycle."""
    gpu = with_settings(one_sm(GPU), ["pipeline.ex_wb=1"])
    moves = lines("mov.u32 %r{a}, %r1;", 8)
    assert slope(moves, few=2, many=6, block=256, gpu=gpu) == pytest.approx(8 * 8, rel=0.02)
