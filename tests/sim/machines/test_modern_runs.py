"""Recorded runs of GPGPU-Sim 4.2 on machines from Kepler on: counters that do not depend on time are the same."""

from pathlib import Path

import pytest
from modern_runs import EXACT, modern_run, simulate_modern, simulate_streams, stream_runs


@pytest.mark.parametrize(
    ("config", "launch", "same"),
    [
        # hashed slices and sets, and an L1 of 128 KB whose lines all miss
        ("QV100q", "vecadd", ("l1d_accesses", "l1d_misses", "l2_accesses", "dram_reads")),
        ("QV100q", "mum", ("l1d_accesses", "l1d_misses", "l2_accesses", "l2_misses")),
        ("QV100q", "pointer_chase_w1", ("l1d_accesses", "l1d_misses", "l2_misses", "dram_reads")),
        ("QV100q", "histogram", ("l1d_accesses", "l1d_misses", "l2_accesses", "l2_misses")),
        # two SMs at a port, and collector units of their own for each class, doubles too
        ("TITANV", "fma_ilp_w2", ("cycles", "l2_accesses")),
        ("TITANV", "fma_chain_w1", ("cycles", "l2_accesses")),
        ("KEPLER", "fma_ilp_w2", ("cycles", "l2_accesses")),
        ("KEPLER", "fma_chain_w4", ("cycles", "l2_accesses")),
        # slices drawn by lot decide what copies leave in the L2: as many loads find it there
        ("TITANX", "pointer_chase_w1", ("l2_accesses", "l2_misses", "dram_reads")),
        ("TITANX", "histogram", ("l2_accesses", "l2_misses", "dram_reads")),
    ],
)
def test_counters_are_those_of_gpgpusim(
    config: str, launch: str, same: tuple[str, ...], shared: Path
) -> None:
    row = modern_run(shared, launch, config)
    found = simulate_modern(shared, row).stats
    names = (*EXACT, *same)
    assert {name: found[name] for name in names} == {name: row[name] for name in names}


@pytest.mark.parametrize(("config", "launch"), [("QV100q_gto", "nw_diag"), ("QV100q", "pointer_chase_w8")])
def test_the_order_in_which_sms_are_simulated_changes_nothing(config: str, launch: str, shared: Path) -> None:
    """A limit of cycles makes all SMs go together; without one each may run ahead (core/ahead.py)."""
    row = modern_run(shared, launch, config)
    ahead, together = (simulate_modern(shared, row, **how).stats for how in ({}, {"max_cycles": 10**9}))
    assert ahead == together


def test_launches_at_the_same_time_end_when_those_of_gpgpusim_do(shared: Path) -> None:
    for row in stream_runs()[:2]:  # leftover
        ours = [launch.end_cycle for launch in simulate_streams(shared, row).launches]
        assert ours == pytest.approx([kernel["done_cycle"] for kernel in row["kernels"]], rel=0.025)
