"""What is printed about FineReg, as data."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from kernels import sample

from ptxtool import api
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.analysis.regalloc.register_need import registers_per_thread
from ptxtool.formats.files import sample_names
from ptxtool.formats.gpu import load_gpu
from ptxtool.sweep.reproduction.finereg.paper import Application, paper

UNLIKE = {"SR2"}
"""Whose sample has too few registers for the paper's limit."""


def names(among: Sequence[str]) -> list[str]:
    return [each.name for each in paper().applications(among)]


def percents(measure: str, scheme: str, among: Sequence[str]) -> dict[str, tuple[float, float]]:
    """By the scheme compared with."""
    found = [each for each in paper().comparison if (each.measure, each.scheme) == (measure, scheme)]
    return {str(each.over): each.percent for each in found if each.among == tuple(among)}


def single(measure: str, scheme: str, among: Sequence[str]) -> dict[str, float]:
    found = percents(measure, scheme, among)
    assert all(least == most for least, most in found.values())
    return {over: least for over, (least, _) in found.items()}


def test_applications_by_limit_and_name() -> None:
    assert (len(names(["all"])), len(names(["S"])), len(names(["R"]))) == (18, 9, 9)
    assert names(["KM", "BF"]) == ["BF", "KM"]
    assert names(["TR"]) == []


def test_what_comparisons_name_is_there() -> None:
    groups = {"all", "S", "R", *names(["all"])}
    for each in (*paper().comparison, *paper().larger):
        assert set(each.among) <= groups
    assert {*paper().unified_gain_most, *paper().used_least} <= groups
    for each in paper().comparison:
        assert (each.over is None) == (each.measure in ("depleted", "pool"))
        assert each.percent[0] <= each.percent[1]


@pytest.mark.parametrize("row", paper().application, ids=lambda row: row.name)
def test_samples_are_limited_as_the_paper_says(row: Application) -> None:
    assert set(row.samples) <= set(sample_names())
    for name in row.samples:
        launch, kernel = sample(name)
        registers = launch.registers or registers_per_thread(kernel)
        size = api.static_scratchpad(kernel) + launch.dynamic_shared
        plan = occupancy(load_gpu(paper().gpu), launch.threads, registers, size)
        scheduling = bool({"threads", "warps", "ctas"} & set(plan.all_limiters))
        assert scheduling == (row.limit == "S" or row.name in UNLIKE)


def test_a_split_is_of_the_whole_register_file() -> None:
    file = load_gpu(paper().gpu).sm.registers * 4 // 1024
    assert {each.acrf + each.pcrf for each in paper().split} == {file}
    assert [each.acrf for each in paper().split if each.ipc_below_best == 0] == [file // 2]


@pytest.fixture
def tables(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "reference" / "paper_tables.json").read_text())["finereg"]
    return found


def test_the_applications_are_the_papers(tables: dict[str, Any]) -> None:
    rows = tables["tableII"]["rows"]
    short = {"TR/TP": "TP"}
    for limit in ("S", "R"):
        found = {each.name: each.title for each in paper().applications([limit])}
        assert found == {short.get(key, key): title for key, title in rows[f"Type-{limit}"].items()}
    assert {each.name: each.cycles_to_stall for each in paper().application} == tables["tableIII"]["rows"]


