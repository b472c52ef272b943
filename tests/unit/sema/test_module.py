"""What every diagnostic has, held on the golden cases of `check`: a place, one line in lower case, a next step."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from checkout import TESTS

from ptxtool.base.diag import CODES, Diagnostic, PtxError
from ptxtool.parse import parse
from ptxtool.sema.module import check_module

CASES = sorted((TESTS / "cases" / "check").glob("*.ptx*"))


def diagnostics_of(path: Path) -> Sequence[Diagnostic]:
    try:
        return check_module(parse(path.read_bytes(), path.name))
    except PtxError as found:
        return found.diagnostics


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_diagnostic_can_be_acted_on(path: Path) -> None:
    found = diagnostics_of(path)
    assert found, "a case of `check` shows at least one diagnostic"
    for one in found:
        assert one.source is not None
        assert one.start <= one.end <= len(one.source.text)
        assert one.help, one.message
        for text in (one.message, one.help):
            assert "\n" not in text
            assert not text[0].isupper() or text.split()[0].strip(":,") in ("GPGPU-Sim", "PTX"), text


def test_the_cases_show_most_codes_of_the_text_and_its_meaning() -> None:
    shown = {one.code for path in CASES for one in diagnostics_of(path)}
    elsewhere = {"E103", "E104", "E205", "W201"}  # no assembly text, or not from `check`
    assert {code for code in CODES if code[1] in "12"} - elsewhere == shown
