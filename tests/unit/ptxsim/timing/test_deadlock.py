"""The report of a deadlock at barriers: which warps wait, and where. (Circles of locks: `sharing/test_locks.py`.)"""

import numpy as np
import pytest
from built import built, kernel_of
from microkernels.measure import one_sm

import ptxsim
from ptxsim.timing.deadlock import deadlock, shared_register
from ptxtool.base.diag import Diagnostic, PtxError


def reported(body: str, block: int | tuple[int, int], grid: int = 1) -> Diagnostic:
    with pytest.raises(PtxError) as raised:
        ptxsim.launch(kernel_of(body), grid, block, [np.zeros(64, np.uint32)], gpu=one_sm("tesla-c2050"))
    (found,) = raised.value.diagnostics
    assert found.code == "E406"
    return found


def test_the_warps_at_a_barrier_are_named_with_their_threads() -> None:
    found = reported("bar.sync 1, 1024;", (8, 5))
    title, _, waits = found.message.partition(": CTA ")
    assert title.startswith("a barrier can never complete: kernel 'k', cycle ")
    where = "waits at 'bar.sync 1, 1024;' in line 11"
    assert waits.split("; CTA ") == [
        f"(0,0,0) warp 0 (threads (0,0,0) to (7,3,0), SM 0) {where}",
        f"(0,0,0) warp 1 (threads (0,4,0) to (7,4,0), SM 0) {where}",  # 40 threads: 8 in the last warp
    ]


def test_four_warps_are_named_and_the_others_counted() -> None:
    message = reported("bar.sync 1, 1024;", 6 * 32).message
    assert message.count(" waits at ") == 4
    assert message.endswith("; and 2 more")


def test_warps_that_have_exited_are_not_named() -> None:
    body = "mov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 32;\n\t@%p1 ret;\n\tbar.sync 0, 96;"
    message = reported(body, 64).message
    assert "warp 1" in message
    assert "warp 0" not in message


def test_the_register_that_is_shared_is_the_first_beyond_the_private_ones() -> None:
    # registers count from 1 in the order of their declaration: %r3 is number 4, %r9 number 10
    simulation = built("add.u32 %r3, %r9, %r5;")
    for private, expected in ((3, "%r3"), (4, "%r9"), (9, "%r9")):
        simulation.run["private_registers"] = private
        assert simulation.program.register_names[shared_register(simulation, 0)] == expected


def test_no_barrier_is_blamed_where_no_warp_waits_for_another() -> None:
    simulation = built("add.u32 %r3, %r9, %r5;")
    (found,) = deadlock(kernel_of("add.u32 %r3, %r9, %r5;"), simulation).diagnostics
    assert found.code == "E407"
    assert "no warp waits for another, but none can go on" in found.message
    assert "please report it" in str(found.help)
