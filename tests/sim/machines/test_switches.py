"""Parts of the machine that a setting takes away: each does what it says, and results stay what they are.

Figures are worked out by hand in the comments, from timing-model sections 1.2, 1.5, 1.8 and 3.4.
"""

import random
from typing import Any

import numpy as np
import pytest
from kernels import ptx
from memory_machine import LINE, Machine, mixed
from microkernel import cycles
from mixed_kernel import run_mixed

import ptxsim
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

C2050, GPGPUSIM42 = load_gpu("tesla-c2050"), load_gpu("gpgpusim42-c2050")


def run(kernel: Function, block: int, *settings: str, words: int = 64, **options: Any) -> ptxsim.SimResult:
    machine = with_settings(C2050, settings)
    return ptxsim.launch(kernel, 1, block, [np.zeros(words, np.uint32)], gpu=machine, **options)


class TestInstructionCache:
    def test_an_empty_kernel_takes_ten_cycles(self) -> None:
        # launched at the end of cycle 0, fetched in 1, decoded in 2, issued in 3; its pipe is empty in 9
        machine = with_settings(C2050, ["fetch.perfect=true"])
        assert cycles("", gpu=machine) == 10

    def test_nothing_misses(self) -> None:
        body = "\n".join(["mov.u32 %r1, %r2;"] * 600) + "\nret;"  # 4.8 KB of code in a cache of 2 KB
        kernel = ptx(body)
        whole, perfect = run(kernel, 64), run(kernel, 64, "fetch.perfect=true")
        assert whole.stats["l1i_misses"] > 600 * 8 // 128
        assert perfect.stats["l1i_misses"] == 0
        # two warps alternate: nobody waits for a line of 16 instructions 150 cycles or more
        assert whole.cycles - perfect.cycles > 600 * 8 // 128 * 150


class TestConstantCache:
    def test_a_cold_parameter_takes_as_long_as_a_warm_one(self) -> None:
        one = "ld.param.u64 %rd1, [a];\nadd.u64 %rd2, %rd1, 1;\nret;"
        two = "ld.param.u64 %rd1, [a];\nld.param.u64 %rd3, [a];\nadd.u64 %rd2, %rd3, 1;\nret;"
        whole = run(ptx(one), 32, "fetch.perfect=true")
        perfect = run(ptx(one), 32, "fetch.perfect=true", "l1c.perfect=true")
        assert (whole.stats["l1c_misses"], perfect.stats["l1c_misses"]) == (1, 0)
        assert perfect.stats["l1c_accesses"] == 1
        # an access to constants that hits: 3 cycles to the dependent instruction; a cold one waits for DRAM
        assert whole.cycles - perfect.cycles > 200
        assert run(ptx(two), 32, "fetch.perfect=true", "l1c.perfect=true").cycles - perfect.cycles <= 2

    def test_distinct_lines_still_take_an_access_each(self) -> None:
        text = """.version 7.0
.target sm_70
.address_size 64
.const .align 4 .u32 c[512];
.visible .entry k(.param .u64 a)
{
	.reg .u32 %r<6>; .reg .u64 %rd<4>;
	mov.u32 %r1, %tid.x;
	mul.lo.u32 %r1, %r1, 64;
	mov.u64 %rd1, c;
	cvt.u64.u32 %rd2, %r1;
	add.u64 %rd1, %rd1, %rd2;
	ld.const.u32 %r2, [%rd1];
	ret;
}
"""
        kernel = parse(text, "constants.ptx").kernels["k"]
        for settings in ([], ["l1c.perfect=true"]):
            assert run(kernel, 32, *settings).stats["l1c_accesses"] == 32


class TestBanks:
    def test_it_is_the_option_of_a_launch(self) -> None:
        line = "\n".join(f"\tmad.f32 $r{k}, $r8, $r9, $r10;" for k in range(8)) + "\n"
        off = with_settings(C2050, ["pipeline.bank_conflicts=false"])
        by_key = cycles(line * 8, block=512, gpu=off)
        assert by_key == cycles(line * 8, block=512, gpu=C2050, bank_conflicts=False)
        assert by_key < cycles(line * 8, block=512, gpu=C2050)


