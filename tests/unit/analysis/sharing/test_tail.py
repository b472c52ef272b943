"""Moves and copies that take the end of a kernel to private registers; `%r0` and `%r1` are private."""

from kernels import ptx

from ptxtool.analysis.sharing.tail import TailSplit, split_tail

REGISTERS = ".reg .b32 %r<4>;"


def split(body: str, private: int = 2) -> TailSplit | None:
    return split_tail(ptx(body, REGISTERS), private)


def moves(found: TailSplit | None) -> dict[str, str]:
    assert found is not None
    names = found.ranges.function.registers.name_of
    return {names(found.ranges.register[web]): names(k) for web, k in found.moves.items()}


def test_a_live_range_goes_to_a_private_register_that_is_free() -> None:
    found = split("mov.u32 %r0, 1; mov.u32 %r2, 2; add.u32 %r2, %r2, %r0; st.shared.u32 [%r0], %r2; ret;")
    assert set(moves(found)) == {"%r2"}
    assert set(moves(found).values()) == {"%r1"}
    assert found is not None
    assert found.gain > 0
    assert not found.copies


def test_none_where_both_private_registers_are_taken() -> None:
    body = "mov.u32 %r0, 1; mov.u32 %r1, 1; mov.u32 %r2, 2; st.shared.u32 [%r0], %r2; st.shared.u32 [%r1], %r0; ret;"
    assert moves(split(body)) == {}


def test_a_kernel_with_private_registers_alone_stays() -> None:
    assert moves(split("mov.u32 %r2, 1; st.shared.u32 [0], %r2; ret;", private=4)) == {}


def test_registers_that_are_not_physical_are_left() -> None:
    """%r1 and %f1 mean one unit, and both values live."""
    kernel = ptx(
        "mov.u32 %r1, 1; mov.f32 %f1, 0f00000000; st.shared.f32 [%r1], %f1; ret;",
        ".reg .b32 %r<2>; .reg .f32 %f<2>;",
    )
    assert split_tail(kernel, 1) is None
