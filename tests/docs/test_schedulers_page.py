"""The page on warp schedulers names every scheduler, and fields that there are; its examples: tests/docs."""

import re

from checkout import CHECKOUT

import ptxsim.timing.schedulers
from ptxsim.timing.sm_state import SM, policy_numbers

PAGE = CHECKOUT / "docs" / "schedulers.md"


def test_the_page_knows_every_scheduler_and_no_other_field() -> None:
    text = PAGE.read_text(encoding="utf-8")
    names = set(re.findall(r"^\| `([a-z_]+)(?::N)?` \|", text, re.MULTILINE))
    assert names == set(ptxsim.timing.schedulers.SCHEDULERS)
    fields = set(re.findall(r"\bsm\.(\w+)", text))
    assert fields <= set(SM.names or ())
    assert f"[scheduler, {policy_numbers(64) - 1}]" in text
