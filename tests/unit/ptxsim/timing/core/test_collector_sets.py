"""Collector units that classes share, in sub-cores: distances, banks, entries (timing-model-42 section 1.5).

On `gpgpusim42-qv100` an instruction issues at I, is in a collector unit and reads from every bank at I + 1 (two steps a
cycle), is in OC_EX at I + 2, in its unit at I + 4 and written back at I + L + 5: the distance to the next of a chain is
L + 4 + ceil(c / 2), c the most source registers in one of the sub-core's four banks.
"""

import pytest
from microkernels.measure import cost, lines, one_sm, slope

from ptxsim.base.jit import for_python
from ptxsim.timing.core import collector_sets
from ptxtool.formats.settings import with_settings

GPU = "gpgpusim42-qv100"


@pytest.mark.parametrize(
    ("line", "distance"),
    [
        ("mov.u32 %r1, 5;", 1 + 4),  # c = 0
        ("mov.u32 %r1, %r1;", 1 + 5),
        ("fma.rn.f32 %f1, %f1, %f2, %f3;", 5 + 5),  # banks 1, 2, 3
        ("fma.rn.f32 %f1, %f1, %f5, %f2;", 5 + 5),  # banks 1, 1, 2: c = 2 is two steps, one cycle
        ("fma.rn.f32 %f1, %f1, %f5, %f9;", 5 + 6),  # all in bank 1: c = 3
    ],
)
def test_two_steps_a_cycle(line: str, distance: int) -> None:
    assert cost(line, gpu=GPU)() == distance


def test_one_step_a_cycle() -> None:
    """L + 4 + c: the unit is filled in one cycle, reads in the next."""
    gpu = with_settings(one_sm(GPU), ["pipeline.collector_steps=1"])
    assert cost("mov.u32 %r1, %r1;", gpu=gpu)() == 1 + 6
    assert cost("fma.rn.f32 %f1, %f1, %f5, %f9;", gpu=gpu)() == 5 + 8


def test_a_scheduler_has_one_of_everything() -> None:
    """Warps 0 to 3 belong to the schedulers 0 to 3: each has its ID_OC entry, two collector units and its unit, so that
    four warps take as long as one. Warp 4 is again scheduler 0's."""
    eight = lines("fma.rn.f32 %f{k}, %f{a}, %f{b}, %f{c};", 8)
    one, four, eight_warps = (slope(eight, few=2, many=6, block=32 * n, gpu=GPU) for n in (1, 4, 8))
    assert four == pytest.approx(one, rel=0.03)
    assert 1.25 * one < eight_warps <= 2 * one  # a warp alone is held up by its own queue


def test_without_sub_cores_a_warp_has_all_units() -> None:
    """Four SP units of interval 2 take 2 a cycle: a warp alone issues nearly one in every cycle, but a register is
    written again only after 10. With sub-cores it has one unit."""
    apart = with_settings(one_sm(GPU), ["pipeline.sub_cores=false"])
    eight = lines("fma.rn.f32 %f{k}, %f{a}, %f{b}, %f{c};", 8)
    assert 8 <= slope(eight, few=2, many=6, gpu=apart) <= 12
    assert slope(eight, few=2, many=6, gpu=GPU) >= 16


APART = [
    "pipeline.sub_cores=false",
    "pipeline.collectors_shared=0",
    "pipeline.collectors_sp=2",
    "pipeline.collectors_dp=2",
    "pipeline.collectors_sfu=2",
    "pipeline.collectors_mem=2",
    "pipeline.collectors_int=2",
    "pipeline.collectors_tensor=2",
    "pipeline.ports_dp=1",
    "pipeline.ports_int=1",
    "pipeline.ports_tensor=1",
    "pipeline.ports_sp=1",
]


def test_classes_with_collector_units_of_their_own() -> None:
    """Chains take as long as with shared units. A stream of floats is limited by one port of SP, a step each; integers
    have their own: both together take less than one after the other."""
    gpu = with_settings(
        one_sm(GPU), [*APART, "pipeline.collector_steps=1", "pipeline.sp_units=8", "pipeline.int_units=8"]
    )
    shared = with_settings(one_sm(GPU), ["pipeline.sub_cores=false", "pipeline.collector_steps=1"])
    for line in ("mov.u32 %r1, %r1;", "fma.rn.f32 %f1, %f1, %f2, %f3;", "fma.rn.f64 %d1, %d1, %d2, %d3;"):
        assert cost(line, gpu=gpu)() == cost(line, gpu=shared)()
    floats, integers = (
        lines(line, 8) for line in ("add.f32 %f{k}, %f{a}, %f{b};", "add.u32 %r3{k}, %r{a}, %r{b};")
    )
    alone = slope(floats, few=2, many=6, block=32 * 16, gpu=gpu)
    both = slope(floats + integers, few=2, many=6, block=32 * 16, gpu=gpu)
    assert alone == pytest.approx(8 * 16, rel=0.05)  # an instruction a cycle, and the ends of trips
    assert both < 1.3 * alone


def test_queues_lose_an_entry_anywhere() -> None:
    """Entries 7, 0, 63 in bytes, the oldest in the lowest; and a full queue of eight."""
    without = for_python(collector_sets.without)
    at = for_python(collector_sets.queued_at)
    queue = 7 | 0 << 8 | 63 << 16
    assert [at(queue, place) for place in range(3)] == [7, 0, 63]
    assert without(queue, 0) == 0 | 63 << 8
    assert without(queue, 1) == 7 | 63 << 8
    assert without(queue, 2) == 7
    full = sum((place + 1) << 8 * place for place in range(8))
    assert without(full, 7) == full & (1 << 56) - 1
    assert without(full, 0) == full >> 8
