"""Cases of the SM's core on `tesla-c2050`: rows of timing-model section 7.3 that need no memory below the L1.

D = L + 5 + s is the distance from an instruction to one that depends on it: latency, five stages, a cycle for each of
its s source registers (section 1.6).
"""

from functools import partial
from typing import Any

from microkernels.case import Case, exactly, within
from microkernels.measure import cost, counted, lines, per_trip, rate, run, slope

# row 1: a chain of one warp
_CHAINS = [
    ("fadd", "add.f32 %f1, %f1, %f2;", 11),  # 4 + 5 + 2
    ("fmad", "mad.f32 %f1, %f1, %f2, %f3;", 13),  # 5 + 5 + 3
    ("mov", "mov.u32 %r1, %r1;", 7),
    ("imul", "mul.lo.u32 %r1, %r1, %r2;", 11),
    ("max", "max.f32 %f1, %f1, %f2;", 20),
    ("rcp", "rcp.approx.f32 %f1, %f1;", 14),
    ("fdiv", "div.rn.f32 %f1, %f1, %f2;", 46),
    ("ddiv", "div.rn.f64 %d1, %d1, %d2;", 337),
    # further examples of section 1.6
    ("add reg+imm", "add.u32 %r1, %r1, 1;", 10),
    ("fmul", "mul.f32 %f1, %f1, %f2;", 11),
    ("imad", "mad.lo.u32 %r1, %r1, %r2, %r3;", 13),
    ("idiv", "div.u32 %r1, %r1, %r2;", 152),
    ("dadd", "add.f64 %d1, %d1, %d2;", 15),
]

_FADD = "add.f32 %f1, %f1, %f2;"
_ADDS = lines("add.f32 %f{k}, %f{a}, %f{b};", 12)
_MADS = lines("mad.f32 %f{k}, %f{a}, %f{b}, %f{c};", 12)


def _ipc(line: str, warps: int, few: int, many: int, **options: Any) -> float:
    return 32 * rate(line, warps, few, many, **options)()


def _unit_rate(line: str, n: int) -> float:
    """Instructions per cycle of 8 warps that send n at a time to one kind of unit."""
    return 8 * n / slope(lines(line, n), few=4, many=12, block=256)


# rows 7: 32 lanes, each in its own word, `degree` words apart
_CONFLICT = (
    "mov.u32 %r1, %tid.x;\n\tand.b32 %r1, %r1, 31;\n\tmov.u32 %r2, tile;\n\tmad.lo.u32 %r1, %r1, {}, %r2;\n\t"
    "mov.u32 %r2, %r1;"
)
_LOAD_SHARED = "ld.shared.u32 %r1, [%r1];\n\tadd.u32 %r1, %r1, %r2;"


def _cycles_per_shared_load(degree: int) -> float:
    eight = lines("ld.shared.u32 %r{a}, [%r1];", 8)
    return slope(eight, few=2, many=6, setup=_CONFLICT.format(4 * degree), block=768) / (24 * 8)


def _loads_without_stall() -> float:
    """The most independent loads of degree 32 in a row of which none makes a scheduler wait for the port."""
    n = 1
    while (
        run("", 1, _CONFLICT.format(128) + "\n\t" + lines("ld.shared.u32 %r{a}, [%r1];", n)).slots["stall"]
        == 0
    ):
        n += 1
    return n - 1


def _per_branch(loop: str) -> float:
    """Cycles of a trip of an endless loop."""
    early, late = (run("", 1, loop, max_cycles=c).warp_instructions for c in (3000, 6000))
    return 3000 * loop.count(";") / (late - early)


_SELF = "SELF:\n\tbra SELF;"
_SECOND = (
    "SELF:\n\t@%p2 bra OUT;\n\tbra SELF;\nOUT:"  # %p2 is false: a branch that is not taken costs its issue
)


def _if_else(then: int, other: int, lanes: int, of: Any) -> float:
    """A trip around an if/else of dependent fadds; lanes below `lanes` take the first path."""
    body = f"@%p2 bra ELSE;\n\t{_FADD * then}\n\tbra JOIN;\nELSE:\n\t{_FADD * other}\nJOIN:"
    return per_trip(of, body, setup=f"mov.u32 %r1, %tid.x;\n\tsetp.ge.u32 %p2, %r1, {lanes};")


def _added(then: int, other: int, lanes: int) -> float:
    """Cycles that so many more instructions on both paths take."""
    time = partial(_if_else, lanes=lanes, of=lambda result: result.cycles)
    return time(8 + then, 8 + other) - time(8, 8)


def _idle_share(warps: int) -> float:
    def idle(result: Any) -> float:
        return float(result.stats["sched_w0_idle"])

    return slope("bar.sync 0;", idle, block=32 * warps) / (2 * slope("bar.sync 0;", block=32 * warps))


def _slots_left_over() -> float:
    """Scheduler slots charged, less schedulers x cycles."""
    result = run(f"{_FADD}\n\tbar.sync 0;\n\t@%p2 add.f32 %f3, %f1, %f2;", 5, grid=30, block=128)
    return float(sum(result.slots.values()) - result.n_schedulers * result.active_cycles)


