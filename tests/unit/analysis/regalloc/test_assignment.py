"""Physical registers for small functions: counts worked out by hand, what is refused, what is spilled."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.analysis.regalloc.assignment import Assignment, TooFewRegisters, assign
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse


def units(found: Assignment) -> dict[str, set[int]]:
    """Register -> the first units its webs got."""
    ranges = found.ranges
    places: dict[str, set[int]] = {}
    for web, unit in found.unit.items():
        if web < len(ranges):
            places.setdefault(ranges.function.registers[ranges.register[web]].name, set()).add(unit)
    return places


def test_wide_values_take_aligned_pairs() -> None:
    """%rd1 and three words at once: the words leave no gap."""
    body = """
        ld.param.u64 %rd1, [a];
        mov.u32 %r1, %tid.x;
        add.u32 %r2, %r1, 1;
        add.u32 %r3, %r1, %r2;
        st.global.u32 [%rd1], %r1;
        st.global.v2.u32 [%rd1], {%r2, %r3};
        ret;
    """
    found = assign(ptx(body))
    assert (found.registers, found.predicates) == (5, 0)
    (base,) = units(found)["%rd1"]
    assert base % 2 == 0


def test_halves_take_a_unit_and_predicates_a_file_of_their_own() -> None:
    body = """
        mov.u16 %h1, 1;
        mov.u16 %h2, 2;
        setp.eq.u16 %p1|%p2, %h1, %h2;
        @%p1 setp.ne.u16 %p2, %h1, %h2;
        @%p2 bra E;
    E:  ret;
    """
    found = assign(ptx(body))
    assert (found.registers, found.predicates) == (2, 2)


def test_quadruples() -> None:
    registers = ".reg .b128 %q<2>; .reg .b64 %d<4>; .reg .b32 %r<4>;"
    body = """
        mov.u32 %r1, %tid.x;
        cvt.u64.u32 %d1, %r1;
        mov.b128 %q1, {%d1, %d1};
        mov.b128 {%d2, %d3}, %q1;
        setp.eq.u64 p, %d2, %d3;
        ret;
    """
    found = assign(ptx(body, registers + " .reg .pred p;"))
    (base,) = units(found)["%q1"]
    assert base % 4 == 0


def test_a_copy_of_a_value_that_ends_there_costs_nothing() -> None:
    body = "mov.u32 %r1, %tid.x;\nmov.b32 %r2, 5;\nmov.b32 %r3, %r1;\nadd.u32 %r4, %r2, %r3;\nret;"
    found = assign(ptx(body))
    assert units(found)["%r1"] == units(found)["%r3"]
    assert found.registers == 2


FUNCTION = """
.version 7.0
.target sm_70
.address_size 64
.func (.reg .b32 result) f (.reg .b64 wide, .reg .b32 narrow)
{
	.reg .b32 %r<4>;
	add.u32 %r1, narrow, 1;
	add.u32 result, %r1, narrow;
	ret;
}
"""


def test_registers_of_the_head_stand_apart() -> None:
    (function,) = (item for item in parse(FUNCTION).items if isinstance(item, Function))
    found = assign(function)
    assert found.used == {"head": 4, "general": 1, "predicate": 0, "address": 0}
    assert found.registers == 5
    assert set(units(found)) == {"%r1"}
    with pytest.raises(TooFewRegisters):
        assign(function, 4)
    assert assign(function, 5).registers == 5


CROWD = """
    ld.param.u64 %rd1, [a];
    ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];
    add.u32 %r5, %r1, %r2;
    add.u32 %r6, %r3, %r4;
    add.u32 %r5, %r5, %r6;
    add.u32 %r6, %r1, %r4;
    add.u32 %r7, %r2, %r3;
    add.u32 %r6, %r6, %r7;
    st.global.v2.u32 [%rd1], {%r5, %r6};
    ret;
"""


def test_without_spilling_the_bound_is_kept_or_refused() -> None:
    need = assign(ptx(CROWD)).registers
    assert assign(ptx(CROWD), need, spill=False).n_spilled == 0
    with pytest.raises(TooFewRegisters):
        assign(ptx(CROWD), need - 1, spill=False)


def test_spilling_fits_into_what_one_instruction_needs() -> None:
    """A vector of four, and the address beside it, where it is no parameter to be read again."""
    found = assign(ptx(CROWD), 6)
    assert found.registers <= 6
    assert found.n_spilled + found.n_rematerialised > 0
    assert found.frame_bytes >= 4 * (found.n_spilled > 0)
    with pytest.raises(TooFewRegisters):
        assign(ptx(CROWD), 3)


def test_slots_are_aligned_and_shared_by_values_of_different_times() -> None:
    found = assign(ptx(CROWD), 4)
    values = found.spills.values
    taken: dict[tuple[int, int], int] = {}
    for value, offset in found.slot.items():
        n_bytes = 4 * int(values.width[value])
        assert offset % n_bytes == 0
        assert offset + n_bytes <= found.frame_bytes
        for start, end in values.intervals[value]:
            for point in range(start, end):
                for byte in range(offset, offset + n_bytes):
                    assert taken.setdefault((point, byte), value) == value


def test_predicates_beyond_the_file_become_words() -> None:
    body = """
        mov.u32 %r1, %tid.x;
        setp.eq.u32 %p1, %r1, 1;
        setp.eq.u32 %p2, %r1, 2;
        setp.eq.u32 %p3, %r1, 3;
        @%p1 bra E;
        @%p2 bra E;
        @%p3 bra E;
    E:  ret;
    """
    assert assign(ptx(body)).predicates == 3
    found = assign(ptx(body), 255, 1)
    assert found.predicates == 1
    assert len(found.spills.word) >= 2
    with pytest.raises(TooFewRegisters):
        assign(ptx(body), 255, 0)


def test_registers_of_vector_type_are_named() -> None:
    with pytest.raises(PtxError, match=r"E301.*vector type.*\n.*%v"):
        assign(ptx("ret;", ".reg .v4 .f32 %v;"))


def test_ptxplus_keeps_the_thread_id_in_r0_and_others_out_of_it() -> None:
    """`$r5` is read though no instruction wrote it: it is zero, which `$r0` is not."""
    body = "add.u32 $r7, $r0, $r5;\nst.global.u32 [$r7], $r7;\nexit;"
    found = units(assign(ptxplus(body)))
    assert found["$r0"] == {0}
    assert 0 not in found["$r5"]


def test_ptxplus_keeps_pairs_adjacent_and_aligned() -> None:
    body = """
        mov.u32 $r5, 0x00000001;
        ld.global.v2.u32 {$r8,$r9}, [$r5];
        st.global.v2.u32 [$r5], {$r8,$r9};
        exit;
    """
    found = units(assign(ptxplus(body)))
    ((low,), (high,)) = found["$r8"], found["$r9"]
    assert (low % 2, high) == (0, low + 1)


def test_address_registers_are_a_file() -> None:
    body = "mov.u32 $ofs2, 0x00000010;\nmov.u32 $r1, s[$ofs2+0x0004];\nst.global.u32 [$r1], $r1;\nexit;"
    found = assign(ptxplus(body))
    assert (found.used["address"], units(found)["$ofs2"]) == (1, {0})
