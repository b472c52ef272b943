"""One warp scheduler with six warps whose masks a test sets by hand."""

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.timing.schedulers import policy
from ptxsim.timing.sm_state import SM

ALL = 0b111111


class Bench:
    """One scheduler with six warps, of which that in slot 0 was launched last: it is the youngest."""

    def __init__(self, name: str):
        self.policy = policy(name)
        self.sm = np.zeros(1, SM)[0]
        self.sm["dynamic_id"][:6] = [5, 0, 1, 2, 3, 4]
        self.sm["supervised"][0] = self.sm["resident"] = ALL
        self.sm["policy_number"] = self.policy.number

    def pick(self, candidates: int) -> int:
        return int(for_python(self.policy.pick)(self.sm, 0, candidates))

    def window(self) -> set[int]:
        mask = int(for_python(self.policy.window)(self.sm, 0))
        return {w for w in range(6) if mask >> w & 1}
