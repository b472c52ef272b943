"""Kernels bound by the core take as many cycles as on GPGPU-Sim 4.2, within 3% (the recorded runs of the corpus)."""

from pathlib import Path

import pytest
from reference_kernels import recorded_run, simulate_recorded

CASES = [
    *((f"fma_chain_w{n}", s) for n in (1, 4, 16, 32, 48) for s in ("lrr", "gto")),
    *((f"fma_ilp_w{n}", "lrr") for n in (1, 4, 16, 48)),
    *((f"shared_conflict_s{n}", s) for n in (8, 32) for s in ("lrr", "gto")),
]


@pytest.mark.parametrize(("name", "scheduler"), CASES)
def test_cycles_within_three_percent(name: str, scheduler: str, shared: Path) -> None:
    row = recorded_run(shared, name, f"C2050-{scheduler}")
    stats = simulate_recorded(shared, row, scheduler=scheduler).stats
    assert stats["warp_insn"] == row["warp_insn"]
    assert stats["max_ctas_per_core"] == row["max_ctas_per_core"]
    assert stats["cycles"] == pytest.approx(row["cycles"], rel=0.03)
    assert stats["l1c_misses"] == row["l1c_misses"]
    assert stats["l1i_misses"] == pytest.approx(row["l1i_misses"], rel=0.1)
