"""Every directive parses where it belongs, as whole-file Lark has it, and keeps its text; elsewhere it is refused."""

import re

import pytest
from directive_samples import BODY, MODULE, OLD, RIGHT, WRONG, Right, Wrong, whole

from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.emit.layout import layout
from ptxtool.parse import parse, parse_with_lark
from ptxtool.parse.grammar import terminals
from ptxtool.parse.specifiers import TUNING

KEYWORDS = re.compile(r"\\\.(?:\(\?:)?([a-z_|]+)")
LINES = {MODULE: 4, BODY: 7}


def name_of(sample: Right | Wrong) -> str:
    return sample.text.replace("\n", " ")[:60]


@pytest.mark.parametrize("sample", [*RIGHT, *OLD], ids=name_of)
def test_where_it_belongs(sample: Right) -> None:
    text = whole(sample)
    module = parse(text)
    assert module == parse_with_lark(text)
    assert emit(module) == text
    assert parse(layout(module)).items  # what this means is held to by tests/prop/test_layout.py


@pytest.mark.parametrize("sample", WRONG, ids=name_of)
def test_where_it_may_not_stand(sample: Wrong) -> None:
    text = whole(sample)
    with pytest.raises(PtxError) as caught:
        parse(text)
    first = caught.value.diagnostics[0]
    assert first.start is not None
    assert text[first.start : first.end] == sample.blamed
    assert first.line == LINES[sample.place]
    assert first.help
    with pytest.raises(PtxError):
        parse_with_lark(text)


def test_no_directive_is_left_out() -> None:
    keywords = set(TUNING)
    for name, terminal in terminals().items():
        words = KEYWORDS.match(terminal.regex)
        if words and name != "SECTION_DATA":
            keywords |= {f".{word}" for word in words[1].split("|")}
    assert {".version", ".sstarr", ".common", ".ptr", ".maxnreg"} <= keywords
    assert keywords <= {sample.name for sample in (*RIGHT, *OLD)}
