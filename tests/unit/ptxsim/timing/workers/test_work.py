"""Workers that share a run: sharing, the order of accesses, and faults are those of one thread."""

from typing import Any

import numpy as np
import pytest
from shared_slices import loop_of_any_run, share_slices

import ptxsim
from ptxsim.base.jit import JIT_DISABLED
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

pytestmark = pytest.mark.skipif(JIT_DISABLED, reason="without compilation there is one thread")

COUNTER = """
.version 7.0
.target sm_20
.address_size 64
.visible .entry k(.param .u64 order, .param .u64 counter)
{
    .reg .u32 %r<8>;
    .reg .u64 %rd<6>;
    .reg .pred %p;
    ld.param.u64 %rd1, [order];
    ld.param.u64 %rd2, [counter];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.u32 %r4, %r1, %r2, %r3;
    TURN TURN TURN TURN
    BODY
    ret;
}
"""
TURN = """
    atom.global.add.u32 %r5, [%rd2], 1;
    mad.wide.u32 %rd3, %r5, 4, %rd1;
    st.global.u32 [%rd3], %r4;
"""
CTAS, THREADS = 28, 64


def launched(body: str = "", **options: Any) -> tuple[Any, list[int]]:
    """The counters of the kernel, or its error, and the order in which threads had their turns."""
    order, counter = np.zeros(4 * CTAS * THREADS, np.uint32), np.zeros(1, np.uint32)
    kernel = parse(COUNTER.replace("TURN", TURN).replace("BODY", body)).kernels["k"]
    try:
        found = ptxsim.launch(kernel, CTAS, THREADS, [order, counter], gpu="tesla-c2050", **options).to_dict()
    except PtxError as problem:
        found = str(problem)
    return found, order.tolist()


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("", {}),
        ("", {"scheduler": "gto"}),
        ("", {"share_registers": 60, "registers": 40, "scheduler": "owf"}),
        ("setp.eq.u32 %p, %r4, 777; @%p st.global.u32 [%rd2+99999], %r4;", {}),  # SM 12
        ("setp.ge.u32 %p, %r5, 4000; @%p st.global.u32 [%rd2+99999], %r4;", {}),  # the first of several
    ],
)
def test_order_and_counters_are_those_of_one_thread(
    body: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = launched(body, **options)
    loop_of_any_run(monkeypatch)
    ends = share_slices(monkeypatch, 4)
    for n in (2, 3):
        ends.clear()
        assert launched(body, threads=n, **options) == alone
        assert len(ends) > 1
