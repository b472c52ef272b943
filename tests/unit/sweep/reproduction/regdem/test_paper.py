"""What is printed about RegDem, as data."""

import json
from pathlib import Path

import pytest

from ptxtool.analysis.demotion.targets import ADDRESS_AND_VALUE, slot_bytes
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.formats.gpu import load_gpu
from ptxtool.sweep.reproduction.regdem.paper import Benchmark, paper


@pytest.mark.parametrize("row", paper().benchmark, ids=lambda row: row.name)
def test_the_numbers_of_a_row_fit_each_other(row: Benchmark) -> None:
    """Two registers are new; a slot has 4 bytes for each thread; occupancy is that of the machine."""
    machine = load_gpu(paper().gpu)
    before, after = row.registers
    assert row.demoted == before - after + ADDRESS_AND_VALUE
    assert row.slot_bytes == slot_bytes(row.demoted, row.threads)
    plans = occupancy(machine, row.threads, before), occupancy(machine, row.threads, after, row.slot_bytes)
    assert tuple(plan.fraction for plan in plans) == row.occupancy
    assert row.target == after


def test_the_rows_are_the_papers(shared: Path) -> None:
    tables = json.loads((shared / "reference" / "paper_tables.json").read_text())["regdem"]
    head = tables["paper_headline"]
    printed = paper()
    assert (printed.mean_gain, printed.most_gain) == (head["geomean_vs_nvcc_pct"], head["max_vs_nvcc_pct"])
    assert printed.predictor_percent == head["predictor_pct_of_exhaustive"]
    assert printed.bank_conflict_percent == head["bank_conflict_cost_up_to_pct"]
    names = {"recgaussian": "gauss"}
    rows = [
        (names.get(name, name), threads, demoted, (before, after), n_bytes, (low, high))
        for name, _, _, threads, demoted, after, before, n_bytes, low, high in tables["benchmarks_inferred"][
            "rows"
        ]
    ]
    assert rows == [
        (row.name, row.threads, row.demoted, row.registers, row.slot_bytes, row.occupancy)
        for row in printed.benchmark
    ]
