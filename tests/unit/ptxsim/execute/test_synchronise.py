"""Lanes that act on one mbarrier: one after the other, the lowest first."""

import numpy as np
from three_ways import kernel_text

from ptxsim import functional_run as functional
from ptxtool.parse import parse


def test_lanes_arrive_one_after_the_other() -> None:
    """Of 32 arrivals expected, lane n finds 32 - n missing: the state that its arrival returns is that before it. The
    last one completes the phase."""
    body = """
	setp.eq.u32 %p1, %r1, 0;
	@%p1 mbarrier.init.shared.b64 [tile], 32;
	bar.sync 0;
	mbarrier.arrive.shared.b64 %d10, [tile];
	mbarrier.pending_count.b64 %r6, %d10;
	mbarrier.test_wait.shared.b64 %p2, [tile], %d10;
	@!%p2 mov.u32 %r6, 99;
"""
    out = np.zeros(32, np.uint32)
    functional.run(parse(kernel_text(body)).kernels["k"], 1, 32, [out, np.zeros(1, np.uint32)])
    assert out.tolist() == list(range(32, 0, -1))
