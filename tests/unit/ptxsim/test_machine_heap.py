"""Launches on memory that is allocated by address: raw parameters, mixed with arrays, and what is detected."""

import mmap
import struct
from typing import Any

import numpy as np
import pytest

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu

GLOBAL_BASE = 0x1000_0000
TEXT = """.version 6.0
.target sm_35
.address_size 64
.visible .entry add(.param .u64 x, .param .u32 n)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<4>;
	ld.param.u64 %d1, [x];
	ld.param.u32 %r5, [n];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r1, %r1, %r2, %r3;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d2, %d2, %d1;
	ld.global.u32 %r4, [%d2];
	add.u32 %r4, %r4, %r5;
	st.global.u32 [%d2], %r4;
	ret;
}
.visible .entry sum(.param .u64 x, .param .u64 y)
{
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [x];
	ld.param.u64 %d2, [y];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d3, %r1, 4;
	add.u64 %d1, %d1, %d3;
	add.u64 %d2, %d2, %d3;
	ld.global.u32 %r2, [%d1];
	ld.global.u32 %r3, [%d2];
	add.u32 %r2, %r2, %r3;
	st.global.u32 [%d1], %r2;
	ret;
}
"""
TIMED = pytest.mark.parametrize("timed", [True, False])


def words(machine: ptxsim.Machine, address: int, n: int) -> list[int]:
    return list(machine.heap.view(address, 4 * n).view(np.uint32).tolist())


def execute(machine: ptxsim.Machine, timed: bool) -> Any:
    return machine.launch if timed else machine.run


@TIMED
def test_a_launch_takes_the_bytes_of_its_parameters(timed: bool) -> None:
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel = machine.load(TEXT).kernels["add"]
    x = machine.heap.malloc(4 * 64)
    machine.heap.write(x, np.arange(64, dtype=np.uint32))
    for size in (12, 16):  # without and with the padding of a structure
        execute(machine, timed)(kernel, 2, 32, parameters=struct.pack("<QI", x, 3).ljust(size, b"\0"))
    execute(machine, timed)(kernel, 2, 32, [x, 4])
    assert words(machine, x, 64) == [n + 10 for n in range(64)]


@TIMED
def test_the_caller_s_memory_is_the_kernel_s(timed: bool) -> None:
    mapping = mmap.mmap(-1, 1 << 20)
    machine = ptxsim.Machine("tesla-c2050", memory=mapping)
    x = machine.heap.malloc(4)
    machine.heap.fill(x, 0, 4)
    execute(machine, timed)(machine.load(TEXT).kernels["add"], 1, 1, [x, 77])
    assert mapping[x - GLOBAL_BASE] == 77
    mapping[x - GLOBAL_BASE] = 1
    execute(machine, timed)(machine.load(TEXT).kernels["add"], 1, 1, [x, 2])
    assert mapping[x - GLOBAL_BASE] == 3


@TIMED
def test_arrays_addresses_and_views_mix(timed: bool) -> None:
    """An array that was a buffer before there was a heap keeps its contents; later ones are blocks of the heap."""
    machine = ptxsim.Machine("tesla-c2050")
    early, late = np.full(32, 1, np.uint32), np.full(32, 5, np.uint32)
    module = ptxsim.Machine(memory=1 << 20).load(TEXT).module
    run = execute(machine, timed)
    run(module.kernels["add"], 1, 32, [early, 1])
    x = machine.heap.malloc(128)
    machine.heap.write(x, np.full(32, 100, np.uint32))
    kernels = machine.load(module).kernels
    run(kernels["sum"], 1, 32, [x, early])
    run(kernels["sum"], 1, 32, [late, x])
    run(kernels["sum"], 1, 16, [machine.heap.view(x + 64, 64), late])
    assert early.tolist() == [2] * 32
    assert late.tolist() == [107] * 32
    assert words(machine, x, 32) == [102] * 16 + [209] * 16
    machine.free(late)
    y = machine.heap.malloc(100)
    run(kernels["sum"], 1, 25, [y, late])
    assert machine.heap.allocation(y) == (y, 100)


@TIMED
def test_bad_accesses_name_the_block(timed: bool) -> None:
    def outcome(address: int) -> str:
        with pytest.raises(PtxError) as problem:
            execute(machine, timed)(kernel, 1, 32, [address, 1])
        return str(problem.value)

    def new() -> tuple[ptxsim.Machine, Any, int]:
        machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
        return machine, machine.load(TEXT).kernels["add"], machine.heap.malloc(128)

    machine, kernel, x = new()
    text = outcome(x + 8)
    assert (
        f"access out of bounds at address {x + 128:#x}, right after the block of 128 bytes at {x:#x}, in"
        in text
    )
    machine, kernel, x = new()
    machine.heap.malloc(64)
    machine.heap.free(x)
    text = outcome(x)
    assert f"byte 0 of the block of 128 bytes at {x:#x}, which was freed, in 'ld.global.u32" in text
    assert "help: free memory after the last kernel that uses it" in text


