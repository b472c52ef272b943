"""Targets of demotion: RegDem's nine benchmarks, and every reason to stop, by hand."""

import msgspec
import pytest

from ptxtool.analysis.demotion.targets import demotion_targets
from ptxtool.analysis.occupancy.cuda_limits import CudaTarget, cuda_target
from ptxtool.base.diag import PtxError

TITAN_X = cuda_target("sm_52")


def with_limits(**limits: int) -> CudaTarget:
    """The same SM with other limits."""
    return CudaTarget("small", msgspec.structs.replace(TITAN_X.sm, **limits))


@pytest.mark.parametrize(
    ("name", "threads", "registers", "target", "demoted", "n_bytes", "before", "after"),
    [
        ("cfd", 192, 68, 56, 14, 10752, 0.375, 0.5625),
        ("conv", 128, 35, 32, 5, 2560, 0.75, 1.0),
        ("md", 256, 33, 32, 3, 3072, 0.75, 1.0),
        ("md5hash", 256, 33, 32, 3, 3072, 0.75, 1.0),
        ("nn", 192, 35, 32, 5, 3840, 0.75, 0.9375),
        ("pc", 256, 36, 32, 6, 6144, 0.75, 1.0),
        ("qtc", 64, 55, 48, 9, 2304, 0.5625, 0.625),
        ("gauss", 64, 43, 40, 5, 1280, 0.625, 0.75),
        ("vptree", 256, 34, 32, 4, 4096, 0.75, 1.0),
    ],
)
def test_the_paper(
    name: str,
    threads: int,
    registers: int,
    target: int,
    demoted: int,
    n_bytes: int,
    before: float,
    after: float,
) -> None:
    """The registers, bytes and occupancies that the RegDem paper's evaluation has on a GTX TITAN X."""
    found = demotion_targets(TITAN_X, registers, threads)
    assert found.before is not None
    assert found.before.fraction == before
    rows = [(t.registers, t.demoted, t.slot_bytes, t.occupancy.fraction) for t in found.targets]
    assert (target, demoted, n_bytes, after) in rows


def test_only_counts_that_bring_a_cta() -> None:
    """CTAs of 192 threads: 72 registers 4 CTAs, 64 5, 56 6; of 22 * 768 bytes, for 48, only 5 fit in 96 KB."""
    found = demotion_targets(TITAN_X, 68, 192)
    assert [(t.registers, t.occupancy.resident_ctas) for t in found.targets] == [(64, 5), (56, 6)]
    assert found.end == (
        "16896 bytes of shared memory for 48 registers would leave no more than 6 CTAs on an SM"
    )


def test_registers_that_do_not_limit() -> None:
    """32 registers for 2048 threads are all of the 65,536."""
    found = demotion_targets(TITAN_X, 32, 256)
    assert (found.targets, found.end) == ((), "threads limit an SM to 8 CTAs")


def test_slots_that_cost_residency() -> None:
    """40 registers of 256 threads: 6 CTAs. 32 would be 8, but of 12,000 + 10,240 bytes 96 KB hold 4."""
    found = demotion_targets(TITAN_X, 40, 256, dynamic_shared=12000)
    assert [t.registers for t in found.targets] == []
    assert found.end == (
        "10240 bytes of shared memory for 32 registers would leave no more than 6 CTAs on an SM"
    )


def test_static_shared_memory_ends() -> None:
    """1024 threads, 70 registers: none fits on an SM. For 64, 8 of 4096 bytes are demoted; for 56, 16 are too many."""
    found = demotion_targets(with_limits(threads=4096, warps=128), 70, 1024)
    assert found.before is None
    assert [(t.registers, t.demoted, t.slot_bytes) for t in found.targets] == [(64, 8, 32768)]
    assert found.end == "56 registers would need more than 49152 bytes of shared memory"


def test_the_allocation_unit_ends() -> None:
    """Two CTAs of 32 threads with 8 registers each fill 512 registers."""
    found = demotion_targets(with_limits(registers=512, register_partitions=1), 14, 32)
    assert [(t.registers, t.occupancy.resident_ctas) for t in found.targets] == [(8, 2)]
    assert found.end == "registers are allocated 8 at a time, and no smaller number brings another CTA"


def test_a_cta_that_never_fits() -> None:
    with pytest.raises(PtxError, match="E402"):
        demotion_targets(TITAN_X, 40, 4096)
