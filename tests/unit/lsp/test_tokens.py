"""The kinds of words."""

from lsp_texts import PTX, at

from ptxtool.lsp.tokens import KINDS, semantic_tokens


def kind_of(text: str, words: str, inside: str = "") -> str:
    place = at(text, words, inside=inside or words)
    return next(KINDS[t.kind] for t in semantic_tokens(text) if t.start == place)


def test_kinds() -> None:
    assert kind_of(PTX, "setp.lt.u32", "setp") == "keyword"
    assert kind_of(PTX, "setp.lt.u32", ".lt") == "modifier"
    assert kind_of(PTX, "setp.lt.u32", ".u32") == "type"
    assert kind_of(PTX, "%r2, 100", "%r2") == "variable"
    assert kind_of(PTX, "%tid.x") == "macro"
    assert kind_of(PTX, "bra LOOP", "LOOP") == "label"
    assert kind_of(PTX, ".visible") == "decorator"
    assert kind_of(PTX, "100") == "number"


def test_a_comment_of_two_lines_is_two_tokens() -> None:
    assert [(t.start, t.end) for t in semantic_tokens("/* a\nb */")] == [(0, 4), (5, 9)]


def test_a_part_has_the_tokens_of_the_whole() -> None:
    start, stop = at(PTX, "\tsetp.lt.u32"), at(PTX, "\tcall (")
    part = [*semantic_tokens(PTX, start, stop)]
    assert part == [t for t in semantic_tokens(PTX) if start <= t.start < stop]