def test_the_comparisons_are_the_papers(tables: dict[str, Any]) -> None:
    quoted = tables["quoted_in_text"]
    ctas, ipc = quoted["fig12_concurrent_CTAs_pct"], quoted["fig13_ipc_pct"]
    few, traffic = ["KM", "SY2", "BF"], quoted["fig15_memory_traffic_pct"]
    vt, dram, mutex = "virtual-thread", "reg-dram", "virtual-thread-regmutex"
    expected = {"none": ctas["FineReg_vs_baseline_text"], vt: ctas["vs_VT"], dram: ctas["vs_Reg+DRAM"]}
    assert single("ctas", "finereg", ["all"]) == expected
    for limit in ("S", "R"):
        for scheme, prefix in (("finereg", ""), (vt, "VT_"), (dram, "Reg+DRAM_")):
            assert single("ctas", scheme, [limit]) == {"none": ctas[f"{prefix}Type-{limit}"]}
    assert single("ctas", mutex, ["all"]) == {"finereg": ctas["VT+RegMutex_over_FineReg"]}
    assert single("ctas", mutex, ["R"]) == {"finereg": ctas["VT+RegMutex_over_FineReg_Type-R"]}
    over = {"none": "baseline", vt: "VT", dram: "Reg+DRAM", mutex: "VT+RegMutex"}
    assert single("ipc", "finereg", ["all"]) == {key: ipc[f"vs_{name}"] for key, name in over.items()}
    of_r = {key: ipc[f"Type-R_vs_{name.removeprefix('VT+')}"] for key, name in over.items()}
    assert single("ipc", "finereg", ["R"]) == of_r
    assert single("ipc", dram, ["all"]) == {vt: ipc["Reg+DRAM_vs_VT"]}
    assert single("ipc", vt, ["CS"]) == {"none": quoted["fig4_CS"]["FullRF_gain_pct"]}
    assert single("ipc", dram, ["CS"]) == {vt: quoted["fig4_CS"]["FullRF+DRAM_over_FullRF_pct"]}
    assert percents("ipc", "finereg", ["BI", "FD", "NW", "SY2"]) == {"none": (60, float("inf"))}
    assert percents("ipc", "finereg", ["BF", "KM"]) == {"none": (float("-inf"), 40)}
    energy = {key: quoted["fig16_energy_pct"][f"vs_{name}"] for key, name in over.items()}
    assert single("energy", "finereg", ["all"]) == energy
    assert percents("traffic", dram, traffic["apps"]) == {"none": tuple(traffic["Reg+DRAM"])}
    assert single("traffic", vt, traffic["apps"]) == {"none": traffic["VT"]}
    assert single("traffic", "finereg", traffic["apps"]) == {"none": traffic["FineReg"]}
    stalled, pool = quoted["fig14"]["stall_cycles_pct"], quoted["fig14"]
    assert single("depleted", "finereg", few) == {"None": stalled["FineReg"]}
    assert single("depleted", mutex, few) == {"None": stalled["VT+RegMutex"]}
    assert single("pool", mutex, ["all"]) == {"None": pool["SRP_share_avg_pct"]}
    assert single("pool", mutex, few) == {"None": pool["SRP_share_memory_intensive_pct"]}
    unified = quoted["fig19_unified_memory"]
    assert single("ipc", "unified", ["all"]) == {"none": unified["UM_pct"]}
    assert single("ipc", "virtual-thread-unified", ["all"]) == {"unified": unified["VT+UM_over_UM_pct"]}
    assert single("ipc", "finereg-unified", ["all"]) == {"unified": unified["FineReg+UM_over_UM_pct"]}


def test_the_other_numbers_are_the_papers(tables: dict[str, Any]) -> None:
    quoted, printed = tables["quoted_in_text"], paper()
    larger = [(*each.resources, *each.among, each.times, each.percent) for each in printed.larger]
    figure = quoted["fig2"]
    assert larger == [
        ("scheduling", "S", 1.5, figure["Type-S_sched_1.5x_pct"]),
        ("scheduling", "S", 2.0, figure["Type-S_sched_2x_pct"]),
        ("memory", "R", 1.5, figure["Type-R_mem_1.5x_pct"]),
        ("memory", "R", 2.0, figure["Type-R_mem_2x_pct"]),
        ("scheduling", "memory", "S", 2.0, figure["both_Type-S_pct"]),
        ("scheduling", "memory", "R", 2.0, figure["both_Type-R_pct"]),
    ]
    overhead, used = quoted["fig3"], quoted["fig5"]
    assert list(printed.cta_kilobytes) == overhead["extra_CTA_overhead_KB"]
    assert printed.register_share == overhead["register_share_pct"]
    assert printed.registers_used == used["avg_RF_used_pct_per_1000_instr"]
    assert list(printed.used_least) == used["worst_below_15pct"]
    best = quoted["fig17_ACRF/PCRF_KB"]
    assert (printed.best_times_ctas, printed.best_active_share) == (
        best["best_CTAs_x"],
        best["best_active_share_pct"],
    )
    below = {f"{each.acrf}/{each.pcrf}": each.ipc_below_best for each in printed.split if each.ipc_below_best}
    assert below == {key: -float(best[key].split("%")[0]) for key in ("64/192", "160/96")}
    larger_machine = quoted["fig18"]
    assert list(printed.larger_over_finereg) == larger_machine["Baseline+Resource_over_FineReg_pct"]
    assert list(printed.larger_megabytes) == larger_machine["overhead_MB"]
    assert printed.unified_kilobytes == quoted["fig19_unified_memory"]["UM_KB"]
