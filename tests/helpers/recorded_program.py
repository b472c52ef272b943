"""Five recorded launches of two modules, without an application."""

import struct
from pathlib import Path
from typing import Any

import numpy as np

import ptxsim
from ptxtool.applications.launch_choice import ALL, LaunchChoice
from ptxtool.applications.recording import Recorder
from ptxtool.results.applications import Launch

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
SUM = f"""{HEAD}
.global .align 4 .u32 calls = 0;
.visible .entry sum(.param .u64 .ptr .align 4 x, .param .u64 .ptr .align 4 y, .param .u32 n)
{{
	.reg .pred %p<2>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [y];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %tid.x;
	mul.wide.u32 %rd3, %r2, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	mov.u32 %r3, 0;
next:
	ld.global.u32 %r4, [%rd4];
	add.u32 %r3, %r3, %r4;
	add.u64 %rd4, %rd4, 128;
	sub.u32 %r1, %r1, 1;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra next;
	ld.global.u32 %r5, [%rd5];
	add.u32 %r5, %r5, %r3;
	st.global.u32 [%rd5], %r5;
	atom.global.add.u32 %r6, [calls], 1;
	ret;
}}
"""
SCALE = f"""{HEAD}
.visible .entry scale(.param .u64 .ptr .align 4 x)
{{
	.reg .b32 %r<4>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [x];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.u32 %r2, [%rd3];
	mul.lo.u32 %r3, %r2, 3;
	st.global.u32 [%rd3], %r3;
	ret;
}}
"""
N = 64


def recorded(folder: Path, choice: LaunchChoice = ALL) -> list[int]:
    """Record five launches of two modules, with writes of the host and new blocks between; the cycles of all."""
    recorder = Recorder(folder, ["app"], print, print, choice)
    machine = ptxsim.Machine(memory=1 << 21)
    heap, cycles = machine.heap, list[int]()
    first, second = machine.load(SCALE, "scale.ptx"), machine.load(SUM, "sum.ptx")
    x, y = heap.malloc(128 * N), heap.malloc(128)
    heap.write(x, np.arange(32 * N, dtype=np.uint32))
    heap.fill(y, 0, 128)

    def launch(kernel: Any, parameters: bytes) -> None:
        entry = Launch(len(cycles) + 1, kernel.name, (1, 1, 1), (32, 1, 1))
        record = recorder.begin(entry, kernel, parameters, heap, {})
        cycles.append(machine.launch(kernel, 1, 32, parameters=parameters).cycles)
        if record is not None:
            record.end(entry)

    add, scale = second.kernels["sum"], first.kernels["scale"]
    launch(add, struct.pack("<QQI", x, y, N))
    launch(scale, struct.pack("<Q", y))
    heap.write(x, np.uint32(1000))
    launch(add, struct.pack("<QQI", x, y, N))
    heap.free(y)
    other, y = heap.malloc(4000), heap.malloc(128)
    heap.fill(other, 1, 4000)
    heap.fill(y, 0, 128)
    launch(add, struct.pack("<QQI", other, y, 8))
    launch(add, struct.pack("<QQI", x, y, N))
    return cycles
