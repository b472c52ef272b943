"""A sweep as plain data: names of runs, counters by name, choosing runs, and which runs failed."""

import pytest
from sim_results import sim_result

from ptxtool.base.diag import PtxError
from ptxtool.results.sweeps import (
    WAITING,
    Configuration,
    Record,
    RunStatus,
    StoredResult,
    SweepResult,
    joined,
)

COUNTERS = sim_result().to_dict()


def record(label: str, status: RunStatus = "done", scheduler: str = "lrr") -> Record:
    axes = Configuration("k.ptx", scheduler=scheduler).axes
    return Record(label, axes, label, StoredResult(status, COUNTERS))


SWEEP = SweepResult(
    "s", (record("a"), record("b", "wrong", "gto"), Record("c", record("c").axes, "c", WAITING))
)


def test_a_counter_by_its_name_or_that_of_gpgpu_sim() -> None:
    run = record("a")
    assert (run.value("cycles"), run.value("slots.stall"), run.value("l1d_misses")) == (1000, 30, 3)
    assert SWEEP["c"].value("cycles") is None


@pytest.mark.parametrize(
    ("name", "message"), [("cycels", "no counter 'cycels'"), ("slots", "no single number: 'slots'")]
)
def test_what_is_no_counter(name: str, message: str) -> None:
    with pytest.raises(PtxError) as caught:
        record("a").value(name)
    assert caught.value.diagnostics[0].code == "E502"
    assert message in caught.value.diagnostics[0].message


def test_a_failed_run_is_one_that_ended_badly() -> None:
    assert [r.label for r in SWEEP.failed] == ["b"]
    assert not SWEEP.complete
    assert SWEEP.counts() == {"done": 1, "wrong": 1, "waiting": 1}


def test_choosing_runs() -> None:
    assert [r.label for r in SWEEP.where([("scheduler", "gto")])] == ["b"]
    for conditions, message in (
        ([("scheduler", "old")], "no run is left"),
        ([("schedulers", "gto")], "a sweep has no axis 'schedulers'"),
    ):
        with pytest.raises(PtxError, match=message):
            SWEEP.where(conditions)
    with pytest.raises(PtxError, match="no run labelled 'd' in sweep 's'"):
        SWEEP["d"]


def test_names_of_values() -> None:
    """0, False and "" are defaults; True and a text of options differ."""
    assert joined({"scheduler": "", "share_registers": 0, "dynamic": False}) == "default"
    assert joined({"scheduler": "gto", "share_registers": 90, "dynamic": True}) == "gto registers 90% dynamic"
    assert joined({"dynamic": "period=5", "registers": 20}) == "dynamic(period=5) 20 registers"


def test_a_percentage_is_a_whole_number_where_it_can_be() -> None:
    axes = Configuration("k.ptx", share_registers="90.0", share_scratchpad="12.5").axes
    assert (axes["share_registers"], axes["share_scratchpad"]) == (90, 12.5)
    assert isinstance(axes["share_registers"], int)
    assert Configuration("k.ptx", share_registers="many").axes["share_registers"] == "many"


def test_a_kernel_is_called_after_its_file_or_its_text() -> None:
    assert Configuration("dir/k.v2.ptx").kernel_name == "k.v2"
    assert Configuration("dir/k.v2.ptx", text="").kernel_name == "dir/k.v2.ptx"
    assert Configuration("dir/k.v2.ptx", name="mine").kernel_name == "mine"


def test_a_stored_result_is_the_same_after_storing() -> None:
    result = StoredResult("wrong", {"cycles": 3}, ("x",), ({"code": "E409"},), "digest")
    assert StoredResult.from_dict(result.to_dict()) == result


def test_why_a_run_has_no_result() -> None:
    assert StoredResult("done").reason == ""
    assert StoredResult("lost").reason == "lost"
    for code, refused in (("E301", True), ("E402", True), ("E502", True), ("E407", False)):
        failed = StoredResult("failed", problems=({"code": code, "message": "why"},))
        assert (failed.reason, failed.is_refused) == ("why", refused)
    assert not StoredResult("wrong", problems=({"code": "E301", "message": "why"},)).is_refused


def test_a_value_that_is_not_known() -> None:
    axes = Configuration("k.ptx").axes
    unified = Record("a", axes, "k", StoredResult("done", COUNTERS | {"storage_bits": None}))
    assert unified.value("storage_bits") is None
    with pytest.raises(PtxError, match=r"E502.*no counter 'storage_bits'"):
        Record("a", axes, "k", StoredResult("done", COUNTERS)).value("storage_bits")
