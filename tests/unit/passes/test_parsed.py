"""Texts of passes are parsed once, under the name of their file."""

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.parse import parse
from ptxtool.passes.parsed import parsed

TEXT = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"


def test_equal_texts_have_one_module() -> None:
    module = parsed("".join(TEXT), "a.ptx")
    assert parsed(TEXT[:10] + TEXT[10:], "a.ptx") is module
    assert emit(module) == emit(parse(TEXT))


def test_another_name_or_text_has_another_module() -> None:
    assert parsed(TEXT, "a.ptx") is not parsed(TEXT, "b.ptx")
    assert parsed(TEXT, "b.ptx").source.name == "b.ptx"
    assert parsed(TEXT + "\n", "a.ptx").source.text == TEXT + "\n"


def test_errors_are_those_of_parse() -> None:
    for _ in range(2):
        with pytest.raises(PtxError):
            parsed(TEXT.replace("ret;", "ret"), "a.ptx")
