"""Tiny PTXPlus kernels for measuring the machine: a loop around a body, and the cycles one more instruction costs.

Two bodies of different length and two trip counts each: the difference of differences leaves the cost of the extra
instructions alone (loop overhead, launch, cold instruction cache cancel out).
"""

import numpy as np

import ptxsim
import ptxtool

HEAD = """.version 1.4+
.target sm_10, map_f64_to_f32
.entry k ( .param .u64 p, .param .u32 n )
{
	.reg .u32 $r<16>;
	.reg .u32 $ofs<3>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
"""


def kernel(body: str):
    """The kernel with that body after the declarations; `s[0x10]` is the pointer, `s[0x18]` the number."""
    module = ptxtool.parse(HEAD + body + "\n\tl_exit: exit;\n}\n", name="micro.ptxplus")
    return module.kernels["k"]


def loop(setup: str, body: str) -> str:
    """A loop of s[0x18] trips around `body`."""
    return (
        f"{setup}\n\tmov.u32 $r15, s[0x0018];\n\tl_loop:\n{body}\n"
        "\tadd.u32 $p3|$r15, $r15, 0xffffffff;\n\t@$p3.ne bra l_loop;\n"
    )


def cycles(text: str, trips: int = 1, grid: int = 1, block: int = 32, words: int = 4096, **options) -> int:
    """Cycles of a kernel text on a fresh buffer of `words` zeros."""
    memory = np.zeros(words, np.uint32)
    return ptxsim.launch(kernel(text), grid, block, [memory, trips], **options).cycles


def cost(line: str, setup: str = "", few: int = 16, many: int = 48, **options) -> float:
    """Cycles one more `line` costs in a chain of them."""

    def slope(n: int) -> int:
        text = loop(setup, "\n".join(["\t" + line] * n))
        return cycles(text, 12, **options) - cycles(text, 4, **options)

    return (slope(many) - slope(few)) / (8 * (many - few))
