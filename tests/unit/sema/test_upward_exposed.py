"""Straight-line regions: which operands an instruction reads and writes, and the regions of a block as one."""

import pytest

from ptxtool.cfg.blocks import build
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.sema.upward_exposed import Region, accessed_operands, of_blocks

WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r1, %r2, %r3, %r4}, %r5, %r6"


def kernel(body: str) -> Function:
    text = f".version 7.0\n.target sm_70\n.entry k()\n{{\n.reg .pred %p; .reg .b32 %r<9>;\n{body}\n}}\n"
    return parse(text).kernels["k"]


@pytest.mark.parametrize(
    ("text", "read", "written", "ends"),
    [
        ("add.u32 %r1, %r2, %r3;", (1, 2), (0,), False),
        ("setp.eq.u32 %p, %r1, 2;", (1, 2), (0,), False),
        ("ret;", (), (), True),
        (f"{WGMMA}, 1, 1, 1, 0, 0;", (0, 1, 2, 3, 4, 5, 6, 7), (0,), False),
        (f"{WGMMA}, 0, 1, 1, 0, 0;", (1, 2, 3, 4, 5, 6, 7), (0,), False),  # the accumulator is replaced
        (f"{WGMMA}, %p, 1, 1, 0, 0;", (1, 2, 3, 4, 5, 6, 7), (0,), False),  # and here perhaps
    ],
)
def test_operands(text: str, read: tuple[int, ...], written: tuple[int, ...], ends: bool) -> None:
    assert accessed_operands(kernel(text).instructions[0]) == (read, written, ends)


def test_regions_of_a_block() -> None:
    # block 0 is instructions 0 to 3, in two regions; block 1 is instruction 4
    function = kernel(
        "mov.u32 %r0, 1;\nadd.u32 %r1, %r0, %r2;\nadd.u32 %r3, %r1, %r4;\n@%p bra L;\nmov.u32 %r5, 1;\nL: ret;"
    )
    regions = [
        Region(0, {0, 1}, {2: 1}),  # reads 2; 0 is its own
        Region(2, {3}, {1: 2, 4: 2}),  # 1 is exposed in the region, and written before it in the block
        Region(4, {5}, {}),
        Region(5, set(), {}),
    ]
    assert of_blocks(regions, build(function)) == [
        Region(0, {0, 1, 3}, {2: 1, 4: 2}),
        Region(4, {5}, {}),
        Region(5, set(), {}),
    ]
