"""The claim of the passes that assign registers: proved with the origins it has, refused with others."""

import pytest

from ptxtool.parse import parse
from ptxtool.passes.regalloc.claim import AssignmentClaim

BEFORE = """.version 7.0\n.target sm_70\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<4>;
mov.u32 %r1, %clock;\nmov.u32 %r2, %r1;\nst.global.u32 [0], %r2;\nret;\n}\n"""
AFTER = BEFORE.replace("mov.u32 %r2, %r1;\n", "").replace("[0], %r2", "[0], %r1")


@pytest.mark.parametrize(
    ("origins", "holds"), [((0, 2, 3), True), ((0, 1, 3), False), ((0, 2, -1), False), ((0, 2), False)]
)
def test_every_new_instruction_was_the_one_that_is_claimed(origins: tuple[int, ...], holds: bool) -> None:
    found = AssignmentClaim({"k": origins})(parse(BEFORE), parse(AFTER))
    assert (found == ()) == holds
    assert {d.code for d in found} <= {"E303"}
