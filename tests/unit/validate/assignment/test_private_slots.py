"""Slots of kernels that have demoted registers: which are found, and what makes them another thread's."""

import pytest
from demoted_kernel import ENTRY, SLOTS, kernel

from ptxtool.validate.assignment.places import Slot
from ptxtool.validate.assignment.private_slots import PrivateSlots, SlotAccess, private_slots

BODY = """\
mov.u32 %r7, 5;
st.shared.b32 [%r6+128], %r7;
@%p0 ld.shared.b16 %rs7, [%r6];
st.shared.u32 [0], %r7;"""


def test_slots_and_accesses() -> None:
    one = kernel(BODY).kernels["k"]
    found = private_slots(one)
    assert isinstance(found, PrivateSlots)
    slots, names = found.slots, one.registers
    assert (names[slots.base].name, slots.stride, slots.number, slots.entry) == ("%r6", 128, 4, 4)
    assert found.accesses == {
        5: SlotAccess(False, Slot("__ptxtool_demoted", 4, 4), names.resolve_index("%r7", 5)),
        6: SlotAccess(True, Slot("__ptxtool_demoted", 0, 2), names.resolve_index("%rs7", 6)),
    }


def test_kernels_without() -> None:
    assert private_slots(kernel("mov.u32 %r0, 1;", "", declared="").kernels["k"]) is None


NOT_FIRST = "does not begin with the address"
USED = "uses the address of the slots"


@pytest.mark.parametrize(
    ("body", "entry", "message"),
    [
        (BODY, ENTRY.replace(", 2;", ", 3;"), NOT_FIRST),
        (BODY, ENTRY.replace("shl", "L: shl") + "@%p0 bra L;\n", NOT_FIRST),
        ("add.u32 %r1, %r6, 4;", ENTRY, USED),
        ("mov.u32 %r1, __ptxtool_demoted;", ENTRY, USED),
        ("st.shared.b32 [%r6], %r6;", ENTRY, USED),
        ("ld.shared.b32 %r6, [%r6];", ENTRY, USED),
        ("ld.shared.b32 %r1, [%r6+4];", ENTRY, USED),
        ("ld.shared.v2.b32 {%r1, %r2}, [%r6];", ENTRY, USED),
        ("atom.shared.add.u32 %r1, [%r6], 1;", ENTRY, USED),
        ("st.shared.b32 [%r6], 7;", ENTRY, USED),
    ],
)
def test_refused(body: str, entry: str, message: str) -> None:
    assert message in str(private_slots(kernel(body, entry).kernels["k"]))


LEFT = ENTRY.replace("mov.u32 %r6, _", "mov.u32 %r5, _").replace("add.u32 %r6, %r6", "add.u32 %r6, %r5")


@pytest.mark.parametrize(
    ("body", "is_right"),
    [
        ("mov.u32 %r5, 1;\nst.shared.u32 [0], %r5;", True),  # `compact` uses registers again
        ("st.shared.u32 [0], %r5;", False),
        ("@%p0 mov.u32 %r5, 1;\nst.shared.u32 [0], %r5;", False),
    ],
)
def test_an_address_in_another_register(body: str, is_right: bool) -> None:
    found = private_slots(kernel(body, LEFT).kernels["k"])
    assert isinstance(found, PrivateSlots) == is_right, found


def test_the_bound_on_threads() -> None:
    """Three dimensions need all thread ids; without a bound the number of threads is unknown."""
    assert NOT_FIRST in str(private_slots(kernel(BODY, directives=".maxntid 32").kernels["k"]))
    assert "bound on its threads" in str(private_slots(kernel(BODY, directives="").kernels["k"]))
    assert "bound on its threads" in str(private_slots(kernel(BODY, directives=".maxntid 0").kernels["k"]))
    twice = SLOTS + SLOTS.replace("demoted", "demoted1")
    assert "one variable" in str(private_slots(kernel(BODY, declared=twice).kernels["k"]))
