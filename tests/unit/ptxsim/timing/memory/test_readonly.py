"""Caches of instructions and constants: what misses, by line; perfect ones (timing-model sections 1.2 and 3.6)."""

from typing import Any

import numpy as np
from kernels import ptx
from microkernel import cycles
from microkernels.measure import run, text

import ptxsim
import ptxsim.launcher
import ptxtool
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

C2050, GPGPUSIM42 = load_gpu("tesla-c2050"), load_gpu("gpgpusim42-c2050")
GPU = "gpgpusim42-c2050"


def run_with(
    kernel: Function, block: int, *settings: str, words: int = 64, **options: Any
) -> ptxsim.SimResult:
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
        whole, perfect = run_with(kernel, 64), run_with(kernel, 64, "fetch.perfect=true")
        assert whole.stats["l1i_misses"] > 600 * 8 // 128
        assert perfect.stats["l1i_misses"] == 0
        # two warps alternate: with perfect fetch no warp waits 150 cycles or more for a line of 16 instructions
        assert whole.cycles - perfect.cycles > 600 * 8 // 128 * 150


class TestConstantCache:
    def test_a_cold_parameter_takes_as_long_as_a_warm_one(self) -> None:
        one = "ld.param.u64 %rd1, [a];\nadd.u64 %rd2, %rd1, 1;\nret;"
        two = "ld.param.u64 %rd1, [a];\nld.param.u64 %rd3, [a];\nadd.u64 %rd2, %rd3, 1;\nret;"
        whole = run_with(ptx(one), 32, "fetch.perfect=true")
        perfect = run_with(ptx(one), 32, "fetch.perfect=true", "l1c.perfect=true")
        assert (whole.stats["l1c_misses"], perfect.stats["l1c_misses"]) == (1, 0)
        assert perfect.stats["l1c_accesses"] == 1
        # an access to constants that hits: 3 cycles to the dependent instruction; a cold one waits for DRAM
        assert whole.cycles - perfect.cycles > 200
        assert run_with(ptx(two), 32, "fetch.perfect=true", "l1c.perfect=true").cycles - perfect.cycles <= 2

    def test_distinct_lines_take_an_access_each_and_one_where_perfect(self) -> None:
        # volta-rules section 6: with a perfect cache the instruction finishes at the head in one cycle
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
        assert run_with(kernel, 32).stats["l1c_accesses"] == 32
        assert run_with(kernel, 32, "l1c.perfect=true").stats["l1c_accesses"] == 1


def test_instruction_cache_misses_by_line():
    # 13 + 300 instructions from address 0 are 40 lines of 16; one warp, straight, misses each once
    body = "\n\t".join(["mov.u32 %r1, %r2;"] * 300)
    assert run(body, gpu=GPU).stats["l1i_misses"] == -(-(1 + 300 + 4) // 16)


def test_code_lies_in_the_order_of_the_module():
    # a function of 8 instructions before the kernel shifts its lines: 8 + 5 + 4 instructions are 2 lines, 5 + 4 one
    before = ".visible .entry other()\n{\n\t.reg .b32 %r<4>;\n" + "\tmov.u32 %r1, 1;\n" * 7 + "\tret;\n}\n"
    source = text("\n\t".join(["mov.u32 %r1, %r2;"] * 4))
    place = source.index(".visible")
    shifted = ptxtool.parse(source[:place] + before + source[place:], name="two.ptx").kernels["k"]
    words = np.zeros(64, np.uint32)
    misses = [
        ptxsim.launch(k, 1, 32, [words, 1], gpu=GPU).stats["l1i_misses"]
        for k in (ptxtool.parse(source, name="one.ptx").kernels["k"], shifted)
    ]
    assert misses == [1, 2]
