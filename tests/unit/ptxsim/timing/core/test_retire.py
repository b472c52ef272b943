"""Retirement: when the slot of a CTA is free again (timing-model section 1.8)."""

import pytest
from microkernels.measure import one_sm
from microkernels.scheme import EMPTY, launch

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


@pytest.mark.parametrize(
    ("gpu", "load", "low", "high"),
    [
        # 4 to the LDST head, 1 miss queue, 2 flits 8 + 1, ROP 120, tags 1, acknowledgement 7 + 1, FIFOs 2
        (OLD, 3, 145, 145),
        (NEW, 4, 175, 185),  # TM42 3.8: about 180
    ],
)
def test_a_slot_is_free_when_its_store_is_acknowledged(gpu: str, load: int, low: int, high: int) -> None:
    text = EMPTY.replace(
        "\tret;",
        "\t.reg .b64 %l1;\n\t.reg .b32 %r1;\n\tld.param.u64 %l1, [p];\n\tst.global.u32 [%l1], %r1;\n\tret;",
    )
    early, late = (launch(text, n, gpu=one_sm(gpu), registers=1000).cycles for n in (40, 60))
    # from the first issue of a CTA: the parameter, the store, its acknowledgement; 3 to the first issue of the next
    assert low <= (late - early) / 20 - load - 3 <= high
