"""The ways in which a kernel is run."""

import pytest
from finereg_runs import MACHINE, stand_in

from ptxtool.formats.settings import with_settings
from ptxtool.sweep.reproduction.finereg import variants as module
from ptxtool.sweep.reproduction.finereg.paper import paper
from ptxtool.sweep.reproduction.finereg.variants import (
    ASSUMPTIONS,
    BASELINE,
    FINEREG,
    MORE_MEMORY,
    NONE,
    STALLS,
    Variant,
    assumed,
    candidates,
    is_held,
    larger,
    on_sms,
    split,
    variants,
    without,
)


def test_a_kernels_numbers_take_their_places() -> None:
    kernel = stand_in("KM", registers=64)
    own = Variant("v", ("switching.ctas={slots}",), "split-registers:threads={threads}").of(kernel)
    assert own == Variant("v", ("switching.ctas=4",), "split-registers:threads=256")


def test_a_scheme_that_the_simulator_does_not_have_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNOWN", ("none", "finereg"))
    assert candidates("virtual-thread") == ()
    names = {each.name for each in variants(paper(), MACHINE)}
    assert {"none", "finereg", "finereg, 64/192 KB"} <= names
    assert not any("virtual-thread" in name or "unified" in name for name in names)


def test_a_tuned_scheme_has_several_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KNOWN", ("reg-dram", "virtual-thread-regmutex"))
    assert [each.settings[1] for each in candidates("reg-dram")] == [
        f"switching.dram_ctas={n}" for n in (1, 2, 4, 8)
    ]
    pools = candidates("virtual-thread-regmutex")
    assert [each.settings[1] for each in pools][1:3] == [
        "switching.pool_percent=20.8",
        "switching.pool_percent=28.1",
    ]
    assert {each.passes for each in pools} == {"allocate,split-registers:threads={threads}"}


def test_sizes() -> None:
    twice = larger(("scheduling", "memory"), 2, MACHINE)
    assert twice.settings == (
        *("sm.warps=128", "sm.threads=4096", "sm.ctas=64"),
        *("sm.registers=131072", "sm.scratchpad_bytes=196608"),
    )
    by_name = {f"{each.acrf}/{each.pcrf}": split(each, MACHINE) for each in paper().split}
    assert by_name["128/128"] == candidates(FINEREG)[0]
    assert by_name["64/192"].settings[1:] == (
        "switching.acrf_registers=16384",
        "switching.pcrf_entries=1536",
    )
    assert on_sms(NONE, 16, MACHINE) == BASELINE
    assert on_sms(FINEREG, 64, MACHINE).settings == ("switching.scheme=finereg", "sm.count=64")


def test_machines_that_cannot_be_held_are_left_out() -> None:
    assert is_held(Variant("small", ("sm.warps=48",)), MACHINE)
    assert not is_held(Variant("large", ("sm.warps=1000000",)), MACHINE)


def test_every_variant_is_a_machine() -> None:
    kernel = stand_in("KM")
    found = variants(paper(), MACHINE)
    assert found[0] == STALLS
    assert len({each.name for each in found}) == len(found)
    for each in found:
        with_settings(MACHINE, each.of(kernel).settings)


def test_what_an_assumption_is_compared_with() -> None:
    """Only what concerns the memory is assumed of the machine without a scheme too."""
    on_both = {title: without(title).name for title in ASSUMPTIONS if without(title) != BASELINE}
    assert on_both == {
        "more memory bandwidth": MORE_MEMORY.name,
        "all": MORE_MEMORY.name,
        "and no blocking": "none, and no blocking",
        "and a longer latency": "none, and a longer latency",
        "all and a longer latency": "none, and a longer latency",
    }
    assert without("and no blocking").settings[-1] == "icnt.head_of_line=false"
    assert set(MORE_MEMORY.settings) < set(assumed("more memory bandwidth").settings)
