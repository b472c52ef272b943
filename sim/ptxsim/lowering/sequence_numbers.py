"""Register sharing of a kernel with virtual registers: its program with the numbers of physical ones."""

from dataclasses import replace

from ptxsim.base.program import FALLEN_REGISTERS, GIVES_REGISTERS, Program, copied_instructions
from ptxtool.analysis.sharing.physical_numbers import physical_numbers
from ptxtool.analysis.sharing.shared_registers import is_virtual
from ptxtool.base.identity_cache import IdentityCache
from ptxtool.ir.nodes import Function

_programs: IdentityCache[Program] = IdentityCache(8)
"""Of programs: those with the numbers for so many registers per thread."""


def with_physical_numbers(program: Program, kernel: Function, registers: int) -> Program:
    """The program for a run that takes so many registers per thread; unchanged where the text's are physical.

    Release marks are placed by the order of declaration: a text with marks for registers keeps its numbers. What was
    done is the program's `sharing_note`. Raises E301 where the run takes fewer registers than the assignment needs.
    """
    return _programs.get(program, registers, lambda: _numbered(program, kernel, registers))


def _numbered(program: Program, kernel: Function, registers: int) -> Program:
    if (program.instructions["marks"] & (GIVES_REGISTERS | FALLEN_REGISTERS)).any():
        if not is_virtual(kernel, registers):
            return program
        note = "its registers are virtual, and shared as declared for its release marks: run allocate before the passes"
        return replace(program, sharing_note=note)
    physical = physical_numbers(kernel, registers)
    if physical is None:
        return program
    records = copied_instructions(program.instructions)
    for record, (function, index) in zip(records, program.positions, strict=True):
        if index >= 0:
            named = record["max_sequence"] > 0
            record["max_sequence"] = physical.highest(function.name, index, named)
    note = (
        f"its {physical.declared} registers are virtual: the {physical.registers} physical ones that allocate assigns "
        "are shared (--as-written: as declared)"
    )
    return replace(program, instructions=records, physical=physical, sharing_note=note)
