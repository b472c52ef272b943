"""Uniform values and divergent branches, worked out by hand."""

from kernels import ptx, ptxplus

from ptxtool.analysis.flow.uniformity import Uniformity, uniformity
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def varying(found: Uniformity, instruction: int) -> str:
    """The general registers and predicates that may vary before an instruction, of those that were written before."""
    written = {k for i in range(instruction) for k in found.kernel.def_uses[i].defs}
    return " ".join(
        found.kernel.registers[k].name.lstrip("%$")
        for k in sorted(found.varying_before(instruction) & written)
    )


def diverging(kernel: Function) -> list[str]:
    return [kernel.text(i) for i in sorted(uniformity(kernel).divergent)]


LOOP = """
    ld.param.u32 %r1, [a];
    mov.u32 %r2, 0;
H:  add.u32 %r2, %r2, 1;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra H;
    setp.eq.u32 %p2, %r2, 3;
    @%p2 bra E;
    mov.u32 %r3, 1;
E:  ret;
"""


def test_a_loop_from_a_constant_to_a_parameter_is_uniform() -> None:
    kernel = ptx(LOOP)
    assert diverging(kernel) == []
    assert varying(uniformity(kernel), 6) == ""


def test_a_loop_to_a_bound_of_each_lane_is_uniform_inside_and_not_after_it() -> None:
    kernel = ptx(LOOP.replace("ld.param.u32 %r1, [a]", "mov.u32 %r1, %tid.x"))
    assert diverging(kernel) == ["@%p1 bra H;", "@%p2 bra E;"]
    found = uniformity(kernel)
    assert varying(found, 3) == "r1"  # the counter is the same in all lanes that are still in the loop
    assert varying(found, 5) == "p1 r1 r2"  # but the lanes left it at different times


def test_a_value_of_either_side_varies_where_they_meet_only() -> None:
    body = "setp.eq.u32 %p1, %r0, 0; @%p1 bra A; mov.b32 %r1, 1; bra B; A: mov.b32 %r1, 2; B: mov.b32 %r2, %r1; ret;"
    found = uniformity(ptx(f"mov.u32 %r0, %tid.x; {body}"))
    assert varying(found, 4) == "p1 r0"  # 1 in all lanes that are here
    assert varying(found, 6) == "p1 r0 r1"
    found = uniformity(ptx(f"mov.u32 %r0, %ctaid.x; {body}"))
    assert varying(found, 6) == ""


def test_a_value_of_one_side_varies_where_another_side_comes_in_early() -> None:
    # lanes come to A from the first branch with 1 in %r1, and from the second with 2
    kernel = ptx(
        "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; mov.b32 %r1, 1;"  # 0
        "@%p1 bra A;"  # 3
        "mov.b32 %r1, 2; setp.eq.u32 %p2, %r0, 1;"
        "@%p2 bra A;"  # 6
        "bra E;"
        "A: setp.eq.u32 %p3, %r1, 2;"  # 8
        "@%p3 bra E;"
        "mov.b32 %r2, 1;"
        "E: ret;"
    )
    assert diverging(kernel) == ["@%p1 bra A;", "@%p2 bra A;", "@%p3 bra E;"]


def test_a_guarded_write_varies_with_its_guard_and_with_the_old_value() -> None:
    text = "mov.u32 %r0, {}; mov.u32 %r1, {}; setp.eq.u32 %p1, %r0, 0; @%p1 mov.u32 %r1, 5; mov.u32 %r2, %r1; ret;"
    for guard, old, expected in (
        ("%ctaid.x", "7", ""),
        ("%tid.x", "7", "r0 r1 p1"),
        ("%ctaid.x", "%tid.x", "r1"),
    ):
        found = uniformity(ptx(text.format(guard, old)))
        assert set(varying(found, 4).split()) == set(expected.split())


def test_a_half_written_register_varies_with_its_other_half() -> None:
    kernel = ptxplus("mov.u32 $r1, $r124; mov.u16 $r1.lo, %ctaid.x; mov.u16 $r0.hi, %ctaid.x; exit;")
    assert varying(uniformity(kernel), 3) == "r0"  # the thread's number is in its low half


