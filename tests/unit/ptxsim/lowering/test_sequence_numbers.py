"""Sharing of virtual registers: by the physical ones that they are assigned."""

import numpy as np
from kernels import ptx

import ptxsim
from ptxsim.lowering.lower import lower
from ptxsim.lowering.sequence_numbers import with_physical_numbers
from ptxtool.formats.gpu import load_gpu
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

GPU = load_gpu("tesla-c2050")


def chain(n: int) -> Function:
    """A kernel whose n values each die at the next: n declared registers and two physical ones for 32 bits."""
    lines = ["mov.u32 %r0, %tid.x;", *(f"add.u32 %r{k}, %r{k - 1}, 1;" for k in range(1, n))]
    store = f"ld.param.u64 %rd0, [a]; mad.wide.u32 %rd1, %r0, 4, %rd0; st.global.u32 [%rd1], %r{n - 1}; ret;"
    return ptx(
        "".join([lines[0], *lines[1:]]) + store,
        f".reg .b32 %r<{n}>; .reg .b64 %rd<2>;",
    )


def test_the_highest_number_is_that_of_the_assignment() -> None:
    kernel = chain(60)
    program = lower(kernel, GPU)
    assert program.instructions["max_sequence"].max() == 62
    numbered = with_physical_numbers(program, kernel, 30)
    assert numbered.instructions["max_sequence"].max() <= 6
    assert program.instructions["max_sequence"].max() == 62  # the other one is as it was
    assert "its 62 registers are virtual" in numbered.sharing_note
    assert program.sharing_note == ""
    assert (numbered.sequence(0, 0), program.sequence(3, 3)) == (1, 4)


def test_release_marks_keep_the_declared_numbers() -> None:
    body = 'mov.u32 %r0, %tid.x; mov.u32 %r40, %r0; .pragma "release_registers"; ret;'
    kernel = ptx(body, ".reg .b32 %r<41>;")
    program = lower(kernel, GPU)
    kept = with_physical_numbers(program, kernel, 20)
    assert kept.instructions is program.instructions
    assert "shared as declared for its release marks" in kept.sharing_note
    assert with_physical_numbers(program, kernel, 41) is program  # names of physical registers


def run(kernel: Function, percent: int, **options) -> ptxsim.SimResult:
    words = np.zeros(32, np.uint32)
    result = ptxsim.launch(kernel, 28, 32, [words], share_registers=percent, registers=600, **options)
    assert words.any()
    assert result.ctas_done == 28
    return result


# 600 registers per thread: one CTA of a warp on an SM, and a pair from 29% on; %r700 cannot be among 600
FAR = """
ld.param.u64 %rd0, [a];
mov.u32 %r700, %tid.x;
mul.wide.u32 %rd1, %r700, 4;
add.u64 %rd0, %rd0, %rd1;
add.u32 %r701, %r700, 1;
st.global.u32 [%rd0], %r701;
ret;
"""


def test_a_launch_shares_the_physical_registers() -> None:
    kernel = ptx(FAR, ".reg .b32 %r<702>; .reg .b64 %rd<2>;")
    shared, written = run(kernel, 90), run(kernel, 90, allocate=False)
    assert shared.shared_pairs == written.shared_pairs == 1
    assert shared.stall_points == ()  # 60 of them are private
    assert not any("virtual" in remark for remark in written.remarks)
    assert (written.stall_points[0].instruction, written.stall_points[0].sequence) == (0, 703)
    assert "(--as-written: as declared)" in shared.remarks[-1]
    assert len(run(kernel, 0).remarks) == len(shared.remarks) - 1


def test_the_percentage_decides_where_warps_stop() -> None:
    """A pair of CTAs at 90% and 99%: of 600 registers 60 and 6 are private, of the kernel's 40 each warp needs all."""
    sums = "".join(f"add.u32 %r{800 + k}, %r{800 + k}, %r{799 + k};" for k in range(1, 40))
    values = "".join(f"mov.u32 %r{800 + k}, %tid.x;" for k in range(40))
    body = f"{values}{sums}ld.param.u64 %rd0, [a]; st.global.u32 [%rd0], %r839; ret;"
    kernel = ptx(body, ".reg .b32 %r<900>; .reg .b64 %rd<2>;")
    stops = {percent: run(kernel, percent).stall_points for percent in (90, 99)}
    assert stops[90] == ()
    assert (stops[99][0].instruction, stops[99][0].register, stops[99][0].sequence) == (6, "%r806", 7)


def test_the_kernel_of_a_newer_text_is_numbered_too() -> None:
    text = (
        ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() { .reg .b32 %a<9>; mov.u32 %a8, 1; ret; }"
    )
    kernel = parse(text).kernels["k"]
    assert with_physical_numbers(lower(kernel, GPU), kernel, 4).sequence(0, 8) == 1
