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
        (
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.sync_restrict::shared::read::mma::a.b64 [%d1];",
            "commits with a mask of 32 CTAs, or a restriction,",
        ),
        (
            "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes"
            " [%r1], [%d1, {%r2, %r3, %r4}], [%r4], {%h1, %h1};",
            "columns of pixels along W",
        ),
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
