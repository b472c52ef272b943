"""The page on register schemes names every decision and every field of a view; its examples: tests/docs."""

import re

from checkout import CHECKOUT

import ptxsim.schemes
from ptxsim.timing.residency.decisions import DECISIONS, NOTES, VIEW

PAGE = CHECKOUT / "docs" / "schemes.md"


def test_the_page_knows_every_decision_and_field() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert (
        set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))
        == set(DECISIONS)
        == set(ptxsim.schemes.__all__)
    )
    assert set(re.findall(r"\bview\.(\w+)", text)) == set(VIEW.names or ())
    assert f"`view.notes[{NOTES - 1}]`" in text
