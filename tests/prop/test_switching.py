"""Random programs (`random_ptx`) leave the same memory under every scheme that switches CTAs, and none waits for ever.

Their parts of the register file have any size, 0 included: nothing beyond the file, one CTA, or more.
"""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from random_ptx.programs import launch, write
from random_ptx.splits import splits

import ptxsim
from ptxtool.analysis.regalloc.register_sets import register_sets
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.parse import parse

SCHEMES = ("virtual-thread", "reg-dram", "finereg", "virtual-thread-regmutex")


def machine_of(chosen: random.Random) -> Gpu:
    """One SM with one or two places, and loads that last for a few switches."""
    gpu = load_gpu(chosen.choice(("gtx980-finereg", "tesla-c2050")))
    switching = replace(
        gpu.switching,
        dram_ctas=chosen.choice((0, 1, 5)),
        pcrf_entries=chosen.choice((1, 60, gpu.switching.pcrf_entries)),
        pool_percent=chosen.choice((0, 0.5, 28.1)),
        order=chosen.choice(("launch-first", "ready-first")),
        swap_cycles=chosen.choice((0, 24)),
        concurrent_switches=chosen.choice((1, 2)),
        registers_per_cycle=chosen.choice((1, 3)),
    )
    registers = chosen.choice((16384, gpu.sm.registers))
    sm = replace(gpu.sm, count=1, ctas=chosen.choice((1, 2)), registers=registers)
    if registers == 16384:
        switching = replace(switching, acrf_registers=8192, pcrf_entries=min(switching.pcrf_entries, 256))
    return replace(gpu, sm=sm, switching=switching)


def switches_of(seed: int, scheme: str) -> int:
    """Run the program of a seed by several CTAs; returns how often one left its place."""
    chosen = random.Random(seed)
    module = parse(write(chosen), f"{seed}.ptx")
    expected, _ = launch(module, ptxsim.run)
    if scheme == "virtual-thread-regmutex":
        texts = (after for _, after, _ in splits(module, seed))
        module = next((after for after in texts if register_sets(after.kernels["k"])), module)
    options: dict[str, Any] = {"gpu": machine_of(chosen), "scheme": scheme}
    options["scheduler"] = chosen.choice(("gto", "lrr", "two_level:4"))
    n_ctas = chosen.randrange(2, 9)

    def run(kernel: Any, _: Any, block: Any, arguments: Any, **more: Any) -> ptxsim.SimResult:
        return ptxsim.launch(kernel, n_ctas, block, arguments, **options, **more)

    found, results = zip(*(launch(module, run, event_skip=skip) for skip in (True, False)), strict=True)
    assert found == (expected, expected)
    assert results[0].to_dict() == results[1].to_dict()
    assert results[0].ctas_done == n_ctas
    return int(results[0].switching.switches)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1 << 32), st.sampled_from(SCHEMES))
def test_memory_is_the_same(seed: int, scheme: str) -> None:
    switches_of(seed, scheme)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_some_of_them_switch(scheme: str) -> None:
    assert sum(switches_of(seed, scheme) > 0 for seed in range(6)) >= 2
