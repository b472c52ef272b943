"""Rows of a store as records: what reports take from them has been checked."""

import json

import pytest
from sweep_records import RESULT

from ptxtool.results.sweeps import WAITING
from ptxtool.sweep.stored_records import record_of

RECORD = RESULT.records[0]
AXES, OUTCOME = json.dumps(RECORD.axes), RECORD.outcome.to_dict()
POINT = {"instruction": 3, "line": 9, "register": "%r1", "sequence": 1, "warps": 2, "warp_cycles": 7}


def test_rows_and_records_are_the_same() -> None:
    assert record_of(RECORD.label, AXES, RECORD.key, json.dumps(OUTCOME)) == RECORD
    assert record_of("a", AXES, "k", None).outcome is WAITING


def test_a_store_of_before_register_schemes_were_an_axis() -> None:
    before = {axis: value for axis, value in RECORD.axes.items() if axis != "register_scheme"}
    assert record_of(RECORD.label, json.dumps(before), RECORD.key, json.dumps(OUTCOME)) == RECORD


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"status": 1}, "status"),
        ({"counters": {"stats": None}}, "stats"),
        ({"counters": {"stats": {}, "stall_points": [POINT | {"line": None}]}}, "line"),
        ({"counters": {"stats": {}, "thread_ipc": "1"}}, "thread_ipc"),
        ({"problems": [{"code": "E404"}]}, "message"),
    ],
)
def test_a_damaged_outcome_is_refused(change: dict[str, object], reported: str) -> None:
    assert record_of(
        "a", AXES, "k", json.dumps(OUTCOME | {"counters": {"stats": {}, "stall_points": [POINT]}})
    )
    with pytest.raises(ValueError, match=reported):
        record_of("a", AXES, "k", json.dumps(OUTCOME | change))


@pytest.mark.parametrize(
    "row", [(1, AXES, "k"), ("a", "[]", "k"), ("a", None, "k"), ("a", AXES, b"k"), ("a", "{}", "k")]
)
def test_a_damaged_run_is_refused(row: tuple[object, object, object]) -> None:
    with pytest.raises(ValueError, match=r"Expected|JSON|axis"):
        record_of(*row, None)
