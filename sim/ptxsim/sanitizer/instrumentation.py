"""What the checks know of every instruction of a program: registers, memory, order, calls.

An instruction that accesses memory more than once (`wmma.load`, operands of PTXPlus) is executed in pieces, one for
each access, so that each is looked at when it is made; so are the arguments of a call. Left whole are those of which
only some lanes make an access.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxsim.base.program import ATOMIC, INSTRUCTION, INVOKE, LOAD, NO_ACCESS, PLAIN, STORE, Program
from ptxsim.execute.codes import (
    ACCESS32,
    ACCESS64,
    ATOMIC32,
    COPY,
    FIRST,
    MBARRIER,
    MEMBERS,
    MEMORY_END,
    NARROW,
    PREDICATE,
    SHUFFLE,
    SHUFFLE_TEST,
    STORE_8,
    STORE_64,
)
from ptxsim.sanitizer.frames import CALLEE_BYTES, CALLER_BYTES, FRAME_WORDS, N_BEFORE, N_BEHIND, N_CLEARED
from ptxsim.sanitizer.shadow_state import (
    ACQUIRES,
    AWAITS,
    CHECKED,
    COMMITS,
    COPIES,
    ORDERS_WARP,
    RELEASES,
    TRACKS,
)
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function, Immediate, Instruction, Name
from ptxtool.isa.literals import integer

_ORDERS = {
    "bar.warp.sync": ORDERS_WARP,
    "mbarrier.test_wait": ACQUIRES,
    "mbarrier.try_wait": ACQUIRES,
    "mbarrier.": RELEASES,
    "cp.async.mbarrier": RELEASES,
    "fence.proxy": 0,
    "fence": RELEASES | ACQUIRES,
    "membar": RELEASES | ACQUIRES,
}
"""What instructions order, by the beginning of their opcode: the first that fits."""
_COPIES = {
    "cp.async.commit_group": COMMITS,
    "cp.async.wait_group": AWAITS,
    "cp.async.wait_all": AWAITS,
    "cp.async.mbarrier.arrive": TRACKS,
}
_MODIFIERS = {
    "release": RELEASES,
    "mbarrier::complete_tx::bytes": RELEASES,
    "acquire": ACQUIRES,
    "acq_rel": RELEASES | ACQUIRES,
}
_WEAK = ("mbarrier.init", "mbarrier.inval")
_STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"})


@dataclass
class Tables:
    """The arrays that compiled code reads."""

    checked: Any
    """A CHECKED record for every instruction, and behind them one for every piece."""
    registers: Any
    """The registers that instructions name."""
    pieces: Any
    """An INSTRUCTION record for every piece, of which only the micro-operations count."""
    calls: Any
    """What calls do to the stack (sanitizer/frames.py)."""

    @classmethod
    def empty(cls, program: Program) -> "Tables":
        """Nothing is asked of any instruction."""
        checked = np.zeros(max(1, len(program.instructions)), CHECKED)
        checked["call"] = -1
        return cls(checked, np.zeros(1, np.int32), np.zeros(0, INSTRUCTION), np.zeros(1, np.int32))

    @classmethod
    def of(cls, program: Program) -> "Tables":
        checked = np.zeros(max(1, len(program.instructions)), CHECKED)
        checked["guard"] = checked["passed"] = checked["call"] = -1
        registers: list[int] = []
        parts: list[tuple[int, int, Any]] = []
        firsts = {function.name: first for function, first in program.first_registers}
        facts = {function.name: function.def_uses for function, _ in program.first_registers}
        for i, (function, index) in enumerate(program.positions):
            record, first = checked[i], firsts[function.name]
            record["reads"] = record["writes"] = record["end"] = len(registers)
            if index < 0:  # the end of a function, where results go to its frame
                _access(record, program, i)
            else:
                _registers(record, function, index, facts[function.name][index], first, registers)
                _memory(record, program, i, function.instructions[index])
                record["computes"] = _computes(program, i)
            record["pieces"] = len(checked) + len(parts)
            parts += _pieces(record, program, i)
            record["pieces_end"] = len(checked) + len(parts)
        calls = _calls(checked, program)
        pieces = np.zeros(len(parts), INSTRUCTION)
        for k, (start, end, _) in enumerate(parts):
            pieces[k]["uop_start"], pieces[k]["uop_end"] = start, end
        behind = np.array([piece for *_, piece in parts], CHECKED)
        both = np.concatenate([checked, behind]).view(CHECKED)
        return cls(both, np.array(registers or [0], np.int32), pieces, calls)


def _registers(
    record: Any, function: Function, index: int, known: DefUse, first: int, registers: list[int]
) -> None:
    """The registers that an instruction names, numbered from `first` on."""
    instruction = function.instructions[index]
    named = -1
    if instruction.guard is not None:
        named = function.registers.resolve_index(instruction.guard.name, index)
        record["guard"] = first + named
    passed = _passed(function, instruction, index)
    record["passed"] = first + passed if passed >= 0 else -1
    registers += [first + r for r in known.uses if r not in (named, passed)]
    record["writes"] = len(registers)
    registers += [first + r for r in known.defs]
    record["end"] = len(registers)


def _memory(record: Any, program: Program, i: int, instruction: Instruction) -> None:
    """What an instruction does to memory, to its order, and to the stack."""
    if instruction.opcode.base != "call":
        _access(record, program, i)
        _order(record, program, i, instruction)
    record["allocates"] = instruction.opcode.base == "alloca"


def _computes(program: Program, i: int) -> bool:
    """Whether an instruction computes lane by lane, or passes values on, and does nothing else."""
    timed = program.instructions[i]
    uops = program.uops["op"][timed["uop_start"] : timed["uop_end"]]
    known = ((uops < FIRST) | (uops == PREDICATE) | (uops == SHUFFLE) | (uops == SHUFFLE_TEST)).all()
    return bool(known) and len(uops) > 0 and timed["kind"] == PLAIN and not timed["exit_after"]


def _passed(function: Function, instruction: Instruction, index: int) -> int:
    """The register of which a shuffle passes on what lanes have; -1 none. Lanes that nobody reads may have nothing."""
    if instruction.opcode.base != "shfl":
        return -1
    names = [
        function.registers.resolve_index(o.text, index)
        for o in instruction.operands[1:]
        if isinstance(o, Name)
    ]
    return (
        names[0] if names and isinstance(instruction.operands[1], Name) and names.count(names[0]) == 1 else -1
    )


def _access(record: Any, program: Program, i: int) -> None:
    """What an instruction does to memory."""
    timed = program.instructions[i]
    uops = program.uops[timed["uop_start"] : timed["uop_end"]]
    for uop in uops:
        if uop["op"] in (ACCESS32, ACCESS64):
            record["bytes"] = uop["c"] >> 8
        elif uop["op"] == COPY:
            record["bytes"], record["copies"] = uop["e"], COPIES
    if record["copies"]:
        record["access"] = STORE
    elif timed["access"] != NO_ACCESS:
        record["access"] = timed["access"]
    elif record["bytes"]:  # in a frame, or an operand of PTXPlus arithmetic
        record["access"] = _kind(uops["op"])


def _kind(operations: Iterable[int]) -> int:
    """What micro-operations do with the memory that they access."""
    kinds = {int(op) for op in operations}
    if any(STORE_8 <= op <= STORE_64 for op in kinds):
        return STORE
    return ATOMIC if any(ATOMIC32 <= op < MEMORY_END or op == MBARRIER for op in kinds) else LOAD


def _order(record: Any, program: Program, i: int, instruction: Instruction) -> None:
    """What an instruction orders, and what it has to do with asynchronous copies."""
    opcode, modifiers = instruction.opcode.text, frozenset(instruction.opcode.text.split("."))
    if record["copies"] and len(instruction.operands) == 3:
        record["copied_bytes"] = record["bytes"]
    for begin, what in _COPIES.items():
        if opcode.startswith(begin):
            record["copies"] = what
            record["groups"] = next(
                (integer(o.text) for o in instruction.operands if isinstance(o, Immediate)), -1
            )
    works_on_mbarrier = opcode.startswith("mbarrier.") and not opcode.startswith(_WEAK)
    is_atomic = program.instructions[i]["access"] == ATOMIC
    record["strong"] = is_atomic or works_on_mbarrier or bool(modifiers & _STRONG)
    orders = next((order for begin, order in _ORDERS.items() if opcode.startswith(begin)), -1)
    if orders < 0:
        orders = next((order for name, order in _MODIFIERS.items() if name in modifiers), 0)
    record["orders"] = orders


def _pieces(record: Any, program: Program, i: int) -> Iterator[tuple[int, int, Any]]:
    """The micro-operations of each piece of an instruction, and what is checked of it."""
    timed = program.instructions[i]
    first, last = int(timed["uop_start"]), int(timed["uop_end"])
    operations = [int(op) for op in program.uops["op"][first:last]]
    accesses = [first + k for k, op in enumerate(operations) if op in (ACCESS32, ACCESS64)]
    is_call = record["access"] == NO_ACCESS and record["bytes"] == 0
    if len(accesses) + is_call < 2 or not accesses or {NARROW, MEMBERS, COPY} & set(operations):
        return
    starts = [first, *accesses[1:]]
    for start, end, access in zip(starts, [*starts[1:], last], accesses, strict=True):
        piece = record.copy()
        piece["bytes"] = program.uops[access]["c"] >> 8
        piece["access"] = _kind(operations[start - first : end - first])
        piece["strong"] |= MBARRIER in operations[start - first : end - first]
        yield start, end, piece


def _calls(checked: Any, program: Program) -> Any:
    """The table of calls."""
    table: list[int] = []
    firsts = {function.name: (first, len(function.registers)) for function, first in program.first_registers}
    for i, call in program.layout.calls.items():
        assert program.instructions[i]["kind"] == INVOKE
        checked[i]["call"] = len(table)
        words = [0] * FRAME_WORDS
        words[CALLER_BYTES], words[CALLEE_BYTES] = call.caller_bytes, call.callee_bytes
        words[N_BEFORE], words[N_BEHIND] = len(call.arguments), len(call.results)
        words[N_CLEARED] = len(call.entered)
        for copy in (*call.arguments, *call.results):
            words += copy
        for name in call.entered:
            words += firsts[name]
        table += words
    return np.array(table or [0], np.int32)
