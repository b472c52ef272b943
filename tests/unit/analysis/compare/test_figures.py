"""The figures of a kernel: its size, resources and kinds of instructions, counted by hand."""

from kernels import ptxplus

from ptxtool.analysis.compare.figures import UNKNOWN, MeasuredKernel
from ptxtool.parse import parse

TEXT = """.version 7.0
.target sm_70
.address_size 64
.shared .align 8 .b8 outer[6];
.shared .b32 unused[100];
.entry k(.param .u8 c, .param .u64 p)
{
    .reg .b32 %r<4>; .reg .b64 %rd<3>; .reg .pred %p<5>;
    .shared .b32 tile[3];
    .shared .b16 dynamic[];
    .local .align 16 .b8 own[20];
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra L;
    st.shared.u32 [outer], %r1;
    bar.sync 0;
    atom.global.add.u32 %r2, [%rd1], %r1;
    strange.u32 %r2, %r1;
L:  ret;
}
"""


def test_figures() -> None:
    """Pairs count twice: 4 + 6 units are declared; %r1, %r2 and %rd1 are used. The parameter p lies at 8.

    An atomic counts as a load and a store too.
    """
    found = MeasuredKernel(parse(TEXT).kernels["k"])
    assert found.figures.to_dict() == {
        "instructions": 9,
        "loads": 3,
        "stores": 2,
        "atomics": 1,
        "branches": 1,
        "barriers": 1,
        "registers_declared": 10,
        "registers_used": 4,
        "live_registers": 3,
        "predicates_used": 1,
        "live_predicates": 1,
        "shared_bytes": 8 + 12,
        "local_bytes": 20,
        "param_bytes": 16,
    }
    assert found.classes[7] == UNKNOWN
    assert found.classes.count(UNKNOWN) == 1


def test_a_range_of_billions_is_counted_by_its_size() -> None:
    wide = MeasuredKernel(parse(TEXT.replace("%r<4>", "%r<2147483648>")).kernels["k"])
    assert wide.figures.registers_declared == (1 << 31) + 6


def test_registers_that_ptxplus_wires_count_for_nothing() -> None:
    kernel = ptxplus("add.u32 $r1, $r124, $r2; exit;", ".reg .u32 $r<127>; .reg .u64 $d<2>; .reg .u32 $o127;")
    assert MeasuredKernel(kernel).figures.registers_declared == 126 + 4


def test_the_alignment_of_what_a_parameter_points_to_is_not_its_own() -> None:
    text = TEXT.replace(".param .u64 p", ".param .u64 .ptr .global .align 64 p")
    assert MeasuredKernel(parse(text).kernels["k"]).figures.param_bytes == 16
