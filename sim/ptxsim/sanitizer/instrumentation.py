"""What the checks know of every instruction of a program: registers, memory, order, calls.

An instruction that accesses memory more than once (`wmma.load`, operands of PTXPlus) is executed in pieces, one for
each access, so that each access is checked when it happens; so are the arguments of a call. Instructions in which only
some lanes access memory are not split.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ptxsim.base.program import ATOMIC, INSTRUCTION, INVOKE, LOAD, NO_ACCESS, PLAIN, STORE, Program
from ptxsim.execute import codes
from ptxsim.sanitizer import shadow_state as state
from ptxsim.sanitizer.asynchronous.facts import note_facts
from ptxsim.sanitizer.frames import CALLEE_BYTES, CALLER_BYTES, FRAME_WORDS, N_AFTER, N_BEFORE, N_CLEARED
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.nodes import Function, Immediate, Instruction, Name
from ptxtool.isa.literals import integer

_ORDERS = {
    "bar.warp.sync": state.ORDERS_WARP,
    "barrier.cluster.arrive.relaxed": 0,
    "barrier.cluster.arrive": state.RELEASES,
    "barrier.cluster.wait": state.ACQUIRES,
    "mbarrier.test_wait": state.ACQUIRES,
    "mbarrier.try_wait": state.ACQUIRES,
    "mbarrier.": state.RELEASES,
    "cp.async.mbarrier": state.RELEASES,
    "fence.proxy": 0,
    "fence": state.RELEASES | state.ACQUIRES,
    "membar": state.RELEASES | state.ACQUIRES,
}
"""What instructions order, by the beginning of their opcode; the first entry that matches counts."""
_COPIES = {
    "cp.async.commit_group": state.COMMITS,
    "cp.async.wait_group": state.AWAITS,
    "cp.async.wait_all": state.AWAITS,
    "cp.async.mbarrier.arrive": state.TRACKS,
}
_MODIFIERS = {
    "release": state.RELEASES,
    "mbarrier::complete_tx::bytes": state.RELEASES,
    "acquire": state.ACQUIRES,
    "acq_rel": state.RELEASES | state.ACQUIRES,
}
_FENCES = ("fence.", "membar.")
_PASSING = (codes.PREDICATE, codes.SHUFFLE, codes.SHUFFLE_TEST)
_WEAK = ("mbarrier.init", "mbarrier.inval")
_STRONG = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "sc"})
_WITHIN_CTA = frozenset({"cta", "cluster"})
"""Scopes without the threads of other clusters: races between their CTAs are not looked for."""


@dataclass
class Tables:
    """The arrays that compiled code reads."""

    checked: Any
    """A CHECKED record for every instruction, then one for every piece."""
    registers: Any
    """The registers that instructions name."""
    pieces: Any
    """An INSTRUCTION record for every piece, of which only the micro-operations count."""
    calls: Any
    """What calls do to the stack (sanitizer/frames.py)."""

    @classmethod
    def empty(cls, program: Program) -> "Tables":
        """Tables that check no instruction."""
        checked = np.zeros(max(1, len(program.instructions)), state.CHECKED)
        checked["call"] = checked["block"] = -1
        return cls(checked, np.zeros(1, np.int32), np.zeros(0, INSTRUCTION), np.zeros(1, np.int32))

    @classmethod
    def of(cls, program: Program) -> "Tables":
        checked = np.zeros(max(1, len(program.instructions)), state.CHECKED)
        for name in ("guard", "passed", "call", "block"):
            checked[name] = -1
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
                note_facts(record, function, index, first, registers)
                record["computes"] = _computes(program, i)
            record["fragment_end"] = len(registers)
            record["pieces"] = len(checked) + len(parts)
            parts += _pieces(record, program, i)
            record["pieces_end"] = len(checked) + len(parts)
        calls = _calls(checked, program)
        pieces = np.zeros(len(parts), INSTRUCTION)
        for k, (start, end, _) in enumerate(parts):
            pieces[k]["uop_start"], pieces[k]["uop_end"] = start, end
        of_pieces = np.array([piece for *_, piece in parts], state.CHECKED)
        both = np.concatenate([checked, of_pieces]).view(state.CHECKED)
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
    timed = program.instructions[i]
    of_heap = [
        uop for uop in program.uops[timed["uop_start"] : timed["uop_end"]] if uop["op"] == codes.MALLOC
    ]
    record["block"] = of_heap[0]["d"] if of_heap else -1


def _computes(program: Program, i: int) -> bool:
    """Whether an instruction computes lane by lane, or passes values on, and does nothing else."""
    timed = program.instructions[i]
    uops = set(program.uops["op"][timed["uop_start"] : timed["uop_end"]].tolist())
    known = all(op < codes.FIRST or op in _PASSING for op in uops)
    return known and bool(uops) and bool(timed["kind"] == PLAIN) and not timed["exit_after"]


def _passed(function: Function, instruction: Instruction, index: int) -> int:
    """The register whose values a shuffle passes between lanes, -1 if none: lanes that no other lane reads need not
    have written it."""
    if instruction.opcode.base != "shfl" or not isinstance(instruction.operands[1], Name):
        return -1
    named = [o.text for o in instruction.operands[1:] if isinstance(o, Name)]
    registers = [function.registers.resolve_index(text, index) for text in named]
    return registers[0] if registers.count(registers[0]) == 1 else -1


def _access(record: Any, program: Program, i: int) -> None:
    """What an instruction does to memory."""
    timed = program.instructions[i]
    uops = program.uops[timed["uop_start"] : timed["uop_end"]]
    for uop in uops:
        if uop["op"] in (codes.ACCESS32, codes.ACCESS64):
            record["bytes"] = uop["c"] >> 8
        elif uop["op"] == codes.COPY:
            record["bytes"], record["copies"] = uop["e"], state.COPIES
    if record["copies"]:
        record["access"] = STORE
    elif timed["access"] != NO_ACCESS:
        record["access"] = timed["access"]
    elif record["bytes"]:  # in a frame, or an operand of PTXPlus arithmetic
        record["access"] = _kind(uops["op"])


def _kind(operations: Iterable[int]) -> int:
    """What micro-operations do with the memory that they access."""
    kinds = {int(op) for op in operations}
    if any(codes.STORE_8 <= op <= codes.STORE_64 for op in kinds):
        return STORE
    atomic = any(codes.ATOMIC32 <= op < codes.MEMORY_END or op == codes.MBARRIER for op in kinds)
    return ATOMIC if atomic else LOAD


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
    in_grid = not works_on_mbarrier and not modifiers & _WITHIN_CTA
    if is_atomic or works_on_mbarrier or modifiers & _STRONG:
        record["strong"] = state.STRONG_IN_GRID if in_grid else state.STRONG_IN_CTA
    orders = next((order for begin, order in _ORDERS.items() if opcode.startswith(begin)), -1)
    if orders < 0:
        orders = next((order for name, order in _MODIFIERS.items() if name in modifiers), 0)
    if in_grid and opcode.startswith(_FENCES):
        orders |= state.FENCES_GRID if orders else 0
    if orders & state.RELEASES and "cta" not in modifiers and "mbarrier." not in opcode:
        orders |= state.RELEASES_CLUSTER
    record["orders"] = orders


def _pieces(record: Any, program: Program, i: int) -> Iterator[tuple[int, int, Any]]:
    """The micro-operations of each piece of an instruction, and what is checked of it."""
    timed = program.instructions[i]
    first, last = int(timed["uop_start"]), int(timed["uop_end"])
    operations = [int(op) for op in program.uops["op"][first:last]]
    accesses = [first + k for k, op in enumerate(operations) if op in (codes.ACCESS32, codes.ACCESS64)]
    is_call = record["access"] == NO_ACCESS and record["bytes"] == 0
    of_some_lanes = {codes.NARROW, codes.MEMBERS, codes.COPY} & set(operations)
    if len(accesses) + is_call < 2 or not accesses or of_some_lanes:
        return
    starts = [first, *accesses[1:]]
    for start, end, access in zip(starts, [*starts[1:], last], accesses, strict=True):
        piece = record.copy()
        piece["bytes"] = program.uops[access]["c"] >> 8
        piece["access"] = _kind(operations[start - first : end - first])
        if codes.MBARRIER in operations[start - first : end - first]:
            piece["strong"] = state.STRONG_IN_CTA
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
        words[N_BEFORE], words[N_AFTER] = len(call.arguments), len(call.results)
        words[N_CLEARED] = len(call.entered)
        for copy in (*call.arguments, *call.results):
            words += copy
        for name in call.entered:
            words += firsts[name]
        table += words
    return np.array(table or [0], np.int32)
