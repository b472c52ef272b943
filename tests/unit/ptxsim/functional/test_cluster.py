"""What CTAs of a cluster have in common, and what is each one's own."""

import numpy as np

from ptxsim.base.program import CONTEXT, N_BARRIERS
from ptxsim.functional.barriers import BARRIER, WARP
from ptxsim.functional.cluster import Member
from ptxsim.sanitizer.shadow_state import CHECKS


def test_another_cta_has_copies_of_its_own_arrays_only() -> None:
    """Addresses within an array of the CTA move by as much as the array; others stay."""
    context, checks = np.zeros(1, CONTEXT), np.zeros(1, CHECKS)
    rows, shared, shadow, memory = (np.full(64, n, np.uint8) for n in (1, 2, 3, 4))
    x, c = context[0], checks[0]
    x["r32"], x["scratch32"] = rows.ctypes.data, rows.ctypes.data + 32
    x["shared_memory"], x["global_memory"], x["cycle"] = shared.ctypes.data, memory.ctypes.data, 7
    c["shared_shadow"], c["global_shadow"] = shadow.ctypes.data, memory.ctypes.data
    warps, barriers = np.zeros(2, WARP), np.zeros(N_BARRIERS, BARRIER)
    first = Member(context, checks, warps, barriers, shared, (rows,), (shadow,))
    other = first.another()
    y, d = other.context[0], other.checks[0]
    assert y["r32"] == other.of_image[0].ctypes.data != x["r32"]
    assert y["scratch32"] == y["r32"] + 32
    assert y["shared_memory"] == other.shared.ctypes.data != x["shared_memory"]
    assert d["shared_shadow"] == other.of_checks[0].ctypes.data != c["shared_shadow"]
    assert (y["global_memory"], y["cycle"]) == (memory.ctypes.data, 7)
    assert d["global_shadow"] == memory.ctypes.data
    assert [a.tolist() for a in (*other.of_image, other.shared, *other.of_checks)] == [
        [n] * 64 for n in (1, 2, 3)
    ]
    other.warps["depth"] = 1
    assert not first.warps["depth"].any()
    assert len(first.arrays) == len(other.arrays) == 4
