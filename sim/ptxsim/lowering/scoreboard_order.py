"""The order in which the scoreboard keeps the registers of a warp: that in which instructions first name them.

A declaration lists registers by type, and an instruction names some of each; in this order those of an instruction and
of its neighbours lie side by side, in few cache lines of the host.
"""

from typing import Any

import numpy as np

from ptxsim.base.program import MAX_REGISTERS


def order_registers(records: Any, n_registers: int) -> Any:
    """Number the registers in INSTRUCTION records anew; returns the former index of each, int32."""
    named = np.arange(MAX_REGISTERS) < records["n_registers"][:, None]
    registers = records["register"]
    order = np.array([*dict.fromkeys(registers[named].tolist())], np.int32)
    order = np.append(order, np.setdiff1d(np.arange(n_registers, dtype=np.int32), order))
    place = np.empty(n_registers, np.int32)
    place[order] = np.arange(n_registers, dtype=np.int32)
    registers[named] = place[registers[named]]
    return order