def test_parameters_that_do_not_fit_are_refused_and_the_machine_goes_on() -> None:
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel, x = machine.load(TEXT).kernels["add"], machine.heap.malloc(128)
    good = struct.pack("<QI", x, 3)
    for message, change in (
        (r"11 bytes of parameters for kernel 'add', which has 12", {"parameters": good[:-1]}),
        (r"17 bytes of parameters", {"parameters": good + bytes(5)}),
        (r"parameters are of type str", {"parameters": "text"}),
        (r"both arguments and raw parameters", {"parameters": good, "args": [x, 3]}),
        (r"names for raw parameters", {"parameters": good, "names": ["x", "n"]}),
        (r"grid 0 is not", {"parameters": good, "grid": 0}),
        (r"grid \(1, 65536\) is too large", {"parameters": good, "grid": (1, 65536)}),
        (r"grid 2147483648 is too large", {"parameters": good, "grid": 1 << 31}),
        (r"is too large", {"parameters": good, "grid": (2**31 - 1, 65535, 65535)}),
    ):
        for run in (machine.launch, machine.run):
            with pytest.raises(PtxError, match=f"E401.*{message}"):
                run(kernel, **{"grid": 1, "block": 32, **change})
    machine.launch(kernel, 1, 32, parameters=good)
    assert words(machine, x, 1) == [3]


@TIMED
def test_parameters_of_ptxplus_are_bytes_too(timed: bool) -> None:
    """They lie in shared memory, after its header; two of 4 bytes here."""
    text = ".version 2.3+\n.target sm_20, map_f64_to_f32\n.entry k(.param .u32 x, .param .u32 n)\n{\n"
    text += "\t.reg .u32 $r<4>;\n\tmov.u32 $r1, s[0x0010];\n\tmov.u32 $r2, s[0x0014];\n"
    text += "\tst.global.u32 [$r1], $r2;\n\texit;\n}\n"
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel, x = machine.load(text, "k.ptxplus").kernels["k"], machine.heap.malloc(4)
    assert [(p.offset, p.n_bytes) for p in kernel.parameters] == [(0, 4), (4, 4)]
    execute(machine, timed)(kernel, 1, 1, parameters=struct.pack("<II", x, 99))
    assert words(machine, x, 1) == [99]


def test_copies_of_blocks_go_through_the_l2() -> None:
    """The machine's L2 keeps what was copied last (timing-model-42 section 3.6): 14 lines of four sectors."""
    machine = ptxsim.Machine("gpgpusim42-c2050", memory=16 << 20)
    kernel, x, large = (
        machine.load(TEXT).kernels["add"],
        machine.heap.malloc(14 * 128),
        machine.heap.malloc(1 << 21),
    )
    reads = []
    for copied in ((x, 14 * 128), (large, 1 << 21), (x, 14 * 128)):
        machine.copy(machine.heap.view(*copied))
        reads.append(machine.launch(kernel, 14, 32, [x, 1]).dram["reads"])
    assert reads[1] - reads[2] == 14 * 4


def test_a_block_can_be_undefined() -> None:
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel, x = machine.load(TEXT).kernels["add"], machine.heap.malloc(256)
    for n, found in ((32, 0), (33, 1)):
        options = {"check": ("init",), "undefined": [machine.heap.view(x + 128, 64)]}
        result = machine.run(kernel, 1, n, parameters=struct.pack("<QI", x, 1), **options)
        assert len(result.problems) == found
    assert f"byte 128 of the block of 256 bytes at {x:#x}" in result.problems[0].message


def test_what_a_launch_writes_is_written_for_the_next_one() -> None:
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel, x = machine.load(TEXT).kernels["add"], machine.heap.malloc(256)
    machine.heap.track_writes(np.zeros(1 << 20, np.uint8))
    machine.heap.write(x, bytes(128))

    def findings(n_threads: int) -> int:
        return len(machine.run(kernel, 1, n_threads, [x, 1], check=("init",)).problems)

    assert [findings(n) for n in (32, 33, 33, 34)] == [0, 1, 0, 1]  # each writes what it reads
    machine.heap.free(x)
    assert machine.heap.malloc(256) == x
    assert findings(1) == 1


def test_without_a_heap_a_number_is_no_pointer() -> None:
    module = ptxsim.Machine(memory=1 << 20).load(TEXT.replace(".param .u64 x", ".param .u64 .ptr x")).module
    machine = ptxsim.Machine("tesla-c2050")
    with pytest.raises(PtxError, match=r"E401.*a number for a pointer"):
        machine.run(module.kernels["add"], 1, 1, [GLOBAL_BASE, 1])
    machine.run(module.kernels["add"], 1, 1, [machine.heap.malloc(4), 1])


def test_the_clock_is_that_of_the_launches_with_time() -> None:
    gpu = load_gpu("tesla-c2050")
    machine = ptxsim.Machine(gpu, memory=1 << 20)
    kernel, x = machine.load(TEXT).kernels["add"], machine.heap.malloc(128)
    machine.run(kernel, 1, 32, [x, 1])
    assert machine.clock == 0
    cycles = sum(machine.launch(kernel, 1, 32, [x, 1]).cycles for _ in range(2))
    assert machine.clock == cycles / (gpu.clocks.core_mhz * 1e6)


def test_memory_that_is_too_small_for_what_is_in_use() -> None:
    machine = ptxsim.Machine("tesla-c2050", memory=1 << 20)
    kernel = machine.load(TEXT).kernels["add"]
    with pytest.raises(PtxError, match=r"E402.*no room for 2097152 bytes"):
        machine.run(kernel, 1, 32, [np.zeros(1 << 19, np.uint32), 1])
