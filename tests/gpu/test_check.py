"""The comparison, with machines that are not there: all equal; a bit flipped, a NaN, a last place; faults, refusals."""

import re

import numpy as np
import pytest
from gpu.__main__ import NO_GPU, main
from gpu.check import Known, Row, check, known_differences
from gpu.device import NoGpu
from gpu.fake_device import FakeDevice
from gpu.machine import Job
from gpu.programs import rows
from gpu.report import is_good, report

from ptxtool.isa.forms import Form

SLOW_FAMILY = "tensor"  # in the reference interpreter


def chosen(*bases: str) -> list[Form]:
    return [form for form in rows() if form.base in bases]


def outcomes(found: list[Row]) -> dict[str, str]:
    return {t.item.text.split()[0]: t.outcome for row in found for t in row.tried}


@pytest.mark.slow
def test_the_reference_agrees_everywhere() -> None:
    """A whole comparison: every row once, every body, on a device that computes what the reference does."""
    few = [f for f in rows() if f.family != SLOW_FAMILY or f.index % 8 == 0]
    found = check(FakeDevice("sm_90a"), few, per_row=1)
    assert [
        line
        for line in report(found, "fake").splitlines()
        if line.startswith(("different", "failed", "refused"))
    ] == []
    assert is_good(found)
    compared = [row for row in found if row.outcome != "skipped"]
    assert len(compared) > 430
    assert {row.outcome for row in compared} <= {"equal", "NaN bits", "within bound"}
    assert all(row.why for row in found if row.outcome == "skipped")


def test_a_flipped_bit_is_found() -> None:
    def flip(results: np.ndarray) -> None:
        results[77, 0, 0, 0] ^= 1 << 4

    found = check(FakeDevice(change=flip), chosen("xor"), per_row=1, bodies=False)
    assert sorted(row.outcome for row in found) == [
        "different",
        "equal",
    ]  # .pred and .b16 .b32 .b64, in one kernel
    text = report(found, "fake")
    assert not is_good(found)
    assert "1 lanes; lane 77: " in text
    assert re.search(r"result 0 \(\w+\): hardware 0x\w+, simulator 0x\w+\n", text)
    assert text.endswith("1 of 2 compared rows differ; 0 skipped")


def test_what_is_written_where_nothing_should_be_is_found() -> None:
    def scribble(results: np.ndarray) -> None:
        results[3, 0, 11, 1] = 1

    assert (
        check(FakeDevice(change=scribble), chosen("clz"), per_row=1, bodies=False)[0].outcome == "different"
    )


def test_nans_of_other_bits_count_apart() -> None:
    """But what only moves numbers must leave them as they are."""

    def other_nan(results: np.ndarray) -> None:
        words = results.view(np.uint32)[:, :, 0, 0]
        words[(words & 0x7FFFFFFF) > 0x7F800000] ^= 3

    found = check(FakeDevice(change=other_nan), chosen("fma"), per_row=40, bodies=False)
    kinds = {
        t.outcome for row in found for t in row.tried if re.search(r"fma\.r\w(\.ftz)?\.f32 ", t.item.text)
    }
    assert kinds == {"NaN bits"}
    moved = check(FakeDevice(change=other_nan), chosen("mov"), per_row=8, bodies=False)
    assert outcomes(moved)["mov.f32"] == "different"


@pytest.mark.parametrize(("places", "outcome"), [(1, "within bound"), (2, "within bound"), (4, "different")])
def test_approximate_functions_have_a_bound(places: int, outcome: str) -> None:
    """ex2 may be 2 last places from the exact value, and ours is half of one from it."""

    def further(results: np.ndarray) -> None:
        words = results.view(np.uint32)[:, :, 0, 0]
        words[(words & 0x7F800000 != 0x7F800000) & (words > 0)] += places

    found = check(FakeDevice(change=further), chosen("ex2"), per_row=40, bodies=False)
    assert outcomes(found)["ex2.approx.f32"] == outcome
    if outcome == "within bound":
        assert f"  ex2.approx.f32: {places}" in report(found, "fake").splitlines()


