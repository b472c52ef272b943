"""Control flow, barriers and what has no effect on values.

Rules emit the micro-operations (targets of indirect jumps); `set_control` fills in the record for the SIMT stack.

PTXPlus `brx` jumps to a PC: the byte address in a label's name (`l0x00000058`), or an instruction's own PC. `breakaddr`
pushes a target on a stack of rows per lane, `break` pops it.
"""

import re

import numpy as np

from ptxsim.base.program import (
    ALL,
    ANY,
    ARRIVE,
    BARRIER,
    BRANCH,
    CALL,
    COMMIT,
    COPY_GROUPS,
    COUNT,
    EXIT,
    INDIRECT,
    MEMBAR,
    PLAIN,
    RETURN,
    SYNC,
    WAIT,
)
from ptxsim.execute.codes import BARRIER as BARRIER_OPERANDS
from ptxsim.execute.codes import CHECK_TARGET, POP_BREAK, PUSH_BREAK, TARGET, TRAP
from ptxsim.lowering.builder import UopBuilder, rule
from ptxsim.lowering.callgraph import directive_at
from ptxsim.lowering.rows import TRUE, Operation, unsupported
from ptxtool.ir.nodes import Function, Immediate, Instruction, Module, Name, Operand, Vector
from ptxtool.isa.literals import integer
from ptxtool.isa.types import TYPES

PC_BYTES = 8
HALF_PC_BYTES = 4
BREAK_DEPTH = 32
"""Break targets a lane can have at a time."""
MAX_TARGETS = 4096
BARRIER_KINDS = {"bar_sync": SYNC, "bar_arrive": ARRIVE, "bar_red": COUNT}
_REDUCTIONS = {"popc": COUNT, "and": ALL, "or": ANY}

_KINDS = {
    "bra": BRANCH,
    "callp": CALL,
    "retp": RETURN,
    "ret": RETURN,
    "exit": EXIT,
    "brx": INDIRECT,
    "brx_idx": INDIRECT,
    "break": INDIRECT,
    "bar_sync": BARRIER,
    "bar_arrive": BARRIER,
    "bar_red": BARRIER,
    "membar": MEMBAR,
    "cp_async_commit": COMMIT,
    "cp_async_wait": WAIT,
}


def instruction_bytes(instruction: Instruction, ptxplus: bool) -> int:
    """Bytes of an instruction's encoding, as the PC counts them."""
    return HALF_PC_BYTES if ptxplus and "half" in instruction.opcode.modifiers else PC_BYTES


def code_addresses(module: Module) -> dict[str, int]:
    """Where each function's code begins: one after the other, in the order of the text."""
    found: dict[str, int] = {}
    address = 0
    for name, function in module.functions.items():
        found[name] = address
        address += _code_bytes(function)
    return found


def code_bytes(module: Module) -> int:
    """The size of a module's code."""
    return sum(map(_code_bytes, module.functions.values()))


def _code_bytes(function: Function) -> int:
    if function.module.is_ptxplus:
        return sum(instruction_bytes(i, True) for i in function.instructions)
    return PC_BYTES * len(function.instructions)


def set_control(b: UopBuilder, op: Operation, record: np.void) -> None:
    """Kind, target and barrier of a record."""
    sem = op.match.form.sem
    record["kind"] = _KINDS.get(sem, PLAIN)
    if sem in ("bra", "callp"):
        record["target"] = _label(b, op.operands[0])
    elif sem == "cp_async":
        record["copies"] = 1
    elif sem == "cp_async_wait":
        record["copies"] = -1
        for operand in op.operands:
            if not isinstance(operand, Immediate):
                unsupported("a number of groups in a register")
            record["copies"] = min(integer(operand.text), COPY_GROUPS)
    elif sem in BARRIER_KINDS:
        record["barrier_kind"] = BARRIER_KINDS[sem]
        if sem == "bar_red":
            record["barrier_kind"] = _REDUCTIONS[op.match.one_of(*_REDUCTIONS)]
            record["barrier_row"] = b.barrier_row
        record["barrier_aligned"] = op.match.form.base.startswith("bar.") or op.has("aligned")


