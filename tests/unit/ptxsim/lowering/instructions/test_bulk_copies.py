"""What of bulk copies and tensor maps is refused. What they do: tests/sim/instructions/test_bulk_copies.py."""

import numpy as np
import pytest
from bulk_kernels import kernel

import ptxsim
from ptxsim import functional_run as functional
from ptxsim.execute import codes
from ptxsim.lowering.lower import lower
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu


@pytest.mark.parametrize(
    ("instruction", "reason"),
    [
        (
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"
            ".mbarrier::report::validity::per_element::ff [tile], [%d1], 16, [bar];",
            "a report of validity",
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


def test_any_byte_of_shared_memory_may_be_accessed() -> None:
    """For scratchpad sharing: a copy's addresses are not told before it issues; of a commit nothing is accessed."""
    body = "cp.async.bulk.global.shared::cta.bulk_group [%d1], [tile], 16; cp.async.bulk.commit_group;"
    program = lower(kernel(body), load_gpu("tesla-c2050"))
    ops = program.uops["op"][program.instructions["uop_end"] - 1]
    copy, commit = (int(np.flatnonzero(ops == op)[0]) for op in (codes.OPERANDS, codes.BULK_COMMIT))
    assert program.instructions[copy]["reach_unknown"] == 1
    assert program.instructions[copy]["reach_end"] > program.instructions[copy]["uop_start"]
    assert program.instructions[commit]["reach_end"] == 0
