"""Cases of the memory system from Volta on: GPGPU-Sim 4.2's Fermi SM before the memory of a quarter of a QV100.

Rows are the headings of docs/model/volta-memory.md. The latencies were measured on GPGPU-Sim 4.2's QV100, whose operand
collector takes a cycle less than Fermi's: each is one more here.
"""

from functools import cache, partial
from typing import Any

import numpy as np
from volta_memory import ALL, SIXTEEN, machine

from microkernels.case import Case, exactly, within
from microkernels.measure import cost, lines, slope
from microkernels.memory import HOP, LANE, LINE, POINTER, hop, ring
from ptxtool.formats.gpu import Gpu

_CLOCKS = [
    "clocks.core_mhz=1132",
    "clocks.icnt_mhz=1132",
    "clocks.l2_mhz=1132",
    "clocks.dram_mhz=850",
    "sm.count=1",
]
_COLD = ["l2.copies_fill=false", 'dram.slice_hash="none"']
"""Nothing of what has been copied is in the L2; a row of DRAM is one of the address."""
_ADD = 10  # of an addition in a chain
_COLLECTOR = 1

_NEIGHBOURS = (
    POINTER + "\n\tmov.u32 %r1, %tid.x;\n\tand.b32 %r1, %r1, 31;\n\tmul.wide.u32 %l4, %r1, {};"
    "\n\tadd.s64 %l1, %l3, %l4;"
)
"""Every lane so many bytes after the lane before it, in all warps the same."""
_LOAD, _UNCACHED, _STORE = (
    "ld.global.u32 %r{a}, [%l1];",
    "ld.global.cg.u32 %r{a}, [%l1];",
    "st.global.u32 [%l1], %r8;",
)
_WARPS = 16


@cache
def _gpu(*settings: str) -> Gpu:
    return machine(*ALL, *_CLOCKS, *settings)


def _cycles_of_one(line: str, stride: int) -> float:
    """Cycles of an SM for one of an instruction, with sixteen warps that have nothing else to do."""
    four = lines(line, 4)
    setup = _NEIGHBOURS.format(stride)
    return slope(four, few=2, many=6, setup=setup, block=32 * _WARPS, gpu=_gpu()) / (4 * _WARPS)


def _cycles_of_two_sms(per_port: int) -> float:
    """Cycles of two SMs for one load of each that passes the L1 by, lanes a sector apart."""
    four, gpu = lines(_UNCACHED, 4), _gpu("sm.count=2", f"icnt.sms_per_port={per_port}")
    setup = _NEIGHBOURS.format(32)
    return slope(four, few=2, many=6, setup=setup, grid=2, block=32 * _WARPS, gpu=gpu) / (4 * _WARPS)


def _scattered(stride: int) -> Any:
    """A buffer in which lane k goes round on its own sector."""
    words = np.zeros(stride // 8 * 32, np.uint64)
    words[:: stride // 8] = stride * np.arange(32)
    return words


def _uncached_hop(lanes: int) -> Any:
    """A load that bypasses the L1 and hits the L2, of so many lanes a line apart, to its use."""
    line = HOP.replace("ld.global", "ld.global.cg")
    if lanes == 1:
        return cost(line, _ADD, setup=POINTER, words=ring([0]), block=1, gpu=_gpu())
    return cost(line, _ADD, setup=LANE.format(LINE), words=_scattered(LINE), gpu=_gpu())


def _hit(lanes: int, stride: int) -> Any:
    if lanes == 1:
        return cost(HOP, _ADD, setup=POINTER, words=ring([0]), block=1, gpu=_gpu())
    return cost(HOP, _ADD, setup=LANE.format(stride), words=_scattered(stride), gpu=_gpu())


def _dram(places: list[int]) -> float:
    return hop(places, (4, len(places) - 8), _ADD, _gpu(*SIXTEEN, *_COLD))


# chunks of 256 bytes of 8 channels: columns are bits 0 to 7 and 12 to 14, rows from bit 18 on
_ONE_ROW = [column << 12 | sector << 5 for column in range(8) for sector in range(8)]
_ONE_BANK = [row << 18 for row in range(44)]
_PHASE = "DRAM has a clock of its own"

VOLTA_MEMORY: tuple[Case, ...] = (
    *(
        within(
            "banks of the L1",
            f"hits of lanes {stride} bytes apart, cycles of one instruction",
            str(figure),
            0.98 * figure,
            1.03 * figure,
            partial(_cycles_of_one, _LOAD, stride),
        )
        for stride, figure in ((4, 1), (8, 2), (16, 4), (32, 8), (64, 16), (128, 32))
    ),
    *(
        within(
            "banks of the L1",
            f"{what} of lanes {stride} bytes apart, cycles of one instruction",
            str(figure),
            0.98 * figure,
            1.03 * figure,
            partial(_cycles_of_one, line, stride),
        )
        for what, line, stride, figure in (
            ("stores", _STORE, 4, 4),
            ("stores", _STORE, 32, 32),
            ("loads that bypass the L1", _UNCACHED, 32, 32),
        )
    ),
    *(
        exactly(
            "banks of the L1",
            f"hit of {lanes} lanes, {groups} sectors in the fullest bank, cycles to use",
            20 + 3 + groups + _COLLECTOR,
            _hit(lanes, stride),
        )
        for lanes, stride, groups in ((1, 0, 1), (32, 32, 8), (32, 128, 32))
    ),
    *(
        exactly(
            "crossbar of packets",
            f"L2 hit of {lanes} sectors that bypass the L1, cycles to use",
            160 + 11 + lanes + _COLLECTOR,
            _uncached_hop(lanes),
        )
        for lanes in (1, 32)
    ),
    *(
        within(
            "crossbar of packets",
            f"32 sectors for each of two SMs {where}, cycles of one instruction of both",
            str(figure),
            0.98 * figure,
            1.03 * figure,
            partial(_cycles_of_two_sms, per_port),
        )
        for per_port, where, figure in ((1, "with ports of their own", 32), (2, "at one port", 64))
    ),
    exactly(
        "crossbar of packets",
        "L1 miss, L2 hit, cycles to use",
        20 + 160 + 12 + 1 + _COLLECTOR,
        lambda: hop([LINE * k for k in range(400)], (450, 850), _ADD, _gpu()),
    ),
    # 120 more than an L2 hit, and tRP + tRCD = 24 DRAM cycles, 32 to 34 of the core, for another row
    within("L2 and DRAM", "L1 miss, DRAM, row open", "314", 310, 318, lambda: _dram(_ONE_ROW), _PHASE),
    within(
        "L2 and DRAM", "L1 miss, DRAM, another row open", "348", 344, 352, lambda: _dram(_ONE_BANK), _PHASE
    ),
)
