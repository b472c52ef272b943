"""The words of declarations and of function heads: their order, and how many numbers a directive takes."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

HEAD = ".version 8.6\n.target sm_90\n"


def refused(text: str) -> tuple[str, str, str]:
    """Message, marked text and help of the first error."""
    with pytest.raises(PtxError) as caught:
        parse(HEAD + text)
    found = caught.value.diagnostics[0]
    assert found.code == "E101"
    return found.message, (HEAD + text)[found.start : found.end], found.help


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        (".global .u32 .align 8 v;", "unexpected '.align' after the type '.u32'", "state space, '.align'"),
        (".global .v2 .v4 .u32 v;", "unexpected '.v4' here", "the order is"),
        (".global .v8 .u32 v;", "'.v8' is no type of a variable", "vectors are '.v2' and '.v4'"),
        (".global .u32 .ptr v;", "unexpected '.ptr' after the type '.u32'", "the order is"),
        (".global .tf32 v;", "'.tf32' is no type of a variable", "'.b32'"),
        (".global .float v;", "'.float' is no type of a variable", "did you mean '.f32'?"),
        (
            ".entry k(.param .u64 .ptr .global .shared p) { ret; }",
            "unexpected '.shared' after the type '.u64'",
            ".ptr",
        ),
        (".entry k(.u64 p) { ret; }", "declaration without a state space", "write '.param' before the type"),
    ],
)
def test_words_of_a_declaration(text: str, message: str, help: str) -> None:
    found, _, advice = refused(text)
    assert found == message
    assert help in advice


@pytest.mark.parametrize(
    "text",
    [
        ".align 8 .global .u32 v;",
        ".global .attribute(.managed) .align 8 .v2 .u32 v;",
        ".entry k(.param .u64 .ptr .global .align 16 p, .param .align 8 .b8 s[4]) { ret; }",
        ".entry k(.param .u64 .ptr .align 16 p) { ret; }",
    ],
)
def test_words_in_order(text: str) -> None:
    assert parse(HEAD + text).items


@pytest.mark.parametrize(
    ("head", "message", "marked"),
    [
        (".entry k() .maxntid 1, 2, 3, 4", "'.maxntid' takes one to three numbers, not 4", ".maxntid"),
        (".entry k() .maxnreg 16, 32", "'.maxnreg' takes one number, not 2", ".maxnreg"),
        (".entry k() .maxntid 64, .5", "'.maxntid' takes whole numbers", ".5"),
        (".entry k() .maxnreg 1.5", "'.maxnreg' takes whole numbers", "1.5"),
        (".entry k() .explicitcluster 1", "'.explicitcluster' takes no number, not 1", ".explicitcluster"),
        (".entry k() .noreturn", "'.noreturn' at a '.entry'", ".noreturn"),
        (".func f() .maxntid 32", "'.maxntid' at a '.func'", ".maxntid"),
        (".entry k() .maxntdi 32", "unknown directive '.maxntdi'", ".maxntdi"),
    ],
)
def test_directives_of_a_head(head: str, message: str, marked: str) -> None:
    assert refused(f"{head} {{ ret; }}")[:2] == (message, marked)


def test_a_prototype_takes_directives_of_functions() -> None:
    assert parse(f"{HEAD}.entry k() {{ p: .callprototype _ () .noreturn; ret; }}").items
    text = ".entry k() { p: .callprototype _ () .maxntid 1; ret; }"
    assert refused(text)[0] == "'.maxntid' at a '.callprototype'"
