"""Random programs (`random_ptx`) with split registers leave the same memory, whatever other warps do with the pool.

`fuzz_allocation.py --split` runs any number of them.
"""

import random

from clobber import clobbered
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from other_warps import overwritten
from random_ptx.programs import launch, write
from random_ptx.splits import splits

import ptxsim
from ptxtool.analysis.regalloc.register_sets import register_sets
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
            n_wrong += launch(clobbered(moved), ptxsim.run)[0] != expected
            break
    assert n_wrong > 0
