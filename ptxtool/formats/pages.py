"""The pages of the diagnostic codes, `docs/errors/CODE.md`: for `check --explain` and for SARIF.

They are Markdown, written for people; tests run their examples (`tests/docs/test_error_pages.py`).
"""

from pathlib import Path

from ptxtool.base.diag import CODES
from ptxtool.base.resources import resource_dir


def page_path(code: str) -> Path:
    """Where the page of a code lies."""
    assert code in CODES, code
    return resource_dir("errors") / f"{code}.md"


def page(code: str) -> str:
    """The page of a code."""
    return page_path(code).read_text(encoding="utf-8").rstrip("\n")


def meaning(code: str) -> str:
    """What a code means: the first paragraph of its page, as one line."""
    return " ".join(page(code).split("\n\n")[1].split())
