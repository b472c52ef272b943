"""Two levels: the active warps, the pending queue, and how long a load keeps a warp out, worked out by hand."""

from typing import Any

from microkernel import cycles
from msgspec.structs import replace
from policy_bench import ALL, Bench

from ptxtool.formats.gpu import Gpu, load_gpu

LOADS = """
	cvt.u32.u16 $r1, $r0.lo;
	shl.u32 $r1, $r1, 0x00000002;
	add.u32 $r1, $r1, s[0x0010];
"""
LOADS += "".join(f"\tld.global.u32 $r2, [$r1+{4096 * k}];\n\tadd.u32 $r3, $r2, $r2;\n" for k in range(6))


def test_two_levels() -> None:
    bench = Bench("two_level:2")
    bench.sm["has_head"] = ALL
    assert bench.window() == {0, 1}  # active 0 1, pending 2 3 4 5
    assert (bench.pick(0b000011), bench.pick(0b000011), bench.pick(0b000011)) == (0, 1, 0)  # active 1 0
    bench.sm["long_wait"] = 0b000010
    assert bench.window() == {0, 2}  # 1 goes to the end: active 0 2, pending 3 4 5 1
    assert bench.pick(0b000100) == 2  # from the list 2 0; 2 goes to its end: active 0 2
    bench.sm["long_wait"] = 0b001111
    assert bench.window() == {3, 4}  # active 3 4, pending 5 1 0 2: 3 comes without a test
    assert bench.window() == {4, 5}  # active 4 5, pending 1 0 2 3
    bench.sm["at_barrier"] = 0b110000
    assert bench.window() == {1, 0}  # pending 2 3 4 5
    bench.sm["long_wait"] = 0
    assert (bench.pick(0b000011), bench.pick(0b000011)) == (1, 0)
    bench.sm["long_wait"] = 0b000010
    bench.sm["has_head"] = 0b111101  # what it was of has issued, and nothing is decoded yet
    assert bench.window() == {1, 0}


def test_a_load_makes_room_for_pending_warps() -> None:
    # 4 warps per scheduler, 6 loads each of about 280 cycles, one at a time: 4 x 6 x 280 where a warp has to end before
    # the next may begin, 6 x 280 where they wait together
    def run(scheduler: str) -> int:
        return cycles(LOADS, block=256, words=1 << 16, scheduler=scheduler)

    assert run("static_limit:1") > 2.5 * run("lrr")
    assert run("two_level:1") < 1.2 * run("lrr")


def test_how_long_a_loaded_register_is_long() -> None:
    # 4 warps per scheduler, one active: a chain of 64 maxima (20 cycles each) that read a loaded register keeps the
    # others out, 4 x 64 x 20; where the register stays long (section 1.4) its warp goes to the queue's end in every
    # cycle, comes back after the 24 places of the queue, and the warps overlap
    chain = "\tmax.u32 $r3, $r3, $r2;\n" * 64
    machine = load_gpu("tesla-c2050")
    assert machine.pipeline.long_operation == "until-loaded"
    pipeline = replace(machine.pipeline, long_operation="until-computed")
    overlapping = replace(machine, pipeline=pipeline)

    def run(gpu: Gpu, before: str = "") -> int:
        options: dict[str, Any] = {"block": 256, "words": 1 << 16, "scheduler": "two_level:1", "gpu": gpu}
        return cycles(LOADS + before + chain, **options) - cycles(LOADS + before, **options)

    serial = 4 * 64 * 20
    assert run(machine) > 0.9 * serial
    assert run(overlapping) < 0.6 * serial
    assert run(overlapping, "\tadd.u32 $r2, $r2, $r2;\n") > 0.9 * serial  # computed: long no more
