"""Dynamic warp execution: chances move as the papers say, and hold back what they say (row 24 is a micro-kernel)."""

from typing import Any

import numpy as np
import pytest
from dynamic_kernel import EXIT, NEAR_LOAD, SHARED_MOVE, run
from microkernels.measure import first_cycle, one_sm
from uncompiled import output_of

from ptxsim import DynamicExecution
from ptxsim.base.jit import for_python
from ptxsim.timing.sharing import hold_back as dynamic
from ptxtool.base.diag import PtxError


def test_the_reference_issues_no_memory_instruction_of_a_non_owner() -> None:
    # The first 8 warps load before any lock is taken: there is no owner yet. The next ones come beside owners: they
    # have loaded nothing when the fifth warp exits, the first of those that became owners.
    gpu = one_sm("tesla-c2050")

    def issued(cycles: int, **options: Any) -> Any:
        return run(16, gpu=gpu, max_cycles=max(1, cycles), **options)[0].issues

    def loads(**options: Any) -> int:
        fifth = first_cycle(lambda cycles: issued(cycles, **options), lambda i: bool(i[EXIT] >= 5))
        issues = issued(fifth, **options)
        assert issues[SHARED_MOVE] == 8
        return int(issues[NEAR_LOAD])

    assert loads() > 12 * 8
    assert loads(dynamic=True) == 12 * 8


@pytest.mark.parametrize(
    "options",
    [
        "",
        "draws=sticky",
        "stalls=cumulative",
        "period=100,step=0.25,seed=7",
        "period=37,step=1,draws=sticky,stalls=cumulative",
    ],
)
@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-c2050"])
def test_same_memory_and_same_counters_without_event_skip(options: str, gpu: str) -> None:
    plain, expected = run(gpu=gpu)
    result, words = run(gpu=gpu, dynamic=options)
    stepped, _ = run(gpu=gpu, dynamic=options, event_skip=False)
    assert np.array_equal(words, expected)
    assert result.to_dict() == stepped.to_dict()
    assert plain.dynamic is None
    found = result.dynamic
    assert found.chances[0] == 0
    assert all(0 <= low <= c <= 1 for low, c in zip(found.lowest, found.chances, strict=True))
    assert found.periods == result.cycles // found.options.period
    assert found.stops > 0
    assert found.held_cycles >= found.stops
    assert result.core["lock_refused"] == sum(p.warps for p in result.stall_points) > 0


def test_draws_depend_on_the_seed_alone() -> None:
    runs = [run(dynamic=DynamicExecution(period=100, seed=seed))[0].to_json() for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_sticky_draws_hold_back_for_longer() -> None:
    cycle, sticky = (run(dynamic=DynamicExecution(draws=d))[0].dynamic for d in ("cycle", "sticky"))
    others = [found.held_cycles / found.stops for found in (cycle, sticky)]
    assert others[1] > 2 * others[0]


def test_a_draw_is_a_hash_of_seed_sm_warp_and_cycle() -> None:
    draw = for_python(dynamic._draw)
    draws = [
        (seed, sm, w, cycle)
        for seed in (0, 2**63 - 1)
        for sm in (0, 13)
        for w in (0, 47)
        for cycle in (0, 10**6)
    ]

    def mixed(number: int) -> int:
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            number = (number ^ number >> shift) * factor % 2**64
        return number ^ number >> 31

    def by_hand(seed: int, sm: int, w: int, cycle: int) -> int:
        place = mixed((seed + (64 * sm + w + 1) * 0x9E3779B97F4A7C15) % 2**64)
        return mixed((place + cycle) % 2**64) % 10**6

    assert [int(draw(np.uint64(seed), *rest)) for seed, *rest in draws] == [by_hand(*d) for d in draws]
    # a chance of 0.3 lets 3 of 10 pass
    assert 2800 < sum(by_hand(0, 1, 5, cycle) < 300_000 for cycle in range(10_000)) < 3200


def test_without_sharing_there_is_nothing_to_hold_back() -> None:
    with pytest.raises(PtxError) as refused:
        run(share_registers=0, dynamic=True)
    assert refused.value.diagnostics[0].code == "E502"


CODE = """
from dynamic_kernel import run
from msgspec.structs import replace
from ptxtool.formats.gpu import load_gpu
gpu = load_gpu("tesla-c2050")
gpu = replace(gpu, sm=replace(gpu.sm, count=2))
# 11 of 1000 registers are private: one pair an SM
options = {"registers": 1000, "share_registers": "98.9"}
result, words = run(8, 1, gpu=gpu, dynamic="period=50,step=0.3,seed=3", lock_as_stall=True, **options)
assert result.shared_pairs == 1 and result.dynamic.stops and result.dynamic.lowered
print(result.to_json(), words.sum())
"""


@pytest.mark.slow
def test_same_without_compilation() -> None:
    assert output_of(CODE, compiled=False) == output_of(CODE, compiled=True)
