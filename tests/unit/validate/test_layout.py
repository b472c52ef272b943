"""The proof of a layout finds whatever a layout may not change."""

import pytest

from ptxtool.parse import parse
from ptxtool.validate.layout import check_only_layout_changed

TEXT = """\
.version 7.0
.target sm_70
.global .u32 x[2] = {1, 2}; // a variable
.entry k(.param .u32 n) .maxntid 32
{
    .reg .b32 %r<3>;
    .loc 1 2 3
    .pragma "a b";
L:
    @%p1 add.u32 %r1, %r2, 3; /* a comment */
    { ret; }
}
"""


def problems(after: str) -> list[str]:
    return [d.code for d in check_only_layout_changed(parse(TEXT, "before"), parse(after, "after"))]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r2, 3", "%r2,3"),
        ("\n", "\r\n"),
        (".loc 1 2 3", ".loc  1 2 3"),
        ("    { ret; }\n", "{ret;}"),
        ("// a variable\n", "// a variable  \n"),
    ],
)
def test_spacing_may_change(old: str, new: str) -> None:
    assert problems(TEXT.replace(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r2, 3", "%r2, 03"),
        ("@%p1", "@!%p1"),
        ("@%p1 ", ""),
        ("add.u32", "add.s32"),
        ("{1, 2}", "{2, 1}"),
        (".loc 1 2 3", ".loc 1 23 3"),
        (".loc 1 2 3", ""),
        ("{ ret; }", "ret;"),
        ("{ ret; }", "{ ret; ret; }"),
        ("{ ret; }", "{ } ret;"),
        ("L:", "M:"),
        ('"a b"', '"a  b"'),
        ("%r<3>", "%r<4>"),
        (".u32 n", ".u32 m"),
        (".maxntid 32", ".maxntid 3, 2"),
        (".entry k", ".visible .entry k"),
        ("// a variable", ""),
        ("// a variable", "// another variable"),
        (" /* a comment */", "\n // a comment \n"),
        ("/* a comment */\n", "/* a comment */ // more\n"),
        (".target sm_70\n", ".target sm_70\n.global .u32 y;\n"),
    ],
)
def test_nothing_else_may(old: str, new: str) -> None:
    assert TEXT.count(old) == 1
    assert problems(TEXT.replace(old, new)) == ["E303"]
