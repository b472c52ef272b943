"""What a launch hands to a kernel: the sizes of shared memory in special registers, pointers at their places."""

import numpy as np
import pytest
from reference.interpreter import run_reference
from three_ways import kernel_text, three_ways

import ptxsim
from ptxsim.lowering.variable_layout import GLOBAL_BASE, lay_out
from ptxtool.parse import parse

KERNEL = parse("""
.version 8.1
.target sm_90
.address_size 64
.shared .align 4 .b8 fixed[12];
.extern .shared .align 4 .b8 rest[];
.visible .entry sizes(.param .u64 out)
{
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, fixed;
	mov.u32 %r2, %dynamic_smem_size;
	mov.u32 %r3, %total_smem_size;
	st.global.u32 [%rd1], %r2;
	st.global.u32 [%rd1+4], %r3;
	mov.u32 %r1, %dynamic_smem_size;
	st.global.u32 [%rd1+8], %r1;
	mov.u32 %r1, %aggr_smem_size;
	st.global.u32 [%rd1+12], %r1;
	mov.u64 %rd2, %current_graph_exec;
	st.global.u64 [%rd1+16], %rd2;
	ret;
}
""").kernels["sizes"]


@pytest.mark.parametrize("n_bytes", [0, 1000])
@pytest.mark.parametrize("function", [ptxsim.run, ptxsim.launch, run_reference])
def test_sizes_of_shared_memory(function: object, n_bytes: int) -> None:
    """%aggr_smem_size counts the kilobyte of the system (PTX ISA 10.31); there is no graph (10.33)."""
    out = np.full(6, 99, np.uint32)
    assert callable(function)
    function(KERNEL, (1,), (1,), [out], dynamic_shared=n_bytes)
    assert out.tolist() == [n_bytes, 12 + n_bytes, n_bytes, 1036 + n_bytes, 0, 0]


RESERVED = parse("""
.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 fixed[12];
.visible .entry reserved(.param .u64 out)
{
	.reg .b32 %r<7>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, fixed;
	st.shared.u32 [%r1+8], 7;
	mov.u32 %r1, %reserved_smem_offset_begin;
	mov.u32 %r2, %reserved_smem_offset_0;
	mov.u32 %r3, %reserved_smem_offset_1;
	mov.u32 %r4, %reserved_smem_offset_cap;
	mov.u32 %r5, %reserved_smem_offset_end;
	ld.shared.u32 %r6, [%r3];
	atom.shared.add.u32 %r6, [%r3+284], 1;
	st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
	st.global.v2.u32 [%rd1+16], {%r5, %r6};
	ret;
}
""").kernels["reserved"]


@pytest.mark.parametrize("n_bytes", [0, 1000])
@pytest.mark.parametrize("function", [ptxsim.run, ptxsim.launch, run_reference])
def test_the_part_of_shared_memory_that_is_reserved(function: object, n_bytes: int) -> None:
    """1024 bytes after the kernel's own, at a multiple of 16, zero when the CTA starts."""
    out = np.full(6, 99, np.uint32)
    assert callable(function)
    function(RESERVED, (1,), (1,), [out], dynamic_shared=n_bytes)
    start = 16 if n_bytes == 0 else 1024
    assert out.tolist() == [start, start, start + 512, start + 1024, start + 1024, 0]


def test_nothing_is_missing_in_what_is_reserved() -> None:
    result = ptxsim.run(RESERVED, 1, 1, [np.zeros(6, np.uint32)], check=("memory", "init"))
    assert result.problems == ()


POINTERS = parse("""
.version 8.0
.target sm_80
.address_size 64
.visible .entry second(.param .u32 first, .param .u64 .ptr .global .align 1 out)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u32 %r1, [first];
	ld.param.u64 %rd1, [first+8];
	st.global.u32 [%rd1], %r1;
	ret;
}
""").kernels["second"]


@pytest.mark.parametrize("function", [ptxsim.run, run_reference])
def test_the_alignment_of_a_pointer_is_not_that_of_its_data(function: object) -> None:
    out = np.zeros(1, np.uint32)
    assert callable(function)
    function(POINTERS, (1,), (1,), [7, out])
    assert out.tolist() == [7]


@pytest.mark.parametrize("order", [(0, 1), (1, 0), (0, 1, 0)])
def test_external_variables_that_the_file_defines(order: tuple[int, ...]) -> None:
    """A prototype without a size or value gives no place of its own, wherever it stands."""
    declarations = (
        ".extern .global .u32 g[];\n.extern .const .u32 c;\n",
        ".visible .global .u32 g[2] = {7, 8};\n.visible .const .u32 c = 9;\n",
    )
    body = "ld.global.u32 %r6, [g+4]; ld.const.u32 %r7, [c]; mad.lo.u32 %r6, %r6, 100, %r7;"
    text = kernel_text(body).replace(
        ".visible .entry", "".join(declarations[k] for k in order) + ".visible .entry"
    )
    results = three_ways(text, 1, lambda: [np.zeros(1, np.uint32), np.zeros(1, np.uint32)])
    assert results[0][0].tolist() == [809]


def test_initial_values_of_nested_lists() -> None:
    """What is not listed stays zero; a list may name addresses between its numbers."""
    kernel = parse("""
.version 8.0
.target sm_80
.address_size 64
.global .u16 table[3][2] = {{1, 0x102}, {-1}, {7, 8}};
.global .u32 words[3] = {5, first, 6};
.global .u8 first = 9;
.visible .entry empty() { ret; }
""").kernels["empty"]
    layout = lay_out(kernel)
    table, words, first = (layout.symbols[name].address - GLOBAL_BASE for name in ("table", "words", "first"))
    assert layout.global_bytes[table : table + 12].hex() == "01000201ffff000007000800"
    expected = [5, GLOBAL_BASE + first, 6]
    assert np.frombuffer(layout.global_bytes[words : words + 12], np.uint32).tolist() == expected
    assert layout.global_bytes[first] == 9
