"""What ptxas accepts parses, either way and byte for byte; what it refuses as a syntax error does not."""

import pytest
from syntax_samples import ACCEPTED, REFUSED, whole

from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.parse import parse, parse_with_lark


@pytest.mark.parametrize(("place", "text"), ACCEPTED)
def test_accepted(place: str, text: str) -> None:
    source = whole(place, text)
    module = parse(source)
    assert module == parse_with_lark(source)
    assert emit(module) == source


@pytest.mark.parametrize(("place", "text"), REFUSED)
def test_refused(place: str, text: str) -> None:
    source = whole(place, text)
    with pytest.raises(PtxError) as caught:
        parse(source)
    assert all(d.code in ("E101", "E102") and d.help for d in caught.value.diagnostics)
    with pytest.raises(PtxError):
        parse_with_lark(source)
