"""Memory at fixed addresses: a launch sees what a machine's heap has, pointers and variables too."""

import struct
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxsim.lowering.variable_layout import ModuleBase
from ptxsim.memory_image.fixed_memory import FixedMemory
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

TEXT = """
.version 8.0
.target sm_80
.address_size 64
.global .align 8 .u64 head = 0;
.const .align 4 .u32 step = 3;
.visible .entry walk(.param .u64 .ptr .global .align 4 result)
{
	.reg .pred %p<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd2, [result];
	ld.global.u64 %rd1, [head];
	ld.const.u32 %r2, [step];
	mov.u32 %r1, 0;
next:
	ld.global.u32 %r3, [%rd1+8];
	mad.lo.u32 %r1, %r3, %r2, %r1;
	ld.global.u64 %rd1, [%rd1];
	setp.ne.u64 %p1, %rd1, 0;
	@%p1 bra next;
	st.global.u32 [%rd2], %r1;
	st.global.u64 [head], %rd1;
	ret;
}
"""
A, B, C, D = 0x1010_0000, 0x1011_0000, 0x1012_0000, 0x1013_0000


def kernel() -> Function:
    return parse(TEXT, "walk.ptx").kernels["walk"]


def memory() -> dict[int, Any]:
    """A list of two nodes at A, the second within its block; the result at B; variables at C, constants at D."""
    nodes = np.frombuffer(struct.pack("<QQQQ", A + 16, 5, 0, 7), np.uint8).copy()
    head = np.frombuffer(struct.pack("<Q", A), np.uint8).copy()
    return {
        A: nodes,
        B: np.zeros(3, np.uint32),
        C: head,
        D: np.frombuffer(struct.pack("<I12x", 10), np.uint8).copy(),
    }


ORIGIN = ModuleBase(variables=C)


def test_pointers_in_memory_and_variables_are_those_of_the_blocks() -> None:
    blocks = memory()
    ptxsim.run(kernel(), 1, 1, [B + 4], memory=FixedMemory(blocks, ORIGIN, D))
    assert blocks[B].tolist() == [0, 120, 0]
    assert blocks[C].tolist() == [0] * 8
    assert blocks[A].tobytes() == memory()[A].tobytes()


def test_without_an_origin_variables_have_their_initial_values() -> None:
    with pytest.raises(PtxError, match="E404"):  # `head` is null
        ptxsim.run(kernel(), 1, 1, [B], memory=FixedMemory({B: np.zeros(1, np.uint32)}))


def test_an_access_outside_of_the_blocks_is_an_error() -> None:
    blocks = memory()
    blocks[C][:] = np.frombuffer(struct.pack("<Q", A + 64), np.uint8)
    with pytest.raises(PtxError, match=r"after the block of 32 bytes at 0x10100000"):
        ptxsim.run(kernel(), 1, 1, [B], memory=FixedMemory(blocks, ORIGIN, D))


@pytest.mark.parametrize(
    ("blocks", "what"),
    [
        ({A: np.zeros(8), A + 264: np.zeros(1)}, "no block of 8 bytes can be at 0x10100108"),
        ({A: np.zeros(64), A + 256: np.zeros(8)}, "no block of 64 bytes can be at 0x10100100"),
        ({0x1000_0000: np.zeros(8)}, "no block of 64 bytes can be at 0x10000000"),
        ({0x100: np.zeros(8)}, "no block of 64 bytes can be at 0x100"),
        ({0xFB00_0000: np.zeros(8)}, "no block of 64 bytes can be at 0xfb000000"),
        ({A: np.zeros(16)[::2]}, "the memory at 0x10100000 is ndarray"),
        ({A: b"12"}, "the memory at 0x10100000 is bytes"),
    ],
)
def test_blocks_that_are_not_possible(blocks: dict[int, Any], what: str) -> None:
    with pytest.raises(PtxError, match=what):
        ptxsim.run(kernel(), 1, 1, [B], memory=FixedMemory(blocks))


def test_an_origin_without_a_block_is_refused() -> None:
    blocks = memory()
    del blocks[C]
    with pytest.raises(PtxError, match="the module's variables take 8 bytes at 0x10120000"):
        ptxsim.run(kernel(), 1, 1, [B], memory=FixedMemory(blocks, ORIGIN, D))


def test_a_machine_keeps_its_caches_but_not_its_blocks() -> None:
    """The second launch sees other contents at the same addresses, and finds warm caches."""
    machine, walked = ptxsim.Machine(memory=1 << 22), kernel()
    cycles: list[int] = []
    for step, moved in ((3, False), (10, False), (2, True)):
        blocks = memory()
        blocks[D][:4] = np.frombuffer(struct.pack("<I", step), np.uint8)
        if moved:
            blocks[B + 0x100] = blocks.pop(B)
        options = ptxsim.LaunchOptions(memory=FixedMemory(blocks, ORIGIN, D))
        found = machine.launch(walked, 1, 1, [B + 0x100 * moved], options=options)
        cycles.append(found.cycles)
        assert blocks[B + 0x100 * moved].tolist() == [12 * step, 0, 0]
        assert [address for address, _ in machine.heap.blocks()] == sorted(blocks)
    assert cycles[1] < cycles[0]


def test_a_machine_with_buffers_is_refused() -> None:
    machine = ptxsim.Machine(memory=1 << 20)
    machine.copy(np.zeros(4, np.uint32))
    options = ptxsim.LaunchOptions(memory=FixedMemory(memory()))
    with pytest.raises(PtxError, match="fixed memory for a machine that has buffers"):
        machine.run(kernel(), 1, 1, [B], options=options)
