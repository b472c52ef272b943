"""How a figure is measured: a loop around a body, and the slopes of its cycles and counters.

Two bodies of different length and two trip counts each: the difference of differences leaves what the extra lines cost
alone (the loop, the launch, cold caches of instructions and parameters cancel out).
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from msgspec.structs import replace

import ptxsim
import ptxtool
from ptxtool.formats.gpu import Gpu, load_gpu

HEAD = """.version 4.0
.target sm_35
.address_size 64
.const .align 4 .u32 table[64];
"""
ENTRY = """.visible .entry k(.param .u64 p, .param .u32 n)
{
	.reg .pred %p<20>;
	.reg .b32 %r<40>;
	.reg .f32 %f<40>;
	.reg .f64 %d<40>;
	.reg .b64 %l<40>;
	.shared .align 128 .b32 tile[1088];
	ld.param.u32 %r7, [n];
"""
STEP = "add.s32 %r7, %r7, -1;\n\tsetp.ne.s32 %p1, %r7, 0;"


def lines(line: str, n: int) -> str:
    """`n` lines with other destinations: {k} is 1, 2, ..., {a}, {b}, {c} are registers after all of these."""
    return "\n\t".join(line.format(k=k, a=k + 16, b=k + 17, c=k + 18) for k in range(1, n + 1))


def text(body: str, setup: str = "", variables: str = "") -> str:
    """A kernel with a loop of `n` trips around a body; without a body it is straight. `variables` are the module's.

    The loop's counter steps where the body has STEP, or after the body.
    """
    inside = body.replace("STEP", STEP) if "STEP" in body else f"{body}\n\t{STEP}"
    loop = f"LOOP:\n\t{inside}\n\t@%p1 bra LOOP;\n" if body else ""
    return f"{HEAD}{variables}{ENTRY}\t{setup}\n{loop}\tret;\n}}\n"


@cache
def parsed(source: str) -> Any:
    return ptxtool.parse(source, name="micro.ptx").kernels["k"]


@cache
def one_sm(name: str) -> Gpu:
    """The machine with one SM, before all of its memory system."""
    gpu = load_gpu(name)
    return replace(gpu, sm=replace(gpu.sm, count=1))


def run(
    body: str,
    trips: int = 1,
    setup: str = "",
    *,
    variables: str = "",
    words: Any = None,
    grid: int = 1,
    block: int = 32,
    gpu: str | Gpu = "tesla-c2050",
    **options: Any,
) -> Any:
    """Launch a loop around `body` on a buffer of its own."""
    buffer = np.zeros(4096, np.uint32) if words is None else words.copy()
    options = {"registers": 16} | options
    kernel = parsed(text(body, setup, variables))
    return ptxsim.launch(kernel, grid, block, [buffer, trips], gpu=gpu, **options)


def _cycles(result: Any) -> float:
    return float(result.cycles)


def per_trip(
    of: Callable[[Any], float], body: str, trips: tuple[int, int] = (4, 12), **options: Any
) -> float:
    """How much a counter grows with one more trip of a loop."""
    short, long = (of(run(body, t, **options)) for t in trips)
    return (long - short) / (trips[1] - trips[0])


def slope(
    line: str, of: Callable[[Any], float] = _cycles, *, few: int = 16, many: int = 48, **options: Any
) -> float:
    """How much a counter of the result (default: the cycles) grows with one more of `line`."""
    short, long = (per_trip(of, "\n\t".join([line] * n), **options) for n in (few, many))
    return (long - short) / (many - few)


def cost(line: str, minus: float = 0, **options: Any) -> Callable[[], float]:
    """Cycles that one more of `line` takes, less what belongs to others."""
    return lambda: slope(line, **options) - minus


def counted(name: str, line: str, **options: Any) -> Callable[[], float]:
    """How much one more of `line` adds to a counter of `result.stats`."""
    return lambda: slope(line, lambda result: float(result.stats[name]), **options)


def speed(body: str, warps: int, cycles: tuple[int, int], gpu: str = "tesla-c2050", **options: Any) -> float:
    """Warp instructions per cycle of one SM whose warps go round a loop, between two cycles of a run without end."""
    shape: dict[str, Any] = {"grid": -(-warps // 24), "block": 32 * min(warps, 24), "gpu": one_sm(gpu)}
    early, late = (run(body, 1 << 30, max_cycles=c, **(shape | options)).warp_instructions for c in cycles)
    return float(late - early) / (cycles[1] - cycles[0])


def rate(
    line: str, warps: int, few: int, many: int, cycles: tuple[int, int] = (6000, 30000), **options: Any
) -> Callable[[], float]:
    """Warp instructions per cycle of an SM whose warps do nothing but `line`: the loop around it is taken out."""
    k = line.count(";")

    def measured() -> float:
        # a trip of all warps takes (a warp's instructions) x warps / speed
        short, long = (
            (k * n + 3) / speed("\n\t".join([line] * n), warps, cycles, **options) for n in (few, many)
        )
        return k * (many - few) / (long - short)

    return measured


def first_cycle(launch: Callable[[int], Any], happened: Callable[[Any], bool]) -> int:
    """The cycle in which something happened first: `launch(n)` runs n cycles. It has to happen in 1 << 16 cycles."""
    low, high = 0, 1 << 16
    while high - low > 1:
        middle = (low + high) // 2
        if happened(launch(middle)):
            high = middle
        else:
            low = middle
    return low
