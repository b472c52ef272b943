"""CTA switching: Virtual Thread, Reg+DRAM and FineReg (timing-model section 6). Row 23 of `microkernels` is of it too.

The small cases are of one SM with one place for a CTA, and loads of 40000 cycles, so that what happens can be seen by
hand. Kernels are `microkernels.switching.waiting_kernel`: a CTA loads, waits, stores, and ends with the
acknowledgement, as far away again.
"""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.switching import waiting_kernel
from mixed_kernel import run_mixed
from msgspec.structs import replace
from uncompiled import output_of
from waiting_ctas import LIVE, one_place, wait

import ptxsim
import ptxtool
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

SCHEMES = ("virtual-thread", "reg-dram", "finereg")


# ---- Virtual Thread


def test_two_ctas_wait_at_the_same_time() -> None:
    alone, one_by_one = (wait(n, switching="none").cycles for n in (1, 2))
    assert alone > 80_000  # the load, then the store
    assert one_by_one > 2 * 80_000
    both = wait(2, switching="virtual-thread")
    # only the stores come one after the other: a CTA that waits for an acknowledgement keeps its place
    assert 3 * 40_000 < both.cycles < 3 * 40_000 + 1000
    # the first gives way to the second, the second to the first when its load is there, which then ends
    assert both.switching.switches == 2
    assert (both.switching.resident_most, both.switching.active_most) == (2, 1)


def test_registers_limit_what_is_resident() -> None:
    # 65536 registers, 4096 for a CTA of 4 warps x 32 lanes x 32; one is active
    result = wait(40, warps=4, switching="virtual-thread")
    assert result.switching.resident_most == result.switching.resident_limit == 16
    assert result.switching.evictions == result.switching.vector_misses == 0


@pytest.mark.parametrize(("concurrent", "resident"), [(1, 3), (2, 4)])
def test_switches_at_a_time(concurrent: int, resident: int) -> None:
    """CTAs 0 and 1 stall at about cycle 100 in two places, and each place is empty for 10000 cycles: in cycle 15000
    CTA 2 has come, and CTA 3 if it had not to wait."""
    settings = "sm.ctas=2", "switching.swap_cycles=10000", f"switching.concurrent_switches={concurrent}"
    kernel = ptxtool.parse(waiting_kernel(LIVE)).kernels["k"]
    options = {"gpu": one_place(*settings), "scheme": "virtual-thread", "registers": 32, "max_cycles": 15_000}
    found = ptxsim.launch(kernel, 4, 32, [np.zeros(128, np.uint32)], **options).switching
    assert (found.resident_most, found.switches) == (resident, 2)
    assert found.switch_cycles == 20_000


# ---- FineReg


def test_new_ctas_come_before_ready_ones() -> None:
    """Loads take 400 cycles and more, the time of about four CTAs. New CTAs come while there are any; when CTA 19
    stalls, the earlier ones come back."""
    first, last = (
        wait(20, f"switching.order={order}", "l2.rop_cycles=400").switching
        for order in ("launch-first", "ready-first")
    )
    assert first.resident_most == 19  # CTA 0 waits for its vector and ends before the others begin
    assert last.resident_most < 8


def test_a_place_left_for_a_new_cta_goes_to_a_ready_one_if_there_is_no_more() -> None:
    """Of two SMs one launches the last CTA; the other has left a place for it."""
    gpu = with_settings(one_place("l2.rop_cycles=100"), ["sm.count=2"])
    kernel = ptxtool.parse(waiting_kernel(LIVE)).kernels["k"]
    for n_ctas in range(5, 16):
        found = [
            ptxsim.launch(kernel, n_ctas, 32, [np.zeros(32 * n_ctas, np.uint32)], **given)
            for given in (
                {"gpu": gpu, "scheme": "finereg", "registers": 32, "event_skip": skip}
                for skip in (True, False)
            )
        ]
        assert found[0].ctas_done == n_ctas
        assert found[0].to_dict() == found[1].to_dict()


