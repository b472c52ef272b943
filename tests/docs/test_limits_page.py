"""The page of E502 has the sizes that the simulator's records hold, and no others."""

import re

from checkout import CHECKOUT

from ptxsim.base.warp_masks import MOST_WARPS
from ptxsim.timing.memory.memory_state import MAX_CHANNELS, MAX_SLICES, MAX_SMS
from ptxsim.timing.sm_state import MAX_CONTEXTS, MAX_RESIDENT, MAX_SCHEDULERS, MOST_CTAS


def test_the_page_has_the_limits() -> None:
    text = (CHECKOUT / "docs" / "errors" / "E502.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+\.\w+)` \| (\d+) \|$", text, re.MULTILINE)
    assert {key: int(most) for key, most in rows} == {
        "sm.count": MAX_SMS,
        "sm.warps": MOST_WARPS,
        "sm.ctas": MOST_CTAS,
        "sm.schedulers": MAX_SCHEDULERS,
        "switching.ctas": MAX_RESIDENT,
        "switching.warps": MAX_CONTEXTS,
        "l2.slices": MAX_SLICES,
        "dram.channels": MAX_CHANNELS,
    }
