"""Random programs (`random_ptx`) with registers in shared memory: they leave the same memory, in both dialects.

`fuzz_allocation.py --demote` runs any number of them.
"""

import random

from clobber import clobbered
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_ptx.demotions import demotions, demotions_of_ptxplus
from random_ptx.programs import launch, write
from random_ptx.statements import PLAIN, Style
from reference.interpreter import run_reference

import ptxsim
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

seeds = st.integers(0, 1 << 32)
few = settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])


def program(seed: int, style: Style = PLAIN) -> Module:
    return parse(write(random.Random(seed), style), f"{seed}.ptx")


@few
@given(seeds)
def test_memory_is_the_same(seed: int) -> None:
    """Without time and with time."""
    module = program(seed)
    expected, _ = launch(module, ptxsim.run)
    for pipeline, after, doubts in demotions(module, seed):
        assert not doubts, f"{pipeline}: {doubts[0]}"
        assert launch(clobbered(after), ptxsim.run)[0] == expected, pipeline
        assert launch(after, ptxsim.launch)[0] == expected, pipeline


@settings(few, max_examples=2)
@given(seeds)
def test_memory_is_the_same_on_the_interpreter(seed: int) -> None:
    module = program(seed)
    expected, _ = launch(module, run_reference)
    for pipeline, after, _ in demotions(module, seed):
        assert launch(after, run_reference)[0] == expected, pipeline


@few
@given(seeds)
def test_memory_of_ptxplus_is_the_same(seed: int) -> None:
    module = program(seed, Style(lowerable=True))
    expected, _ = launch(module, ptxsim.run)
    for pipeline, after, doubts in demotions_of_ptxplus(module, seed):
        assert not doubts, f"{pipeline}: {doubts[0]}"
        for meaning in ("hardware", "gpgpu-sim"):
            assert launch(after, ptxsim.run, ptxplus_semantics=meaning)[0] == expected, (pipeline, meaning)
        assert launch(after, ptxsim.launch)[0] == expected, pipeline
