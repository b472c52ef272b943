"""Cases of CTA switching on `gtx980-finereg`: row 23 of timing-model section 7.3.

Every CTA waits for a load that takes far longer than all CTAs need to get there, with a known number v of 32-bit
registers live in each warp. FineReg's ACRF of 32768 registers holds CTAs as a whole; what waits beyond
them has warps * v entries in the PCRF of 1024.

With one place, and loads that take the time of a few switches, the order of decisions shows: new CTAs first until the
PCRF is full, or ready ones first. And the time that the place is empty shows what a switch costs. Under Reg+DRAM the
registers of a CTA move as lines, so the bytes are known too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

import ptxsim
from microkernels.case import Case, exactly, within
from microkernels.measure import parsed
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings

LONG = ("fetch.perfect=true", "l1c.perfect=true", "l2.rop_cycles=40000")

_MEMORY = {
    "l2": {"slices": 16, "sets": 128, "rop_cycles": 150},
    "dram": {"channels": 8, "fixed_cycles": 130, "return_queue": 300},
}


def with_lines(settings: Sequence[str]) -> Gpu:
    """`gtx980-finereg` with settings, on a memory of whole lines in the manner of `tesla-c2050`.

    There a load is one request, and the vector of the instruction that waits, requested after it, comes after it: what
    is worked out by hand does not hang on sectors and on queues.
    """
    gpu, fermi = load_gpu("gtx980-finereg"), load_gpu("tesla-c2050")
    parts = {part: replace(getattr(fermi, part), **changes) for part, changes in _MEMORY.items()}
    l1d = replace(fermi.l1d, sets=gpu.l1d.sets, ways=gpu.l1d.ways)
    return with_settings(replace(gpu, ldst=fermi.ldst, icnt=fermi.icnt, l1d=l1d, **parts), settings)


def waiting_kernel(live: int) -> str:
    """A kernel that waits for a load with so many 32-bit registers live: what it loads, and others that it adds to it.

    The load passes the L1 by, which has fewer entries for misses than there are warps.
    """
    others = range(1, live)
    lines = [
        ".version 4.0\n.target sm_35\n.address_size 64\n.visible .entry k(.param .u64 p)\n{",
        "\t.reg .b64 %l<4>;\n\t.reg .b32 %r<80>;",
        "\tmov.u32 %r70, %tid.x;\n\tmov.u32 %r71, %ctaid.x;\n\tmov.u32 %r72, %ntid.x;",
        "\tmad.lo.u32 %r70, %r71, %r72, %r70;",
        *(f"\tadd.u32 %r{k}, %r70, {k};" for k in others),
        "\tld.param.u64 %l0, [p];\n\tmul.wide.u32 %l1, %r70, 4;\n\tadd.s64 %l2, %l0, %l1;",
        "\tld.global.cg.u32 %r0, [%l2];",
        *(f"\tadd.u32 %r0, %r0, %r{k};" for k in others),  # the first one waits: %r0 and the others are live
        "\tmov.u32 %r70, %tid.x;\n\tmov.u32 %r71, %ctaid.x;\n\tmov.u32 %r72, %ntid.x;",
        "\tmad.lo.u32 %r70, %r71, %r72, %r70;",
        "\tld.param.u64 %l0, [p];\n\tmul.wide.u32 %l1, %r70, 4;\n\tadd.s64 %l2, %l0, %l1;",
        "\tst.global.u32 [%l2], %r0;\n\tret;\n}\n",
    ]
    return "\n".join(lines)


def launch_waiting(warps: int, live: int, registers: int, **options: Any) -> Any:
    """Run it on one SM with far more CTAs than can be resident, and check what it stores."""
    gpu = with_settings(load_gpu("gtx980-finereg"), LONG)
    gpu = replace(gpu, sm=replace(gpu.sm, count=1))
    threads, grid = 32 * warps, 300
    loaded = np.arange(grid * threads, dtype=np.uint32)[::-1].copy()
    memory = loaded.copy()
    given = {"gpu": gpu, "switching": "finereg", "registers": registers} | options
    result = ptxsim.launch(parsed(waiting_kernel(live)), grid, threads, [memory], **given)
    thread = np.arange(grid * threads, dtype=np.uint32)
    others = np.uint32(live - 1)
    assert (memory == loaded + others * thread + np.uint32(live * (live - 1) // 2)).all()
    return result


def _resident(warps: int, live: int, registers: int, shared_bytes: int = 0) -> float:
    return float(launch_waiting(warps, live, registers, dynamic_shared=shared_bytes).switching.resident_most)


def launch_on_one_place(n_ctas: int, *settings: str, live: int = 20) -> Any:
    """Run it on one SM with a place for one CTA of a warp, with so many CTAs and so many live registers."""
    own = ("sm.count=1", "sm.ctas=1", "switching.acrf_registers=1024", *LONG)
    gpu = with_lines((*own, *settings))
    memory = np.zeros(32 * n_ctas, np.uint32)
    kernel = parsed(waiting_kernel(live))
    return ptxsim.launch(kernel, n_ctas, 32, [memory], gpu=gpu, scheme="finereg", registers=32).switching


def _resident_in_order(order: str) -> float:
    # A load takes about 180 cycles and those of the ROP, a CTA stalls about 90 cycles after its launch, and a switch to
    # a new CTA takes 45 (below): a CTA stalls every 135 cycles, and its load returns 730 cycles later.
    settings = f"switching.order={order}", "l2.rop_cycles=550"
    return float(launch_on_one_place(300, *settings).resident_most)


def _empty_cycles(*settings: str) -> float:
    return float(launch_on_one_place(3, *settings).switch_cycles)


def launch_through_dram(n_ctas: int, *settings: str, registers: int = 32, **options: Any) -> Any:
    """The same under `reg-dram`, with registers in the file for one CTA, and packets of a flit: a line a cycle."""
    port = "icnt.flit_bytes=160", "icnt.packet_gap_cycles=0"
    own = ("sm.count=1", "sm.ctas=1", f"sm.registers={32 * registers}", *LONG, *port)
    memory = np.zeros(32 * n_ctas, np.uint32)
    given = {"gpu": with_lines((*own, *settings)), "scheme": "reg-dram", "registers": registers} | options
    return ptxsim.launch(parsed(waiting_kernel(20)), n_ctas, 32, [memory], **given).switching


def _through_dram(counter: str, n_ctas: int, *settings: str, **options: Any) -> float:
    return float(getattr(launch_through_dram(n_ctas, *settings, **options), counter))


def _case(figure: int, how: str, *shape: int) -> Case:
    warps, live = shape[:2]
    what = f"FineReg: resident CTAs of {warps} warps with {live} live registers ({how}; gtx980-finereg)"
    return exactly("23", what, figure, lambda: _resident(*shape))


SWITCHING: tuple[Case, ...] = (
    # 2 warps x 32 lanes x 32 registers = 2048 of the ACRF's 32768: 16 CTAs; 1024 // (2 * 10) = 51 more
    _case(67, "16 + 51", 2, 10, 32),
    # 4 x 32 x 32 = 4096: 8; 1024 // (4 * 20) = 12
    _case(20, "8 + 12", 4, 20, 32),
    # 8 x 32 x 24 = 6144: 5; 1024 // (8 * 7) = 18
    _case(23, "5 + 18", 8, 7, 24),
    # 1 x 32 x 64 = 2048: 16; 1024 // (1 * 60) = 17
    _case(33, "16 + 17", 1, 60, 64),
    # 16 + 1024 // 5 = 220 would be more than 128
    _case(128, "at most 128", 1, 5, 64),
    # 16 x 32 x 16 = 8192: 4; 4 + 1024 // (16 * 2) = 36, with 16 warps each more than 512
    _case(32, "at most 512 warps", 16, 2, 16),
    # 98304 bytes of scratchpad // 4096
    _case(24, "scratchpad for 24", 2, 10, 32, 4096),
    # nothing is swapped in while 20 entries are free: 1 + 1024 // 20
    exactly(
        "23",
        "FineReg: resident CTAs of 1 warp with 20 live registers, short loads, one place (launch-first: 1 + 51)",
        52,
        lambda: _resident_in_order("launch-first"),
    ),
    # 730 / 135 = 5.4: when the sixth CTA after it stalls, the first is ready
    within(
        "23",
        "the same where ready CTAs come first (730 / 135 stalls in the time of a load)",
        "about 7",
        6,
        8,
        lambda: _resident_in_order("ready-first"),
        "the times of load and stall are rounded",
    ),
    # CTA 1 to a new one: 20 registers leave, a hit, 24 for contexts; CTA 2 to it: 20 leave while 4 + 19 cycles bring
    # back 20, a hit, 24; CTA 2 into the free slot: 4 + 19 and 24. CTA 0 has resumed when its vector comes.
    exactly(
        "23",
        "FineReg: cycles of an empty place in three switches of 20 live registers (45 + 48 + 47)",
        140,
        _empty_cycles,
    ),
    # 5 + 1 + 24; max(5, 4 + 5) + 1 + 24; 4 + 5 + 24
    exactly(
        "23",
        "the same with four registers in a cycle (30 + 34 + 33)",
        97,
        lambda: _empty_cycles("switching.registers_per_cycle=4"),
    ),
    # 1 + 24, 1 + 24, 24
    exactly(
        "23",
        "the same while the CTA that comes runs (25 + 25 + 24)",
        74,
        lambda: _empty_cycles("switching.overlap=true"),
    ),
    # the file has registers for one CTA
    exactly(
        "23",
        "Reg+DRAM: resident CTAs with registers of 3 in DRAM, one place (1 + 3)",
        4,
        lambda: _through_dram("resident_most", 300, "switching.dram_ctas=3"),
    ),
    # CTA 0 and CTA 1 leave to new ones, CTA 2 to CTA 0 when its load is there; CTA 1 and then CTA 2 come to a free
    # place. Each time a warp's 32 registers of 128 bytes move: 3 x 4096 there, 3 x 4096 back
    exactly(
        "23",
        "Reg+DRAM: bytes that 3 CTAs of 32 registers write to DRAM (3 x 4096)",
        12288,
        lambda: _through_dram("dram_bytes_written", 3, "switching.dram_ctas=2"),
    ),
    exactly(
        "23",
        "Reg+DRAM: bytes that they read (3 x 4096)",
        12288,
        lambda: _through_dram("dram_bytes_read", 3, "switching.dram_ctas=2"),
    ),
    # a line enters the miss queue in each cycle; then the contexts move
    exactly(
        "23",
        "Reg+DRAM: cycles of a place that 32 registers leave for a new CTA (32 + 24)",
        56,
        lambda: _through_dram("switch_cycles", 2, "switching.dram_ctas=1", max_cycles=15_000),
    ),
    exactly(
        "23",
        "the same with 24 registers (24 + 24)",
        48,
        lambda: _through_dram("switch_cycles", 2, "switching.dram_ctas=1", max_cycles=15_000, registers=24),
    ),
    # then an exchange: 64 lines enter the queue, one a cycle, the last one a request. It takes the 2000 cycles of the
    # ROP and about 180 as a load does; up to 150 more in the queues of DRAM. A cycle, and 24 for the contexts
    within(
        "23",
        "Reg+DRAM: the same and an exchange of 32 registers (56 + 63 + 2180 + 25)",
        "2324 and up to 150 in DRAM's queues",
        2324,
        2474,
        lambda: _through_dram(
            "switch_cycles", 2, "switching.dram_ctas=1", "l2.rop_cycles=2000", max_cycles=6000
        ),
        "the time of a load is rounded",
    ),
)