def test_one_that_faults_does_not_hide_the_others() -> None:
    device = FakeDevice(trouble={r"\bbrev\.b64": "run", r"\bpopc\.b32": "compile"})
    found = check(device, chosen("brev", "popc", "cnot"), per_row=4, bodies=False)
    expected = {"brev.b32": "equal", "brev.b64": "failed", "popc.b32": "refused", "popc.b64": "equal"}
    assert {k: v for k, v in outcomes(found).items() if not k.startswith("cnot")} == expected
    assert "failed: brev.b64" in report(found, "fake")
    assert "hardware: no such thing here\n  simulator: comes to its end" in report(found, "fake")


def test_listed_differences() -> None:
    def flip(results: np.ndarray) -> None:
        results[:, :, 0, 0] ^= 1

    known = [Known("brev.b*", "bits stand on their heads here")]
    found = check(FakeDevice(change=flip), chosen("brev"), per_row=4, known=known, bodies=False)
    assert is_good(found)
    assert "  brev.b32: bits stand on their heads here" in report(found, "fake").splitlines()
    assert not is_good(check(FakeDevice(change=flip), chosen("brev"), per_row=4, known=[], bodies=False))


def test_the_list_of_differences_names_instructions() -> None:
    """Each pattern fits an opcode of the table, and has a reason."""
    for known in known_differences():
        assert any(form.base.startswith(known.instruction.split("*")[0].split(".")[0]) for form in rows())
        assert known.reason


def test_a_trap_ends_both() -> None:
    found = check(FakeDevice(), chosen("trap", "ret", "exit"), per_row=4, bodies=False)
    assert {row.outcome for row in found} == {"equal"}

    class Careless(FakeDevice):
        def run(self, job: object) -> np.ndarray:
            return np.zeros((128, 1, 12, 2), np.uint64)

    assert check(Careless(), chosen("trap"), per_row=4, bodies=False)[0].outcome == "failed"


def test_skipped_rows_say_why() -> None:
    found = check(FakeDevice("sm_75"), chosen("redux.sync", "createpolicy.cvt"), per_row=1, bodies=False)
    text = report(found, "fake")
    assert "  createpolicy.cvt L2 b64: its operand comes from the runtime of CUDA alone" in text
    assert "needs '.target sm_80'" in text
    assert text.endswith("all 0 compared rows agree; 4 skipped")


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def no_gpu() -> object:
        raise NoGpu("there is no NVIDIA driver here; run it where there is one")

    monkeypatch.setattr("gpu.__main__.GuardedDevice", no_gpu)
    assert main(["add"]) == NO_GPU == 3
    assert capsys.readouterr().err == (
        "gpu-check: nothing compared: there is no NVIDIA driver here; run it where there is one\n"
    )


def test_wrong_options(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in (["nosuchthing"], ["--per-row", "0"]):
        with pytest.raises(SystemExit) as ended:
            main(wrong)
        assert ended.value.code == 2
        assert wrong[-1] in capsys.readouterr().err


def test_what_passes_make_of_a_program_is_compared_with_the_program() -> None:
    seen: list[str] = []

    class Watched(FakeDevice):
        def run(self, job: Job) -> np.ndarray:
            seen.append(job.text)
            return super().run(job)

    wanted = chosen("add", "setp", "selp", "mad")
    found = check(Watched(), wanted, per_row=4, bodies=False, passes="allocate{max-regs=24}")
    assert {row.outcome for row in found} <= {"equal", "NaN bits", "skipped"}
    assert sum(row.outcome == "equal" for row in found) > len(found) // 2
    assert seen
    for text in seen:
        general = [int(n) for n in re.findall(r"%r(\d+)\b", text)]
        assert max(general, default=0) < 24


def test_wrong_passes_are_said_before_anything_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--passes", "alocate"])
    assert ended.value.code == 2
    assert "no pass named 'alocate'" in capsys.readouterr().err
