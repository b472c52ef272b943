"""RegDem's nine benchmarks, demoted for full occupancy of a GTX TITAN X: the rows of the paper's evaluation."""

import pytest
from kernels import sample
from regdem_benchmarks import ROWS

from ptxtool.formats.gpu import load_gpu
from ptxtool.passes.pipeline import rewrite
from ptxtool.runs.pass_context import pass_context


@pytest.mark.parametrize("name", ROWS)
def test_full_occupancy_leads_to_the_row(name: str) -> None:
    """The launch has the threads. A kernel may need a register less than the target."""
    row, (launch, kernel), gpu = ROWS[name], sample(f"regdem/{name}"), load_gpu("gtx-titan-x")
    context = pass_context(kernel.module, launch, gpu)
    message = rewrite(kernel.module, "allocate,demote:occupancy=1.0", context=context).remarks[-1].message
    start = (
        f"{row.demoted} registers demoted to {row.bytes} bytes of shared memory ({row.threads} threads): "
        f"{row.before} -> "
    )
    assert message.startswith(start)
    assert 0 <= row.after - int(message.removeprefix(start).split()[0]) <= 1
    before, after = (int(part * gpu.sm.threads) // row.threads for part in row.occupancy)
    assert f"; {before} -> {after} CTAs on an SM of gtx-titan-x" in message
