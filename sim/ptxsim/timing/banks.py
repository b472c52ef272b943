"""Which banks of the register file the instructions of a program use: for the operand collector.

Reference: timing-model section 1.5.
"""

from typing import Any

import numpy as np

from ptxsim.base.identity_cache import IdentityCache
from ptxsim.base.program import Program
from ptxsim.lowering.timing_facts import architectural_number
from ptxtool.formats.gpu_parts import Pipeline

_banks: IdentityCache[tuple[Any, Any]] = IdentityCache(32)
"""Of programs: the banks that their instructions write and read, by the banks there are and those read at once."""


def banks_of(program: Program, pipeline: Pipeline) -> tuple[Any, Any]:
    """Per instruction, int64 masks of the banks that it writes and reads (see below); cached with the program."""
    n_banks, at_once = pipeline.register_banks, pipeline.collector_reads
    return _banks.get(
        program,
        (n_banks, at_once),
        lambda: (_banks_written(program, n_banks), _banks_read(program, n_banks, at_once)),
    )


def _banks_written(program: Program, n_banks: int) -> Any:
    """Per instruction a mask of the banks that hold its destinations for warp 0, int64."""
    numbers = np.array(
        [architectural_number(name) % (1 << 20) for name in program.register_names] or [0], np.int64
    )
    code = program.instructions
    destinations = np.arange(code["register"].shape[1]) < code["n_destinations"][:, None]
    banks = np.int64(1) << (numbers[np.where(destinations, code["register"], 0)] & (n_banks - 1))
    return np.bitwise_or.reduce(np.where(destinations, banks, 0), axis=1)


def _banks_read(program: Program, n_banks: int, at_once: int) -> Any:
    """Per instruction a mask of the banks that hold its sources for warp 0, int64; 0 where two of them share a bank,
    or where they are more than a collector unit reads `at_once`."""
    code = program.instructions
    sources = np.arange(code["bank"].shape[1]) < code["n_sources"][:, None]
    banks = np.where(sources, np.int64(1) << (code["bank"].astype(np.int64) & (n_banks - 1)), 0)
    together = np.bitwise_or.reduce(banks, axis=1)
    distinct = banks.sum(axis=1) == together
    return np.where(distinct & (code["n_sources"] <= at_once), together, 0)
