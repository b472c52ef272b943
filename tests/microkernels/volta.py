"""Cases of `gpgpusim42-qv100` and `gpgpusim42-titanx`: figures of docs/model/volta.md, its headings the rows.

The distance of two dependent instructions is L + 4 + ceil(c / 2): c is the most source registers in one of the four
banks of a sub-core, and two of them are read in a cycle.
"""

from collections.abc import Callable

from microkernels.case import Case, exactly, within
from microkernels.measure import cost, lines, slope

GPU, PASCAL = "gpgpusim42-qv100", "gpgpusim42-titanx"

_DISTANCES = [
    ("mov.u32 %r1, 5;", 5),  # c = 0
    ("mov.u32 %r1, %r1;", 6),
    ("add.s32 %r1, %r1, %r2;", 9),
    ("add.f32 %f1, %f1, %f2;", 9),
    ("mad.lo.s32 %r1, %r1, %r2, %r3;", 10),
    ("fma.rn.f32 %f1, %f1, %f5, %f2;", 10),  # c = 2
    ("fma.rn.f32 %f1, %f1, %f5, %f9;", 11),  # c = 3
    ("max.f32 %f1, %f1, %f2;", 18),
    ("add.f64 %d1, %d1, %d2;", 13),
    ("div.rn.f32 %f1, %f1, %f2;", 44),
    ("div.s32 %r1, %r1, %r2;", 150),
    ("div.rn.f64 %d1, %d1, %d2;", 335),
    ("rcp.approx.f32 %f1, %f1;", 105),
    ("shfl.down.b32 %r1, %r1, 1, 31;", 26),
]
_RATES = [  # of 32 warps: units / II
    ("mov.u32 %r{a}, %r1;", 4.0, 0.05),
    ("add.s32 %r{a}, %r1, %r2;", 2.0, 0.05),
    ("fma.rn.f32 %f{k}, %f{a}, %f{b}, %f{c};", 2.0, 0.1),
    ("div.rn.f32 %f{k}, %f{a}, %f{b};", 1.0, 0.05),
    ("shfl.down.b32 %r{a}, %r1, 1, 31;", 1.0, 0.01),
]
_FMA = "fma.rn.f32 %f{k}, %f{a}, %f{b}, %f{c};"
_PAIR = "add.s32 %r{a}, %r1, %r2;\n\tadd.f32 %f{k}, %f{a}, %f{b};"
_TILE = "mov.u32 %r4, tile;\n\tmov.u32 %r5, %tid.x;\n\tmad.lo.u32 %r1, %r5, {}, %r4;\n\tmov.u32 %r2, %r1;"
_SHARED = "ld.shared.u32 %r1, [%r1];\n\tadd.u32 %r1, %r1, %r2;"

_MIXED = "\n\t".join(
    lines("mov.u32 %r{a}, %r1;", 7) + f"\n\trcp.approx.f32 %f{k}, %f17;" for k in range(1, 5)
)


def _per_cycle(line: str, warps: int, n: int = 8) -> Callable[[], float]:
    instructions = line.count(";") * n * warps
    return lambda: instructions / slope(lines(line, n), few=2, many=6, block=32 * warps, gpu=GPU)


def _each(warps: int) -> Callable[[], float]:
    """Cycles of an instruction of every warp."""
    return lambda: warps / _per_cycle(_FMA, warps)()


VOLTA: tuple[Case, ...] = (
    *(exactly("units", f"chain of `{line}`", n, cost(line, gpu=GPU)) for line, n in _DISTANCES),
    *(
        within(
            "units",
            f"32 warps, `{line}`",
            f"{n:g}",
            n * (1 - slack),
            n * (1 + slack),
            _per_cycle(line, 32),
            "ends of the loop",
        )
        for line, n, slack in _RATES
    ),
    exactly("classes", "8 warps, integers and floats in turn, per cycle", 4.0, _per_cycle(_PAIR, 8, 4)),
    within("units", "8 chains of one warp, cycles of an fma", "2.66", 2.55, 2.75, _each(1)),
    within("sub-cores", "the same, of 4 warps of 4 schedulers", "2.66", 2.55, 2.75, _each(4)),
    *(
        exactly(
            "shared memory",
            f"load and addition, lanes {4 * d} bytes apart",
            24 + d + 9,
            cost(_SHARED, setup=_TILE.format(4 * d), gpu=GPU),
        )
        for d in (1, 2, 8, 32)
    ),
    exactly(
        "issue of two",
        "28 moves and 4 reciprocals on Pascal, cycles",
        28,
        cost(_MIXED, few=1, many=3, gpu=PASCAL),
    ),
)
