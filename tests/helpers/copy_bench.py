"""A copy engine without a machine around it: a context with two SMs, and a copy to work on."""

from typing import Any

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.base.program import BULK, CONTEXT, ENGINE, ENGINE_COPIES, TRANSFER, WHEN_DUE
from ptxsim.execute.bulk import engine_queue

GLOBAL_BASE = 0x1000


class Bench:
    """A context with two SMs of 8 warps, 4096 bytes of global memory, and a copy to work on."""

    def __init__(self, warp: int = 0) -> None:
        self.memory = np.zeros(4096, np.uint8)
        self.context, self.bulk = np.zeros(1, CONTEXT), np.zeros(1, BULK)
        self.engines, self.copies = np.zeros(2, ENGINE), np.zeros(1 + 2 * ENGINE_COPIES, TRANSFER)
        x = self.context[0]
        x["global_memory"], x["global_base"], x["global_bytes"] = (
            self.memory.ctypes.data,
            GLOBAL_BASE,
            self.memory.nbytes,
        )
        self.allocations = np.array([GLOBAL_BASE, GLOBAL_BASE + self.memory.nbytes], np.uint64)
        x["allocations"], x["n_allocations"] = self.allocations.ctypes.data, 1
        x["bulk"], x["warp"], x["cycle"] = self.bulk.ctypes.data, warp, 100
        self.bulk["when"], self.bulk["warps"] = WHEN_DUE, 8
        self.bulk["engines"], self.bulk["transfers"] = self.engines.ctypes.data, self.copies.ctypes.data
        self.engines["issue_cycles"], self.engines["next"] = 5, 1 << 62

    def copy(self, **fields: Any) -> Any:
        for name, value in {"mask": 0xFFFF, **fields}.items():
            self.copies[0][name] = value
        return self.copies[0]

    def accept(self, **fields: Any) -> None:
        self.copy(**fields)
        for_python(engine_queue.accept)(self.context[0], self.copies[0])
