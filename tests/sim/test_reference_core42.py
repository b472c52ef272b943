"""Kernels bound by the core take as many cycles as on GPGPU-Sim 4.2, within 3% (the recorded runs of the corpus)."""

import json
from pathlib import Path
from typing import Any

import pytest
from reference_kernels import launches

import ptxsim
from ptxtool.parse import parse

CASES = [
    *((f"fma_chain_w{n}", s) for n in (1, 4, 16, 32, 48) for s in ("lrr", "gto")),
    *((f"fma_ilp_w{n}", "lrr") for n in (1, 4, 16, 48)),
    *((f"shared_conflict_s{n}", s) for n in (8, 32) for s in ("lrr", "gto")),
]


@pytest.mark.parametrize(("name", "scheduler"), CASES)
def test_cycles_within_three_percent(name: str, scheduler: str, shared: Path) -> None:
    launch = next(each for each in launches(shared) if str(each) == name)
    rows: list[dict[str, Any]] = json.loads(
        (shared / "reference" / "reference_runs.json").read_text(encoding="utf-8")
    )["runs"]
    (row,) = (r for r in rows if r["launch"] == name and r["config"] == f"C2050-{scheduler}")
    text = (shared / "corpus" / "reference_kernels" / "kernels.sm35.ptx").read_bytes()
    kernel = parse(text, name="kernels.sm35.ptx").kernels[launch.data["kernel"]]
    arguments, buffers = launch.arguments()
    result = ptxsim.launch(
        kernel,
        launch.data["grid"],
        launch.data["block"],
        arguments,
        gpu="gpgpusim42-c2050",
        scheduler=scheduler,
        registers=row["registers_per_thread"],
        dynamic_shared=launch.data["dynamic_shared_bytes"],
        constants=launch.constants(),
    )
    launch.check(buffers)
    stats = result.stats
    assert stats["warp_insn"] == row["warp_insn"]
    assert stats["max_ctas_per_core"] == row["max_ctas_per_core"]
    assert stats["cycles"] == pytest.approx(row["cycles"], rel=0.03)
    assert stats["l1c_misses"] == row["l1c_misses"]
    assert stats["l1i_misses"] == pytest.approx(row["l1i_misses"], rel=0.1)
