"""A GPU in a process of its own: a kernel that faults leaves the process without a GPU, one that hangs never ends.

The parent sends jobs and gets results or errors; after an error of a run, and when the time is up, the process is given
up and the next job starts another.
"""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from gpu.device import Device, NoGpu
from gpu.machine import Job, Machine, MachineError

_START_SECONDS = 120.0
_RUN_SECONDS = 60.0


def _serve(pipe: Connection, make: Callable[[], Machine]) -> None:
    """What the process does: say what the GPU is, then run jobs."""
    try:
        device = make()
    except (NoGpu, MachineError) as problem:
        pipe.send(NoGpu(str(problem)))
        return
    pipe.send((device.name, device.target, device.version))
    while True:
        job = pipe.recv()
        if job is None:
            return
        try:
            pipe.send(device.run(job))
        except (
            Exception
        ) as problem:  # any other than a MachineError is raised again by the parent: a bug of ours
            pipe.send(problem)


class GuardedDevice:
    """The first GPU, as a machine that survives what it runs. Raises `NoGpu` where there is none."""

    def __init__(self, make: Callable[[], Machine] = Device, seconds: float = _RUN_SECONDS):
        self._make = make
        self._seconds = seconds
        self._process: Any = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._make), daemon=True)
        self._process.start()
        theirs.close()
        try:
            reported = (
                self._pipe.recv() if self._pipe.poll(_START_SECONDS) else NoGpu("the driver does not answer")
            )
        except EOFError:
            reported = NoGpu("the process that looks for a GPU ended without a word")
        if isinstance(reported, NoGpu):
            self.close()
            raise reported
        self.name, self.target, self.version = reported

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._process = None

    def run(self, job: Job) -> np.ndarray:
        if self._process is None:
            self._start()
        try:
            self._pipe.send(job)
            reported = self._pipe.recv() if self._pipe.poll(self._seconds) else None
        except (EOFError, OSError):
            reported = MachineError("run", "the process ended: the driver or its compiler crashed")
        if reported is None:
            reported = MachineError("run", f"no end after {self._seconds:g} seconds")
        if isinstance(reported, MachineError) and reported.stage == "run":
            self.close()
        if isinstance(reported, Exception):
            raise reported
        found: np.ndarray = reported
        return found
