"""`setmaxnreg` in runs without time, and in the reference interpreter."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.interpreter import run_reference
from register_pools import CIRCLE, NEVER, PRODUCER, pool_kernel, setting

import ptxsim
from ptxtool.base.diag import Diagnostic, PtxError

Run = Callable[..., Any]
both = pytest.mark.parametrize("run", [ptxsim.run, run_reference], ids=["run", "reference"])


def words(run: Run, body: str, block: int = 64, bounds: str = ".maxnreg 40") -> list[int]:
    found = np.zeros(block, np.uint32)
    run(pool_kernel(body, bounds), 1, block, [found])
    return found.tolist()


def problem(run: Run, body: str, block: int = 64) -> Diagnostic:
    with pytest.raises(PtxError) as raised:
        words(run, body, block)
    (found,) = raised.value.diagnostics
    return found


# each warp leaves in %r6 how many had come before: what it reads before its own addition
COUNT = """mov.u32 %r4, tile;
	and.b32 %r5, %r1, 31;
	setp.eq.u32 %p7, %r5, 0;
	@%p7 atom.shared.add.u32 %r6, [%r4], 1;"""


@both
def test_a_warp_waits_until_another_has_released_what_it_lacks(run: Run) -> None:
    """Warp 1 takes 16 registers that warp 3 releases last of all, warp 2 takes 8 that warp 0 releases."""
    body = f"""mov.u32 %r4, tile;
	st.shared.u32 [%r4], 0;
	bar.sync 0;
	@%p2 {setting("inc", 48)}
	@%p1 {setting("inc", 56)}
	@%p3 bar.sync 1, 64;
	@%p0 {setting("dec", 32)}
	@%p2 bar.sync 1, 64;
	{COUNT}
	@%p3 {setting("dec", 24)}"""
    order = words(run, body, 128)[::32]
    assert order.index(3) == 1  # warp 1 comes last


@both
def test_registers_are_released_in_parts(run: Run) -> None:
    """Each of three warps releases 8 of 40: the fourth takes 24 when it has all."""
    body = f"""mov.u32 %r4, tile;
	st.shared.u32 [%r4], 0;
	bar.sync 0;
	@%p0 {setting("inc", 64)}
	@!%p0 {setting("dec", 40)}
	{COUNT}
	@!%p0 {setting("dec", 32)}"""
    assert words(run, body, 128)[0] == 3


@both
def test_a_producer_and_a_consumer(run: Run) -> None:
    assert words(run, PRODUCER.replace("CHAIN", "mov.u32 %r6, 7;")) == [7] * 32 + [0] * 32


@both
def test_without_bounds_it_does_nothing(run: Run) -> None:
    assert words(run, f"{setting('inc', 200)}\n\tmov.u32 %r6, 3;", bounds="") == [3] * 64


@both
def test_launch_bounds_say_how_many_registers_there_are(run: Run) -> None:
    """65536 / 384 = 170: 168 each. Eight warps take 64 more each, 512 in all, which four release."""
    body = f"setp.lt.u32 %p4, %r2, 4;\n\t@!%p4 {setting('inc', 232)}\n\t@%p4 {setting('dec', 40)}"
    assert words(run, body, 384, ".maxntid 384 .minnctapersm 1") == [0] * 384
    with pytest.raises(PtxError, match="E407"):
        words(run, body.replace("232", "240"), 384, ".maxntid 384 .minnctapersm 1")


@both
@pytest.mark.parametrize("body", [CIRCLE, NEVER])
def test_a_wait_that_never_ends_is_a_deadlock(run: Run, body: str) -> None:
    found = problem(run, body)
    assert found.code == "E407"
    assert "setmaxnreg.inc" in found.source.text[found.start : found.end]


def test_the_report_has_the_place_of_every_warp() -> None:
    found = problem(ptxsim.run, CIRCLE)
    assert found.message == (
        "deadlock: kernel 'k', CTA (0,0,0): warp 0 waits at 'bar.sync 0;' in line 23; "
        "warp 1 waits at 'setmaxnreg.inc.sync.aligned.u32 48;' in line 27"
    )
    assert found.help is not None
    assert "setmaxnreg.dec" in found.help


@pytest.mark.parametrize("check", [(), "all"])
def test_checks_leave_it_as_it_is(check: Any) -> None:
    found = np.zeros(64, np.uint32)
    body = PRODUCER.replace("CHAIN", "mov.u32 %r6, 7;")
    result = ptxsim.run(pool_kernel(body), 1, 64, [found], check=check)
    assert not result.problems
    assert found.tolist() == [7] * 32 + [0] * 32
