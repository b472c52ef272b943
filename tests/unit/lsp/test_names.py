"""Names mean what the language says: inner declarations hide outer ones."""

from lsp_texts import PTX, PTXPLUS, at

from ptxtool.lsp.names import Meaning, occurrences, outer_occurrences, words
from ptxtool.parse import parse


def test_words_skip_comments_strings_and_modifiers() -> None:
    text = 'add.s32 %r1, /* %r2 */ x; // y\n"z" %tid.x 0x1f'
    assert [word for _, _, word in words(text, 0, len(text))] == ["add", "%r1", "x", "%tid"]


def test_an_inner_register_hides_the_outer_one() -> None:
    function = parse(PTX).functions["k"]
    named = {o.start: o for o in occurrences(function)}
    inner = named[at(PTX, "mov.u32 %r2, 5", inside="%r2")]
    outer = named[at(PTX, "setp.lt.u32 %p1, %r2", inside="%r2")]
    assert inner.meaning.place == at(PTX, ".reg .u32 %r2;")
    assert outer.meaning.place == at(PTX, ".reg .u32 %r<6>")
    assert inner.role == "written"
    assert outer.role == "read"


def test_every_kind_of_name() -> None:
    function = parse(PTX).functions["k"]
    kinds = {(PTX[o.start : o.end], o.meaning.kind) for o in occurrences(function)}
    assert {
        ("LOOP", "label"),
        ("cache", "variable"),
        ("data", "variable"),
        ("total", "variable"),
        ("twice", "function"),
        ("k", "function"),
        ("%tid", "special"),
        ("%rd", "range"),
    } <= kinds


def test_names_outside_of_functions() -> None:
    found = list(outer_occurrences(parse(PTX)))
    assert [(o.meaning, o.role) for o in found] == [(Meaning("variable", "total"), "declared")]


def test_ptxplus() -> None:
    function = parse(PTXPLUS).functions["k"]
    found = [(PTXPLUS[o.start : o.end], o.role) for o in occurrences(function) if o.meaning.name == "$r1"]
    assert found == [("$r1", "written"), ("$r1", "read"), ("$r1", "read")]
