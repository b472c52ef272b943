"""Random programs (`random_ptx`) with split registers leave the same memory, whatever other warps do with the pool.

`fuzz_allocation.py --split` runs any number of them.
"""

import random

from clobber import clobbered
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from other_warps import overwritten
from random_ptx.programs import launch, write
from random_ptx.splits import splits

import ptxsim
from ptxtool.analysis.regalloc.register_sets import register_sets
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.edit import TextEdit, splice
from ptxtool.parse import parse

seeds = st.integers(0, 1 << 32)
few = settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])


@few
@given(seeds)
def test_memory_is_the_same(seed: int) -> None:
    """Where no extended register keeps its value from one region to the next."""
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    expected, _ = launch(module, ptxsim.run)
    for pipeline, after, doubts in splits(module, seed):
        assert not doubts, f"{pipeline}: {doubts[0]}"
        sets = register_sets(after.kernels["k"])
        if sets is not None:
            assert launch(clobbered(overwritten(after, sets.base)), ptxsim.run)[0] == expected, pipeline


@settings(few, max_examples=3)
@given(seeds)
def test_memory_is_the_same_with_a_pool(seed: int) -> None:
    """With time, and as few sections as there can be: every warp waits for its turn, and none for ever."""
    module = parse(write(random.Random(seed)), f"{seed}.ptx")
    expected, _ = launch(module, ptxsim.run)
    gpu = load_gpu("gtx980-finereg")
    gpu = replace(gpu, switching=replace(gpu.switching, pool_percent=(0, 0.5, 28.1)[seed % 3]))
    for pipeline, after, _ in splits(module, seed):
        if register_sets(after.kernels["k"]) is None:
            continue
        found = [
            launch(
                after,
                ptxsim.launch,
                gpu=gpu,
                scheme="regmutex",
                scheduler=("gto", "lrr")[seed % 2],
                event_skip=skip,
            )
            for skip in (True, False)
        ]
        assert [memory for memory, _ in found] == [expected, expected], pipeline
        assert found[0][1].stats == found[1][1].stats, pipeline


def test_a_mark_too_late_changes_the_memory() -> None:
    """What the runs look for: with every acquire mark one instruction later, other warps' values come in."""
    n_wrong = 0
    for seed in range(12):
        module = parse(write(random.Random(seed)), f"{seed}.ptx")
        expected, _ = launch(module, ptxsim.run)
        for _, after, _ in splits(module, seed):
            kernel = after.kernels["k"]
            sets = register_sets(kernel)
            if sets is None:
                continue
            text, mark = after.source.text, '.pragma "acquire-extended-registers";'
            places = [k for k in range(len(text)) if text.startswith(mark, k)]
            late = [(k, text.index(";", k + len(mark)) + 1) for k in places]
            edits = [TextEdit(k, end, f"{text[k + len(mark) : end]} {mark}") for k, end in late]
            moved = overwritten(parse(splice(text, edits)), sets.base)
            try:
                n_wrong += launch(clobbered(moved), ptxsim.run)[0] != expected
            except PtxError:  # a value of another warp was an address
                n_wrong += 1
            break
    assert n_wrong > 0
