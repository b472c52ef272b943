"""Random programs (`random_ptx`) as PTXPlus: they leave the same memory in the hardware's meaning and in GPGPU-Sim's.

`fuzz_allocation.py --lower` runs any number of them.
"""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_ptx.programs import launch, write
from random_ptx.statements import Style
from reference.interpreter import run_reference

import ptxsim
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

MEANINGS = ("hardware", "gpgpu-sim")
seeds = st.integers(0, 1 << 32)
few = settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])


def program(seed: int) -> Module:
    return parse(write(random.Random(seed), Style(lowerable=True)), f"{seed}.ptx")


@few
@given(seeds)
def test_memory_is_the_same(seed: int) -> None:
    module = program(seed)
    expected, _ = launch(module, ptxsim.run)
    after = rewrite(module, "lower-ptxplus").module
    assert after.is_ptxplus
    for meaning in MEANINGS:
        assert launch(after, ptxsim.run, ptxplus_semantics=meaning)[0] == expected, meaning


@settings(few, max_examples=2)
@given(seeds, st.sampled_from(MEANINGS))
def test_memory_is_the_same_on_the_interpreter(seed: int, meaning: str) -> None:
    module = program(seed)
    expected, _ = launch(module, run_reference)
    after = rewrite(module, "lower-ptxplus").module
    assert launch(after, run_reference, ptxplus_semantics=meaning)[0] == expected


@pytest.mark.parametrize("seed", range(3))
def test_compacted_again(seed: int) -> None:
    """Nothing is lost by compacting what lowering has placed."""
    module = program(seed)
    expected, _ = launch(module, ptxsim.run)
    assert launch(rewrite(module, "lower-ptxplus,compact").module, ptxsim.run)[0] == expected
