"""Textures of a machine: handles in memory, rows that lie apart, variables that stay bound."""

import struct
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError

TIMED = pytest.mark.parametrize("timed", [True, False])
TEXTURES = """.version 6.0
.target sm_35
.address_size 64
.global .texref bound;
.visible .entry fetch(.param .align 8 .b8 handles[16], .param .u64 out)
{
	.reg .b32 %r<12>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [handles+8];
	ld.global.u64 %d1, [%d1];
	ld.param.u64 %d2, [handles];
	ld.param.u64 %d3, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %tid.y;
	tex.2d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [%d1, {%r1, %r2}];
	shl.b32 %r7, %r1, 2;
	suld.b.2d.b32.trap {%r8}, [%d2, {%r7, %r2}];
	add.u32 %r8, %r8, %r3;
	sust.b.2d.b32.trap [%d2, {%r7, %r2}], {%r8};
	mov.u32 %r9, %ntid.x;
	mad.lo.u32 %r9, %r9, %r2, %r1;
	mul.wide.u32 %d4, %r9, 4;
	add.u64 %d3, %d3, %d4;
	st.global.u32 [%d3], %r3;
	ret;
}
.visible .entry by_name(.param .u64 out)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	ld.param.u64 %d3, [out];
	mov.u32 %r1, 1;
	tex.1d.v4.u32.s32 {%r3, %r4, %r5, %r6}, [bound, {%r1}];
	st.global.u32 [%d3], %r3;
	ret;
}
"""


def execute(machine: ptxsim.Machine, timed: bool) -> Any:
    return machine.launch if timed else machine.run


@TIMED
def test_handles_lie_in_memory_and_rows_apart(timed: bool) -> None:
    """8 x 4 texels, with 3 more after every row of the texture and 5 of the surface."""
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    module, heap = machine.load(TEXTURES), machine.heap
    source, target, out, pointer = heap.malloc(44 * 4), heap.malloc(52 * 4), heap.malloc(128), heap.malloc(8)
    texels = heap.view(source, 44 * 4).view(np.uint32).reshape(4, 11)
    texels[:] = np.arange(44).reshape(4, 11)
    written = heap.view(target, 52 * 4).view(np.uint32).reshape(4, 13)
    written[:] = 1000
    texture, surface = (
        machine.texture(ptxsim.Texture(texels[:, :8])),
        machine.texture(ptxsim.Surface(written[:, :8])),
    )
    heap.write(pointer, struct.pack("<Q", texture))
    for n in (1, 2):
        raw = struct.pack("<QQQ", surface, pointer, out)
        execute(machine, timed)(module.kernels["fetch"], 1, (8, 4), parameters=raw)
        assert (heap.view(out, 128).view(np.uint32).reshape(4, 8) == texels[:, :8]).all()
        assert (written[:, :8] == 1000 + n * texels[:, :8]).all()
        assert (written[:, 8:] == 1000).all()
    texels[0, 0] = 77  # a kernel sees what is there when it runs
    execute(machine, timed)(module.kernels["fetch"], 1, (8, 4), parameters=raw)
    assert heap.view(out, 4)[0] == 77
    machine.free_texture(texture)
    with pytest.raises(PtxError, match=r"E404.*no texture"):
        execute(machine, timed)(module.kernels["fetch"], 1, (8, 4), parameters=raw)


def test_a_variable_stays_bound() -> None:
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    module, out = machine.load(TEXTURES, "t"), machine.heap.malloc(4)
    values = np.array([3, 4], np.uint32)
    module.bind("bound", ptxsim.Texture(values))
    for expected in (4, 9):
        machine.run(module.kernels["by_name"], 1, 1, [out])
        assert machine.heap.read(out, 4) == struct.pack("<I", expected)
        values[1] = 9
    module.bind("bound", None)
    with pytest.raises(PtxError, match=r"E401.*nothing given for '.texref bound'"):
        machine.run(module.kernels["by_name"], 1, 1, [out])
    with pytest.raises(PtxError, match=r"E401.*no texture, sampler or surface named 'bnd' in 't'"):
        module.bind("bnd", ptxsim.Texture(values))
    with pytest.raises(PtxError, match=r"E401.*Surface for '.texref bound'"):
        module.bind("bound", ptxsim.Surface(values))
    with pytest.raises(PtxError, match=r"E401.*0x1 is no handle"):
        machine.free_texture(1)
