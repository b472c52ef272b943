"""Random programs with release marks, run by pairs of CTAs: no warp touches what it gave back, and the memory is right.

The simulator stops a run (E417) in which a warp touches after its mark what its partner may hold by then.
"""

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from random_ptx.programs import launch, write

import ptxsim
from ptxtool.formats.gpu import load_gpu
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

GPU = load_gpu("tesla-c2050")
TILE_BYTES = 512
few = settings(max_examples=4, suppress_health_check=[HealthCheck.too_slow])
percents = st.sampled_from(["50.5", "70", "90", "95.3", "99"])
schedulers = st.sampled_from(["lrr", "gto", "owf"])


def check(seed: int, pipeline: str, **options: Any) -> None:
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    after = rewrite(module, pipeline).module
    expected, _ = launch(module, ptxsim.run)
    found, result = launch(after, lambda k, _, block, args: ptxsim.launch(k, 6, block, args, **options))
    assert found == expected
    assert result.ctas_done == 6


@few
@given(st.integers(0, 1 << 32), percents, schedulers, st.integers(130, 500))
def test_registers(seed: int, percent: str, scheduler: str, registers: int) -> None:
    given = f"share={percent},registers={registers}"
    pipeline = f"unroll-decls,reorder-decls{{order=late,delay=true,{given}}},delay-first-use{{{given}}}"
    gpu = replace(GPU, sm=replace(GPU.sm, count=1))
    options = {"share_registers": percent, "registers": registers, "scheduler": scheduler, "gpu": gpu}
    check(seed, f"{pipeline},release-registers{{{given}}}", **options)


@few
@given(st.integers(0, 1 << 32), percents, schedulers, st.floats(1.1, 3.9))
def test_scratchpad(seed: int, percent: str, scheduler: str, ctas: float) -> None:
    gpu = replace(GPU, sm=replace(GPU.sm, count=1, scratchpad_bytes=int(TILE_BYTES * ctas)))
    options = {"share_scratchpad": percent, "registers": 20, "scheduler": scheduler, "gpu": gpu}
    hasten = f"hoist-last-access{{share={percent},registers=100}}"
    check(seed, f"{hasten},release-scratchpad{{share={percent}}}", **options)
