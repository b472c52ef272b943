"""Places that hold values: registers and spill slots, and which of them overlap."""

import pytest
from kernels import ptx, ptxplus

from ptxtool.ir.nodes import Declaration, Function, Immediate, Memory, Name, Operand
from ptxtool.parse import parse
from ptxtool.validate.assignment.places import PlaceTable, Slot, Spills, is_spill, slot_of, spill_variables

SPILL = Name("__ptxtool_spill")
VARIABLES = {"__ptxtool_spill": Spills(12, 8)}


@pytest.mark.parametrize(
    ("base", "offset", "bits", "slot"),
    [
        (SPILL, None, 32, Slot("__ptxtool_spill", 0, 4)),
        (SPILL, "8", 32, Slot("__ptxtool_spill", 8, 4)),
        (SPILL, "8", 64, None),  # beyond the end
        (SPILL, "2", 32, None),  # not aligned
        (SPILL, "-4", 32, None),
        (SPILL, "0", 128, None),  # wider than the alignment of the variable
        (Name("__ptxtool_spill", "x"), None, 32, None),
        (Name("other"), None, 32, None),
        (None, "0", 32, None),
    ],
)
def test_slots_are_aligned_and_inside(
    base: Operand | None, offset: str | None, bits: int, slot: Slot | None
) -> None:
    memory = Memory("", base, None if offset is None else Immediate(offset))
    assert slot_of(memory, bits, VARIABLES) == slot


def test_slots_of_ptxplus_have_no_name() -> None:
    assert slot_of(Memory("", None, Immediate("0x4")), 32, {"": Spills(8, 4)}) == Slot("", 4, 4)
    assert slot_of(Memory("s", None, Immediate("0x4")), 32, {"": Spills(8, 4)}) is None


def declared(function: Function) -> Declaration:
    return next(s for s in function.body or () if isinstance(s, Declaration) and s.space != "reg")


@pytest.mark.parametrize(
    ("declaration", "is_one"),
    [
        (".local .align 8 .b8 __ptxtool_spill[16];", True),
        (".local .align 8 .b8 __ptxtool_spill7[16];", True),
        (".local .align 8 .b8 mine[16];", False),
        (".local .b32 __ptxtool_spill[4];", False),
        (".shared .align 8 .b8 __ptxtool_spill[16];", False),
        (".local .align 8 .b8 __ptxtool_spill;", False),
    ],
)
def test_which_variables_may_be_new(declaration: str, is_one: bool) -> None:
    before, after = ptx("ret;"), ptx(f"{declaration} ret;")
    assert is_spill(declared(after), before) == is_one
    assert not is_spill(declared(after), after), "the original has it too"


def test_ptxplus_spills_only_where_nothing_else_is_in_local_memory() -> None:
    slots = declared(ptxplus(".local .b8 l0[8]; exit;"))
    assert is_spill(slots, ptxplus("exit;"))
    assert not is_spill(slots, ptxplus("ld.local.u32 $r1, [0x0000]; exit;"))
    assert not is_spill(slots, ptxplus("mov.u32 $r1, l0[0x0000]; exit;"))


def test_a_name_that_is_declared_twice_is_no_variable_with_slots() -> None:
    one, other = ".local .align 4 .b8 __ptxtool_spill[4];", ".local .align 8 .b8 __ptxtool_spill1[8];"
    assert spill_variables(ptx("ret;"), ptx(f"{one} {{ {one} }} {other} ret;")) == {
        "__ptxtool_spill1": Spills(8, 8)
    }


def test_places_overlap_by_units_and_by_bytes() -> None:
    """%rd1 is units 2 and 3; a register of the head overlaps none, whatever its name."""
    text = """.version 7.0\n.target sm_70\n.address_size 64
.func f(.reg .b32 %h2) { .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<3>; ret; }\n"""
    function = parse(text).functions["f"]
    table = PlaceTable(function)

    def register(name: str) -> int:
        return table.register(function.registers.resolve_index(name, 0))

    head, r1, r2, pair, predicate = map(register, ("%h2", "%r1", "%r2", "%rd1", "%p2"))
    low, high = table.slot(Slot("s", 4, 4)), table.slot(Slot("s", 0, 8))
    assert table.slot(Slot("s", 4, 4)) == low
    assert {place: set(others) for place, others in table.overlaps().items()} == {
        **{place: {place} for place in (head, r1, predicate)},
        **{place: {r2, pair} for place in (r2, pair)},
        **{place: {low, high} for place in (low, high)},
    }
    assert not table.overlap(r1, pair)
    assert (table.name(pair), table.name(low)) == ("%rd1", "[s+4]")
