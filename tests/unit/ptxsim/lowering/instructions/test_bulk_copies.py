"""What of bulk copies and tensor maps is refused. What they do: tests/sim/instructions/test_bulk_copies.py."""

import numpy as np
import pytest
from bulk_kernels import kernel

import ptxsim
from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError

LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        (f"{LOAD}.multicast::cluster.cta_group::2 [tile], [%d1, {{0, 0}}], [bar], %h1;", "to pairs of CTAs"),
        (
            "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes"
            " [tile], [%d1, {0, 0, 0}], [bar], {%h1, %h1};",
            "columns of pixels along W",
        ),
        (
            "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.multicast::cluster::all.b128"
            " [tile], [bar];",
            "an answer to all CTAs",
        ),
    ],
)
def test_refused(instruction: str, reason: str) -> None:
    with pytest.raises(PtxError, match="E403") as caught:
        functional.run(kernel(instruction), 1, 32, [np.zeros(4, np.uint32)] * 2)
    assert reason in str(caught.value)


def test_a_map_for_another_parameter() -> None:
    of = ptxsim.TensorMap(np.zeros((4, 4), np.uint32), (4, 4))
    with pytest.raises(PtxError, match=r"E401.*a tensor map"):
        functional.run(kernel(""), 1, 32, [of, np.zeros(4, np.uint32)])
