"""Records that are restored: what a plan names, and nothing else."""

import numpy as np

from ptxsim.base.jit import record
from ptxsim.base.pool.restore import RestorePlan

ENTRY = record([("value", "i4"), ("mark", "u1")])
RECORD = record(
    [
        ("count", "i8"),
        ("list", "u2", (6,)),
        ("inner", record([("a", "i4", (4,)), ("b", "i4")])),
        ("entry", ENTRY, (3,)),
    ]
)


def test_fields_are_restored_in_the_records_with_these_indices() -> None:
    records = np.zeros(4, RECORD)
    records["count"], records["list"] = 7, np.arange(6)
    plan = RestorePlan(records).restore_fields({"list": 2, "inner.a": 1, "entry": 0})
    for name in ("count", "list"):
        records[name] = 9
    records["inner"]["a"], records["inner"]["b"], records["entry"]["value"] = 8, 8, 8
    plan.run(np.array([1, 3]))
    assert records["count"].tolist() == [9, 7, 9, 7]
    assert records["list"][1].tolist() == [0, 1, 9, 9, 9, 9]
    assert records["list"][2].tolist() == [9] * 6
    assert records["inner"]["a"][3].tolist() == [0, 8, 8, 8]
    assert records["inner"]["b"].tolist() == [8, 0, 8, 0]
    assert (records["entry"]["value"] == 8).all()
    plan.run(None)
    assert records["count"].tolist() == [7] * 4


def test_steps_end_at_the_first_that_was_not_used() -> None:
    records = np.zeros(3, RECORD)
    plan = RestorePlan(records)
    of = plan.range_of
    plan.restore_while_used(([of("inner.a", k, k + 1)], [of("list", k, k + 1)]) for k in range(4))
    plan.restore_while_used(
        [([of("count", 0, 1)], [of("inner.b", 0, 1)])]
    )  # goes on where the others have ended
    records["list"], records["inner"]["b"] = 5, 6
    records["inner"]["a"][0] = [0, 1, 1, 1]
    records["inner"]["a"][1] = [1, 1, 0, 1]
    records["count"][1:] = -1
    plan.run(None)
    assert records["inner"]["a"].tolist() == [[0, 1, 1, 1], [0, 0, 0, 1], [0] * 4]
    assert records["list"].tolist() == [[5] * 6, [0, 0, 5, 5, 5, 5], [5] * 6]
    assert records["inner"]["b"].tolist() == [6, 0, 0]
    assert records["count"].tolist() == [0, 0, 0]


def test_entries_with_a_mark_are_cleared() -> None:
    records = np.zeros(2, RECORD)
    plan = RestorePlan(records)
    plan.clear_used("entry", 2, "mark")
    records["entry"]["value"] = 4
    records["entry"]["mark"] = [[0, 200, 1], [1, 0, 0]]
    plan.run(None)
    assert records["entry"]["value"].tolist() == [[4, 0, 4], [0, 4, 4]]
    assert records["entry"]["mark"].tolist() == [[0, 0, 1], [0, 0, 0]]


def test_zeros_are_written_to_all_that_is_restored() -> None:
    records = np.zeros(2, RECORD)
    records["count"], records["list"] = 3, 4
    plan = RestorePlan(records).restore_fields({"list": 1, "entry": 0})
    plan.zero()
    assert records["count"].tolist() == [0, 0]
    assert records["list"].tolist() == [[0, 4, 4, 4, 4, 4]] * 2


def test_no_record_is_restored_where_none_was_used() -> None:
    records = np.zeros(2, RECORD)
    plan = RestorePlan(records).restore_fields({})
    records["count"] = 1
    plan.run(np.array([], np.int64))
    assert records["count"].tolist() == [1, 1]
