"""What `uniformity` calls uniform is equal in all lanes of every warp: watched while the reference interpreter runs."""

import random
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kernels import ptx, sample
from random_ptx.programs import launch, write
from reference.interpreter import run_reference
from uniform_values import UniformValues

from ptxtool.analysis.flow.liveness import liveness
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

SOURCES = ("%tid.x", "%ctaid.x", "%ntid.x", "3", "%laneid", "0")


def jumps(chance: random.Random) -> Function:
    """A kernel of a few labelled pieces that branch anywhere, by predicates that are uniform or not."""
    n = chance.randint(3, 9)

    def register() -> str:
        return f"%r{chance.randrange(6)}"

    def statement() -> str:
        guard = chance.choice(["", "", "", "@%p1 ", "@!%p2 "])
        body = chance.choice(
            [
                f"add.u32 {register()}, {register()}, {register()};",
                f"mov.u32 {register()}, {chance.choice(SOURCES)};",
                f"and.b32 {register()}, {register()}, 3;",
                f"vote.sync.ballot.b32 {register()}, %p{chance.randrange(4)}, -1;",
            ]
        )
        return guard + body

    lines = [f"mov.u32 %r{k}, {chance.choice(SOURCES)};" for k in range(6)]
    lines += [f"setp.eq.u32 %p{k}, %r{k}, 0;" for k in range(4)]
    for piece in range(n):
        lines += [f"L{piece}:", *(statement() for _ in range(chance.randrange(4)))]
        own, target = f"%p{chance.randrange(4)}", f"L{chance.randrange(n)}"
        lines.append(f"setp.lt.u32 {own}, {register()}, {register()};")
        lines.append(chance.choice(["", f"bra {target};", f"@{own} exit;", *[f"@{own} bra {target};"] * 4]))
    lines.append("ld.param.u64 %rd1, [a]; mov.u32 %r9, %tid.x; mad.wide.u32 %rd1, %r9, 24, %rd1;")
    lines += [f"st.global.u32 [%rd1+{4 * k}], %r{k};" for k in range(6)]
    return ptx("\n".join([*lines, "ret;"]))


@pytest.mark.parametrize("seed", range(6))
def test_uniform_registers_are_equal_in_unstructured_code(seed: int) -> None:
    for k in range(20):
        with suppress(PtxError):  # E408: it never ends
            kernel = jumps(random.Random(f"{seed} {k}"))
            run_reference(
                kernel, 2, 40, [np.zeros(240, np.uint32)], watch=UniformValues(), max_instructions=200
            )


@pytest.mark.parametrize("seed", range(4))
def test_a_warp_needs_no_register_that_is_not_live_for_it(seed: int) -> None:
    """The same results with every other register overwritten, in all lanes, before every instruction."""
    n_ended = 0
    for k in range(20):
        kernel = jumps(random.Random(f"{seed} {k}"))
        plain, poisoned = np.zeros(240, np.uint32), np.zeros(240, np.uint32)
        with suppress(PtxError):
            run_reference(kernel, 1, 40, [plain], max_instructions=200)
            run_reference(kernel, 1, 40, [poisoned], poison=liveness(kernel), max_instructions=200)
            n_ended += 1
            assert plain.tolist() == poisoned.tolist()
    assert n_ended > 3


@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 1 << 32))
def test_uniform_registers_are_equal_in_random_programs(seed: int) -> None:
    launch(parse(write(random.Random(seed)), f"{seed}.ptx"), run_reference, watch=UniformValues())


@pytest.mark.parametrize(("name", "uniform"), [("sgemm", 2), ("reduction", 1), ("hotspot", 1)])
def test_uniform_registers_are_equal_in_samples(name: str, uniform: int) -> None:
    """And so many of the branches that run are uniform."""
    launch, kernel = sample(name)
    watch = UniformValues()
    with pytest.raises(PtxError, match="E408"):
        run_reference(
            kernel,
            launch.grid,
            launch.block,
            launch.arguments(),
            launch.dynamic_shared,
            watch=watch,
            max_instructions=6000,
        )
    assert len(watch.branches) == uniform
    assert watch.compared > 5_000


def test_the_watch_finds_a_value_that_varies() -> None:
    class Wrong(UniformValues):
        """Believes that no register ever varies."""

        def uniform(self, function: Function, i: int) -> list[int]:
            return [register.index for register in function.registers]

    kernel = ptx("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; ret;")
    run_reference(kernel, 2, 40, [np.uint64(0)], watch=UniformValues())
    with pytest.raises(AssertionError, match="%r2 varies: k, line"):
        run_reference(kernel, 2, 40, [np.uint64(0)], watch=Wrong())
