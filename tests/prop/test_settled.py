"""Random programs under `split-tail-ranges`: the same memory, no shared register earlier, no lock held for longer."""

import random
from fractions import Fraction

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_ptx.programs import launch, write

import ptxsim
from ptxtool.analysis.sharing.first_shared import ExpectedPath
from ptxtool.analysis.sharing.release_points import may_touch
from ptxtool.analysis.sharing.shared_registers import private_registers, touches_shared_registers
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function, Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite


def physical(seed: int) -> Module | None:
    """A random program with physical registers, one per declaration; None where passes before decline it."""
    try:
        return rewrite(parse(write(random.Random(seed)), f"{seed}.ptx"), "compact,unroll-decls").module
    except PtxError as declined:
        if any(d.code != "E301" for d in declined.diagnostics):
            raise
        return None


def n_behind(kernel: Function, share: int, registers: int) -> int:
    """The instructions that a warp comes to without its lock; the rest is before its last touch."""
    touches = touches_shared_registers(kernel, private_registers(kernel, Fraction(share), registers))
    return sum(not may for may in may_touch(kernel, touches))


def until_shared(kernel: Function, share: int, registers: int) -> float:
    private = private_registers(kernel, Fraction(share), registers)
    return ExpectedPath(kernel).value((1 << min(private, len(kernel.registers))) - 1)


@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1 << 32), st.sampled_from([30, 50, 70]), st.sampled_from([12, 20, 30, 40]))
def test_memory_is_the_same_and_the_lock_is_held_no_longer(seed: int, share: int, registers: int) -> None:
    before = physical(seed)
    if before is None:
        return
    options = f"share={share},registers={registers}"
    after = rewrite(before, f"split-tail-ranges{{{options}}}").module
    if after is before:
        return
    old, new = before.kernels["k"], after.kernels["k"]
    assert launch(after, ptxsim.run)[0] == launch(before, ptxsim.run)[0]
    assert n_behind(new, share, registers) > n_behind(old, share, registers)
    n_dropped = max(0, len(old.instructions) - len(new.instructions))
    assert until_shared(new, share, registers) >= until_shared(old, share, registers) - n_dropped - 1e-6
