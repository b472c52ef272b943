"""Symbols and folding ranges."""

from lsp_texts import PTX, at

from ptxtool.lsp.outline import folds, symbols
from ptxtool.parse import parse


def test_symbols() -> None:
    found = symbols(parse(PTX))
    assert [(s.name, s.kind, s.detail) for s in found] == [
        ("total", "variable", ".global .u32"),
        ("twice", "function", ".func"),
        ("k", "kernel", ".visible .entry"),
    ]
    assert [(s.name, s.kind) for s in found[2].inner] == [("cache", "variable"), ("LOOP", "label")]
    assert found[2].name_start == at(PTX, "k(.param")


def test_folds() -> None:
    text = "/* a\n   b */\n// one\n" + PTX
    kinds = [(text[f.start], text[f.end - 1 : f.end + 1].strip(), f.kind) for f in folds(parse(text))]
    # the comment of two lines, `twice`, `k` and its block; one line of comment is none
    assert kinds == [("/", "/", "comment"), ("{", "}", "region"), ("{", "}", "region"), ("{", "}", "region")]