def test_the_carry_flag_is_followed() -> None:
    text = "mov.u32 %r0, {}; add.cc.u32 %r1, %r0, %r0; mov.u32 %r2, 1; addc.u32 %r3, %r2, %r2; ret;"
    assert varying(uniformity(ptx(text.format("%ctaid.x"))), 4) == ""
    assert varying(uniformity(ptx(text.format("%tid.x"))), 4) == "r0 r1 r3"


def test_lanes_that_exit_do_not_count() -> None:
    kernel = ptx(
        "mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; mov.u32 %r1, 1; @%p1 exit;"
        "add.u32 %r1, %r1, 1; setp.eq.u32 %p2, %r1, 2; @%p2 bra E; mov.u32 %r1, 1; E: ret;"
    )
    assert diverging(kernel) == []


def test_registers_vary_at_the_start_and_where_no_path_leads() -> None:
    kernel = ptx("@%p1 bra A; mov.b32 %r1, 1; A: ret; B: @%p2 bra B; ret;")
    found = uniformity(kernel)
    assert diverging(kernel) == ["@%p1 bra A;", "@%p2 bra B;"]
    assert not found.is_uniform(0, kernel.def_uses[0].uses[0])


def test_what_a_function_gets_and_returns_may_vary() -> None:
    module = parse(""".version 7.0
.target sm_70
.func (.reg .b32 o) f (.reg .b32 i) { .reg .pred %p<2>; setp.eq.u32 %p1, i, 0; @%p1 bra A; mov.u32 o, 1; A: ret; }
.entry k() {
    .reg .b32 %r<3>; .reg .pred %p<2>;
    mov.u32 %r1, 1;
    call (%r2), f, (%r1);
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra A;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra A;
    mov.u32 %r2, 1;
A:  ret;
}
""")
    assert diverging(module.functions["f"]) == ["@%p1 bra A;"]
    assert sorted(uniformity(module.kernels["k"]).divergent) == [5]


def test_an_indexed_branch() -> None:
    text = "mov.u32 %r0, {}; ts: .branchtargets A, B, C; brx.idx %r0, ts; A: mov.u32 %r1, 1; bra D;"
    text += "B: mov.u32 %r1, 2; C: mov.u32 %r2, 3; D: mov.u32 %r3, %r1; ret;"
    assert diverging(ptx(text.format("%ctaid.x"))) == []
    found = uniformity(ptx(text.format("%tid.x")))
    assert sorted(found.divergent) == [1]
    assert varying(found, 5) == "r0 r1"  # C is reached from B too
    assert varying(found, 6) == "r0 r1 r2"


def test_what_a_called_routine_of_ptxplus_writes_varies_if_its_callers_do() -> None:
    text = "cvt.u32.u16 $r1, {}; set.eq.u32.u32 $p0/$o127, $r1, $r124; mov.u32 $r2, $r124; {} callp F;"
    text += "mov.u32 $r3, $r2; exit; F: mov.u32 $r2, 0x1; retp;"
    assert varying(uniformity(ptxplus(text.format("%ctaid.x", "@$p0.ne"))), 5) == ""
    assert varying(uniformity(ptxplus(text.format("%tid.x", ""))), 5) == "r1 p0"
    assert varying(uniformity(ptxplus(text.format("%tid.x", "@$p0.ne"))), 5) == "r1 r2 r3 p0"


def test_where_no_lane_waits() -> None:
    text = "mov.u32 %r0, {}; setp.eq.u32 %p1, %r0, 0; @%p1 bra A; mov.u32 %r1, 1; A: ret;"
    assert [uniformity(ptx(text.format("%tid.x"))).is_together(i) for i in range(5)] == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert all(uniformity(ptx(text.format("%ctaid.x"))).is_together(i) for i in range(5))


def test_text() -> None:
    kernel = ptx(
        "mov.u32 %r0, %tid.x; mov.u32 %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 bra A; mov.u32 %r2, 1; A: ret;"
    )
    assert str(uniformity(kernel)) == (
        "    0  mov.u32 %r0, %tid.x;        | %r0\n"
        "    1  mov.u32 %r1, 1;             |\n"
        "    2  setp.lt.u32 %p1, %r1, %r0;  | %r0 %p1\n"
        "    3  @%p1 bra A;                 | %p1 (diverges)\n"
        "    4  mov.u32 %r2, 1;             |\n"
        "    5  ret;                        |"
    )


def test_no_instructions() -> None:
    found = uniformity(ptx(""))
    assert (found.divergent, str(found)) == (frozenset(), "")
