"""The table of lane operations: how it is read, and what it refuses."""

import pytest

from ptxtool.isa.lanes import GROUP_SIZE, MAX_GROUPS, LaneError, load, operations

TWO_GROUPS = """
[integer]
inc = { sig = "u32 u32", expr = "a + 1" }
less = { sig = "p i64 i64", expr = "a < b" }
[float]
half = { sig = "f64 f64", expr = "a * 0.5" }
"""


def test_a_group_begins_at_a_multiple_of_the_group_size() -> None:
    assert [o.number for o in load(TWO_GROUPS).values()] == [0, 1, GROUP_SIZE]


def test_the_first_kind_is_that_of_the_result() -> None:
    found = load(TWO_GROUPS)
    assert (found["less"].result, found["less"].operands) == ("p", ("i64", "i64"))
    assert [(o.is_predicate, o.result_bits) for o in found.values()] == [(False, 32), (True, 1), (False, 64)]


def test_numbers_are_those_of_one_operation_each() -> None:
    numbers = [o.number for o in operations().values()]
    assert len(set(numbers)) == len(numbers)
    assert max(numbers) < GROUP_SIZE * MAX_GROUPS


def test_a_group_too_many_is_refused() -> None:
    text = "".join(f'[g{n}]\nx{n} = {{ sig = "u32 u32", expr = "a" }}\n' for n in range(MAX_GROUPS + 1))
    with pytest.raises(LaneError, match="one group too many"):
        load(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[a]\nx = { sig = "u32 u32", expr = "a" }\n[b]\nx = { sig = "u32 u32", expr = "a" }',
            "'x' stands twice",
        ),
        ('[a]\nx = { sig = "u31 u32", expr = "a" }', "bad signature"),
        ('[a]\nx = { sig = "u32 u32", expr = "a", unit = "sp" }', "columns"),
        ('[a]\nx = { sig = "u32", expr = "e" }', "bad signature"),
    ],
)
def test_bad_tables_are_refused(text: str, message: str) -> None:
    with pytest.raises(LaneError, match=message):
        load(text)
