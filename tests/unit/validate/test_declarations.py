"""The check of the declaration passes finds every kind of change that they must not make."""

import pytest

from ptxtool.parse import parse
from ptxtool.validate.declarations import check_only_declarations_changed

TEXT = """.version 7.0
.target sm_70
.address_size 64
.global .b32 g;
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<3>;
	.reg .pred q;
	.shared .b32 s[4];
	mov.u32 %r1, %r2;
	{
		.reg .b32 t;
		.reg .b32 %r0;
		mov.u32 %r0, t;
	}
L1:
	@q bra L1;
	exit;
}
"""


def check(old: str, new: str) -> list[str]:
    assert old in TEXT
    problems = check_only_declarations_changed(parse(TEXT), parse(TEXT.replace(old, new)))
    assert {d.code for d in problems} <= {"E303"}
    return [d.message for d in problems]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\t.reg .b32 %r<3>;\n\t.reg .pred q;", "\t.reg .pred q;\n\t.reg .b32 %r2;\n\t.reg .b32 %r0, %r1;"),
        ("\t\t.reg .b32 t;\n\t\t.reg .b32 %r0;", "\t\t.reg .b32 %r0; /* new comment */ .reg .b32 t;"),
        ("exit;", "exit; // said"),
        ("\t.shared .b32 s[4];\n", "\t.shared   .b32 s[4];\n"),
    ],
)
def test_changes_of_declarations_and_blanks_pass(old: str, new: str) -> None:
    assert check(old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "reported"),
    [
        ("mov.u32 %r1, %r2;", "mov.u32 %r2, %r1;", "'mov.u32 %r1, %r2;' became 'mov.u32 %r2, %r1;'"),
        ("\texit;\n", "", "statements became"),
        ("L1:\n\t@q bra L1;", "\t@q bra L1;\nL1:", "'L1:' became '@q bra L1;'"),
        (".shared .b32 s[4];", ".shared .b32 s[8];", "became '.shared .b32 s[8];'"),
        ("\t.reg .pred q;", "\t.reg .b32 q;", "lost 'q' of type 'pred'"),
        ("%r<3>", "%r<4>", "gained '%r3' of type 'b32'"),
        ("\t\t.reg .b32 t;\n", "", "block 1 lost 't'"),
        (".global .b32 g;", ".global .b32 h;", "text outside functions changed"),
        (".param .u64 p", ".param .u32 p", "the head changed"),
        (".global .b32 g;\n", "", "5 items became 4"),
        (
            "\t\t.reg .b32 %r0;\n\t\tmov.u32 %r0, t;",
            "\t\tmov.u32 %r0, t;\n\t\t.reg .b32 %r0;",
            "'%r0' means another register",
        ),
    ],
)
def test_every_other_change_is_found(old: str, new: str, reported: str) -> None:
    messages = check(old, new)
    assert any(reported in message for message in messages), messages


def test_a_declaration_moved_to_another_block_is_found() -> None:
    moved = TEXT.replace("\t\t.reg .b32 t;\n", "").replace(
        "\t.reg .pred q;", "\t.reg .pred q;\n\t.reg .b32 t;"
    )
    messages = [d.message for d in check_only_declarations_changed(parse(TEXT), parse(moved))]
    assert "block 0 gained 't' of type 'b32' in 'k'" in messages
    assert "block 1 lost 't' of type 'b32' in 'k'" in messages
    assert "'t' means another register than before in 'k'" in messages
