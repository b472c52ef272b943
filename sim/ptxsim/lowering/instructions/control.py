"""Control flow, barriers and what has no effect on values.

Rules emit the micro-operations (targets of indirect jumps); `set_control` fills in the record for the SIMT stack.

PTXPlus `brx` jumps to a PC: the byte address in a label's name (`l0x00000058`), or an instruction's own PC. `breakaddr`
pushes a target on a stack of rows per lane, `break` pops it.
"""

import re

import numpy as np

from ptxsim.base import program
from ptxsim.execute import codes
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
BARRIER_KINDS = {"bar_sync": program.SYNC, "bar_arrive": program.ARRIVE, "bar_red": program.COUNT}
_REDUCTIONS = {"popc": program.COUNT, "and": program.ALL, "or": program.ANY}

_KINDS = {
    "bra": program.BRANCH,
    "callp": program.CALL,
    "retp": program.RETURN,
    "ret": program.RETURN,
    "exit": program.EXIT,
    "brx": program.INDIRECT,
    "brx_idx": program.INDIRECT,
    "break": program.INDIRECT,
    "bar_sync": program.BARRIER,
    "bar_arrive": program.BARRIER,
    "bar_red": program.BARRIER,
    "membar": program.MEMBAR,
    "cp_async_commit": program.COMMIT,
    "cp_async_wait": program.WAIT,
    "setmaxnreg": program.SET_REGISTERS,
    "wgmma_wait": program.BARRIER,
    "cluster_wait": program.REPEAT,
    "bulk_wait": program.REPEAT,
    **dict.fromkeys(("bulk_copy", "bulk_reduce", "bulk_tensor", "bulk_tensor_reduce"), program.SUSPEND),
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


def set_control(builder: UopBuilder, op: Operation, record: np.void) -> None:
    """Kind, target and barrier of a record."""
    sem = op.match.form.sem
    record["kind"] = _KINDS.get(sem, program.PLAIN)
    if sem in ("bra", "callp"):
        record["target"] = _label(builder, op.operands[0])
    elif sem == "cp_async":
        record["copies"] = 1
    elif sem == "cp_async_wait":
        record["copies"] = -1
        for operand in op.operands:
            if not isinstance(operand, Immediate):
                unsupported("a number of groups in a register")
            record["copies"] = min(integer(operand.text), program.COPY_GROUPS)
    elif op.match.form.base == "mbarrier.try_wait":
        record["kind"] = program.SUSPEND
    elif sem == "setmaxnreg":
        if not isinstance(op.operands[0], Immediate):
            unsupported("a number of registers that is no constant")
        goal = integer(op.operands[0].text)
        record["register_goal"] = goal if op.has("inc") else -goal
    elif sem == "wgmma_wait":
        record["barrier_kind"], record["barrier_aligned"] = program.SYNC, 1
    elif sem in BARRIER_KINDS:
        record["barrier_kind"] = BARRIER_KINDS[sem]
        if sem == "bar_red":
            record["barrier_kind"] = _REDUCTIONS[op.match.one_of(*_REDUCTIONS)]
            record["barrier_row"] = builder.barrier_row
        record["barrier_aligned"] = op.match.form.base.startswith("bar.") or op.has("aligned")


def _label(builder: UopBuilder, operand: Operand) -> int:
    """Where a label leads that the instruction names: one of its own block, or of one around it."""
    if isinstance(operand, Name):
        target = builder.kernel.label_table.resolve(operand.text, builder.position)
        if target is not None:
            return builder.start + target
    unsupported("a target that is no label of the kernel")


@rule("bra", "callp", "retp", "exit", "membar", "setmaxnreg", "nop")
def _no_values(builder: UopBuilder, op: Operation) -> None:
    """Nothing but control."""


@rule(*BARRIER_KINDS)
def _barrier(builder: UopBuilder, op: Operation) -> None:
    """Leave number, thread count and predicate; the result of a reduction comes when the barrier is complete."""
    operands = list(op.operands)
    votes = TRUE
    if op.match.form.sem == "bar_red":
        target = operands.pop(0)
        if op.has("popc"):
            register = builder.register_of(target)
            builder.barrier_row = builder.row_of(register)[1] if register is not None else builder.new_row(32)
        else:
            builder.barrier_row = builder.predicate_destination(target)
        votes = builder.predicate(operands.pop())
    number = builder.value(operands[0], TYPES["u32"])
    threads = builder.value(operands[1], TYPES["u32"]) if len(operands) > 1 else builder.constant(0)
    builder.emit(codes.BARRIER, 0, number, threads, votes)


@rule("trap")
def _trap(builder: UopBuilder, op: Operation) -> None:
    builder.emit(codes.TRAP)


@rule("brx_idx")
def _brx_idx(builder: UopBuilder, op: Operation) -> None:
    """Jump to one of a list of labels; a fault where the index is beyond it."""
    targets = _branch_targets(builder.kernel, op.operands[1], op.index)
    index = builder.source(op, 0, TYPES["u32"])
    zero = builder.constant(0)
    builder.emit(codes.TARGET, a=zero, b=zero, e=-1)
    for k, target in enumerate(targets):
        builder.emit(codes.TARGET, a=index, b=builder.constant(k), e=builder.start + target)
    builder.emit(codes.CHECK_TARGET, a=index, c=len(targets))


def _branch_targets(kernel: Function, operand: Operand, position: int) -> list[int]:
    """Where the labels of a `.branchtargets` list lead, by its label or in place."""
    if isinstance(operand, Vector):
        names = [item.text for item in operand.items if isinstance(item, Name)]
    else:
        directive = directive_at(kernel, operand.text if isinstance(operand, Name) else "")
        names = [word.strip() for word in directive.text.split(",")] if directive else []
    targets = [kernel.label_table.resolve(name, position) for name in names]
    found = [target for target in targets if target is not None]
    if not found or len(found) < len(targets):
        unsupported("a list of targets that are no labels of the kernel")
    return found


@rule("brx")
def _brx(builder: UopBuilder, op: Operation) -> None:
    """PTXPlus: to an absolute PC."""
    places: dict[int, int] = {}
    pc = 0
    for i, instruction in enumerate(builder.kernel.instructions):
        places[pc] = i
        pc += instruction_bytes(instruction, True)
    for name, i in builder.kernel.labels.items():  # what the labels say counts more
        found = re.fullmatch(r"l0x([0-9a-fA-F]+)", name)
        if found and i < len(builder.kernel.instructions):
            places[int(found.group(1), 16)] = i
    if len(places) > MAX_TARGETS:
        unsupported("an indirect jump in a kernel of this size")
    source = builder.source(op, 0, TYPES["u32"])
    zero = builder.constant(0)
    builder.emit(codes.TARGET, a=zero, b=zero, e=-1)
    for pc, i in places.items():
        builder.emit(codes.TARGET, a=source, b=builder.constant(pc), e=i)
    builder.emit(codes.CHECK_TARGET, c=0)


def _break_stack(builder: UopBuilder) -> tuple[int, int]:
    """The rows of depth and of the first target."""
    if builder.break_row < 0:
        builder.break_row = builder.n_rows[32]
        builder.n_rows[32] += 1 + BREAK_DEPTH
    return builder.break_row, builder.break_row + 1


@rule("breakaddr")
def _breakaddr(builder: UopBuilder, op: Operation) -> None:
    depth, first = _break_stack(builder)
    builder.emit(codes.PUSH_BREAK, first, depth, c=BREAK_DEPTH, e=_label(builder, op.operands[0]))


@rule("break")
def _break(builder: UopBuilder, op: Operation) -> None:
    depth, first = _break_stack(builder)
    builder.emit(codes.POP_BREAK, first, depth)
