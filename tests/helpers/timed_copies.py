"""Timed runs of one CTA that say when their instructions issued: bulk copies, and waits for them."""

from typing import Any

import numpy as np
from bulk_kernels import kernel

import ptxsim
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.results.simulation import SimResult

EXPECT = "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n"
LOAD = "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile+{}], [%d2+{}], {}, [bar];\n"
STORE = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d2+{}], [tile+{}], {};\n"
COMMIT = "@%p1 cp.async.bulk.commit_group;\n"
TRY = "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n"
CLOCK = "mov.u32 %r{}, %clock;\n"
KEEP = "@%p1 st.shared.v4.u32 [tile], {%r2, %r3, %r4, %r5};\n"
"""Clocks to the first words of `tile`."""


def machine(*settings: str, sms: int = 1) -> Gpu:
    """An H100 with so few SMs."""
    return with_settings(load_gpu("h100"), [f"sm.count={sms}", *settings])


def clocks(
    body: str, words: int = 4, source: Any = None, gpu: Gpu | None = None, **options: Any
) -> tuple[list[int], SimResult]:
    """The first words that the kernel has left in `tile`, and the result."""
    out = np.zeros(max(16, words), np.uint32)
    given = np.arange(1, 4097, dtype=np.uint32) if source is None else source
    options = {"gpu": gpu or machine()} | options
    result = ptxsim.launch(kernel(body, words), 1, 32, [out, given], **options)
    return [int(v) for v in out[:words]], result
