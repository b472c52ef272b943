"""What registers are called before and after an assignment: one name everywhere, or several."""

from kernels import ptx

from ptxtool.analysis.regalloc.assignment import assign
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.regalloc.new_names import NewNames
from ptxtool.passes.regalloc.physical_names import PhysicalNames


def names_of(function: Function, registers: int | None = None) -> NewNames:
    return NewNames(function, assign(function, registers), PhysicalNames(function))


def test_registers_with_one_name_are_renamed_at_once() -> None:
    names = names_of(
        ptx(
            "mov.u32 x, %clock; st.shared.u32 [0], x; mov.u64 y, %clock64; st.u64 [y], y; ret;",
            ".reg .b32 x; .reg .b64 y;",
        )
    )
    uniform, others, temporaries = names.everywhere()
    assert (uniform, others, temporaries) == ({"x": "%r0", "y": "%rd0"}, set(), set())
    assert names.n_used() == {32: 1, 64: 1}
    assert not names.are_marked


def test_a_register_with_values_in_two_units_is_looked_at_everywhere() -> None:
    """When `%r1` is written again, its first value lives on in `%r3`, and `%r2` lives too."""
    body = """mov.u32 %r1, %clock; mov.u32 %r2, %clock; mov.u32 %r3, %r1; mov.u32 %r1, %clock;
add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3; st.shared.u32 [0], %r1; ret;"""
    function = ptx(body, ".reg .b32 %r<4>;")
    names = names_of(function)
    uniform, others, _ = names.everywhere()
    assert others == {1}
    assert sorted(uniform) == ["%r2", "%r3"]
    (first,), (second,) = names.at(0), names.at(3)
    assert first == uniform["%r3"]
    assert len({first, second, uniform["%r2"]}) == 3


def test_names_of_a_head_stay() -> None:
    text = """.version 7.0\n.target sm_70\n.address_size 64
.func (.reg .b32 r) f(.reg .b32 a) { .reg .b32 %t; add.u32 %t, a, 1; mov.u32 r, %t; ret; }\n"""
    names = names_of(parse(text).functions["f"])
    uniform, others, _ = names.everywhere()
    assert uniform == {"%t": "%r0"}
    assert {names.old[k] for k in others} == {"a", "r"}
    assert names.at(0) == ["a", "%r0"]


def test_a_name_that_an_inner_block_hides_is_looked_at_everywhere() -> None:
    function = ptx(
        "mov.u32 x, %clock; { .reg .b32 x; mov.u32 x, 1; st.shared.u32 [0], x; } st.shared.u32 [0], x; ret;",
        ".reg .b32 x;",
    )
    uniform, others, _ = names_of(function).everywhere()
    assert (uniform, others) == ({}, {0, 1})


def test_a_register_called_like_an_opcode_is_looked_at_everywhere() -> None:
    function = ptx("mov.u32 add, %clock; add.u32 add, add, 1; st.shared.u32 [0], add; ret;", ".reg .b32 add;")
    assert names_of(function).everywhere()[1] == {0}


def test_temporaries_stand_for_spilled_values() -> None:
    body = "".join(f"mov.u32 %r{k}, %clock;" for k in range(4)) + "".join(
        f"st.shared.u32 [0], %r{k};" for k in range(4)
    )
    names = names_of(ptx(f"{body} ret;"), 3)
    _, _, left = names.everywhere()
    (spilled,) = (names.old[k] for k in left)
    places = [i for i, name in names.of_temporaries(left) if name == spilled]
    number = int(spilled[2:])
    assert places == [number, 4 + number]  # where it is written and where it is read
