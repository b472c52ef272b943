"""The sharing plan against every entry of the papers' tables of resident thread blocks, and its edges by hand."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from resident_ctas import GPU, GPU_16K, REGISTERS, SCRATCHPAD, with_registers, with_scratchpad

from ptxtool.analysis.occupancy.sharing_plan import (
    percentage,
    percentage_data,
    percentage_text,
    private_part,
    register_curve,
    sharing_plan,
)
from ptxtool.base.diag import PtxError


@pytest.mark.parametrize("application", REGISTERS)
def test_register_sharing_table(application: str) -> None:
    assert with_registers(application) == REGISTERS[application][2]


@pytest.mark.parametrize("application", SCRATCHPAD)
def test_scratchpad_sharing_table(application: str) -> None:
    assert with_scratchpad(application) == SCRATCHPAD[application][2]


def test_the_tables_here_are_the_papers(shared: Path) -> None:
    tables = json.loads((shared / "reference" / "paper_tables.json").read_text())["jatala"]
    for name, (_, _, row) in REGISTERS.items():
        assert tuple(tables["000_table5"]["rows"][name]) == row
    for name, (_, _, row) in SCRATCHPAD.items():
        assert tuple(tables["004_tableVIII"]["rows"][name]) == row
    assert {r[1]: (r[3], r[4]) for r in tables["000_table2"]["rows"]} == {
        n: v[:2] for n, v in REGISTERS.items()
    }
    assert {r[2]: (r[4], r[5]) for r in tables["004_tableIII"]["rows"]} == {
        n: v[:2] for n, v in SCRATCHPAD.items()
    }
    assert len(tables["000_table5"]["rows"]) * 6 + len(tables["004_tableVIII"]["rows"]) * 6 == 90


@pytest.mark.parametrize(
    ("application", "unshared", "pairs"),  # at 90%: S = M - g and U = 2g - M where a limit cuts M
    [
        ("backprop", 4, 1),
        ("MUM", 2, 2),
        ("hotspot", 0, 3),
        ("LIB", 0, 4),
        ("sgemm", 2, 3),
        ("b+tree", 1, 1),
        ("stencil", 1, 1),
    ],
)
def test_limits_are_met_with_the_fewest_pairs(application: str, unshared: int, pairs: int) -> None:
    threads, registers, _ = REGISTERS[application]
    plan = sharing_plan(GPU, threads, registers, share_registers=90)
    assert (plan.unshared_ctas, plan.shared_pairs) == (unshared, pairs)
    assert plan.unshared_ctas + 2 * plan.shared_pairs == plan.resident_ctas


@pytest.mark.parametrize(
    ("application", "unshared", "pairs"),  # at 90%: S = min(g, floor((x - g) / 0.1)), but M / 2 at most
    [
        ("backprop", 0, 3),  # x = 5.333: 3, and M = 6
        ("MUM", 0, 3),  # x = 4.571: g = 4, and M = 6
        ("hotspot", 0, 3),
        ("sgemm", 2, 3),  # x = 5.333: 3, though M = 8
        ("stencil", 1, 1),
    ],
)
def test_or_with_as_many_as_there_can_be(application: str, unshared: int, pairs: int) -> None:
    threads, registers, _ = REGISTERS[application]
    plan = sharing_plan(GPU, threads, registers, share_registers=90, pairs="most")
    assert (plan.unshared_ctas, plan.shared_pairs) == (unshared, pairs)
    assert plan.resident_ctas == sharing_plan(GPU, threads, registers, share_registers=90).resident_ctas


@pytest.mark.parametrize(
    ("registers", "percent", "private"),
    [(36, 90, 3), (24, 90, 2), (48, 90, 4), (36, 0, 36), (30, 50, 15), (36, 99, 0)],
)
def test_private_registers_are_rounded_down(registers: int, percent: int, private: int) -> None:
    assert sharing_plan(GPU, 256, registers, share_registers=percent).private_registers == private


def test_private_scratchpad_of_a_pair() -> None:
    plan = sharing_plan(GPU_16K, 128, 8, 7200, share_scratchpad=90)
    assert (plan.private_scratchpad, plan.private_registers) == (720, 8)
    assert plan.limiter == "scratchpad"


def test_the_arithmetic_is_exact_at_a_boundary() -> None:
    # SRAD2: 16384 = 3 * 5120 + 1024 and a pair takes 512 more at 90%: exactly two pairs
    assert sharing_plan(GPU_16K, 256, 8, 5120, share_scratchpad=90).shared_pairs == 2
    assert sharing_plan(GPU_16K, 256, 8, 5120, share_scratchpad="89.99").shared_pairs == 1
    assert sharing_plan(GPU_16K, 256, 8, 5120, share_scratchpad=Fraction(90)).shared_pairs == 2


def test_what_limits_a_plan() -> None:
    plan = sharing_plan(GPU, 256, 36, share_registers=90)
    assert plan.all_limiters == ("registers", "threads")  # g + S = 6, 1536 // 256 = 6
    assert sharing_plan(GPU, 256, 24, share_registers=90).limiter == "threads"
    assert sharing_plan(GPU, 128, 48, share_registers=90).all_limiters == ("registers", "ctas")  # 5 + 3 = 8


def test_another_resource_below_g_leaves_nothing_to_share() -> None:
    plan = sharing_plan(GPU, 256, 36, 49152, share_registers=90)  # the scratchpad holds one CTA
    assert (plan.resident_ctas, plan.unshared_ctas, plan.shared_pairs) == (1, 1, 0)
    assert (plan.limiter, plan.shared_pairs) == ("scratchpad", 0)


def test_sharing_a_resource_that_is_not_used_changes_nothing() -> None:
    plan = sharing_plan(GPU, 256, 24, 0, share_scratchpad=90)
    assert (plan.resident_ctas, plan.shared_pairs) == (5, 0)


def test_no_sharing_is_the_plain_occupancy() -> None:
    plan = sharing_plan(GPU, 256, 36)
    assert str(plan) == str(plan.unshared)
    assert (plan.resident_ctas, plan.unshared_ctas, plan.shared_pairs, plan.private_registers) == (
        3,
        3,
        0,
        36,
    )


def test_plain_data_has_the_promised_keys() -> None:
    data = sharing_plan(GPU, 256, 36, share_registers=90).to_dict()
    picked = {
        k: data[k] for k in ("resident_ctas", "limiter", "unshared_ctas", "shared_pairs", "private_registers")
    }
    assert picked == {
        "resident_ctas": 6,
        "limiter": "registers",
        "unshared_ctas": 0,
        "shared_pairs": 3,
        "private_registers": 3,
    }
    assert json.loads(json.dumps(data)) == data


def test_text_of_a_plan() -> None:
    assert str(sharing_plan(GPU, 256, 36, share_registers=90)) == (
        "6 resident CTAs at 90% register sharing, 3 without; limited by registers and threads (tesla-c2050)\n"
        "  unshared CTAs 0, shared pairs 3, private 3 of 36 registers per thread\n"
        "  active warps 48 of 48"
    )


def test_curve_stops_where_a_cta_no_longer_fits() -> None:
    plans = register_curve(GPU, 1024, share_registers=90)
    assert [p.unshared.needs.registers_per_thread for p in plans] == list(range(1, 33))  # 32768 / 1024 = 32
    assert {p.resident_ctas for p in plans} == {1}
    assert [p.resident_ctas for p in register_curve(GPU, 256, registers=(20, 24, 36))] == [6, 5, 3]


@pytest.mark.parametrize("value", [100, "100", -1, 101, "ninety", "1/0", 0.9, True])
def test_percentages_outside_the_range_are_refused(value: object) -> None:
    with pytest.raises(PtxError) as caught:
        sharing_plan(GPU, 256, 36, share_registers=value)  # type: ignore[arg-type]
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E502"
    assert diagnostic.help


def test_a_hundred_percent_is_refused_with_the_reason() -> None:
    with pytest.raises(PtxError, match="leaves a CTA no private part"):
        percentage(100)


def test_two_resources_at_once_are_refused() -> None:
    with pytest.raises(PtxError, match="at once"):
        sharing_plan(GPU, 256, 36, 4096, share_registers=90, share_scratchpad=90)


def test_private_part_of_a_decimal_percentage() -> None:
    assert private_part(1000, percentage("12.5")) == 875


@pytest.mark.parametrize(
    ("given", "text", "data"),
    [
        ("0", "0", 0),
        ("90.0", "90", 90),
        ("25/2", "12.5", 12.5),
        ("0.3", "0.3", 0.3),
        ("100/3", "100/3", "100/3"),
        ("0.0000001", "0.0000001", "0.0000001"),
        ("33.3333333333333333333333333333333333333", "33.3333333333333333333333333333333333333", None),
        ("1/1099511627776", "1/1099511627776", "1/1099511627776"),  # a decimal of 42 characters
    ],
)
def test_percentages_are_written_without_loss(given: str, text: str, data: object) -> None:
    percent = percentage(given)
    assert percentage_text(percent) == text
    assert percentage(percentage_text(percent)) == percent
    assert percentage_data(percent) == (text if data is None else data)
