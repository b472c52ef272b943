"""A module of a newer PTX version than the table's: what the table lacks is W201 without a suggestion."""

import pytest
from diagnosed import REGISTERS, in_kernel, reported

from ptxtool.isa.targets import NEWEST
from ptxtool.parse import parse
from ptxtool.sema.module import check_module
from ptxtool.sema.verify import verify

VERSION = f"{NEWEST[0]}.{NEWEST[1] + 5}"
HEAD = f".version {VERSION}\n.target sm_90\n.address_size 64\n"
TABLE = f"the table of PTX {NEWEST[0]}.{NEWEST[1]}"


def found(body: str, head: str = HEAD) -> list[tuple[int, str, str]]:
    """What is reported about the body of a kernel."""
    return [one for one in in_kernel(f"{body}\nret;", head=head) if one[0] > 0]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("frobnicate.u32 %r1, %r2;", [(1, "W201", "frobnicate")]),
        ("add.frob32 %r1, %r2, %r3;", [(1, "W201", ".frob32")]),
        ("add.u33 %r1, %r2, %r3;", [(1, "W201", ".u33")]),
        ("add.u32.s32 %r1, %r2, %r3;", [(1, "W201", "add.u32.s32")]),
        ("add.u32 %r1, %r2;", [(1, "W201", "add.u32")]),
        ("mov.u32 %r1, %frob_size;", [(1, "W201", "%frob_size")]),
        ("add.u32 %r1, 1, %frob_size;", [(1, "E201", "%frob_size")]),
        ("mov.u32 %r1, %r99;", [(1, "E201", "%r99")]),
        ("mov.u32 %r1, %rd99;", [(1, "E201", "%rd99")]),
        ("mov.u32 %r1, %q7;", [(1, "E201", "%q7")]),
        (".frob 1;", [(1, "W201", ".frob")]),
        (
            ".reg .frob32 %q<2>; add.u32 %q1, 1, 2; add.v2.u32 %q0, %q1.x, 1;",
            [(1, "W201", ".frob32"), (1, "W201", ".v2")],
        ),
        ("add.u32 %r1, 1, %f1;", [(1, "E207", "%f1")]),
        ("bra elsewhere;", [(1, "E202", "elsewhere")]),
    ],
)
def test_what_the_table_lacks(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert [one for one in found(body) if one[1] != "W204"] == expected


def test_an_unknown_instruction_may_write_what_it_names() -> None:
    assert found("frobnicate.u32 %r1, %r2;\nst.global.u32 [%rd1], %r1;") == [
        (1, "W201", "frobnicate"),
        (2, "W204", "%rd1"),
    ]


def test_the_version_once_and_the_target() -> None:
    text = f".version {VERSION}\n.target sm_999a\n.entry k() .frob 1 {{ ret; }}\n.entry q() {{ ret; }}\n"
    assert reported(text) == [(1, "W201", VERSION), (2, "W201", "sm_999a"), (3, "W201", ".frob")]


def test_no_message_has_a_suggestion() -> None:
    body = "clmul.lo.u64 %rd1, %rd1, %rd1;\nadd.u2x16 %r1, %r1, %r1;\nadd.sat.u64 %rd1, %rd1, %rd1;"
    text = f"{HEAD}.entry k() {{\n{REGISTERS}\n{body}\nmov.b32 %r1, %laneidd; ret; }}\n"
    problems = [d for d in check_module(parse(text)) if d.code == "W201"]
    assert len(problems) == 5
    for problem in problems:
        assert TABLE in problem.message
        assert "did you mean" not in problem.help
        assert VERSION in problem.help or problem.line == 1


def test_the_same_text_of_a_known_version_is_wrong() -> None:
    head = f".version {NEWEST[0]}.{NEWEST[1]}\n.target sm_90\n.address_size 64\n"
    for body in ("frobnicate.u32 %r1, %r2;", "add.u32 %r1, %r2;", "mov.u32 %r1, %frob_size;"):
        assert [code[0] for _, code, _ in found(body, head)] == ["E"]


def test_a_size_that_nothing_knows_is_an_error_where_it_is_needed() -> None:
    text = f"{HEAD}.entry k() {{ .reg .frob32 %q<2>; frobnicate.u32 %q1; ret; }}\n"
    assert [d.code for d in check_module(parse(text))] == ["W201", "W201", "W201"]
    assert [d.code for d in verify(parse(text))] == ["E212", "W201"]
