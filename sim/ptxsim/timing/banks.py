"""Which banks of the register file the instructions of a program use: for the operand collector.

A machine has one of two functions of a register's number r and the warp w (`pipeline.bank_function`):

    reg+warp  (r + w) mod banks                         GPGPU-Sim; r is the number in the register's name
    reg       r mod b, within the partition w mod p     Maxwell; r is the first 32-bit register that the name means,
                                                        b = banks / p of the file's p partitions

An SM with sub-cores (`core/collector_sets.py`) has the first, within the banks of each. Both are otherwise the
banks of warp 0 turned by w times a constant (`bank_turn`). Predicates take a bank in the first alone.

Handled simply: a 64-bit register is one read of the bank of its lower half.
Reference: timing-model section 1.5.
"""

from typing import Any

import numpy as np

from ptxsim.base.program import Program
from ptxsim.lowering.timing_facts import bank_number
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.formats.gpu import Gpu
from ptxtool.ir.symbols import Register

_banks: IdentityCache[tuple[Any, Any]] = IdentityCache(32)
"""Of programs: the banks that their instructions write and read, by the banks of a warp and those read at once."""


def banks_of_warp(gpu: Gpu) -> int:
    """The banks among which the registers of one warp lie."""
    if gpu.pipeline.sub_cores:
        return gpu.pipeline.register_banks // gpu.sm.schedulers
    in_partitions = gpu.pipeline.bank_function == "reg"
    return gpu.pipeline.register_banks // (gpu.sm.register_partitions if in_partitions else 1)


def bank_turn(gpu: Gpu) -> int:
    """By how many banks the registers of a warp lie further than those of the warp before it."""
    return banks_of_warp(gpu) if gpu.pipeline.bank_function == "reg" else 1


def banks_of(program: Program, gpu: Gpu) -> tuple[Any, Any]:
    """Per instruction, int64 masks of the banks that it writes and reads (see below); cached with the program."""
    n_banks, at_once = banks_of_warp(gpu), gpu.pipeline.collector_reads
    return _banks.get(
        program,
        (n_banks, gpu.pipeline.bank_function, at_once),
        lambda: (_banks_written(program, gpu, n_banks), _banks_read(program, n_banks, at_once)),
    )


def _banks_written(program: Program, gpu: Gpu, n_banks: int) -> Any:
    """Per instruction a mask of the banks that hold its destinations for warp 0, int64."""
    code = program.instructions
    destinations = np.arange(code["register"].shape[1]) < code["n_destinations"][:, None]
    written = np.unique(code["register"][destinations])
    banks = np.zeros(len(program.register_names) or 1, np.int64)
    for k in written.tolist():
        number = bank_number(_register(program, program.scoreboard_order[k]), gpu)
        banks[k] = 1 << number % n_banks if number >= 0 else 0
    return np.bitwise_or.reduce(np.where(destinations, banks[code["register"]], 0), axis=1)


def _register(program: Program, k: int) -> Register:
    """A register by its index among those of all functions."""
    function, first = next(pair for pair in reversed(program.first_registers) if pair[1] <= k)
    found: Register = function.registers[k - first]
    return found


def _banks_read(program: Program, n_banks: int, at_once: int) -> Any:
    """Per instruction a mask of the banks that hold its sources for warp 0, int64; 0 where two of them share a bank,
    or where they are more than a collector unit reads `at_once`."""
    code = program.instructions
    sources = np.arange(code["bank"].shape[1]) < code["n_sources"][:, None]
    banks = np.where(sources, np.int64(1) << (code["bank"].astype(np.int64) & (n_banks - 1)), 0)
    together = np.bitwise_or.reduce(banks, axis=1)
    distinct = banks.sum(axis=1) == together
    return np.where(distinct & (code["n_sources"] <= at_once), together, 0)
