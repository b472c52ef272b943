"""Cases of `gpgpusim42-c2050`: figures of timing-model-42, most of them measured on GPGPU-Sim 4.2.

Rows are its sections. D = L + 5 + c: c is 1 where a warp's source registers lie in different banks (number modulo 16),
2 where two share one, 0 without any (section 1.6).
"""

from functools import partial

import numpy as np
from msgspec.structs import replace

from microkernels.case import Case, exactly, within
from microkernels.measure import cost, lines, one_sm, run, slope, speed
from microkernels.memory import (
    HOP,
    LANE,
    LINE,
    LOAD,
    POINTER,
    STORE,
    closed_rows,
    hop,
    open_row,
    other_rows,
    ring,
    stream,
)
from microkernels.scheme import EMPTY, launch, turnover
from ptxtool.formats.gpu import Gpu, load_gpu

GPU = "gpgpusim42-c2050"

DISTANCES = [
    ("add.u32 %r1, %r1, %r2;", 10),
    ("add.f32 %f1, %f1, %f2;", 10),
    ("add.f64 %d1, %d1, %d2;", 14),
    ("add.u32 %r1, %r1, %r1;", 10),  # a register named twice is read once
    ("add.u32 %r1, %r1, %r17;", 11),  # two registers of one bank: c = 2
    ("max.s32 %r1, %r1, %r2;", 19),
    ("max.f32 %f1, %f1, %f2;", 19),
    ("max.f64 %d1, %d1, %d2;", 25),
    ("mul.lo.u32 %r1, %r1, %r2;", 10),
    ("mul.f32 %f1, %f1, %f2;", 10),
    ("mul.f64 %d1, %d1, %d2;", 14),
    ("mad.lo.u32 %r1, %r1, %r2, %r3;", 11),
    ("fma.rn.f32 %f1, %f1, %f2, %f3;", 11),
    ("fma.rn.f64 %d1, %d1, %d2, %d3;", 14),
    ("mul24.lo.u32 %r1, %r1, %r2;", 11),
    ("mad24.lo.u32 %r1, %r1, %r2, %r3;", 12),
    ("div.u32 %r1, %r1, %r2;", 151),
    ("rem.u32 %r1, %r1, %r2;", 151),
    ("div.rn.f32 %f1, %f1, %f2;", 45),
    ("div.rn.f64 %d1, %d1, %d2;", 336),
    ("rcp.approx.f32 %f1, %f1;", 14),
    ("mov.u32 %r1, %r1;", 7),
    ("selp.b32 %r1, %r1, %r2, %p3;", 7),
    ("selp.b32 %r1, %r1, %r2, %p2;", 7),  # two registers of one number are read once, so it seems
    ("selp.b32 %r1, %r1, %r2, %p18;", 8),  # predicates have numbers too
    ("mov.u32 %r1, 5;", 6),  # c = 0
]

_THROUGHPUTS = [  # of an SM: units / initiation interval
    ("mul.lo.u32 %r1, %r2, %r3;", 1.0),
    ("max.f32 %f1, %f2, %f3;", 1.0),
    ("mul24.lo.u32 %r1, %r2, %r3;", 0.67),
    ("fma.rn.f64 %d1, %d2, %d3, %d4;", 0.125),
    ("rcp.approx.f32 %f1, %f2;", 0.125),
]

_TILE = "mov.u32 %r4, tile;\n\tmov.u32 %r5, %tid.x;\n\tmad.lo.u32 %r1, %r5, {}, %r4;\n\tmov.u32 %r2, %r1;"
_SHARED = "ld.shared.u32 %r1, [%r1];\n\tadd.u32 %r1, %r1, %r2;"
_CONFLICTS = np.zeros(16 * 32, np.uint64)
_CONFLICTS[::16] = LINE * np.arange(32)  # lane k goes round on its own line
_ATOM = "atom.global.add.u32 %r1, [%l3], %r1;"
_CLOCKS = "DRAM has a clock of its own"


