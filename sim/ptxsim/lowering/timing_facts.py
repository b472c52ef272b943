"""What the timing model sees of an instruction: access, unit, latency, interval, registers. For `lower.py`.

The scoreboard sees the registers that are written, then those that are read; the operand collector reads the sources
from banks, by their architectural numbers. The words that are read and written are for the energy of a run.
"""

import re

import numpy as np

from ptxsim.base import program
from ptxsim.base.program import ATOMIC, CONST, LOAD, NO_ACCESS, PARAM, SHARED, STORE
from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.rows import Operation
from ptxtool.analysis.flow.pressure import file_of
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Timing
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Group, Memory, Name, Operand, Unary
from ptxtool.ir.symbols import Register
from ptxtool.isa.table import Match
from ptxtool.isa.types import arithmetic_class

_PORTS = {name: getattr(program, name) for name in ("SP", "SFU", "EITHER", "INT", "DP", "TENSOR")}


def set_access(builder: UopBuilder, op: Operation, record: np.void, gpu: Gpu) -> None:
    """Whether it goes to the LDST unit. PTXPlus: `mov` with memory does, arithmetic with memory does not."""
    effects = op.match.form.effects
    access = NO_ACCESS
    if builder.is_passing or "call" in effects:
        return  # parameters of functions travel in registers
    if "atomic" in effects:
        access = ATOMIC
    elif op.match.form.unit in gpu.ldst.units and effects & {"load", "store"}:
        # an asynchronous copy loads; what it stores stays within the SM
        access = STORE if "store" in effects and "load" not in effects else LOAD
    elif op.instruction.opcode.base == "mov" and builder.access_bytes:
        access = STORE if isinstance(op.operands[0], Memory) else LOAD
    if access != NO_ACCESS:
        record["access"] = access
        record["space"] = builder.space
        record["outside"] = builder.space not in (SHARED, CONST, PARAM)
        record["loads_long"] = access == LOAD and builder.space not in (SHARED, CONST)
        whole = gpu.ldst.vectors == "whole"
        record["access_bytes"] = builder.access_bytes if whole else builder.element_bytes
        record["element_bytes"] = builder.element_bytes
        record["bypass"] = _bypass(op, access, gpu)


def _bypass(op: Operation, access: int, gpu: Gpu) -> int:
    """Atomics pass the L1 by, and what the machine says."""
    if access == ATOMIC or any(op.has(word) for word in gpu.l1d.bypass):
        return program.BY_ALL
    if "global" not in gpu.l1d.bypass:
        return program.BY_NONE
    return program.BY_ALL if "local" in gpu.l1d.bypass else program.BY_GLOBAL


def set_timing(builder: UopBuilder, match: Match, record: np.void, gpu: Gpu) -> None:
    """Port, latency and initiation interval, by the table's unit and the class of the first type, or by what a tensor
    core has to multiply."""
    unit = match.form.unit
    if builder.is_passing:
        unit = "alu"
    elif unit in gpu.ldst.units or record["access"] != NO_ACCESS:
        record["unit"], record["latency"], record["interval"] = program.LDST, 1, 1
        return
    set_unit(record, gpu.latency[unit][arithmetic_class(match.type)])
    if builder.products:
        rates = {"wgmma": gpu.wgmma, "tcgen05": gpu.tcgen05}.get(builder.product_kind, gpu.tensor)
        times = rates.times(builder.product_type, builder.products)
        if times is not None:
            record["latency"], record["interval"] = times


def set_unit(record: np.void, timing: Timing) -> None:
    """The port, latency and initiation interval of a class of instructions."""
    record["unit"] = _PORTS[timing.unit]
    record["latency"], record["interval"] = timing.latency, timing.interval


def set_registers(builder: UopBuilder, op: Operation, record: np.void, facts: DefUse, gpu: Gpu) -> None:
    """What the scoreboard and the operand collector see: destinations first."""
    registers = builder.registers
    sinks = [r for r in facts.touched if registers[r].is_sink]
    unseen = _unseen(builder, op) if builder.as_gpgpu_sim else set()
    destinations = [r for r in facts.touched if (r in facts.defs and r not in unseen) or r in sinks]
    rest = [r for r in facts.touched if r not in destinations]
    named = (destinations + rest)[: program.MAX_REGISTERS]
    record["n_destinations"] = min(len(destinations), program.MAX_DESTINATIONS)
    record["n_registers"] = len(named)
    record["register"][: len(named)] = [builder.first_register + r for r in named]
    record["max_sequence"] = max((builder.first_register + r + 1 for r in facts.touched), default=0)
    indices = [registers.resolve_index(name, op.index) for name in _source_names(op)]
    reads = (*facts.uses, *_named_again(indices, gpu))
    record["words_read"] = sum(_words(registers[r]) for r in reads)
    record["words_written"] = sum(_words(registers[r]) for r in facts.defs)
    sources = [number for k in indices if k >= 0 and (number := bank_number(registers[k], gpu)) >= 0]
    if not gpu.pipeline.collector_duplicates:
        sources = list(dict.fromkeys(sources))
    sources = sources[: program.MAX_BANKS]
    record["n_sources"] = len(sources)
    record["bank"][: len(sources)] = sources


def _named_again(indices: list[int], gpu: Gpu) -> list[int]:
    """What the operand collector reads more than once, as often as it does beyond the first time."""
    again = [k for position, k in enumerate(indices) if k >= 0 and k in indices[:position]]
    return again if gpu.pipeline.collector_duplicates else []


def _words(register: Register) -> int:
    """The 32-bit registers of the register file that a register takes; 0 for predicates and address registers."""
    return register.units if file_of(register) == "general" else 0


def _unseen(builder: UopBuilder, op: Operation) -> set[int]:
    """The registers that GPGPU-Sim's scoreboard does not see written: those that only a post-increment writes, and
    all but the first component of a fetch."""
    written = _names(op.operands[0]) if op.operands and not isinstance(op.operands[0], Memory) else []
    if builder.is_converted(op):
        return {builder.registers.resolve_index(name, op.index) for name in written[1:]}
    bases: list[str] = []
    for operand in op.operands:
        memory = operand.operand if isinstance(operand, Unary) else operand
        if isinstance(memory, Memory) and memory.post_increment and memory.base is not None:
            bases += _names(memory.base)
    return {builder.registers.resolve_index(name, op.index) for name in bases if name not in written}


def bank_number(register: Register, gpu: Gpu) -> int:
    """A register's number that tells its bank, -1 for a register in none (`timing/banks.py`).

    For the function `reg+warp` it is the first run of digits in the name (PTXPlus reference, section 3.2).
    """
    if gpu.pipeline.bank_function == "reg":
        place = units_of(register)
        return place.first if place and place.file == "general" else -1
    digits = re.search(r"\d+", register.name)
    return int(digits.group()) % (1 << 20) if digits else 0


def _source_names(op: Operation) -> list[str]:
    """The registers that the operand collector reads, in operand order with repetitions."""
    found: list[str] = []
    for k, operand in enumerate(op.operands):
        specs = op.match.form.operands
        role = specs[k].role if k < len(specs) else "r"
        if role in ("r", "rw", "m") or (role in ("w", "p") and isinstance(operand, Memory)):
            found += _names(operand)
    return found


def _names(operand: Operand) -> list[str]:
    """The names whose registers the operand collector sees: those of lists of arguments are not."""
    if isinstance(operand, Name):  # most operands
        return [operand.text]
    return [] if isinstance(operand, Group) else [name.text for name in names(operand)]
