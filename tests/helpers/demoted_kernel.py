"""Kernels with demoted registers, written by hand: `%r6` is the address of a thread's slots, `%r7` the value register.

The slots are those of CTAs of 32 threads: `[%r6]`, `[%r6+128]`, `[%r6+256]`, `[%r6+384]`; of PTXPlus `[$r6]` and so on.
"""

from ptxtool.ir.nodes import Module
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
DECLARED = ".reg .b16 %rs<8>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
SLOTS = ".shared .align 4 .b8 __ptxtool_demoted[512];\n"
ENTRY = (
    "mov.u32 %r7, %tid.x;\nshl.b32 %r7, %r7, 2;\nmov.u32 %r6, __ptxtool_demoted;\nadd.u32 %r6, %r6, %r7;\n"
)

WIDE = "".join(f"mov.u32 %r{k}, {k};\n" for k in range(4)) + "".join(
    f"st.shared.u32 [64], %r{k};\n" for k in range(4)
)
"""Instructions for which a thread needs four registers more: there is room for values later."""


def text(body: str, entry: str = ENTRY, directives: str = ".reqntid 32", declared: str = SLOTS) -> str:
    return f"{HEAD}.entry k() {directives} {{\n{DECLARED}{declared}{entry}{body}\nret;\n}}\n"


def kernel(body: str, entry: str = ENTRY, directives: str = ".reqntid 32", declared: str = SLOTS) -> Module:
    return parse(text(body, entry, directives, declared), "k.ptx")


PLUS_ENTRY = "mov.u32 $r7, %tid.x;\nshl.b32 $r7, $r7, 0x02;\nadd.u32 $r6, $r7, 0x20;\n"
"""A header of 16 bytes and a parameter of 4: the slots begin at 32."""
PLUS_SLOTS = ".shared .align 16 .b8 __ptxtool_demoted[512];\n"


def plus_text(body: str, entry: str = PLUS_ENTRY, declared: str = PLUS_SLOTS) -> str:
    registers = ".reg .u32 $r<11>; .reg .u32 $ofs<2>; .reg .pred $p<2>; .reg .u32 $r124; .reg .u32 $o127;\n"
    head = ".version 1.4+\n.target sm_10\n.entry k (.param .u32 x) .reqntid 32 {\n"
    return f"{head}{registers}{declared}{entry}{body}\nexit;\n}}\n"


def plus_after(body: str, pipeline: str) -> list[str]:
    """Of PTXPlus, the instructions between the entry and `exit` after some passes."""
    function = rewrite(parse(plus_text(body), "k.ptxplus"), pipeline).module.kernels["k"]
    return [" ".join(function.text(i).split()) for i in range(3, len(function.instructions) - 1)]


def after(body: str, pipeline: str) -> list[str]:
    """The instructions between the entry and `ret` after some passes."""
    function = rewrite(kernel(body), pipeline).module.kernels["k"]
    return [" ".join(function.text(i).split()) for i in range(4, len(function.instructions) - 1)]


def remark(body: str, pipeline: str) -> str:
    (found,) = rewrite(kernel(body), pipeline).remarks
    return found.message