def _label(b: UopBuilder, operand: Operand) -> int:
    if isinstance(operand, Name) and operand.text in b.kernel.labels:
        return b.start + b.kernel.labels[operand.text]
    unsupported("a target that is no label of the kernel")


@rule("bra", "callp", "retp", "exit", "membar", "nop")
def _no_values(b: UopBuilder, op: Operation) -> None:
    """Nothing but control."""


@rule(*BARRIER_KINDS)
def _barrier(b: UopBuilder, op: Operation) -> None:
    """Leave number, thread count and predicate; the result of a reduction comes when the barrier is complete."""
    operands = list(op.operands)
    votes = TRUE
    if op.match.form.sem == "bar_red":
        target = operands.pop(0)
        if op.has("popc"):
            register = b.register(target.text) if isinstance(target, Name) else None
            b.barrier_row = b.row_of(register)[1] if register is not None else b.new_row(32)
        else:
            b.barrier_row = b.predicate_destination(target)
        votes = b.predicate(operands.pop())
    number = b.value(operands[0], TYPES["u32"])
    threads = b.value(operands[1], TYPES["u32"]) if len(operands) > 1 else b.constant(0)
    b.emit_code(BARRIER_OPERANDS, 0, number, threads, votes)


@rule("trap")
def _trap(b: UopBuilder, op: Operation) -> None:
    b.emit_code(TRAP)


@rule("brx_idx")
def _brx_idx(b: UopBuilder, op: Operation) -> None:
    """Jump to one of a list of labels; an index beyond it is undefined, and goes to the last."""
    targets = _branch_targets(b.kernel, op.operands[1])
    index = b.source(op, 0, TYPES["u32"])
    zero = b.constant(0)
    b.emit_code(TARGET, a=zero, b=zero, e=b.start + b.kernel.labels[targets[-1]])
    for k, name in enumerate(targets[:-1]):
        b.emit_code(TARGET, a=index, b=b.constant(k), e=b.start + b.kernel.labels[name])


def _branch_targets(kernel: Function, operand: Operand) -> list[str]:
    """The labels of a `.branchtargets` list, by its label or in place."""
    if isinstance(operand, Vector):
        names = [item.text for item in operand.items if isinstance(item, Name)]
    else:
        directive = directive_at(kernel, operand.text if isinstance(operand, Name) else "")
        names = [word.strip() for word in directive.text.split(",")] if directive else []
    if not names or any(name not in kernel.labels for name in names):
        unsupported("a list of targets that are no labels of the kernel")
    return names


@rule("brx")
def _brx(b: UopBuilder, op: Operation) -> None:
    """PTXPlus: to an absolute PC."""
    places: dict[int, int] = {}
    pc = 0
    for i, instruction in enumerate(b.kernel.instructions):
        places[pc] = i
        pc += instruction_bytes(instruction, True)
    for name, i in b.kernel.labels.items():  # what the labels say counts more
        found = re.fullmatch(r"l0x([0-9a-fA-F]+)", name)
        if found and i < len(b.kernel.instructions):
            places[int(found.group(1), 16)] = i
    if len(places) > MAX_TARGETS:
        unsupported("an indirect jump in a kernel of this size")
    source = b.source(op, 0, TYPES["u32"])
    zero = b.constant(0)
    b.emit_code(TARGET, a=zero, b=zero, e=-1)
    for pc, i in places.items():
        b.emit_code(TARGET, a=source, b=b.constant(pc), e=i)
    b.emit_code(CHECK_TARGET)


def _break_stack(b: UopBuilder) -> tuple[int, int]:
    """The rows of depth and of the first target."""
    if b.break_row < 0:
        b.break_row = b.n_rows[32]
        b.n_rows[32] += 1 + BREAK_DEPTH
    return b.break_row, b.break_row + 1


@rule("breakaddr")
def _breakaddr(b: UopBuilder, op: Operation) -> None:
    depth, first = _break_stack(b)
    b.emit_code(PUSH_BREAK, first, depth, c=BREAK_DEPTH, e=_label(b, op.operands[0]))


@rule("break")
def _break(b: UopBuilder, op: Operation) -> None:
    depth, first = _break_stack(b)
    b.emit_code(POP_BREAK, first, depth)