def test_live_registers_come_and_go() -> None:
    """CTA 0 stalls; the vector of the instruction at which it waits comes too late. CTA 1 stalls, is evicted, and CTA 2
    begins; when the load of CTA 1 is there they change places; when CTA 1 has ended CTA 2 comes back."""
    found = wait(3).switching
    assert (found.switches, found.evictions, found.restores) == (2, 2, 2)
    assert (found.vector_misses, found.vector_hits) == (1, 2)
    assert (found.pcrf_most, found.depletion_cycles) == (LIVE, 0)
    assert (found.resident_most, found.active_most) == (2, 1)


@pytest.mark.parametrize("entries", [1, LIVE - 1])
def test_without_room_a_cta_stays(entries: int) -> None:
    found = wait(6, f"switching.pcrf_entries={entries}")
    assert found.switching.switches == found.switching.pcrf_most == 0
    # CTA 0 waits for its vector, and after CTA 5 no CTA is ready
    assert 4 * 40_000 < found.switching.depletion_cycles < 4 * 40_500
    assert found.switching.resident_most == 1
    assert wait(6, f"switching.pcrf_entries={LIVE}").switching.resident_most == 2


# ---- nothing else changes


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("name", "grid"), [("reduction", (60,)), ("conv1", (30, 4)), ("nw1", (40,)), ("saxpy", (60,))]
)
def test_samples_compute_the_same(name: str, grid: tuple[int, ...], scheme: str) -> None:
    gpu = load_gpu("gtx980-finereg")
    gpu = replace(gpu, sm=replace(gpu.sm, count=2, ctas=4))
    launch, kernel = sample(name)
    results: list[tuple[Any, bytes]] = []
    for options in ({"switching": "none"}, {"switching": scheme}, {"switching": scheme, "event_skip": False}):
        arguments = launch.arguments()
        given: dict[str, Any] = {
            "registers": launch.registers,
            "dynamic_shared": launch.dynamic_shared,
        } | options
        result = ptxsim.launch(kernel, grid, launch.block, arguments, hotspots=True, gpu=gpu, **given)
        results.append((result, b"".join(a.tobytes() for a in arguments if isinstance(a, np.ndarray))))
    (without, expected), (skipped, memory), (stepped, other) = results
    assert memory == other == expected
    assert skipped.switching.switches > 10
    assert skipped.thread_instructions == without.thread_instructions
    assert skipped.to_dict() == stepped.to_dict()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("scheduler", ["lrr", "two_level:2"])
def test_event_skip_changes_nothing(scheme: str, scheduler: str) -> None:
    gpu = with_settings(load_gpu("tesla-c2050"), ["sm.ctas=2", "sm.count=3"])
    options = {"gpu": gpu, "switching": scheme, "scheduler": scheduler, "registers": 40}
    skipped, stepped = (run_mixed(29, 250, event_skip=skip, **options) for skip in (True, False))
    assert skipped == stepped
    assert skipped[0]["switching"]["switches"] > 0


def test_launches_in_a_row() -> None:
    kernel = ptxtool.parse(waiting_kernel(LIVE)).kernels["k"]
    machine = ptxsim.Machine(one_place(far=False), switching="finereg", registers=32)
    first, second = (machine.launch(kernel, 6, 32, [np.zeros(192, np.uint32)]) for _ in range(2))
    assert first.switching.resident_most >= 2
    assert second.ctas_done == 6


CODE = """
import numpy as np, ptxsim, ptxtool
from microkernels.switching import waiting_kernel
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.count=1", "sm.ctas=2", "switching.acrf_registers=2048"])
memory = np.zeros(320, np.uint32)
kernel = ptxtool.parse(waiting_kernel(6)).kernels["k"]
print(ptxsim.launch(kernel, 5, 64, [memory], gpu=gpu, switching="finereg", registers=16, hotspots=True).to_json())
print(memory.tolist())
"""


def test_without_compilation_the_same() -> None:
    compiled, interpreted = (output_of(CODE, compiled=c) for c in (True, False))
    assert '"switches": 0' not in compiled
    assert compiled == interpreted