class TestResultBuses:
    def test_one_bus_halves_the_rate_of_two_sps(self) -> None:
        # two SPs finish two instructions a cycle, one result bus takes one
        text = "\n".join(f"\tmov.u32 $r{k % 8}, 0x1;" for k in range(64)) + "\n"
        few, many = (
            [cycles(text * n, block=512, gpu=with_settings(C2050, s)) for n in (1, 2)]
            for s in (["fetch.perfect=true", "pipeline.ex_wb=1"], ["fetch.perfect=true"])
        )
        assert few[1] - few[0] == pytest.approx(64 * 16, rel=0.02)
        assert many[1] - many[0] == pytest.approx(64 * 16 / 2, rel=0.02)


class TestHeadOfLine:
    @pytest.mark.parametrize(("setting", "blocked"), [("true", True), ("false", False)])
    def test_only_a_queue_of_its_own_passes_a_blocked_packet(self, setting: str, blocked: bool) -> None:
        """Thirteen SMs keep slice 0 busy with stores; the last SM's store to it is before its read of slice 2."""
        machine = Machine(with_settings(C2050, [f"icnt.head_of_line={setting}"]))
        machine.latency(256)  # a line of slice 2 (channel 1), now in the L2
        machine.run(2000)
        for sm in range(13):
            assert machine.send(0, 1, LINE, sm)
        assert machine.send(0, 1, LINE, 13)
        assert machine.send(256, 0, LINE, 13, tag=7)
        start = machine.now
        while not any(reply[4] == 7 for reply in machine.got):
            machine.step()
        # alone the read takes 140 cycles; 13 stores of 5 flits before its own SM's hold slice 0's port 6 cycles each,
        # and that store its input for 6 more
        assert machine.now - start == (140 + 13 * 6 + 6 if blocked else 140)

    @pytest.mark.parametrize("gpu", [C2050, GPGPUSIM42], ids=lambda g: g.name)
    def test_random_reads_come_closer_to_what_the_ports_can(self, gpu: Any) -> None:
        def rate(setting: str) -> float:
            machine = Machine(with_settings(gpu, [f"icnt.head_of_line={setting}"]))
            numbers = random.Random(3)
            lines = [numbers.randrange(1536) for _ in range(40000)]
            return machine.stream(4000, lambda sm, n: lines[n * 14 + sm] * LINE, 32) / 4000

        blocked, free = rate("true"), rate("false")
        ports = gpu.l2.slices / (6 if gpu is C2050 else 1)  # replies a cycle: 5 flits and a gap, or 1 flit
        assert blocked * 1.15 < free <= ports

    @pytest.mark.parametrize("gpu", [C2050, GPGPUSIM42], ids=lambda g: g.name)
    @pytest.mark.parametrize("skip", [True, False])
    def test_every_request_is_answered_once(self, gpu: Any, skip: bool) -> None:
        machine = Machine(with_settings(gpu, ["icnt.head_of_line=false"]), skip)
        expected = mixed(machine, 1500, 64, 5)
        found = {(sm, line, tag) for _, sm, line, _, tag in machine.got}
        if gpu is C2050:  # with sectors there are several replies, at the sectors' addresses
            assert found == set(expected)
        else:
            assert {(sm, tag) for sm, _, tag in found} == {(sm, tag) for sm, _, tag in expected}


ALL = [
    "pipeline.bank_conflicts=false",
    "pipeline.ex_wb=3",
    "fetch.perfect=true",
    "l1c.perfect=true",
    "icnt.head_of_line=false",
    "icnt.packet_gap_cycles=0",
    "dram.reorder_window=1",
]


@pytest.mark.parametrize("gpu", [C2050, GPGPUSIM42], ids=lambda g: g.name)
def test_without_all_of_it_results_and_event_skip_stay(gpu: Any) -> None:
    machine = with_settings(gpu, ALL)
    skipped, memory = run_mixed(40, 96, gpu=machine)
    stepped, other = run_mixed(40, 96, gpu=machine, event_skip=False)
    _, whole = run_mixed(40, 96, gpu=gpu)
    assert {k: v for k, v in skipped.items() if stepped[k] != v} == {}
    assert memory == other == whole
