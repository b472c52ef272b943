"""The conditions of PTXPlus guards: what they say of two numbers that were compared, and the numbers of guards."""

import pytest

from ptxtool.isa.conditions import CONDITIONS, condition, guard_code

FLAGS = {"less": 0b0010, "equal": 0b0001, "greater": 0b0000, "unordered": 0b0011}
"""The register after a comparison without overflow: bit 0 is Z, bit 1 is S; both are set for a NaN."""
OVERFLOW = 0b1000


@pytest.mark.parametrize(
    ("name", "outcomes"),
    [
        ("lt", "less"),
        ("eq", "equal"),
        ("le", "less equal"),
        ("gt", "greater"),
        ("ne", "less greater"),
        ("ge", "equal greater"),
        ("num", "less equal greater"),
        ("nan", "unordered"),
        ("ltu", "less unordered"),
        ("equ", "equal unordered"),
        ("leu", "less equal unordered"),
        ("gtu", "greater unordered"),
        ("neu", "less greater unordered"),
        ("geu", "equal greater unordered"),
        ("fl", ""),
        ("tr", "less equal greater unordered"),
    ],
)
def test_a_condition_holds_for_the_outcomes_that_it_names(name: str, outcomes: str) -> None:
    found = condition(name)
    assert found is not None
    assert [outcome for outcome, flags in FLAGS.items() if found.holds(flags)] == outcomes.split()


def test_a_difference_that_overflowed_has_the_opposite_sign() -> None:
    """-2^31 < 1, whose difference is 2^31 - 1: a positive number, with overflow."""
    less, greater = condition("lt"), condition("gt")
    assert less is not None
    assert greater is not None
    assert less.holds(FLAGS["greater"] | OVERFLOW)
    assert not greater.holds(FLAGS["greater"] | OVERFLOW)
    assert greater.holds(FLAGS["less"] | OVERFLOW)


def test_the_hardware_numbers_are_the_rows() -> None:
    assert [each.code for each in CONDITIONS] == list(range(32))
    assert condition("leg") is condition("num")
    assert condition("never") is None


@pytest.mark.parametrize(
    ("name", "negated", "code"),
    [("", False, 5), ("", True, 10), ("lt", False, 1), ("lt", True, None), ("never", False, None)],
)
def test_a_guard_without_condition_holds_where_z_is_clear(name: str, negated: bool, code: int | None) -> None:
    assert guard_code(name, negated) == code
