"""Where statements begin and end."""

import pytest

from ptxtool.parse import splitter


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (" // c\n@!%p1 add .s32 a, b; ret;", splitter.OPERANDS),
        ("add.s32 a, b / c;", splitter.OPERANDS),
        ("L1 : ret;", splitter.LABEL),
        (".loc 1 2 3\nret;", splitter.LOC),
        (".loc 1 2 3, inlined_at 1 2 3", splitter.DOT),
        (".loc 1 2 3\n, function_name L", splitter.DOT),
        (".reg .u32 a;", splitter.DOT),
        ("{", splitter.OPEN),
        ("/* c */ }", splitter.CLOSE),
        (" // the end", splitter.END),
        ("add.s32 a, /* ; */ b;", splitter.OTHER),
        ("%r1 = 4;", splitter.OTHER),
    ],
)
def test_the_kind_of_the_next_statement(text: str, kind: int) -> None:
    match = splitter.next_statement().match(text)
    assert match is not None
    assert match.lastindex == kind


def test_an_instruction_is_guard_opcode_and_operands() -> None:
    match = splitter.next_statement().match("\t@ !%p1 add .s32\t a, [b+4];ret;")
    assert match is not None
    guard, opcode, operands = match.group(splitter.GUARD, splitter.OPCODE, splitter.OPERANDS)
    assert (guard, opcode, operands) == ("@ !%p1", "add .s32", "a, [b+4]")
    parts = splitter.guard_parts().fullmatch(guard)
    assert parts is not None
    assert parts.groups() == ("!", "%p1")


def test_a_statement_does_not_end_in_a_string_or_comment() -> None:
    text = '.pragma "a;b" /* ; */ // ;\n, "c"; ret;'
    match = splitter.end_at(";").match(text)
    assert match is not None
    assert match[0] == text[: -len(" ret;")]


def test_a_head_goes_on_after_its_pragma() -> None:
    head = '.entry k() .pragma "a{"; .maxntid 1 /* { */ '
    match = splitter.head_end().match(head + "{ ret; }")
    assert match is not None
    assert match[0] == head


def test_a_keyword_says_which_rule_follows() -> None:
    texts = {
        ".visible /* c */ .entry k": "function_head",
        ".visible .global .u32 x": "declaration",
        ".align 8": "declaration",
        ".callprototype _": "call_prototype",
        ".version 8.0": "version",
    }
    found = {text: splitter.keywords().match(text) for text in texts}
    assert {text: match and match.lastgroup for text, match in found.items()} == texts
    assert splitter.keywords().match(".golbal .u32 x") is None


def test_any_text_is_matched_and_nothing_is_skipped() -> None:
    text = 'add a, b; § L: { " } .x'
    matches = list(splitter.next_statement().finditer(text))
    assert "".join(match[0] for match in matches) == text
    assert matches[-1].lastindex == splitter.END
