"""Live ranges of small kernels, worked out by hand: instruction i reads at point 2i and writes at 2i + 1."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.flow.accesses import Interval
from ptxtool.analysis.regalloc.live_ranges import Ranges, live_ranges


def webs(ranges: Ranges) -> list[tuple[str, tuple[Interval, ...]]]:
    """Register and ranges of every web, in order of register and first point."""
    names = [ranges.function.registers[k].name for k in ranges.register]
    return sorted(zip(names, ranges.intervals, strict=True), key=lambda web: (web[0], web[1]))


def of(body: str, name: str) -> list[tuple[Interval, ...]]:
    return [intervals for register, intervals in webs(live_ranges(ptx(body))) if register == name]


def test_two_values_of_one_register_are_two_webs() -> None:
    body = """
        ld.param.u64 %rd1, [a];
        mov.b32 %r1, 1;
        add.u32 %r2, %r1, 1;
        add.u32 %r1, %r2, %r2;
        st.global.u32 [%rd1], %r1;
        ret;
    """
    assert webs(live_ranges(ptx(body))) == [
        ("%r1", ((3, 5),)),
        ("%r1", ((7, 9),)),
        ("%r2", ((5, 7),)),
        ("%rd1", ((1, 9),)),
    ]


def test_what_nobody_reads_takes_a_place_for_a_moment() -> None:
    assert of("mov.b32 %r1, 1;\nmov.b32 %r1, 2;\nret;", "%r1") == [((1, 2),), ((3, 4),)]


ARMS = """
    ld.param.u64 %rd1, [a];
    mov.u32 %r3, %tid.x;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra E;
    mov.b32 %r1, 1;
    bra J;
E:  mov.b32 %r1, 2;
J:  st.global.u32 [%rd1], %r1;
    ret;
"""


def test_values_of_both_arms_are_one_web_with_a_hole() -> None:
    """Instruction 4 writes it in one arm, 6 in the other; at point 12, before 6, it holds nothing."""
    assert of(ARMS, "%r1") == [((9, 12), (13, 15))]
    assert of(ARMS, "%rd1") == [((1, 15),)]
    assert of(ARMS, "%p1") == [((5, 7),)]


def test_a_loop_carries_one_web_round() -> None:
    body = """
        ld.param.u64 %rd1, [a];
        mov.b32 %r1, 0;
    L:  add.u32 %r1, %r1, 1;
        setp.lt.u32 %p1, %r1, 5;
        @%p1 bra L;
        st.global.u32 [%rd1], %r1;
        ret;
    """
    assert of(body, "%r1") == [((3, 11),)]
    assert of(body, "%p1") == [((7, 9),)]


def test_a_web_that_passes_branches_with_one_list() -> None:
    body = """
        ld.param.u64 %rd1, [a];
        mov.u32 %r0, %tid.x;
    ts: .branchtargets A, B, C;
    A:  mov.b32 %r1, 1;
        brx.idx %r0, ts;
    B:  mov.b32 %r1, 2;
        brx.idx %r0, ts;
    C:  st.global.u32 [%rd1], %r1;
        ret;
    """
    assert of(body, "%r1") == [((5, 8), (9, 13))]


def test_a_value_made_anew_in_every_round_is_not_live_around_the_loop() -> None:
    body = """
        mov.b32 %r1, 0;
    L:  add.u32 %r2, %r1, 1;
        add.u32 %r1, %r2, %r2;
        setp.lt.u32 %p1, %r1, 5;
        @%p1 bra L;
        ret;
    """
    assert of(body, "%r2") == [((3, 5),)]


def test_a_guarded_write_goes_on_with_the_value() -> None:
    body = "mov.b32 %r1, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mov.b32 %r1, 2;\nadd.u32 %r2, %r1, 1;\nret;"
    assert of(body, "%r1") == [((1, 7),)]
    ranges = live_ranges(ptx(body))
    (web,) = (w for w, k in enumerate(ranges.register) if ranges.function.registers[k].name == "%r1")
    assert ranges.accesses[web] == ((0, False, True), (1, True, False), (2, True, True), (3, True, False))


def test_a_guarded_write_starts_a_value_where_surely_none_is() -> None:
    body = """
        mov.u32 %r3, %tid.x;
        setp.eq.u32 %p1, %r3, 0;
        @%p1 mov.b32 %r1, 1;
        @!%p1 mov.b32 %r1, 2;
        add.u32 %r2, %r1, 1;
        ret;
    """
    assert of(body, "%r1") == [((5, 9),)]


def test_nothing_of_ptx_has_a_value_at_the_start() -> None:
    ranges = live_ranges(ptx("add.u32 %r1, %r2, %r3;\nadd.u32 %r1, %r1, %r2;\nret;"))
    assert ranges.at_entry == frozenset()
    assert len(ranges) == 4


def test_registers_of_ptxplus_have_one() -> None:
    """A register that was never written reads as zero, `$r0` as the thread id."""
    ranges = live_ranges(ptxplus("add.u32 $r1, $r0, $r2;\nst.global.u32 [$r1], $r1;\nexit;"))
    names = {ranges.function.registers[ranges.register[w]].name for w in ranges.at_entry}
    assert names == {"$r0", "$r2"}


def test_reads_and_writes_follow_the_definitions_and_uses() -> None:
    ranges = live_ranges(ptx(ARMS))
    for step, read, written in zip(ranges.def_uses, ranges.reads, ranges.writes, strict=True):
        assert [ranges.register[w] for w in read] == list(step.uses)
        assert [ranges.register[w] for w in written] == list(step.defs)
    assert (
        ranges.writes[4] == ranges.writes[6] == tuple(w for w in ranges.reads[7] if w != ranges.writes[0][0])
    )


@pytest.mark.parametrize("half", ["$r1.lo", "$r1.hi"])
def test_writing_a_half_goes_on_with_the_value(half: str) -> None:
    body = f"mov.u32 $r1, 0x00000005;\nmov.u16 {half}, 0x0001;\nst.global.u32 [$r1], $r1;\nexit;"
    assert [s for name, s in webs(live_ranges(ptxplus(body))) if name == "$r1"] == [((1, 5),)]


def test_code_that_nothing_reaches_reads_another_value() -> None:
    """Instruction 3 comes after `ret`: what instruction 0 writes is not what it reads."""
    body = "mov.b32 %r1, 1;\nadd.u32 %r2, %r1, %r1;\nret;\nadd.u32 %r3, %r1, %r1;\nret;"
    assert of(body, "%r1") == [((1, 3),), ((6, 7),)]
