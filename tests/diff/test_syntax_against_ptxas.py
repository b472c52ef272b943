"""The verdicts of the syntax samples and of the directives, asked of ptxas again."""

import directive_samples
import pytest
from directive_samples import RIGHT, WRONG, Right, Wrong
from ptxas import needs_ptxas, ptxas_errors
from syntax_samples import ACCEPTED, REFUSED, whole

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

ARCH = "sm_90a"
DIRECTIVES_ARCH = "sm_100a"


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


@needs_ptxas
@pytest.mark.parametrize("sample", [*RIGHT, *WRONG], ids=lambda sample: sample.text.replace("\n", " ")[:60])
def test_ptxas_on_directives(sample: Right | Wrong) -> None:
    source = directive_samples.whole(sample)
    theirs = ptxas_errors(source, DIRECTIVES_ARCH)
    if isinstance(sample, Right):
        assert not theirs
        return
    with pytest.raises(PtxError) as caught:
        parse(source)
    assert caught.value.diagnostics[0].line in theirs
