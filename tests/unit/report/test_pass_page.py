"""The pages of passes: options and the reference for each of them."""

import pytest

from ptxtool.passes.registry import PASSES, pass_info
from ptxtool.report.pass_page import pass_page


@pytest.mark.parametrize("name", PASSES)
def test_a_page_has_every_option_and_a_reference(name: str) -> None:
    page = pass_page(PASSES[name])
    assert page.startswith(f"# {name}\n\n")
    assert all(f"\n    {option}\n" in page for option in pass_info(PASSES[name]).options)
    about = page.partition("## What it does\n\n")[2]
    assert about[0].isupper() or about[0] == "`"
    assert "Pre: " in about
    assert "Reference: " in about
    assert "`ptxtool help rewrite`" in page.splitlines()[-1]


def test_the_parts_of_a_page() -> None:
    lines = pass_page(PASSES["compact"]).splitlines()
    assert lines[2:9] == [
        "Renumber registers onto the fewest that interference allows.",
        "",
        "    ptxtool rewrite -p compact:max-regs=... FILE",
        "",
        "## Options",
        "",
        "    max-regs=N (default: the fewest)",
    ]
    assert pass_page(PASSES["demote"]).endswith("`ptxtool help rewrite`, `ptxtool help allocation`")
    assert "It has none." in pass_page(PASSES["unroll-decls"])
