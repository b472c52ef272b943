"""Occupancy and sharing plans as tables."""

from ptxtool import api
from ptxtool.report.simulations.machines import curve_table, demotion_parts, plan_parts


def test_a_plan_without_sharing() -> None:
    """256 threads of 36 registers are 9216 of 32768: three CTAs, 24 of 48 warps."""
    lines = "\n".join(map(str, plan_parts(api.occupancy(256, 36)))).splitlines()
    assert lines[0] == "3 resident CTAs on an SM of tesla-c2050, limited by registers"
    assert lines[1].startswith("24 of 48 warps; a CTA: 256 threads, 36 registers per thread (9216 allocated)")
    assert "without sharing" not in "\n".join(lines)


def test_a_plan_with_sharing_says_what_is_private() -> None:
    """90% shared: a pair takes 1.1 CTAs, so that three pairs fit where three CTAs did (36 / 10 = 3 private)."""
    text = "\n".join(map(str, plan_parts(api.occupancy(256, 36, share_registers=90))))
    assert "90% of registers shared" in text
    assert "(3 CTAs without sharing)" in text
    assert "private: 3 of 36 registers per thread" in text


def test_neighbours_of_a_curve_share_a_row() -> None:
    """Eight CTAs of 128 threads are the most of an SM. Registers admit a ninth up to 32768 / 128 / 9 = 28."""
    shown = str(curve_table(api.register_curve(128, 0))).splitlines()
    assert [line.split()[:2] for line in shown[3:5]] == [["1-28", "8"], ["29-32", "8"]]


def test_targets_of_demotion() -> None:
    """RegDem's cfd, where shared memory ends it; and registers that limit nothing."""
    (table,) = demotion_parts(api.demotion_targets(192, 68, gpu="gtx-titan-x"), 68)
    lines = str(table).splitlines()
    assert [line.split()[:5] for line in lines[3:5]] == [
        ["68", "-", "-", "4", "24"],
        ["56", "14", "10752", "6", "36"],
    ]
    assert lines[5].startswith("no more: 16896 bytes of shared memory for 48 registers would leave")
    (reason,) = demotion_parts(api.demotion_targets(256, 32, gpu="sm_52"), 32)
    assert reason == "no count below 32 registers is worth demoting to: threads limit an SM to 8 CTAs"
