"""What is completed where; `|` marks the cursor."""

import pytest
from lsp_texts import PTX, at

from ptxtool.lsp.completion import complete, modifiers
from ptxtool.lsp.document import Document

PLACE = at(PTX, "\tmov.u32 %r2, %tid.x;")


def completed(line: str) -> list[str]:
    """The candidates at the `|` of a line of the kernel."""
    before, _, after = line.partition("|")
    text = f"{PTX[:PLACE]}{before}{after}\n{PTX[PLACE:]}"
    found = complete(Document("k.ptx", text), PLACE + len(before))
    return [c.text for c in found.candidates]


@pytest.mark.parametrize(
    ("line", "some", "none"),
    [
        ("\tset|", {"set", "setp", "setmaxnreg"}, {"add"}),
        ("\t@%p1 br|", {"bra", "brx", "brkpt"}, {"add"}),
        ("\tadd.|", {"s32", "u32", "f32", "rn", "sat", "cc"}, {"global", "v4"}),
        ("\tadd.rn.|", {"f32", "f64", "ftz"}, {"s32", "rn"}),
        ("\tld.global.|", {"u32", "v4", "nc", "ca"}, {"shared", "rn"}),
        ("\tcp.|", {"async"}, {"s32"}),
        ("\tadd.u32 %r1, |", {"%r2", "%tid", "cache"}, set()),
        ("\tadd.u32 %r1, %r|", {"%r1", "%r2", "%r3"}, {"%tid", "cache"}),
        ("\tmov.u32 %r1, %tid.|", {"x", "y", "z"}, {"u32"}),
        ("\t@%p1 bra L|", {"LOOP"}, {"%r1"}),
        ("\tcall tw|", {"twice"}, set()),
        ("\t.sh|", {".shared"}, {".version"}),
        ("\t.reg .u|", {"u32", "u64", "u8"}, {"f32", ".u32"}),
        ("\t// ad|", set(), {"add"}),
        ("\t/* ad| */", set(), {"add"}),
    ],
)
def test_completion(line: str, some: set[str], none: set[str]) -> None:
    found = completed(line)
    assert some <= set(found)
    assert not none & set(found)


def test_branches_have_labels_first() -> None:
    assert completed("\tbra |")[0] == "LOOP"


def test_modifiers_follow_the_forms() -> None:
    # PTX ISA, bar: `bar{.cta}.sync`, `.arrive`, `.red.popc.u32`
    words = {c.text for c in modifiers(["bar", "red"], is_plus=False)}
    assert {"popc", "and", "or"} <= words
    assert "sync" not in words


def test_a_broken_text_is_completed_too() -> None:
    text = ".version 7.5\n.target sm_75\n.entry k()\n{\n\tad"
    assert "add" in [c.text for c in complete(Document("k.ptx", text), len(text)).candidates]
