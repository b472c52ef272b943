"""The correspondence of statements and names: votes, one to one, and the four kinds of pairs."""

from kernels import ptx

from ptxtool.analysis.compare.correspondence import Correspondence, correspondence
from ptxtool.analysis.flow.statements import comparables

CODE = "mov.u32 %r1, 1; add.u32 %r2, %r1, 5; mul.lo.u32 %r3, %r2, %r1; ret;"


def compare(before: str, after: str, exact: bool = False) -> Correspondence:
    return correspondence(comparables(ptx(before)), comparables(ptx(after)), exact)


def kinds(found: Correspondence) -> str:
    return " ".join(step.kind for step in found.steps)


def names(found: Correspondence) -> dict[str, str]:
    return {old.name: new.name for old, new in found.renaming.items()}


def test_names_that_trade_places() -> None:
    after = "mov.u32 %r3, 1; add.u32 %r1, %r3, 5; mul.lo.u32 %r2, %r1, %r3; ret;"
    found = compare(CODE, after)
    assert kinds(found) == "same same same same"
    assert names(found) == {"%r1": "%r3", "%r2": "%r1", "%r3": "%r2"}


def test_exact_names_correspond_to_themselves() -> None:
    after = "mov.u32 %r3, 1; add.u32 %r1, %r3, 5; mul.lo.u32 %r2, %r1, %r3; ret;"
    assert kinds(compare(CODE, after, exact=True)) == "changed changed changed same"


def test_two_registers_that_became_one_leave_a_difference() -> None:
    """%r1 is %r9 by three votes to two."""
    after = "mov.u32 %r9, 1; add.u32 %r9, %r9, 5; mul.lo.u32 %r3, %r9, %r9; ret;"
    found = compare(CODE, after)
    assert list(names(found).values()).count("%r9") == 1
    assert "changed" in kinds(found)


def test_changed_removed_and_added() -> None:
    after = "mov.u32 %r1, 1; bar.sync 0; add.u32 %r2, %r1, 6; ret;"
    found = compare(CODE, after)
    assert kinds(found) == "same added changed removed same"
    added, changed, removed = found.steps[1:4]
    assert added.before is None
    assert changed.before is not None
    assert changed.after is not None
    assert (changed.before.instruction, changed.after.instruction) == (1, 2)
    assert removed.after is None


def test_a_label_never_corresponds_to_a_register() -> None:
    found = compare("L: add.u32 %r1, %r1, 1; bra L;", "M: add.u32 %r2, %r2, 1; bra M;")
    assert names(found) == {"L": "M", "%r1": "%r2"}
    assert [step.is_instruction for step in found.steps] == [False, True, True]


def test_nothing_and_something() -> None:
    assert kinds(compare("", "")) == ""
    assert kinds(compare("", "ret;")) == "added"
    assert kinds(compare("ret;", "")) == "removed"