def _cold() -> Gpu:
    """The machine whose L2 holds nothing of what has been copied."""
    gpu = load_gpu(GPU)
    return replace(gpu, l2=replace(gpu.l2, copies_fill=False))


def _of_24_warps(line: str) -> float:
    return 24 / slope(line, block=768, gpu=GPU)


def _lines(access: str, sms: int, new_lines: bool = False) -> float:
    """Lines per cycle where all warps go along a buffer side by side."""
    if sms == 1:
        return stream(access, 16, 1, 512, (6, 30), one_sm(GPU), new_lines)["lines"]
    return stream(access, 8, 28, 512, (4, 16), GPU, new_lines)["lines"]


# a line of 4096 by the warp's own sequence of pseudo-random numbers
_RANDOM = (
    POINTER
    + "\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tshr.u32 %r3, %r1, 5;\n\tmad.lo.u32 %r4, %r2, 32, %r3;"
    "\n\tmul.lo.u32 %r4, %r4, 747796405;\n\tand.b32 %r5, %r1, 31;\n\tmul.wide.u32 %l4, %r5, 4;"
    "\n\tadd.s64 %l3, %l3, %l4;\n\tmov.u32 %r8, 1664525;\n\tmov.u32 %r9, 1013904223;"
)
_NEXT = (
    "mad.lo.u32 %r4, %r4, %r8, %r9;\n\tshr.u32 %r6, %r4, 20;\n\tmul.wide.u32 %l5, %r6, 128;"
    "\n\tadd.s64 %l{k}, %l3, %l5;\n\t"
)


