"""The numbers of CTAs in clusters: which CTA has which turn, rank, and memory."""

import numpy as np
import pytest
from memory_machine import on_array

from ptxsim.base.program import CLUSTER, CONTEXT
from ptxsim.execute.cluster import clusters
from ptxsim.execute.codes import CLUSTER_SHIFT
from ptxsim.lowering.cluster_launch import ClusterLaunch

cta_at = on_array(clusters.cta_at)
rank_of = on_array(clusters.rank_of)
shared_at = on_array(clusters.shared_at)
rank_at = on_array(clusters.rank_at)


def context(*shape: int) -> np.ndarray:
    found = np.zeros(1, CONTEXT)
    found[0]["cluster_shape"] = shape
    return found


@pytest.mark.parametrize(
    ("shape", "grid"), [((2, 1, 1), (6, 2, 1)), ((2, 2, 1), (4, 4, 2)), ((1, 2, 2), (3, 2, 4))]
)
def test_turns_and_ranks_of_all_ctas(shape: tuple[int, int, int], grid: tuple[int, int, int]) -> None:
    """Clusters in the order of x, y, z, and in each its CTAs in the same order: by nested loops here."""
    given, expected = context(*shape), []
    for origin in np.ndindex(*(g // s for g, s in zip(grid[::-1], shape[::-1], strict=True))):
        for offset in np.ndindex(*shape[::-1]):
            z, y, x = (o * s + k for o, s, k in zip(origin, shape[::-1], offset, strict=True))
            expected.append((x + grid[0] * (y + grid[1] * z), offset, (x, y, z)))
    numbers = [number for number, _, _ in expected]
    assert [cta_at(given, turn, *grid) for turn in range(len(expected))] == numbers
    for _, (k, j, i), place in expected:
        assert rank_of(given, *place) == i + shape[0] * (j + shape[1] * k)
    launch, size = ClusterLaunch(shape, True), int(np.prod(shape))
    assert [cta for n in range(len(numbers) // size) for cta in launch.ctas(n, grid)] == numbers


def test_where_shared_memory_lies() -> None:
    """Below 1 << CLUSTER_SHIFT the CTA's own; then rank after rank; none where a CTA has ended or is not there."""
    given, cluster = context(2, 1, 1), np.zeros(1, CLUSTER)
    given[0]["shared_memory"] = 1000
    step = 1 << CLUSTER_SHIFT
    assert [shared_at(given, np.uint64(a)) for a in (5, step + 5, 2 * step)] == [1000, 1000, 0]
    cluster[0]["n_ctas"], cluster[0]["shared"][:3] = 2, [1000, 2000, 3000]
    given[0]["cluster"] = cluster.ctypes.data
    assert [shared_at(given, np.uint64(a)) for a in (5, step, 2 * step + 9, 3 * step)] == [
        1000,
        1000,
        2000,
        0,
    ]
    cluster[0]["shared"][0] = 0
    assert shared_at(given, np.uint64(step)) == 0


def test_addresses_with_ranks() -> None:
    """In kernels with pairs of CTAs bit 24 tells the two apart: rank 0 has 2 << 24, rank 1 has 3 << 24."""
    given, cluster = context(4, 1, 1), np.zeros(1, CLUSTER)
    given[0]["shared_memory"], given[0]["cluster"] = 2000, cluster.ctypes.data
    cluster[0]["n_ctas"], cluster[0]["shared"][:4] = 4, [1000, 2000, 3000, 4000]
    addresses = [
        np.uint64(a) for a in (7, 2 << 24 | 7, 3 << 24, 5 << 24, 5 << 24 & ~(1 << 24), 6 << 24, 1 << 24)
    ]
    assert [shared_at(given, a) for a in addresses[1:]] == [0] * 6  # no kernel with pairs
    given[0]["has_pairs"] = 1
    assert [shared_at(given, a) for a in addresses] == [2000, 1000, 2000, 4000, 3000, 0, 0]
    assert [rank_at(given, a) for a in addresses[:5]] == [1, 0, 1, 3, 2]
