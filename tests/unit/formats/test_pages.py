"""The pages of diagnostic codes: there is one for each code, and its first paragraph is what the code means."""

from ptxtool.base.diag import CODES
from ptxtool.formats.pages import meaning, page, page_path


def test_every_code_has_a_page_with_a_meaning() -> None:
    for code in CODES:
        assert page_path(code).name == f"{code}.md"
        assert page(code).startswith("# "), code
        assert meaning(code).endswith((".", ":")), code
        assert "\n" not in meaning(code)


def test_the_meaning_is_the_first_paragraph() -> None:
    text = page("E104")
    first = text.split("\n\n")[1]
    assert meaning("E104").split() == first.split()
    assert not text.endswith("\n")
