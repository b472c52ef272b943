"""The clusters of a launch: from the launch or the kernel's head, and what neither allows."""

import re

import pytest
from small_lowering import PTX

from ptxsim.lowering.cluster_launch import ClusterLaunch, cluster_of
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse


def cluster(
    head: str, given: object, grid: tuple[int, int, int] = (8, 4, 1), shared: int = 0
) -> ClusterLaunch:
    text = PTX.format(before="", body="ret;").replace(".param .u32 n)", f".param .u32 n) {head}")
    return cluster_of(parse(text).kernels["k"], given, grid, shared)  # type: ignore[arg-type]


def test_where_the_extent_comes_from() -> None:
    assert cluster("", None) == ClusterLaunch((1, 1, 1), False)
    assert cluster("", 2) == ClusterLaunch((2, 1, 1), True)
    assert cluster(".reqnctapercluster 2, 2", None) == ClusterLaunch((2, 2, 1), True)
    assert cluster(".reqnctapercluster 2, 2", (2, 2)) == ClusterLaunch((2, 2, 1), True)
    assert cluster(".maxclusterrank 4", (2, 2)) == ClusterLaunch((2, 2, 1), True)


def test_more_than_16_ctas_from_sm_107_on() -> None:
    text = PTX.format(before="", body="ret;")
    old, new = (text.replace(target(text), name) for name in ("sm_100a", "sm_107f"))
    assert cluster_of(parse(new).kernels["k"], (8, 4), (8, 4, 1), 0).size == 32
    with pytest.raises(PtxError, match="a cluster of 32 CTAs"):
        cluster_of(parse(old).kernels["k"], (8, 4), (8, 4, 1), 0)


def target(text: str) -> str:
    found = re.search(r"\bsm_\w+", text)
    assert found is not None
    return found[0]


@pytest.mark.parametrize(
    ("head", "given", "shared", "message"),
    [
        ("", 3, 0, r"grid \(8, 4, 1\) in clusters of \(3, 1, 1\)"),
        ("", (8, 4), 0, "a cluster of 32 CTAs"),
        (".maxclusterrank 4", 8, 0, "clusters of at most 4 CTAs"),
        (".reqnctapercluster 2", 4, 0, "takes clusters of 2 x 1 x 1 CTAs"),
        (".explicitcluster", None, 0, "a launch has to say its clusters"),
        ("", 2, (1 << 18) + 4, "bytes of shared memory in each CTA"),
        (".reqntid 32 .reqnctapercluster 2 .blocksareclusters", None, 0, "blocksareclusters"),
    ],
)
def test_what_is_not_possible(head: str, given: object, shared: int, message: str) -> None:
    with pytest.raises(PtxError, match=message) as caught:
        cluster(head, given, shared=shared)
    assert caught.value.diagnostics[0].code == "E402"
