"""Which programs have copy engines, and what the machine says of them."""

import numpy as np
from bulk_kernels import kernel
from timed_copies import LOAD, TRY, machine

from ptxsim.lowering.lower import lower
from ptxsim.timing.bulk.setup import engine_records


def test_programs_with_copies_or_waits_have_engines() -> None:
    gpu = machine("tma.latency_cycles=7", "tma.try_wait_cycles=99", sms=3)
    found = [len(engine_records(gpu, lower(kernel(body), gpu))) for body in ("", LOAD.format(0, 0, 64), TRY)]
    assert found == [0, 3, 3]
    engines = engine_records(gpu, lower(kernel(TRY), gpu))
    assert np.unique(engines["latency"]).tolist() == [7]
    assert np.unique(engines["wait_cycles"]).tolist() == [99]
    assert np.unique(engines["core_mhz"]).tolist() == [1980]


def test_a_test_that_does_not_wait_needs_none() -> None:
    gpu = machine()
    test = TRY.replace("try_wait", "test_wait")
    assert len(engine_records(gpu, lower(kernel(test), gpu))) == 0
