"""How constants are computed anew: sequences of small kernels, worked out by hand."""

from kernels import ptx

from ptxtool.analysis.regalloc.rematerialisation import rematerialisation_sequences
from ptxtool.ir.defuse import def_use


def of(body: str) -> dict[str, tuple[int, ...]]:
    kernel = ptx(body)
    found = rematerialisation_sequences(kernel, def_use(kernel))
    return {kernel.registers[k].name: sequence for k, sequence in found.items()}


def test_what_is_computed_from_nothing_that_changes() -> None:
    body = """
        mov.u32 %r1, 5;
        mov.u32 %r2, %tid.x;
        ld.param.u64 %rd1, [a];
        mov.f32 %f1, 0f3F800000;
        ret;
    """
    assert of(body) == {"%r1": (0,), "%r2": (1,), "%rd1": (2,), "%f1": (3,)}


def test_chains_come_in_order_and_end() -> None:
    """Three instructions are the longest."""
    body = """
        ld.param.u64 %rd1, [a];
        cvta.to.global.u64 %rd2, %rd1;
        add.s64 %rd3, %rd2, 8;
        mov.u32 %r1, %tid.x;
        shl.b32 %r2, %r1, 2;
        add.u32 %r3, %r2, 1;
        xor.b32 %r4, %r3, 7;
        ret;
    """
    found = of(body)
    assert found["%rd3"] == (0, 1, 2)
    assert found["%r3"] == (3, 4, 5)
    assert "%r4" not in found


def test_what_may_differ_the_second_time_is_none() -> None:
    body = """
        mov.u32 %r1, %clock;
        mov.u32 %r2, %tid.x;
        mov.u32 %r2, %tid.y;
        setp.eq.u32 %p1, %r2, 0;
        @%p1 mov.u32 %r3, 1;
        ld.param.u64 %rd1, [a];
        ld.global.u32 %r4, [%rd1];
        add.u32 %r5, %r2, 1;
        ret;
    """
    assert set(of(body)) == {"%rd1"}


def test_two_sources_at_once_are_too_many() -> None:
    assert "%r3" not in of("mov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.u32 %r3, %r1, %r2;\nret;")


def test_a_source_wider_than_the_result_has_no_room() -> None:
    found = of("ld.param.u64 %rd1, [a];\ncvt.u32.u64 %r1, %rd1;\ncvt.u64.u32 %rd2, %r1;\nret;")
    assert set(found) == {"%rd1"}


def test_copies_and_predicates_have_none() -> None:
    assert set(of("mov.u32 %r1, 1;\nmov.u32 %r2, %r1;\nmov.pred %p1, 1;\nret;")) == {"%r1"}
