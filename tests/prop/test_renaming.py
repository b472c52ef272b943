"""Random programs (`random_ptx`) with few physical registers leave the same memory, and wait for none for ever."""

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from random_ptx.programs import THREADS, launch, write

import ptxsim
from ptxsim.timing.sharing.renaming_setup import needs_of
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse


def waits_of(seed: int) -> int:
    """Run the program of a seed by several CTAs, with the fewest registers that a CTA can have, or some more.

    Returns how often a warp waited.
    """
    chosen = random.Random(seed)
    text = write(chosen)
    if ".func" in text:
        return 0
    module = parse(text, f"{seed}.ptx")
    expected, _ = launch(module, ptxsim.run)
    most = -(-THREADS // 32) * 32 * needs_of(module.kernels["k"]).most
    physical = max(1, most * chosen.choice((10, 11, 15, 40)) // 10)
    gpu = load_gpu("gtx980-finereg")
    switching = replace(gpu.switching, physical_registers=physical, named_percent=400)
    switching = replace(switching, reserving_ctas=chosen.choice((1, 2, 32)))
    machine = replace(gpu, sm=replace(gpu.sm, count=1), switching=switching)
    options: dict[str, Any] = {"gpu": machine, "scheme": "release-by-name"}
    options["scheduler"] = chosen.choice(("gto", "lrr", "two_level:4"))
    n_ctas = chosen.randrange(2, 9)

    def run(kernel: Any, _: Any, block: Any, arguments: Any, **more: Any) -> ptxsim.SimResult:
        return ptxsim.launch(kernel, n_ctas, block, arguments, **options, **more)

    found, results = zip(*(launch(module, run, event_skip=skip) for skip in (True, False)), strict=True)
    assert found == (expected, expected)
    assert results[0].to_dict() == results[1].to_dict()
    assert results[0].ctas_done == n_ctas
    assert results[0].renaming.registers_most <= physical
    return int(results[0].renaming.waits)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1 << 32))
def test_memory_is_the_same(seed: int) -> None:
    waits_of(seed)


def test_some_of_them_wait() -> None:
    assert sum(waits_of(seed) > 0 for seed in range(8)) >= 3