_GUARDED = "@%p2 add.f32 %f{k}, %f{a}, %f{b};"
_HALF = "mov.u32 %r1, %tid.x;\n\tsetp.ge.u32 %p2, %r1, 16;"


def _lanes_before_predication(result: Any) -> float:
    return float(sum(n * k for n, k in result.issued_by_lanes.items()))


CORE: tuple[Case, ...] = (
    *(exactly("1", f"{name} after {name}, cycles", d, cost(line)) for name, line, d in _CHAINS),
    exactly("2", "independent adds of one warp, cycles for two", 3, lambda: slope(_ADDS, few=4, many=12) / 6),
    *(
        within(
            "3",
            f"dependent fadds of {n} warps, thread IPC of an SM",
            f"{32 * n / 11:.1f}",
            0.97 * 32 * n / 11,
            1.01 * 32 * n / 11,
            partial(_ipc, _FADD, n, 64, 192),
            "linear in the warps; registers of two warps may share a bank",
        )
        for n in (1, 4, 8, 16, 20)
    ),
    within("3", "of 48 warps", "55-64", 55, 64, partial(_ipc, _FADD, 48, 64, 192)),
    within(
        "4",
        "independent fmads of 48 warps, thread IPC of an SM",
        "~43",
        41.5,
        44.5,
        partial(_ipc, _MADS, 48, 4, 12),
        "depends on which registers share a bank",
    ),
    within(
        "4",
        "the same without bank conflicts",
        "48",
        47,
        49,
        partial(_ipc, _MADS, 48, 4, 12, bank_conflicts=False),
        "six collector units, four cycles each; measured in a window of the run",
    ),
    exactly(
        "5",
        "imul only, warp instructions per cycle",
        0.5,
        partial(_unit_rate, "mul.lo.u32 %r{a}, %r8, %r9;", 8),
    ),
    exactly("5", "rcp only", 0.125, partial(_unit_rate, "rcp.approx.f32 %f{k}, %f{a};", 8)),
    exactly(
        "5", "ddiv only, cycles of one", 130, lambda: 1 / _unit_rate("div.rn.f64 %d{k}, %d{a}, %d{b};", 2)
    ),
    within(
        "6",
        "max only, warp instructions per cycle",
        "1.0",
        0.99,
        1.01,
        rate(lines("max.f32 %f{k}, %f{a}, %f{b};", 8), 48, 4, 12),
        "two SPs, a new one every other cycle",
    ),
    *(
        exactly(
            "7",
            f"shared load of degree {d}, cycles to use",
            7 + d,
            cost(_LOAD_SHARED, 11, setup=_CONFLICT.format(4 * d)),
        )
        for d in (1, 2, 4, 32)
    ),
    *(
        within(
            "7",
            f"shared loads of degree {d}, cycles of one",
            f"{d}",
            0.99 * d,
            1.01 * d,
            partial(_cycles_per_shared_load, d),
        )
        for d in (1, 2, 4, 32)
    ),
    exactly(
        "7", "loads of degree 32 in a row without a Stall: one at the head, 4 queued", 5, _loads_without_stall
    ),
    exactly("8", "taken branch, the first of its pair, cycles", 3, partial(_per_branch, _SELF)),
    exactly(
        "8",
        "taken branch, the second of its pair, one cycle behind the first",
        1 + 4,
        partial(_per_branch, _SECOND),
    ),
    exactly(
        "9",
        "16 and 32 more fadds on the paths of a divergent if/else, cycles",
        48 * 11,
        partial(_added, 16, 32, 16),
    ),
    exactly("9", "the same where all lanes take the first path", 16 * 11, partial(_added, 16, 32, 32)),
    exactly(
        "9",
        "instructions with 16 lanes: 20 of one path with its branch, 10 of the other",
        20 + 1 + 10,
        partial(_if_else, 20, 10, 16, lambda result: result.issued_by_lanes.get(16, 0)),
    ),
    *(
        within(
            "15",
            f"barrier after barrier, {w} warps, cycles",
            f"{w / 2:g}-{w / 2 + 3:g}",
            w / 2,
            w / 2 + 3,
            cost("bar.sync 0;", block=32 * w),
        )
        for w in (2, 4, 8, 16, 32)
    ),
    within(
        "15",
        "idle share of slots with 4 warps, as a multiple of that with 16",
        "> 1",
        1.5,
        100,
        lambda: _idle_share(4) / _idle_share(16),
        "W0_Idle grows when W/2 < 3",
    ),
    exactly("22", "Idle + Scoreboard + Stall + sum of Wn - schedulers x cycles", 0, _slots_left_over),
    exactly(
        "22",
        "thread instructions of a half-predicated add",
        16,
        counted("thread_insn", _GUARDED.format(k=1, a=17, b=18), setup=_HALF),
    ),
    exactly(
        "22",
        "its lanes in the W-counters",
        32,
        lambda: slope(_GUARDED.format(k=1, a=17, b=18), _lanes_before_predication, setup=_HALF),
    ),
)
