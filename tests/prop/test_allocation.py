"""Random programs (`random_ptx`) under `allocate` and `compact`: they leave the same memory, in the bounds given.

`fuzz_allocation.py` runs any number of them.
"""

import random
import re

import pytest
from allocated import HOW, How, bodies, least, physical, unbounded
from clobber import clobbered, n_units
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from ptxas import needs_ptxas, ptxas_errors
from random_ptx.programs import launch, write
from random_ptx.statements import PLAIN, Style
from random_ptx.variants import variants
from reference.interpreter import run_reference

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

CHECKS = ("memory", "init", "races", "barriers")


def program(seed: int, style: Style = PLAIN) -> Module:
    return parse(write(random.Random(seed), style), f"{seed}.ptx")


seeds = st.integers(0, 1 << 32)
few = settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow])


@few
@given(seeds)
def test_memory_is_the_same_under_every_option(seed: int) -> None:
    module = program(seed)
    expected, _ = launch(module, ptxsim.run)
    for pipeline, after, doubts in variants(module):
        assert not doubts, f"{pipeline}: {doubts[0]}"
        assert launch(clobbered(after), ptxsim.run)[0] == expected, pipeline


@settings(few, max_examples=4)
@given(seeds, st.sampled_from(HOW))
def test_memory_is_the_same_on_the_interpreter(seed: int, how: How) -> None:
    module = program(seed)
    expected, _ = launch(module, run_reference)
    assert launch(physical(module, how), run_reference)[0] == expected


@few
@given(seeds)
def test_no_program_does_what_no_program_may(seed: int) -> None:
    """What the programs read has a value, they race nowhere; and so they stay."""
    module = program(seed)
    versions = {"as written": module, "compact": rewrite(module, "compact").module}
    versions["spilled"] = rewrite(module, f"allocate{{max-regs={least(module)}}}").module
    for name, which in versions.items():
        _, result = launch(which, ptxsim.run, check=CHECKS)
        assert result.problems == (), name


@few
@given(seeds)
def test_the_least_bound_is_the_least(seed: int) -> None:
    module = program(seed)
    bound = least(module)
    rewrite(module, f"allocate{{max-regs={bound}}}")
    with pytest.raises(PtxError, match=f"E301.* it needs {bound}"):
        rewrite(module, f"allocate{{max-regs={bound - 1}}}")


@few
@given(seeds)
def test_the_least_bound_without_spilling_is_what_it_says(seed: int) -> None:
    module = program(seed)
    bound = unbounded(module)
    for function in bodies(rewrite(module, "compact").module):
        assert n_units(function) <= bound
    with pytest.raises(PtxError, match=r"E301.* without spilling"):
        rewrite(module, f"allocate{{max-regs={bound - 1},spill=none}}")


@few
@given(seeds, st.sampled_from(["allocate", "allocate{max-regs=12,order=pressure}"]))
def test_compaction_never_needs_more(seed: int, pipeline: str) -> None:
    """Where no value is there for some threads only: names that were one place hide where such a value starts.

    Reloads under a guard are such values, and so is what a store under a guard takes.
    """
    module = program(seed, Style(whole=True))
    before = rewrite(module, pipeline).module
    assume(not re.search(r"@!?%p\d+ (ld|st)\.local.* \[__ptxtool", before.source.text))
    after = rewrite(before, "compact").module
    for old, new in zip(bodies(before), bodies(after), strict=True):
        assert n_units(new) <= n_units(old)


@few
@given(seeds)
def test_the_same_input_gives_the_same_text(seed: int) -> None:
    for pipeline in ("compact", "allocate{max-regs=14}"):
        first, second = (rewrite(program(seed), pipeline).module.source.text for _ in range(2))
        assert first == second


@needs_ptxas
@few
@given(seeds)
def test_ptxas_takes_the_results(seed: int) -> None:
    module = program(seed)
    for _, after, _ in variants(module):
        assert ptxas_errors(after.source.text, "sm_80") == {}
