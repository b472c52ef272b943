"""Accesses that change nothing, and from where on their register keeps the value; `%r6` is the slots' address."""

from demoted_kernel import WIDE, kernel, plus_text

from ptxtool.analysis.demotion.unit_budget import UnitBudget
from ptxtool.analysis.demotion.unit_liveness import unit_liveness
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.passes.demotion.redundant_accesses import equal_already
from ptxtool.validate.assignment.private_slots import PrivateSlots, private_slots

LOAD, STORE, USE = "ld.shared.b32 %r7, [%r6];", "st.shared.b32 [%r6], %r7;", "st.shared.u32 [0], %r7;"


def found(one: Function, limit: int = 255) -> list[tuple[int, int]]:
    """The accesses, counted from the end of the code for the address."""
    slots = private_slots(one)
    assert isinstance(slots, PrivateSlots)
    entry = slots.slots.entry
    pairs = equal_already(one, slots, UnitBudget(unit_liveness(one), limit))
    return [(first - entry, i - entry) for first, i in pairs]


def of_ptx(*body: str, limit: int = 255) -> list[tuple[int, int]]:
    return found(kernel("\n".join(body)).kernels["k"], limit)


def of_ptxplus(*body: str) -> list[tuple[int, int]]:
    return found(parse(plus_text("\n".join(body))).kernels["k"])


def test_the_value_is_kept_from_the_last_instruction_that_names_it() -> None:
    assert of_ptx(LOAD, USE, "bar.sync 0;", "bar.sync 0;", LOAD, USE) == [(2, 4)]
    assert of_ptx(STORE, LOAD, STORE, USE) == [(1, 1), (2, 2)]


def test_a_register_that_a_thread_has_not() -> None:
    """Between the loads the kernel needs the address and %r1."""
    body = (LOAD, USE, "mov.u32 %r1, 1;", "st.shared.u32 [4], %r1;", LOAD, USE)
    assert of_ptx(*body, limit=3) == [(2, 4)]
    assert of_ptx(*body, limit=2) == []


def test_a_value_that_is_gone() -> None:
    assert of_ptx(LOAD, USE, "mov.u32 %r7, 1;", LOAD, USE) == []
    assert of_ptx(WIDE, LOAD, USE, "L:", LOAD, USE, "@%p0 bra L;") == []


def test_guards_of_ptxplus_have_conditions() -> None:
    load, use = "ld.shared.u32 $r7, [$r6];", "st.global.u32 [$r1], $r7;"
    ne, eq, not_ne = "@$p0.ne ", "@$p0.eq ", "@!$p0.ne "
    assert of_ptxplus(ne + load, ne + use, ne + load) == [(2, 2)]
    for other in (eq, not_ne, "@$p1.ne "):
        assert of_ptxplus(ne + load, other + use, other + load) == [], other
    assert of_ptxplus(ne + load, "set.ne.u32.u32 $p0/$o127, $r1, $r2;", ne + load) == []


def test_half_a_register_of_ptxplus_is_a_write() -> None:
    load, use = "ld.shared.u32 $r7, [$r6];", "st.global.u32 [$r1], $r7;"
    assert of_ptxplus(load, "mov.u16 $r2.lo, $r7.hi;", load, use) == [(2, 2)]
    assert of_ptxplus(load, "mov.u16 $r7.lo, $r2.hi;", load, use) == []
