"""The page about applications lists the calls that the library implements."""

from documents import CHECKOUT

from ptxtool.applications.library import implemented


def test_the_list_of_calls() -> None:
    text = (CHECKOUT / "docs" / "exec.md").read_text(encoding="utf-8")
    listed = text.split("## Calls")[1].split("```text\n")[1].split("```")[0].split()
    assert listed == sorted(name for name in implemented() if not name.startswith("__"))
