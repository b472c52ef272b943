"""Decoded instructions of the reference interpreter, control flow included.

For `reference.py`. An instruction that is no control flow has a `step`; for the others this file finds targets and
operands, and the interpreter does the rest.

Reference: NVIDIA, "Parallel Thread Execution ISA", chapter 9 (control flow, barriers); PTXPlus: `callp`, `retp`,
`breakaddr`, `break`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import hexdigits
from typing import Any

import numpy as np

from ptxtool.base.diag import Diagnostic, PtxError
from ptxtool.ir.nodes import Directive, Function, Instruction, Name
from ptxtool.isa.table import Match
from ptxtool.isa.types import TYPES
from reference.access import Step
from reference.calls import Call, FunctionOperands, decode_call, decode_stack
from reference.decode import Unsupported, Warp
from reference.numbers import LANES, Raw, full
from reference.ops import Bools
from reference.steps import Decoder

CONTROL = frozenset(
    {"bra", "brx", "brx_idx", "exit", "ret", "retp", "callp", "breakaddr", "break", "trap"}
    | {"bar_sync", "bar_arrive", "bar_red", "call", "setmaxnreg", "cluster_arrive", "cluster_wait"}
)
STACK = frozenset({"alloca", "stacksave", "stackrestore"})


@dataclass(frozen=True)
class Code:
    """A decoded instruction. `step` is None for control flow, whose kind is `sem`."""

    sem: str
    guard: "Callable[[Warp], Bools] | None"
    step: Step | None
    target: int = -1
    targets: tuple[int, ...] = ()
    addresses: Mapping[int, int] = field(default_factory=dict)
    """Of PTXPlus's `brx`: the instructions by the addresses that it knows them by."""
    reader: "Callable[[Warp], Raw] | None" = None
    count: "Callable[[Warp], Raw] | None" = None
    truth: "Callable[[Warp], Bools] | None" = None
    write: Callable[..., None] | None = None
    kind: str = ""
    exits: bool = False
    aligned: bool = False
    call: Call | None = None
    members: "Callable[[Warp], Raw] | None" = None
    """The masks that name the lanes which execute the instruction together."""


def decode(kernel: Function, operands: FunctionOperands) -> list[Code]:
    """Every instruction, or one E403 for each different one that cannot be simulated."""
    decoder = Decoder(operands)
    found: list[Code] = []
    problems: dict[str, Diagnostic] = {}
    for i, instruction in enumerate(kernel.instructions):
        try:
            match = decoder.match(instruction)
            found.append(_one(kernel, operands, decoder, instruction, match, i))
        except Unsupported as problem:
            text = f"{problem} cannot be simulated"
            if text not in problems:
                problems[text] = Diagnostic("E403", text, kernel.source, instruction.start, instruction.end)
    if problems:
        raise PtxError(problems.values())
    return found


def _one(
    kernel: Function,
    operands: FunctionOperands,
    decoder: Decoder,
    instruction: Instruction,
    match: Match,
    i: int,
) -> Code:
    guard = decoder.guard(instruction.guard, i)
    sem = match.form.sem
    if sem == "call":
        return Code(sem, guard, None, call=decode_call(operands, instruction, i))
    if sem in STACK:
        return Code(sem, guard, decode_stack(operands, instruction, TYPES[match.type], sem, i))
    if sem not in CONTROL:
        step = decoder.step(instruction, match, i)
        exits = operands.is_ptxplus and "exit" in match.modifiers
        return Code(sem, guard, step, exits=exits, members=_members(operands, instruction, match, i))
    given = instruction.operands
    u32 = TYPES["u32"]
    if sem in ("bra", "callp", "breakaddr"):
        (label,) = given[:1]
        target = kernel.label_table.resolve(label.text, i) if isinstance(label, Name) else None
        if target is None:
            raise Unsupported(f"target of '{kernel.text(instruction)}'")
        return Code(sem, guard, None, target=target)
    if sem == "brx_idx":
        return Code(
            sem, guard, None, targets=_table(kernel, given[1]), reader=operands.read(given[0], u32, i)
        )
    if sem == "brx":
        return Code(sem, guard, None, addresses=_addresses(kernel), reader=operands.read(given[0], u32, i))
    if sem in ("bar_sync", "bar_arrive"):
        count = operands.read(given[1], u32, i) if len(given) > 1 else None
        return Code(
            sem, guard, None, reader=operands.read(given[0], u32, i), count=count, aligned=_is_aligned(match)
        )
    if sem == "setmaxnreg":
        return Code(sem, guard, None, reader=operands.read(given[0], u32, i), kind=match.one_of("inc", "dec"))
    if sem == "bar_red":
        kind = match.one_of("popc", "and", "or")
        write = operands.write(given[0], u32, i) if kind == "popc" else operands.write_truth(given[0], i)
        return Code(
            sem,
            guard,
            None,
            reader=operands.read(given[1], u32, i),
            count=operands.read(given[2], u32, i) if len(given) > 3 else None,
            truth=operands.truth(given[-1], i),
            write=_reduction(kind, write),
            kind=kind,
            aligned=_is_aligned(match),
        )
    return Code(sem, guard, None)


def _members(
    operands: FunctionOperands, instruction: Instruction, match: Match, i: int
) -> Callable[[Warp], Raw] | None:
    names = [operand.name for operand in match.form.operands]
    if "mask" in names and names.index("mask") < len(instruction.operands):
        return operands.read(instruction.operands[names.index("mask")], TYPES["u32"], i)
    return (lambda warp: full(0xFFFFFFFF)) if "sync" in instruction.opcode.text.split(".") else None


def _is_aligned(match: Match) -> bool:
    """`bar` and `barrier.aligned`, at which a warp arrives as a whole."""
    return match.form.base.partition(".")[0] == "bar" or "aligned" in match.modifiers


def _reduction(kind: str, write: Callable[..., None]) -> Callable[[Warp, list[int], Bools], None]:
    def finish(warp: Warp, votes: list[int], lanes: Bools) -> None:
        if kind == "popc":
            write(warp, full(sum(votes)), lanes)
        else:
            result = all(votes) if kind == "and" else any(votes)
            write(warp, np.full(LANES, result), lanes)

    return finish


def _addresses(kernel: Function) -> dict[int, int]:
    """PTXPlus: instructions by their address, 8 bytes each and 4 with `.half`; that in a label's name counts more."""
    found: dict[int, int] = {}
    address = 0
    for i, instruction in enumerate(kernel.instructions):
        found[address] = i
        address += 4 if "half" in instruction.opcode.modifiers else 8
    for name, i in kernel.labels.items():
        digits = name.removeprefix("l0x")
        if digits != name and all(c in hexdigits for c in digits) and i < len(kernel.instructions):
            found[int(digits, 16)] = i
    return found


def _table(kernel: Function, operand: Any) -> tuple[int, ...]:
    """The targets of `brx.idx`: those that the `.branchtargets` directive after a label lists."""
    name = operand.text if isinstance(operand, Name) else ""
    source = kernel.source.text
    for statement in kernel.body or ():
        if isinstance(statement, Directive) and statement.name == "branchtargets":
            before = source[: statement.start].rstrip()
            if before.endswith(":") and before[:-1].rstrip().endswith(name):
                labels = [t.strip() for t in statement.text.split(",")]
                if all(t in kernel.labels for t in labels):
                    return tuple(kernel.labels[t] for t in labels)
    raise Unsupported(f"branch targets '{name}'")
