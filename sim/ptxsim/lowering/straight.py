"""How many instructions from each one on only compute and access memory.

Such instructions move no warp's stack and wait for nothing: a run without time executes them one after the other in
one call (`micro_operations.straight`).
"""

from typing import Any

import numpy as np

from ptxsim.base.program import MEMBAR, PLAIN
from ptxsim.execute.codes import PREDICATE


def count_straight(instructions: Any, uops: Any) -> None:
    """Fill in `straight` of every record: the length of the run of such instructions that begins there, 0 for none."""
    others = np.concatenate([[0], np.cumsum(uops["op"] > PREDICATE)])
    simple = others[instructions["uop_end"]] == others[instructions["uop_start"]]
    simple &= np.isin(instructions["kind"], (PLAIN, MEMBAR)) & (instructions["exit_after"] == 0)
    length = 0
    for i in range(len(instructions) - 1, -1, -1):
        length = length + 1 if simple[i] else 0
        instructions["straight"][i] = length
