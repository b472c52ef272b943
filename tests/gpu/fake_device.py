"""A machine for the tests of the comparison: the reference interpreter, with the faults that a test asks for."""

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from gpu.machine import Job, MachineError, Simulator
from reference.interpreter import run_reference


@dataclass(frozen=True)
class FakeDevice:
    """A machine that gives what the reference gives, changed by `change`.

    Jobs in whose text a pattern of `trouble` is found end in that stage; "crash" and "hang" do so to the process.
    """

    target: str = "sm_90a"
    version: str = "9.0"
    name: str = "fake"
    change: Callable[[np.ndarray], object] = lambda _: None
    trouble: dict[str, Literal["compile", "run", "crash", "hang"]] = field(default_factory=dict)

    def run(self, job: Job) -> np.ndarray:
        stage = next((stage for pattern, stage in self.trouble.items() if re.search(pattern, job.text)), None)
        if stage == "crash":
            os._exit(1)
        while stage == "hang":
            time.sleep(0.1)
        if stage == "compile" or stage == "run":
            raise MachineError(stage, "no such thing here")
        found = Simulator(self.target, self.version, function=run_reference).run(job)
        self.change(found)
        return found


def troubled() -> FakeDevice:
    """For a process of its own: crashes at `rem`, hangs at `sad`, faults at `div`, refuses `bfi`."""
    trouble = {r"\brem\.": "crash", r"\bsad\.": "hang", r"\bdiv\.": "run", r"\bbfi\.": "compile"}
    return FakeDevice(trouble=trouble)  # type: ignore[arg-type]
