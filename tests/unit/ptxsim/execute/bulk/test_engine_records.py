"""Where the copies of an engine lie."""

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.base.program import ENGINE_COPIES, TRANSFER
from ptxsim.execute.bulk.engine_records import copy_at


def test_an_sm_has_its_copies_after_those_of_the_sms_before() -> None:
    """The first record is the one to work on."""
    copies = np.zeros(1 + 3 * ENGINE_COPIES, TRANSFER)
    copies["bytes"] = range(len(copies))
    at = for_python(copy_at)
    assert at(copies.ctypes.data, 0, 0)["bytes"] == 1
    assert at(copies.ctypes.data, 2, 5)["bytes"] == 1 + 2 * ENGINE_COPIES + 5
