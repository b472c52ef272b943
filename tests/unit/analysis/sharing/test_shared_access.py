"""Which shared variables an instruction may access: hand-worked, and against what runs reach."""

from fractions import Fraction

import pytest
from kernels import ptx, ptxplus, sample
from reference.interpreter import run_reference
from release_watch import watch

from ptxsim.lowering.variable_layout import lay_out
from ptxtool.analysis.sharing.shared_access import SharedAccess, place, shared_accesses
from ptxtool.analysis.sharing.shared_layout import shared_layout
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function

VARIABLES = ".shared .align 4 .b8 a[16]; .shared .align 16 .b8 b[40]; .shared .b32 c;"


def accesses(body: str) -> list[set[tuple[str | None, int | None, int | None]]]:
    """Those of every instruction that may access shared memory."""
    kernel = ptx(VARIABLES + body)
    return [{(x.variable, x.offset, x.size) for x in found} for found in shared_accesses(kernel) if found]


ANY = (None, None, None)


def test_names_and_offsets() -> None:
    body = "ld.shared.u32 %r1, [a]; st.shared.v2.f32 [b+8], {%f1, %f2}; ld.shared.u8 %r1, [20]; ret;"
    assert accesses(body) == [{("a", 0, 4)}, {("b", 8, 8)}, {("", 20, 1)}]


def test_addresses_in_registers() -> None:
    body = """
    mov.u32 %r1, b; add.s32 %r2, %r1, 12; sub.s32 %r3, %r2, 4; ld.shared.u16 %h1, [%r3+2];
    mov.u32 %r4, %tid.x; shl.b32 %r5, %r4, 2; add.s32 %r6, %r1, %r5; st.shared.u32 [%r6+4], %r4;
    mad.lo.s32 %r7, %r4, 4, %r1; ld.shared.u32 %r8, [%r7]; ret;
    """
    assert accesses(body) == [{("b", 10, 2)}, {("b", None, 4)}, {("b", None, 4)}]


def test_numbers_may_be_any_variable() -> None:
    body = "mov.u32 %r1, %tid.x; ld.shared.u32 %r2, [%r1]; mov.u32 %r3, 8; ld.shared.u32 %r2, [%r3+4]; ret;"
    assert accesses(body) == [{ANY}, {("", 12, 4)}]


def test_a_choice_is_either() -> None:
    body = "mov.u32 %r1, a; mov.u32 %r2, b; selp.b32 %r3, %r1, %r2, %p1; ld.shared.u32 %r4, [%r3]; ret;"
    assert accesses(body) == [{("a", 0, 4), ("b", 0, 4)}]


def test_an_address_that_advances() -> None:
    body = "mov.u32 %r1, a; L: ld.shared.u32 %r2, [%r1]; add.s32 %r1, %r1, 4; @%p1 bra L; ret;"
    assert accesses(body) == [{("a", None, 4)}]


def test_generic_addresses() -> None:
    body = """
    mov.u64 %rd1, b; cvta.shared.u64 %rd2, %rd1; ld.f32 %f1, [%rd2+4];
    ld.param.u64 %rd3, [a]; ld.u32 %r1, [%rd3]; ld.global.u32 %r1, [%rd2]; ret;
    """
    assert accesses(body) == [{("b", 4, 4)}]


def test_an_address_that_went_to_memory() -> None:
    """Once stored, every load may bring it back."""
    body = """
    mov.u64 %rd1, b; cvta.shared.u64 %rd2, %rd1; ld.param.u64 %rd3, [a]; st.global.u64 [%rd3], %rd2;
    ld.global.u64 %rd0, [%rd3]; ld.u32 %r1, [%rd0]; ret;
    """
    assert accesses(body) == [{(v, None, 4) for v in "abc"}]


def test_a_register_used_for_a_number_and_an_address() -> None:
    body = "mov.u32 %r1, a; @%p1 mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 4; ld.shared.u32 %r3, [%r2]; ret;"
    assert accesses(body) == [{("a", 4, 4), ANY}]


def test_asynchronous_instructions_may_access_anything() -> None:
    body = "cp.async.ca.shared.global [a], [%rd1], 4; cp.async.wait_all; ret;"
    assert accesses(body) == [{ANY}, {ANY}]


def test_ptxplus_names_shared_memory_by_number() -> None:
    kernel = ptxplus(
        "mov.u32 $ofs1, 0x20; add.u32 $r1, s[0x0010], s[$ofs1+0x0004]; mov.u32 s[$ofs2], $r1; exit;"
    )
    found = [{(x.variable, x.offset) for x in each} for each in shared_accesses(kernel)]
    assert found == [set(), {("", 0x10), ("", 0x24)}, {(None, None)}, set()]


def test_ptxplus_steps_are_unknown() -> None:
    kernel = ptxplus("mov.u32 $ofs1, 0x20; mov.u32 $r1, s[$ofs1+=0x4]; exit;")
    assert shared_accesses(kernel)[1] == (SharedAccess(None),)


def test_layout_and_places() -> None:
    kernel = ptx(VARIABLES + "ld.shared.u32 %r1, [c]; ld.shared.u32 %r1, [a]; mov.u32 %r2, b; ret;")
    layout = shared_layout(kernel)
    assert [(v.name, v.offset, v.size) for v in layout.variables] == [
        ("a", 0, 16),
        ("b", 16, 40),
        ("c", 56, 4),
    ]
    assert layout.bytes == 60
    assert place(layout, SharedAccess("b", 8, 4)) == (24, 28)
    assert place(layout, SharedAccess("b", None, 4)) == (16, 56)
    assert place(layout, SharedAccess(None)) == (0, None)
    assert layout.boundary(Fraction(90)) == 6
    assert layout.boundary(Fraction(50), 128) == 64
    with pytest.raises(PtxError, match="E502"):
        layout.boundary(Fraction(50), 59)


def test_only_named_variables_lie_in_ptx() -> None:
    kernel = ptx(VARIABLES + "ld.shared.u32 %r1, [c]; ret;")
    assert [(v.name, v.offset) for v in shared_layout(kernel).variables] == [("c", 0)]


def test_no_byte_is_private_where_functions_are_called() -> None:
    kernel = ptx(VARIABLES + "ld.shared.u32 %r1, [a]; call f; ret;")
    assert not shared_layout(kernel).exact
    assert shared_layout(kernel).boundary(Fraction(10)) == 0


def check_layout(kernel: Function) -> None:
    layout, machine = shared_layout(kernel), lay_out(kernel)
    if layout.exact:
        assert layout.bytes == machine.static_shared_bytes
        assert all(machine.symbols[v.name].address == v.offset for v in layout.variables)


@pytest.mark.parametrize("name", ["hotspot", "reduction", "saxpy"])
def test_runs_reach_what_was_reported(name: str) -> None:
    launch, kernel = sample(name)
    check_layout(kernel)
    with watch(kernel) as observed:
        run_reference(
            kernel, launch.grid, launch.block, launch.arguments(), launch.dynamic_shared, ctas=[(0, 0, 0)]
        )
    check_reached(kernel, observed.reached)


def check_reached(kernel: Function, reached: dict[int, tuple[int, int]]) -> None:
    layout, found = shared_layout(kernel), shared_accesses(kernel)
    for i, (low, end) in reached.items():
        places = [place(layout, access) for access in found[i]]
        assert places, kernel.text(i)
        assert min(first for first, _ in places) <= low, kernel.text(i)
        assert any(last is None or end <= last for _, last in places), kernel.text(i)
