"""FineReg's evaluation as runs, and what their results become."""

import msgspec
import pytest
from finereg_runs import MACHINE, run

from ptxtool import api
from ptxtool.results.sweeps import Configuration, Record, StoredResult, SweepResult
from ptxtool.sweep.reproduction.finereg import variants as module
from ptxtool.sweep.reproduction.finereg.experiment import configurations, reproduction
from ptxtool.sweep.reproduction.finereg.kernels import stand_ins
from ptxtool.sweep.reproduction.finereg.paper import paper
from ptxtool.sweep.reproduction.finereg.variants import STALLS

SMALL = msgspec.structs.replace(
    paper(), application=tuple(each for each in paper().application if each.name in ("CS", "HS"))
)
KERNELS = stand_ins(SMALL, MACHINE, api.kernel)


def ended(runs: list[Configuration], **others: StoredResult) -> SweepResult:
    """1000 cycles of every run, but for `others` by variant."""
    good = StoredResult("done", run(resident=8.0, unified={"l1_ways": 8}), (), (), "same")
    return SweepResult(
        "finereg", tuple(Record(r.label, r.axes, "k", others.get(r.scheme, good)) for r in runs)
    )


def test_a_run_of_every_kernel_and_variant() -> None:
    runs = configurations(SMALL, KERNELS, MACHINE)
    variants = module.variants(SMALL, MACHINE)
    rewritten = [each for each in variants if each.passes]  # of PTX only: not of hotspot
    assert len(runs) == 3 * len(variants) - len(rewritten)
    assert len({each.label for each in runs}) == len(runs)
    first = runs[0]
    assert (first.name, first.scheme) == ("conv1", STALLS.name)
    assert first.settings == ("switching.scheme=virtual-thread", "switching.ctas=32")
    assert {each.scheme for each in runs if each.hotspots} == {STALLS.name}
    assert [str(each.launch).rpartition("/")[2] for each in runs[:3]] == [
        *("finereg.toml", "finereg.toml", "launch.toml")
    ]


def test_a_kernel_without_ptx_is_not_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNOWN", ("none", "finereg", "virtual-thread-regmutex"))
    divided = [each for each in configurations(SMALL, KERNELS, MACHINE) if each.passes]
    assert {each.name for each in divided} == {"conv1", "conv2"}
    threads = {each.name: each.passes for each in divided}
    assert threads["conv2"] == "allocate,split-registers:threads=128"
    assert len(divided) == 2 * len(module.POOL_PERCENTS)


def test_exhibits_of_what_ran() -> None:
    runs = configurations(SMALL, KERNELS, MACHINE)
    faster = StoredResult("done", run(800, resident=16.0), (), (), "same")
    found = reproduction(SMALL, KERNELS, ended(runs, finereg=faster), MACHINE)
    assert (found.n_runs, found.complete, found.failures) == (len(runs), True, ())
    gains = {v.row: v.ours for v in found.exhibit("speed").values if v.column == "finereg"}
    assert {round(gain or 0, 6) for gain in gains.values()} == {25}
    agreed = {f.question: f.agrees for f in found.findings}
    assert agreed["memory identical under all schemes"] is True
    assert len({exhibit.key for exhibit in found.exhibits}) == len(found.exhibits)


def test_failures_and_what_has_not_run() -> None:
    runs = configurations(SMALL, KERNELS, MACHINE)
    failed = StoredResult("failed", problems=({"code": "E404", "message": "out of bounds", "text": ""},))
    found = reproduction(SMALL, KERNELS, ended(runs, finereg=failed, none=StoredResult("waiting")), MACHINE)
    assert not found.complete
    assert {(f.row, f.reason) for f in found.failures} == {
        (name, "out of bounds") for name in ("conv1", "conv2", "hotspot")
    }
    assert all(v.ours is None for v in found.exhibit("speed").values)


def test_other_memory_is_a_finding() -> None:
    runs = configurations(SMALL, KERNELS, MACHINE)
    other = StoredResult("done", run(800, resident=16.0), (), (), "other")
    found = reproduction(SMALL, KERNELS, ended(runs, finereg=other), MACHINE)
    assert next(f for f in found.findings if f.question.startswith("memory")).ours == "0 of 3 kernels"
