"""What is refused before the first cycle: by name, by line, and by the family it belongs to."""

import numpy as np
import pytest
from three_ways import kernel_text

from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse


@pytest.mark.parametrize(
    ("instruction", "family"),
    [
        ("wgmma.fence.sync.aligned;", "warp groups"),
        ("wgmma.commit_group.sync.aligned;", "warp groups"),
        ("tcgen05.fence::before_thread_sync;", "tensor memory"),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], 16, [%r2];",
            "bulk copies",
        ),
        ("cp.async.bulk.commit_group;", "bulk copies"),
        (
            "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
            " [%r1], [%d1, {%r2, %r3}], [%r4];",
            "bulk copies",
        ),
        ("tensormap.replace.tile.rank.global.b1024.b32 [%d1], %r1;", "tensor maps"),
        ("fence.proxy.tensormap::generic.release.gpu;", "tensor maps"),
        ("st.bulk.shared::cta [%r1], 64, 0;", "bulk copies"),
    ],
)
def test_families(instruction: str, family: str) -> None:
    kernel = parse(kernel_text(f"\n{instruction}\n"), "k.ptx").kernels["k"]
    with pytest.raises(PtxError) as caught:
        functional.run(kernel, (1,), (32,), [np.zeros(32, np.uint32), np.zeros(32, np.uint32)])
    (problem,) = caught.value.diagnostics
    assert problem.code == "E403"
    assert family in problem.message
    assert f"'{instruction.split()[0].rstrip(';')}'" in problem.message
    assert "k.ptx:19:" in str(problem)
