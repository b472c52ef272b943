"""What runs programs: the contract, and the simulator as one that fulfils it.

A machine is given jobs, not programs, since a GPU is asked in a process of its own: a job is plain data.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from gpu.programs import BLOCK, Program
from walk_kernels import handles

from ptxsim import functional_run as functional
from ptxtool.base.diag import PtxError
from ptxtool.parse import parse

RESULTS = 1
"""The argument that takes the results."""
BY_VALUE = 3
"""The argument that is an array among the parameters."""


@dataclass(frozen=True)
class Job:
    """A kernel `k` of one CTA, and its arguments; `geometries` are those of the textures and surfaces at their end."""

    text: str
    arguments: list[Any]
    geometries: tuple[str, ...] = ()
    block: int = BLOCK


class MachineError(Exception):
    """A job that did not come to its end: the compiler refused it, or it ended with an error when it ran."""

    def __init__(self, stage: Literal["compile", "run"], message: str):
        super().__init__(message)
        self.stage = stage
        self.message = message

    def __reduce__(self) -> tuple[Any, ...]:
        return MachineError, (self.stage, self.message)


class Machine(Protocol):
    """`target` and `version` are the newest that it takes."""

    name: str
    target: str
    version: str

    def run(self, job: Job) -> np.ndarray:
        """The results that a job leaves. Raises `MachineError`."""


@dataclass(frozen=True)
class Simulator:
    """The simulator, or another function that runs kernels as it does (the reference interpreter)."""

    target: str
    version: str = "9.0"
    name: str = "simulator"
    function: Callable[..., object] = field(default=functional.run, repr=False)

    def run(self, job: Job) -> np.ndarray:
        try:
            self.function(parse(job.text).kernels["k"], (1,), (job.block,), job.arguments)
        except PtxError as problem:
            raise MachineError("run", str(problem)) from problem
        found: np.ndarray = job.arguments[RESULTS]
        return found


def job(program: Program) -> Job:
    """A program with fresh arguments."""
    names = handles(program.items)
    return Job(program.text, program.arguments(), tuple(name.split("_")[1] for name in names))
