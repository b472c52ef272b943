"""What a launch begins with on a Tesla C2050 of 14 SMs: CTA slots, pairs, the event wheel and how far SMs run ahead."""

from typing import Any

import pytest
from built import GPU, built

from ptxtool.formats.settings import with_settings


@pytest.mark.parametrize(
    ("grid", "slots"),
    [
        (1, 1),
        (14, 1),
        (15, 2),  # spread over the SMs
        (14 * 8, 8),
        (5000, 8),  # the machine's limit
    ],
)
def test_an_sm_has_no_more_slots_than_ctas_come_to_it(grid: int, slots: int) -> None:
    found = built(grid=grid)
    assert int(found.run["resident_ctas"][0]) == slots
    assert (found.sms["free_slots"] == (1 << slots) - 1).all()


@pytest.mark.parametrize(
    ("ctas_per_sm", "pairs", "expected"),
    [
        # 256 threads x 36 registers = 9216 of 32768: 3 CTAs without sharing; at 90% 3 pairs, each of 1.1 CTAs
        (6, "fewest", (3, 0)),
        (4, "fewest", (1, 2)),  # 2 CTAs for themselves, and one pair
        (3, "fewest", (0, 0)),
        (4, "most", (2, 0)),
        (5, "most", (2, 1)),
    ],
)
def test_a_small_grid_needs_fewer_pairs(ctas_per_sm: int, pairs: str, expected: tuple[int, int]) -> None:
    gpu = with_settings(GPU, [f'sharing.pairs="{pairs}"'])
    found = built(gpu=gpu, grid=14 * ctas_per_sm, threads=256, registers=36, share=90)
    run = found.run[0]
    assert int(run["shared_pairs"]) == expected[0]
    if expected[0]:
        assert int(run["first_shared_slot"]) == expected[1]
        assert int((found.sms["pair"][0] >= 0).sum()) == 2 * expected[0]


def test_the_event_wheel_is_longer_than_the_longest_latency_of_the_program() -> None:
    assert int(built().run["wheel"][0]) == 63  # at least 64 slots
    # 330 cycles and a margin of 8: 512 slots
    assert int(built("div.rn.f64 %d1, %d2, %d3;").run["wheel"][0]) == 511


@pytest.mark.parametrize(
    ("plan", "ahead"),
    [({}, True), ({"max_cycles": 100}, False), ({"event_skip": False}, False)],
)
def test_sms_run_ahead_where_their_order_does_not_matter(plan: dict[str, Any], ahead: bool) -> None:
    assert bool(built(**plan).run["ahead"][0]) == ahead


def test_a_last_warp_that_is_not_full_is_a_warp() -> None:
    simulation = built(threads=70)
    (kernel,) = simulation.arrays["kernels"]
    assert (int(kernel["threads_per_cta"]), int(kernel["warps_per_cta"])) == (70, 3)
    assert int(simulation.run[0]["warps_per_cta"]) == 3
