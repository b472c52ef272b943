"""Instructions of clusters as micro-operations; what they compute is in tests/sim/instructions/test_clusters.py."""

import pytest
from small_lowering import GPU, PTX

from ptxsim.base.program import PLAIN, REPEAT
from ptxsim.execute import codes
from ptxsim.lowering.lower import lower
from ptxtool.parse import parse


@pytest.mark.parametrize(
    ("instruction", "code", "kind"),
    [
        ("barrier.cluster.arrive;", codes.CLUSTER_ARRIVE, PLAIN),
        ("barrier.cluster.arrive.relaxed.aligned;", codes.CLUSTER_ARRIVE, PLAIN),
        ("barrier.cluster.wait.acquire;", codes.CLUSTER_WAIT, REPEAT),
    ],
)
def test_the_barrier(instruction: str, code: int, kind: int) -> None:
    program = lower(parse(PTX.format(before="", body=f"{instruction} ret;")).kernels["k"], GPU)
    assert program.uops["op"].tolist() == [code]
    assert program.instructions[0]["kind"] == kind


def test_arrive_and_wait_use_one_row() -> None:
    """It holds the phase that each lane has arrived in."""
    body = "barrier.cluster.arrive; barrier.cluster.wait; ret;"
    uops = lower(parse(PTX.format(before="", body=body)).kernels["k"], GPU).uops
    assert uops["d"][0] == uops["a"][1] >= 0


@pytest.mark.parametrize(
    "instruction",
    [
        "mapa.shared::cluster.u32 %r1, %r2, 3;",
        "mapa.u64 %rd1, %rd2, %r1;",
        "getctarank.shared::cluster.u32 %r1, %r2;",
        "getctarank.u64 %r1, %rd2;",
    ],
)
def test_addresses_are_computed_lane_by_lane(instruction: str) -> None:
    program = lower(parse(PTX.format(before="", body=f"{instruction} ret;")).kernels["k"], GPU)
    assert (program.uops["op"] < codes.FIRST).all()
    assert program.instructions[0]["straight"] == 1
