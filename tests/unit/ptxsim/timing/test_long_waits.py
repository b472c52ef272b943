"""Which warps wait for a load from beyond the SM: by the registers that their next instruction names."""

import numpy as np
import pytest

from ptxsim.base.jit import for_python
from ptxsim.base.program import INSTRUCTION
from ptxsim.timing import long_waits
from ptxsim.timing.sm_state import FOREVER, LONG, RUN, SM

waits_long = for_python(long_waits.waits_long)


@pytest.mark.parametrize(
    ("ready_at", "waits"),
    [
        ([0, 0, LONG], True),  # the last of the registers that it names
        ([LONG, 0, 0], False),  # a register that it does not name
        ([0, FOREVER, FOREVER], False),  # times that are not known yet, of no such load
        ([0, 50, 0], False),
    ],
)
def test_a_warp_waits_for_the_registers_that_its_next_instruction_names(
    ready_at: list[int], waits: bool
) -> None:
    """Warp 1 with registers of its own, of which instruction 2 names 1 and 2; those of warp 0 do not count."""
    run, sm = np.zeros(1, RUN)[0], np.zeros(1, SM)[0]
    code, registers = np.zeros(3, INSTRUCTION), np.array([LONG] * 3 + ready_at, np.int64)
    code["n_registers"][2], code["register"][2, :2] = 2, (1, 2)
    run["code"], sm["ready_at"] = code.ctypes.data, registers.ctypes.data
    run["contexts"], run["n_registers"] = 2, 3
    sm["ib_pc"][1], sm["first_register"][1] = 2, 3
    assert waits_long(run, sm, 1) == waits
