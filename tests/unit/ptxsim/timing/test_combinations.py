"""What a register scheme is not simulated with: every row of the table, in one form."""

from typing import Any

import numpy as np
import pytest
from microkernels.switching import waiting_kernel

import ptxsim
import ptxtool
from ptxsim.timing.combinations import CALLS, CLUSTERS, COPIES, REFUSED, SHARING
from ptxtool.base.diag import PtxError

PLAIN = waiting_kernel(3)
TEXTS = {
    SHARING: PLAIN,
    COPIES: PLAIN.replace("sm_35", "sm_80")
    .replace(".version 4.0", ".version 7.0")
    .replace("\tret;", "\tcp.async.wait_all;\n\tret;"),
    CLUSTERS: PLAIN.replace("sm_35", "sm_90").replace(".version 4.0", ".version 8.0"),
    CALLS: PLAIN.replace(".visible .entry", ".func f() { ret; }\n.visible .entry").replace(
        "\tret;\n}\n", "\tcall f;\n\tret;\n}\n"
    ),
}
SCHEMES = {
    "CTA switching": ("virtual-thread", "reg-dram", "finereg", "finereg-unified", "virtual-thread-regmutex"),
    "a pool of registers": ("regmutex",),
    "unified memory": ("unified",),
    "release by name": ("release-by-name",),
    "sharing": ("none",),
}
CASES = [(part, what, scheme) for part in REFUSED for what in REFUSED[part] for scheme in SCHEMES[part]]


@pytest.mark.parametrize(("part", "what", "scheme"), CASES)
def test_a_part_with_what_it_excludes(part: str, what: str, scheme: str) -> None:
    text = TEXTS[what]
    if part == "a pool of registers":
        acquire, release = (f'\t.pragma "{word}-extended-registers";\n' for word in ("acquire", "release"))
        text = text.replace("\tmov.u32 %r70", f"{acquire}\tmov.u32 %r79, 1;\n{release}\tmov.u32 %r70", 1)
    options: dict[str, Any] = {"cluster": 2} if what == CLUSTERS else {}
    if part == "sharing" or what == SHARING:
        options["share_registers"] = 90
    kernel = ptxtool.parse(text, name="k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        ptxsim.launch(
            kernel, 2, 32, [np.zeros(64, np.uint32)], gpu="gtx980-finereg", scheme=scheme, **options
        )
    (found,) = caught.value.diagnostics
    named, way_out = ("", "") if scheme == "none" else (f" ({scheme})", ' (scheme="none")')
    assert (found.code, found.message) == ("E502", f"{part}{named} together with {what}: not simulated")
    assert found.help == f"{REFUSED[part][what]}: leave one of the two out{way_out}"
    assert found.source is kernel.source


def test_every_part_has_a_row() -> None:
    assert set(REFUSED) == set(SCHEMES)
