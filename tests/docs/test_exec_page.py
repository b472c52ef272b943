"""The page about applications lists the calls that the library implements."""

import re

from documents import CHECKOUT

from ptxtool.applications.library import implemented


def test_the_lists_of_calls() -> None:
    text = (CHECKOUT / "docs" / "exec.md").read_text(encoding="utf-8")
    runtime, driver = re.findall(r"```text\n(.*?)```", text.split("## Calls")[1], re.DOTALL)
    calls = {name for name in implemented() if not name.startswith("__")}
    assert runtime.split() == sorted(name for name in calls if name.startswith("cuda"))
    assert driver.split() == sorted(
        {re.sub(r"_v\d$", "", name) for name in calls if not name.startswith("cuda")}
    )
