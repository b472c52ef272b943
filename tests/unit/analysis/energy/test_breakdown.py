import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxtool.analysis.energy.breakdown import LEAKAGE, EnergyBreakdown, energy_of
from ptxtool.analysis.energy.coefficients import Energy

KEYS = Energy.__struct_fields__
WATTS = ("sm_watts", "rest_watts")
EVENTS = tuple(name for name in KEYS if name not in WATTS)

costs = st.fixed_dictionaries({name: st.floats(0, 1e6) for name in KEYS})
happened = st.dictionaries(st.sampled_from(EVENTS), st.integers(0, 10**9))


def machine(**costs: float) -> Energy:
    """Coefficients of 0 but for those that are given."""
    return Energy(**(dict.fromkeys(KEYS, 0.0) | costs))


def test_a_run_worked_by_hand() -> None:
    """1000 instructions at 2000 pJ are 2 uJ, 500 DRAM bytes at 300 pJ 0.15 uJ. 6000 cycles at 600 MHz are 10 us, in
    which 4 SMs of 1.5 W and the rest of 2 W leak 8 W * 10 us = 80 uJ. (80 + 2.15) uJ / 10 us = 8.215 W."""
    coefficients = machine(instruction=2000, dram=300, sm_watts=1.5, rest_watts=2)
    found = energy_of({"instruction": 1000, "dram": 500, "sfu": 0}, coefficients, 4, 6000, 600)
    assert found.parts_uj == pytest.approx({"instruction": 2.0, "dram": 0.15, "sfu": 0.0, LEAKAGE: 80.0})
    assert found.time_us == 10
    assert found.total_uj == pytest.approx(82.15)
    assert found.power_w == pytest.approx(8.215)
    assert str(found) == "82.15 uJ, 8.215 W on average"
    assert found.shares_text == "leakage 97%"


def test_shares_are_in_order_of_size() -> None:
    """Of 200 uJ 6 are 3%, and what is smaller is not shown."""
    parts = {"sp": 32.0, "l2": 2.0, "register_read": 60.0, "dram": 100.0, "sfu": 6.0, "ldst": 0.0}
    assert EnergyBreakdown(parts, 1.0).shares_text == "dram 50%, register read 30%, sp 16%, sfu 3%"


@pytest.mark.parametrize(
    ("uj", "text"),
    [
        (0.0, "0 uJ"),
        (0.5, "0.5 uJ"),
        (999.9, "999.9 uJ"),
        (999.99, "1 mJ"),
        (12345.6, "12.35 mJ"),
        (4.2e9, "4200 J"),
    ],
)
def test_the_unit_suits_the_number(uj: float, text: str) -> None:
    assert EnergyBreakdown({"dram": uj}, 1.0).total_text == text


@given(happened, costs, st.integers(1, 80), st.integers(0, 10**9))
def test_the_parts_sum_to_the_total(
    events: dict[str, int], costs: dict[str, float], sms: int, cycles: int
) -> None:
    found = energy_of(events, Energy(**costs), sms, cycles, 700)
    by_hand = sum(n * costs[name] for name, n in events.items()) * 1e-6
    by_hand += (costs["sm_watts"] * sms + costs["rest_watts"]) * cycles / 700
    assert found.total_uj == pytest.approx(by_hand)
    assert found.total_uj == pytest.approx(sum(found.parts_uj.values()))


@given(happened, costs, st.sampled_from(EVENTS))
def test_twice_the_cost_is_twice_the_part_and_nothing_else(
    events: dict[str, int], costs: dict[str, float], name: str
) -> None:
    once = energy_of(events, Energy(**costs), 14, 1000, 575).parts_uj
    twice = energy_of(events, Energy(**(costs | {name: 2 * costs[name]})), 14, 1000, 575).parts_uj
    assert twice == {part: 2 * uj if part == name else uj for part, uj in once.items()}


@given(happened, happened, costs)
def test_launches_together(one: dict[str, int], other: dict[str, int], costs: dict[str, float]) -> None:
    runs = [energy_of(events, Energy(**costs), 2, 100, 500) for events in (one, other)]
    both = EnergyBreakdown.together(runs)
    assert both.total_uj == pytest.approx(runs[0].total_uj + runs[1].total_uj)
    assert both.time_us == pytest.approx(0.4)
    assert both.power_w == pytest.approx((runs[0].power_w + runs[1].power_w) / 2)


def test_plain_data_and_back() -> None:
    found = energy_of({"shared": 3}, machine(shared=5000, rest_watts=1), 1, 50, 100)
    data = json.loads(json.dumps(found.to_dict()))
    assert data == {
        "total_uj": pytest.approx(0.515),
        "power_w": pytest.approx(1.03),
        "time_us": 0.5,
        "parts_uj": {"shared": pytest.approx(0.015), "leakage": 0.5},
    }
    assert EnergyBreakdown.from_dict(data) == found


def test_a_run_of_no_cycles_has_no_power() -> None:
    assert energy_of({}, machine(sm_watts=9), 14, 0, 575).power_w == 0


def test_every_kind_of_events_is_a_key() -> None:
    with pytest.raises(AttributeError):
        energy_of({"magic": 1}, machine(), 1, 1, 1)
    assert set(msgspec.structs.asdict(machine())) == {*EVENTS, *WATTS}
