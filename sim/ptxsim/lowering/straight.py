"""How many instructions from each one on only compute and access memory.

Such instructions move no warp's stack and wait for nothing: a run without time executes them one after the other in
one call (`micro_operations.straight`). After a load or atomic that ends a warp's slice (functional/cta_loop.py) a new
run begins.
"""

from typing import Any

import numpy as np

from ptxsim.base.program import ATOMIC, GENERIC, GLOBAL, LOAD, MEMBAR, PLAIN, SHARED
from ptxsim.execute.codes import PREDICATE


def count_straight(instructions: Any, uops: Any) -> None:
    """Fill in `straight` of every record: the length of the run of such instructions that begins there, 0 for none."""
    others = np.concatenate([[0], np.cumsum(uops["op"] > PREDICATE)])
    simple = others[instructions["uop_end"]] == others[instructions["uop_start"]]
    simple &= np.isin(instructions["kind"], (PLAIN, MEMBAR)) & (instructions["exit_after"] == 0)
    instructions["ends_slice"] = np.isin(instructions["access"], (LOAD, ATOMIC)) & np.isin(
        instructions["space"], (GLOBAL, SHARED, GENERIC)
    )
    length = 0
    for i in range(len(instructions) - 1, -1, -1):
        after = 0 if instructions["ends_slice"][i] else length
        length = after + 1 if simple[i] else 0
        instructions["straight"][i] = length
