"""Slots of kernels that have demoted registers: which are found, and what makes them another thread's."""

import pytest
from demoted_kernel import ENTRY, PLUS_ENTRY, PLUS_SLOTS, SLOTS, kernel, plus_text

from ptxtool.parse import parse
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


PLUS_BODY = "ld.shared.u32 $r7, [$r6+0x0080];\nst.global.u32 [$r1], $r7;"
TILE = ".shared .align 4 .b8 tile[40];\n"
BEFORE = "is not after its other variables"
BEYOND = "may access the shared memory of the slots"


def plus(
    body: str = PLUS_BODY, entry: str = PLUS_ENTRY, declared: str = PLUS_SLOTS
) -> PrivateSlots | str | None:
    return private_slots(parse(plus_text(body, entry, declared)).kernels["k"])


def starting(at: int) -> str:
    return PLUS_ENTRY.replace("0x20", hex(at))


def test_slots_of_ptxplus() -> None:
    """They begin after header and parameter, at 32; with a variable of 40 bytes at 64, and 8 dynamic ones at 72."""
    own = "mov.u32 $r1, s[{}];\n" + PLUS_BODY
    for found in (
        plus(),
        plus(own.format("0x1c")),
        plus(own.format("0x3c"), starting(64), TILE + PLUS_SLOTS),
        plus(own.format("0x44"), starting(72), TILE + PLUS_SLOTS),
        plus(own.format("$r2+0x10"), starting(64), TILE + PLUS_SLOTS),
    ):
        assert isinstance(found, PrivateSlots), found
        assert (found.slots.stride, found.slots.number, found.slots.entry) == (128, 4, 3)
        assert [access.slot.offset for access in found.accesses.values()] == [4]


@pytest.mark.parametrize(
    ("body", "entry", "declared", "message"),
    [
        (PLUS_BODY, PLUS_ENTRY.replace("0x02", "0x03"), PLUS_SLOTS, NOT_FIRST),
        (PLUS_BODY, starting(16), PLUS_SLOTS, NOT_FIRST),  # over the parameter
        (PLUS_BODY, starting(32), TILE + PLUS_SLOTS, NOT_FIRST),  # over a variable
        (PLUS_BODY, starting(34), PLUS_SLOTS, BEFORE),
        (PLUS_BODY, PLUS_ENTRY, PLUS_SLOTS + TILE, BEFORE),
        ("mov.u32 $r1, s[0x0020];", PLUS_ENTRY, PLUS_SLOTS, BEYOND),
        ("mov.u32 $r1, s[$r2+0x0010];", PLUS_ENTRY, PLUS_SLOTS, BEYOND),  # without memory of its own
        ("mov.u32 $r1, s[0x0040];", starting(64), TILE + PLUS_SLOTS, BEYOND),
        ("mov.u32 $r1, s[$r6+0x0010];", PLUS_ENTRY, PLUS_SLOTS, USED),
        ("ld.shared.u32 $r6, [$r6];", PLUS_ENTRY, PLUS_SLOTS, USED),
        ("ld.shared.bb64 $r7, [$r6];", PLUS_ENTRY, PLUS_SLOTS, USED),
        ("ld.global.bb64 $r5, [$r1];", PLUS_ENTRY, PLUS_SLOTS, USED),  # the pair $r5, $r6
        ("mov.u16 $r7.lo, $r6.hi;", PLUS_ENTRY, PLUS_SLOTS, USED),
        ("mov.u32 $r7, __ptxtool_demoted;", PLUS_ENTRY, PLUS_SLOTS, USED),
    ],
)
def test_refused_in_ptxplus(body: str, entry: str, declared: str, message: str) -> None:
    assert message in str(plus(body, entry, declared))


def test_an_address_of_ptxplus_in_another_register() -> None:
    """The number of the first slot in $r8."""
    entry = "mov.u32 $r7, %tid.x;\nshl.b32 $r7, $r7, 0x02;\nmov.u32 $r8, 0x20;\nadd.u32 $r6, $r7, $r8;\n"
    assert isinstance(plus(entry=entry), PrivateSlots)
    assert "another register" in str(plus("st.global.u32 [$r1], $r8;", entry))