def _random(access: str) -> float:
    """Lines per cycle that 14 SMs of 32 warps read or store at random places of 512 KB, which the L2 holds."""
    n = 4
    body = "".join(
        _NEXT.format(k=10 + k) + access.format(register=f"%r{16 + k}", address=f"[%l{10 + k}]") + "\n\t"
        for k in range(n)
    )
    words = np.zeros(4096 * LINE // 4, np.uint32)
    short, long = (
        run(body, t, _RANDOM, words=words, grid=28, block=512, gpu=GPU, registers=32).cycles for t in (4, 20)
    )
    return n * 28 * 16 * 16 / (long - short)


def _per_warp() -> float:
    """Cycles that one more warp of an empty CTA of 8 warps takes, under load."""
    early, late = (launch(EMPTY, grid, 256, gpu=GPU, registers=20).cycles for grid in (1120, 2240))
    return (late - early) / (1120 // 14 * 8)


def _of_eight_slots() -> float:
    """Cycles between the empty CTAs of a slot, where an SM has eight."""
    early, late = (launch(EMPTY, grid, gpu=GPU, registers=20).cycles for grid in (1120, 2240))
    return (late - early) / 10


GPGPUSIM42: tuple[Case, ...] = (
    exactly(
        "1.2",
        "independent moves of one warp, cycles for two",
        3,
        lambda: slope(lines("mov.u32 %r{a}, %r2;", 6), few=4, many=12, gpu=GPU) / 3,
    ),
    within(
        "1.5",
        "dependent fmas of 48 warps, warp instructions per cycle",
        "~1.74",
        1.65,
        1.83,
        lambda: speed("\n\t".join(["fma.rn.f32 %f1, %f1, %f2, %f3;"] * 16), 48, (6000, 30000), gpu=GPU),
        "a loop of 16, as in the kernels of which that is the steady state",
    ),
    *(
        exactly("1.6", f"`{line.removesuffix(';')}` in a chain, cycles", d, cost(line, gpu=GPU))
        for line, d in DISTANCES
    ),
    *(
        within(
            "1.6",
            f"`{line.removesuffix(';')}` of 24 warps, warp instructions per cycle",
            f"{r:g}",
            0.97 * r,
            1.03 * r,
            partial(_of_24_warps, line),
        )
        for line, r in _THROUGHPUTS
    ),
    exactly("1.8", "turnover of a slot with an empty CTA, cycles", 9, lambda: turnover(GPU)),
    within("1.8", "the same of eight slots, under load", "about 10", 9.5, 10.5, _of_eight_slots),
    within("1.8", "empty CTAs of 8 warps, cycles of a warp", "1", 0.98, 1.02, _per_warp, "a fetch each"),
    exactly("3.8", "`ld.const` hit, cycles to use", 4, cost("ld.const.u32 %r1, [table];", gpu=GPU)),
    exactly("3.8", "`ld.param` hit, cycles to use", 4, cost("ld.param.u32 %r1, [n];", gpu=GPU)),
    *(
        exactly(
            "3.8",
            f"shared load of degree {d}, cycles to use",
            31 + d,
            cost(_SHARED, 10, setup=_TILE.format(4 * d), gpu=GPU),
        )
        for d in (1, 2, 32)
    ),
    exactly(
        "3.8", "L1 hit, cycles to use", 40, cost(HOP, 10, setup=POINTER, words=ring([0]), block=1, gpu=GPU)
    ),
    exactly(
        "3.8", "L1 hit of 32 lines", 39 + 32, cost(HOP, 10, setup=LANE.format(128), words=_CONFLICTS, gpu=GPU)
    ),
    exactly("3.8", "L2 hit", 182, lambda: hop([LINE * k for k in range(160)], (200, 400), 10, GPU)),
    exactly(
        "3.8",
        "L2 hit, `.cg`",
        143,
        cost(HOP.replace("ld.global", "ld.global.cg"), 10, setup=POINTER, words=ring([0]), block=1, gpu=GPU),
    ),
    within(
        "3.8", "DRAM, row open", "298", 294, 302, lambda: hop(open_row(GPU), (8, 28), 10, _cold()), _CLOCKS
    ),
    within(
        "3.8",
        "DRAM, row closed",
        "~308",
        304,
        312,
        lambda: hop(closed_rows(GPU), (10, 90), 10, _cold()),
        _CLOCKS,
    ),
    within(
        "3.8",
        "DRAM, another row open",
        "318",
        314,
        322,
        lambda: hop(other_rows(GPU), (4, 40), 10, _cold()),
        _CLOCKS,
    ),
    exactly("3.8", "atomic of one lane, cycles to use", 143, cost(_ATOM, setup=POINTER, block=1, gpu=GPU)),
    exactly("3.8", "atomic of 32 lanes on one word", 174, cost(_ATOM, setup=POINTER, gpu=GPU)),
    within(
        "3.4", "one SM reads lines of the L2, cycles of one", "4.0", 3.95, 4.05, lambda: 1 / _lines(LOAD, 1)
    ),
    within("3.4", "one SM stores lines, cycles of one", "4.00", 3.95, 4.05, lambda: 1 / _lines(STORE, 1)),
    within(
        "3.4",
        "14 SMs read random lines of the L2, lines per cycle",
        "1.74",
        1.65,
        1.83,
        lambda: _random(LOAD),
    ),
    within(
        "3.4",
        "14 SMs store random lines, lines per cycle",
        "1.61",
        1.53,
        2.0,
        lambda: _random(STORE),
        "stores are held up less than there (docs/simulator.md)",
    ),
    within(
        "3.4", "14 SMs read the L2 in order, lines per cycle", "1.64", 1.55, 1.8, lambda: _lines(LOAD, 14)
    ),
    within(
        "3.7",
        "14 SMs read DRAM in order, lines per cycle",
        "0.99",
        0.86,
        1.0,
        lambda: _lines(LOAD, 14, new_lines=True),
        "the bound; recorded kernels reach 0.88 to 0.9",
    ),
    within(
        "3.7",
        "14 SMs store new lines in order, lines per cycle",
        "1.62",
        1.45,
        1.98,
        lambda: _lines(STORE, 14, new_lines=True),
        "the bound is 1.98",
    ),
)
