"""The fault that counts is that of the earliest cycle, then of the first SM."""

from typing import Any

import numpy as np
import pytest

from ptxsim.base.program import CONTEXT
from ptxsim.timing.core import faults
from ptxsim.timing.sm_state import FOREVER, RUN

keep = getattr(faults.keep_fault, "py_func", faults.keep_fault)
give = getattr(faults.give_fault, "py_func", faults.give_fault)


@pytest.mark.parametrize(
    ("met", "counts"),
    [
        ([(50, 0), (40, 3)], (40, 3)),  # the first SM has run ahead
        ([(40, 3), (50, 0)], (40, 3)),
        ([(40, 2), (40, 5)], (40, 2)),
    ],
)
def test_the_earliest_counts(met: list[tuple[int, int]], counts: tuple[int, int]) -> None:
    run: Any = np.zeros(1, RUN)[0]
    context: Any = np.zeros(1, CONTEXT)[0]
    for cycle, sm in met:
        run.cycle, run.fault_kind, run.fault_sm, run.fault_instruction = cycle, 1, sm, cycle + sm
        context.error, context.error_lane, context.error_address = 1, sm, 1 << 63
        keep(run, context, sm)
        assert run.sm_next[sm] == FOREVER
        assert (run.fault_kind, context.error) == (0, 0)
    assert run.kept_fault[0] == counts[0] << 8 | counts[1]
    give(run, context)
    assert (run.fault_kind, run.fault_sm, run.fault_instruction) == (1, counts[1], sum(counts))
    assert (context.error, context.error_lane, context.error_address) == (1, counts[1], 1 << 63)
