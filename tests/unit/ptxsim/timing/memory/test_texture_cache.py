"""The texture cache: timing-model sections 0, 3.1, 3.2 and 3.5.

A hit: an address register is read in the collector, the access enters the queue 4 cycles after the issue (5 where the
collector is a stage of its own), reaches the results in the next, the write-back latch in the one after it, and the
register in the third. What misses has no ROP delay of 120 cycles in the L2.
"""

from typing import Any

import numpy as np
import pytest
from microkernels import measure
from msgspec.structs import replace

import ptxsim
from ptxtool.formats.gpu import load_gpu

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


SETUP = """ld.param.u64 %l1, [p];
	mov.u32 %r2, %tid.x;
	mov.u32 %r1, 0;"""


def run(body: str, words: Any, trips: int = 1, gpu: Any = OLD, **options: Any) -> ptxsim.SimResult:
    """A loop of `trips` around `body`; the texture is `tex`, %r2 a lane's number, %r1 0."""
    textures = {"tex": ptxsim.Texture(words)}
    variables = ".global .texref tex;\n"
    return measure.run(body, trips, SETUP, variables=variables, gpu=gpu, textures=textures, **options)


def fetch(to: int, at: int) -> str:
    return f"\ttex.1d.v4.s32.s32 {{%r{to}, %r17, %r18, %r19}}, [tex, {{%r{at}}}];\n"


def cost(link: str, words: Any, gpu: str) -> float:
    def slope(n: int) -> int:
        return run(link * n, words, 12, gpu).cycles - run(link * n, words, 4, gpu).cycles

    return (slope(24) - slope(8)) / (8 * 16)


@pytest.mark.parametrize(("gpu", "expected"), [(OLD, 7), (NEW, 8)])
def test_a_hit(gpu: str, expected: int) -> None:
    assert cost(fetch(1, 1), np.zeros(32, np.int32), gpu) == expected


# through the L2 a line takes what one through the L1 takes, less the ROP delay; the two have a cycle each between queue
# and register that the other has not: L1D fills and tells, L1T goes on to the results and from there to the latch
@pytest.mark.parametrize(("gpu", "line"), [(OLD, 149), (NEW, 182 - 36)])
def test_a_miss_has_no_rop_delay(gpu: str, line: int) -> None:
    # a ring of 128 lines in one set: none is there when its turn comes, all are in the L2
    step = 4 * 32
    ring = np.zeros(128 * step, np.int32)
    ring[::step] = np.roll(np.arange(128) * step, -1)
    chain = "".join(fetch(1, 1) for _ in range(32))
    long, short = (run(chain, ring, trips, gpu).cycles for trips in (12, 8))
    assert (long - short) / (4 * 32) == pytest.approx(line - 120, abs=6)


def test_one_access_per_line() -> None:
    words = np.zeros(32 * 64, np.int32)
    apart = "\tmul.lo.u32 %r3, %r2, 32;\n"
    near = run(fetch(4, 2), words).stats
    far = run(apart + fetch(4, 3), words).stats
    assert (near["l1t_accesses"], near["l1t_misses"], near["texture_fetches"]) == (1, 1, 1)
    assert (far["l1t_accesses"], far["l1t_misses"], far["texture_fetches"]) == (32, 32, 1)
    assert near["l1d_accesses"] == far["l1d_accesses"] == 0
    # 31 for the 32 accesses, and more for the requests, of which 4 wait for the network
    assert far["stall_shd_mem"] - near["stall_shd_mem"] >= 31


def test_a_line_on_its_way_is_there_for_those_behind() -> None:
    both = run(fetch(4, 2) + fetch(5, 2), np.zeros(32, np.int32)).stats
    assert (both["l1t_accesses"], both["l1t_misses"]) == (2, 1)


def test_ways_and_sets() -> None:
    # 24 lines of a set stay, 25 push one another out
    words = np.zeros(4 * 32 * 32, np.int32)

    def misses(lines: int) -> float:
        body = "".join(f"\tmov.u32 %r3, {4 * 32 * k};\n{fetch(4, 3)}" for k in range(lines))
        return run(body, words, 3).stats["l1t_misses"]

    assert misses(24) == 24
    assert misses(25) == 3 * 25


def test_results_come_in_order() -> None:
    # a hit after a miss waits for it: the second fetch is not done before the first
    words = np.zeros(1 << 16, np.int32)
    miss = "\tmul.lo.u32 %r3, %r7, 3072;\n" + fetch(4, 3)
    hit = fetch(5, 2)
    waits = run(hit + miss + hit + "\tadd.u32 %r6, %r5, %r5;\n", words, 9).cycles
    both = run(hit + miss + hit + "\tadd.u32 %r6, %r4, %r5;\n", words, 9).cycles
    alone = run(hit + "\tadd.u32 %r6, %r5, %r5;\n", words, 9).cycles
    assert both - waits < 9 * 3
    assert waits - alone > 8 * 100


def test_a_short_queue_holds_the_head() -> None:
    machine = load_gpu(OLD)
    short = replace(machine, l1t=replace(machine.l1t, fragment_fifo=2))
    body = "\tmul.lo.u32 %r3, %r2, 32;\n" + fetch(4, 3)
    words = np.zeros(32 * 64, np.int32)
    assert run(body, words, gpu=short).cycles > run(body, words).cycles + 15 * 100


def test_a_short_reorder_buffer_holds_misses_and_not_hits() -> None:
    """32 misses through a buffer of 2: each pair waits for the one before. Hits need no place in it."""
    machine = load_gpu(OLD)
    short = replace(machine, l1t=replace(machine.l1t, reorder_buffer=2))
    body = "\tmul.lo.u32 %r3, %r2, 32;\n" + fetch(4, 3)
    words = np.zeros(32 * 64, np.int32)
    one_line = fetch(4, 2) + fetch(5, 2)
    assert run(body, words, gpu=short).cycles > run(body, words).cycles + 15 * 100
    assert run(one_line, words, gpu=short).cycles == run(one_line, words).cycles


@pytest.mark.parametrize("gpu", [OLD, NEW])
def test_event_skip_changes_nothing(gpu: str) -> None:
    words = np.zeros(1 << 14, np.int32)
    body = (
        "\tmul.lo.u32 %r3, %r2, 97;\n"
        + fetch(4, 3)
        + "\tld.global.u32 %r8, [%l1];\n\tadd.u32 %r3, %r3, %r4;\n\tadd.u32 %r3, %r3, %r7;\n"
        + fetch(5, 3)
        + "\tst.global.u32 [%l1], %r8;\n"
    )
    results = [run(body, words, 5, gpu, grid=30, block=128, event_skip=skip).stats for skip in (True, False)]
    assert results[0] == results[1]
