"""The verdicts of the syntax samples, asked of ptxas again."""

import pytest
from ptxas import needs_ptxas, ptxas_errors
from syntax_samples import ACCEPTED, REFUSED, whole

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

ARCH = "sm_90a"


@needs_ptxas
def test_ptxas_accepts_what_is_listed_as_accepted() -> None:
    wrong = {text: found for place, text in ACCEPTED if (found := ptxas_errors(whole(place, text), ARCH))}
    assert not wrong


@needs_ptxas
def test_ptxas_refuses_what_is_listed_as_refused_on_the_same_line() -> None:
    elsewhere: list[str] = []
    for place, text in REFUSED:
        source = whole(place, text)
        theirs = ptxas_errors(source, ARCH)
        assert theirs, text
        with pytest.raises(PtxError) as caught:
            parse(source)
        if caught.value.diagnostics[0].line not in theirs:
            elsewhere.append(text)
    assert len(elsewhere) <= len(REFUSED) * 3 // 100, elsewhere
