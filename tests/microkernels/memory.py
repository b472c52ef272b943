"""Cases of the memory system on `tesla-c2050`: the other rows of timing-model section 7.3."""

import random
from functools import cache, partial
from typing import Any

import numpy as np
from memory_machine import on_array

from microkernels.case import Case, exactly, within
from microkernels.measure import cost, counted, one_sm, per_trip, run
from ptxsim.base.jit import uncached as njit
from ptxsim.timing.memory import requests
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.network import interconnect
from ptxtool.formats.gpu import Gpu, load_gpu

POINTER = "ld.param.u64 %l1, [p];\n\tmov.u64 %l3, %l1;"
"""The buffer's address in %l1 and %l3."""
LANE = POINTER + "\n\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %l4, %r1, {};\n\tadd.s64 %l1, %l3, %l4;"
"""The same, and every lane that many bytes after the lane before it."""
HOP = "ld.global.u64 %l2, [%l1];\n\tadd.s64 %l1, %l2, %l3;"
FAR_HOP = "ld.global.u64 %l2, [%l1];\n\tSTEP\n\tadd.s64 %l1, %l2, %l3;"
"""The same where the loop's counter steps while the load is on its way."""
LINE = 128


def ring(places: list[int]) -> Any:
    """A buffer in which every place holds the next one, in bytes from its start."""
    words = np.zeros(max(places) // 8 + 16, np.uint64)
    words[np.array(places) // 8] = [*places[1:], places[0]]
    return words


@cache
def base(gpu: str) -> int:
    """Where a buffer lies."""
    words = np.zeros(2, np.uint64)
    run("", 1, POINTER + "\n\tst.global.u64 [%l3], %l3;", words=Keep(words), block=1, gpu=gpu)
    return int(words[0])


class Keep:
    """An array whose copy is itself: for what a run leaves in it."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def copy(self) -> Any:
        return self.array


def hop(places: list[int], trips: tuple[int, int], addition: int, gpu: str | Gpu = "tesla-c2050") -> float:
    """Cycles from a load to what depends on it: one warp goes once along `places`, an addition between hops."""
    setup = POINTER + (f"\n\tadd.s64 %l1, %l1, {places[0]};" if places[0] else "")
    return (
        per_trip(lambda r: r.cycles, FAR_HOP, trips, setup=setup, words=ring(places), block=1, gpu=gpu)
        - addition
    )


def in_dram(gpu: str, channel: int, rest: int) -> int:
    """The byte of a buffer that lies at `rest` of a channel (section 3.5: 256 bytes of each in turn)."""
    start = -base(gpu) % (6 << 16)
    return start + ((rest >> 8) * 6 + channel) * 256 + (rest & 255)


def open_row(gpu: str) -> list[int]:
    """The lines of one row: bits 9 to 12 of `rest`, and the halves of a chunk."""
    return [in_dram(gpu, 2, k << 9) + half for k in range(16) for half in (0, LINE)]


def closed_rows(gpu: str) -> list[int]:
    """A line of every bank: bits 15, 14, 13 and 8 of `rest`."""
    return [in_dram(gpu, c, b >> 1 << 13 | (b & 1) << 8) for b in range(16) for c in range(6)]


def other_rows(gpu: str) -> list[int]:
    """Rows of one bank: bits from 16 on."""
    return [in_dram(gpu, 2, k << 16) for k in range(44)]


_CONFLICTS = np.zeros(16 * 32, np.uint64)
_CONFLICTS[::16] = LINE * np.arange(32)  # lane k goes round on its own line


def stream(
    access: str, loads: int, grid: int, block: int, trips: tuple[int, int], gpu: str | Gpu, new_lines: bool
) -> dict[str, float]:
    """Lines per cycle where all warps go along a buffer side by side, and counters per line; the same lines in every
    trip, or new ones."""
    warps = grid * block // 32
    setup = (
        POINTER + "\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n\t"
        "mad.lo.u32 %r1, %r2, %r3, %r1;\n\tmul.wide.u32 %l4, %r1, 4;\n\tadd.s64 %l1, %l1, %l4;"
    )
    body = "\n\t".join(
        access.format(register=f"%r{k + 16}", address=f"[%l1+{LINE * warps * k}]") for k in range(loads)
    )
    if new_lines:
        body += f"\n\tadd.s64 %l1, %l1, {LINE * warps * loads};"
    words = np.zeros(LINE // 4 * (warps * loads * (trips[1] if new_lines else 1) + 1), np.uint32)
    short, long = (run(body, t, setup, words=words, grid=grid, block=block, gpu=gpu).stats for t in trips)
    n = warps * loads * (trips[1] - trips[0])
    return {"lines": n / (long["cycles"] - short["cycles"])} | {
        name: (long[name] - short[name]) / n for name in ("l1d_misses", "dram_reads", "dram_writes")
    }


LOAD, STORE = "ld.global.u32 {register}, {address};", "st.global.u32 {address}, %r8;"


def _bytes(gpu: str, new_lines: bool) -> float:
    """Bytes per cycle that one SM loads: from DRAM, or from the L2 all that its L1 has lost again."""
    found = stream(LOAD, 8, 2, 768, (6, 30) if not new_lines else (4, 20), one_sm(gpu), new_lines)
    assert found["l1d_misses"] == 1
    return LINE * found["lines"]


@njit
def _has_room(m: Any, source: int, flits: int) -> bool:
    return interconnect.has_room(m.replies, source, flits)


@njit
def _push(m: Any, source: int, target: int, packet: int, flits: int, ready: int) -> None:
    interconnect.push(m, m.replies, source, target, packet, flits, ready)


@njit
def _take(m: Any, target: int, wake: int) -> int:
    return interconnect.take(m, m.replies, target, wake)


@njit
def _cycle(m: Any, now: int) -> None:
    interconnect.network_cycle(m, m.replies, now)


def network(pattern: str, flits: int = 5) -> float:
    """Replies per cycle (of a line: 5 flits) that the reply network passes from slices that always have one, to SMs in
    turn or at random."""
    has_room, push, take, cycle, new, drop = (
        on_array(f) for f in (_has_room, _push, _take, _cycle, requests.new_request, requests.drop_request)
    )
    memory = make_memory(load_gpu("tesla-c2050"))
    replies = memory[0]["replies"]
    n_out, due = int(replies["n_out"]), replies["out_due"]
    source, cycles, begin = random.Random(1), 3000, 500
    turn, passed = list(range(int(replies["n_in"]))), 0
    for now in range(1, cycles + 1):
        for i in range(len(turn)):
            if has_room(memory, i, flits):
                target = source.randrange(n_out) if pattern == "random" else turn[i] % n_out
                push(memory, i, target, new(memory), flits, now)
                turn[i] += 1
        cycle(memory, now)
        for o in np.flatnonzero(due[:n_out] <= now):
            drop(memory, take(memory, o, now))
            passed += now > begin
    return passed / (cycles - begin)


def _gigabytes(new_lines: bool) -> float:
    """GB/s that all SMs load."""
    trips = (4, 12) if new_lines else (4, 24)
    found = stream(LOAD, 4, 28, 768 if new_lines else 512, trips, "tesla-c2050", new_lines)
    return LINE * found["lines"] * load_gpu("tesla-c2050").clocks.core_mhz / 1000


def _one_slice() -> float:
    """Cycles of a store where all SMs store the same line."""
    setup = LANE.format(4).replace("%tid.x;", "%tid.x;\n\tand.b32 %r1, %r1, 31;")
    early, late = (run(STORE.format(address="[%l1]"), t, setup, grid=28, block=512).cycles for t in (6, 30))
    return (late - early) / (28 * 16 * 24)


def _merging_loads(warps: int) -> Any:
    return run("", 1, POINTER + "\n\tld.global.u32 %r1, [%l3];", block=32 * warps).l1


def _loads_that_merge() -> float:
    """The most warps that load one line at once without a retry."""
    warps = 1
    while _merging_loads(warps)["reservation_fails"] == 0:
        warps += 1
    return warps - 1


def _miss_rate(n_lines: int) -> float:
    """Of loads of lines 4 KB apart, in turn."""
    body = "\n\t".join(
        f"ld.global.u32 %r{16 + k}, [%l3+{4096 * k}];\n\tadd.u32 %r30, %r{16 + k}, 1;" for k in range(n_lines)
    )
    short, long = (run(body, t, POINTER, words=np.zeros(8192, np.uint32)).l1 for t in (4, 12))
    return float((long["misses"] - short["misses"]) / (long["accesses"] - short["accesses"]))


_GPU = "tesla-c2050"
_CLOCKS = "DRAM has a clock of its own"

MEMORY: tuple[Case, ...] = (
    exactly(
        "10",
        "pointer chase in the L1, cycles to use",
        4,
        cost(HOP, 11, setup=POINTER, words=ring([0]), block=1),
    ),
    exactly("10", "in the L2", 149, lambda: hop([4096 * k for k in range(6)], (12, 60), 11)),
    within("10", "in DRAM, row open", "~267", 264, 270, lambda: hop(open_row(_GPU), (8, 28), 11), _CLOCKS),
    within(
        "10", "in DRAM, row closed", "277", 274, 280, lambda: hop(closed_rows(_GPU), (10, 90), 11), _CLOCKS
    ),
    within(
        "10",
        "in DRAM, another row open",
        "287",
        284,
        290,
        lambda: hop(other_rows(_GPU), (4, 40), 11),
        _CLOCKS,
    ),
    exactly(
        "11", "hit of 32 lines, cycles to use", 35, cost(HOP, 11, setup=LANE.format(128), words=_CONFLICTS)
    ),
    exactly(
        "11",
        "stall_shd_mem of it",
        31,
        counted("stall_shd_mem", HOP, setup=LANE.format(128), words=_CONFLICTS),
    ),
    exactly(
        "11", "L1 accesses of it", 32, counted("l1d_accesses", HOP, setup=LANE.format(128), words=_CONFLICTS)
    ),
    within(
        "12",
        "streaming from the L2, one SM, bytes per cycle",
        "21",
        20.9,
        21.4,
        partial(_bytes, _GPU, False),
        "128 / 6",
    ),
    within(
        "12",
        "streaming from DRAM, one SM, bytes per cycle",
        "14.8",
        14.6,
        15.8,
        partial(_bytes, _GPU, True),
        "32 lines of a closed row's time; most rows are open",
    ),
    within(
        "13",
        "reply network alone, random SMs, lines per cycle",
        "1.3",
        1.25,
        1.35,
        partial(network, "random"),
    ),
    within(
        "13",
        "reply network alone, SMs in turn, lines per cycle",
        "2.0",
        1.98,
        2.02,
        partial(network, "turn"),
    ),
    within(
        "13",
        "streaming from DRAM, all SMs, GB/s",
        "95-140",
        85,
        140,
        partial(_gigabytes, True),
        "the network's 1.3 lines a cycle are 96 GB/s; behind slices and SMs that wait for one another it passes 1.2",
    ),
    within(
        "13",
        "streaming from the L2, all SMs, GB/s",
        "96-147",
        88,
        147,
        partial(_gigabytes, False),
        "the same",
    ),
    exactly(
        "14",
        "stores of whole lines, one SM, cycles of one",
        6,
        lambda: 1 / stream(STORE, 8, 2, 768, (6, 30), one_sm(_GPU), False)["lines"],
    ),
    within("14", "all SMs into one slice, cycles of one", "6", 5.95, 6.05, _one_slice),
    exactly(
        "14",
        "DRAM columns read for a stored line that misses the L2",
        2,
        lambda: stream(STORE, 8, 2, 768, (4, 20), one_sm(_GPU), True)["dram_reads"],
    ),
    exactly(
        "14",
        "DRAM columns written for it",
        2,
        lambda: stream(STORE, 8, 2, 768, (4, 20), one_sm(_GPU), True)["dram_writes"],
    ),
    exactly("17", "warps that load one line at once without a retry", 8, _loads_that_merge),
    within(
        "17",
        "retries of the ninth until the line comes",
        "~260",
        245,
        280,
        lambda: _merging_loads(9)["reservation_fails"],
        "a closed row's 277 less the stages around the L1",
    ),
    exactly("18", "L1 miss rate of 5 lines 4 KB apart", 1, partial(_miss_rate, 5)),
    exactly("18", "of 4 lines", 0, partial(_miss_rate, 4)),
)
