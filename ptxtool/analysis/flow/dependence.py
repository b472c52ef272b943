"""The resources that instructions read and write besides registers, and the regions in which they may be reordered.

Two instructions of one thread may trade places if neither writes what the other reads or writes. Resources are the
registers (by index), "cc" (the carry flag), "shared" (shared memory), "memory" (all other memory that can be written),
"param" (parameters of calls) and "order": an instruction that nothing may pass writes "order", all others read it.
Nothing passes

* instructions in which threads cooperate or that change the flow: branches, calls, exits, barriers, votes, shuffles,
  fences, asynchronous copies, instructions for matrices and textures: all but plain arithmetic, moves, loads and
  stores;
* reads of clocks, counters and other special registers that change while a kernel runs;
* opcodes outside the table.

Addresses are not compared, only state spaces: an access without one (generic) may go to shared and to other memory.
Volatile, relaxed and acquiring loads write both, so that they keep their order; loads of a kernel's parameters and of
constants touch nothing that changes. A guarded or partial write reads what it leaves in place.

Reference: A. Aho et al., "Compilers", 2nd edition, section 10.2 (dependences that a schedule must respect).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ptxtool.cfg.blocks import build
from ptxtool.ir.defuse import DefUse
from ptxtool.ir.locations import is_location
from ptxtool.ir.names import memory_in, names
from ptxtool.ir.nodes import Function, Instruction
from ptxtool.isa.special import special
from ptxtool.isa.table import Match, table

Resource = int | str

_MOVABLE = frozenset({"arithmetic", "logic", "conversion", "video", "memory"})
"""Families of instructions that depend on nothing but their operands and memory."""
_FIXED = frozenset({"alloca", "stacksave", "stackrestore", "discard", "applypriority", "multimem"})
ORDERED = frozenset({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cv", "sc"})
"""Modifiers of accesses that other threads' accesses may race with."""
_CONSTANT = re.compile(r"c\d*|const(ant)?\d*")
"""Constant memory as PTXPlus names it."""
_SHARED, _OTHER, _ANY_MEMORY = frozenset({"shared"}), frozenset({"memory"}), frozenset({"memory", "shared"})
_SPACES: dict[str, frozenset[Resource]] = {
    "shared": _SHARED,
    "global": _OTHER,
    "local": _OTHER,
    "const": _OTHER,
    "param": frozenset({"param"}),
}
"""The memory that an access may reach, by the state space it names."""
_LETTERS = {"s": _SHARED, "g": _OTHER, "l": _OTHER}
"""The same by the letter before the brackets of PTXPlus."""
_STEADY = frozenset({"lane", "cta", "grid", "warp"})
"""Scopes of special registers that stay the same for a thread between two instructions."""


class Effect(NamedTuple):
    """The resources that one instruction reads and writes."""

    reads: frozenset[Resource]
    writes: frozenset[Resource]


def scheduling_regions(function: Function) -> Iterator[range]:
    """The maximal runs of instructions in one block; no other statement is in them but `.loc` after the first."""
    starts = {block.start for block in build(function).blocks}
    first = position = 0
    is_located = False
    for statement in function.body or ():
        if is_located and is_location(statement):
            continue
        is_located |= is_location(statement)
        if isinstance(statement, Instruction):
            if position in starts and first < position:
                yield range(first, position)
                first = position
            position += 1
        elif first < position:
            yield range(first, position)
            first = position
    if first < position:
        yield range(first, position)


def split_region(
    region: range, effects: Sequence[Effect], is_late: Sequence[bool] | Mapping[int, bool]
) -> tuple[list[int], list[int], list[int]]:
    """The instructions of a region that can come before all late ones; the rest; and the late ones in the rest that
    depend on no other of it. Each in the order of the region."""
    first: list[int] = []
    rest: list[int] = []
    roots: list[int] = []
    reads, writes = set[Resource](), set[Resource]()  # of the rest, so far
    for i in region:
        own = effects[i]
        if rest and not (own.reads.isdisjoint(writes) and own.writes.isdisjoint(writes | reads)):
            rest.append(i)
        elif is_late[i]:
            rest.append(i)
            roots.append(i)
        else:
            first.append(i)
            continue
        reads |= own.reads
        writes |= own.writes
    return first, rest, roots


def effects(kernel: Function) -> tuple[Effect, ...]:
    """The resources of every instruction of a function."""
    ptxplus = kernel.registers.is_ptxplus
    return tuple(
        _effect(kernel, node, step, table().match(node.opcode.text, len(node.operands), ptxplus))
        for node, step in zip(kernel.instructions, kernel.def_uses, strict=True)
    )


def _effect(kernel: Function, node: Instruction, step: DefUse, match: Match | None) -> Effect:
    reads: set[Resource] = {*step.uses, *(k for k in step.defs if k not in step.kills)}
    writes: set[Resource] = set(step.defs)
    if match is None or match.form.family not in _MOVABLE or node.opcode.base in _FIXED or _is_unsteady(node):
        return Effect(frozenset(reads), frozenset({*writes, *_ANY_MEMORY, "order", "param", "cc"}))
    reads.add("order")
    for role, name in match.form.implicit:
        (writes if "w" in role else reads).add(name)
    if not node.operands:
        return Effect(frozenset(reads), frozenset(writes))
    if kernel.registers.is_ptxplus:
        named = filter(None, map(memory_in, node.operands))
        symbols = {memory.symbol for memory in named if not _CONSTANT.fullmatch(memory.symbol)}
        stores = memory_in(node.operands[0]) is not None and not node.opcode.base.startswith("ld")
        if symbols:
            places = _LETTERS.get(symbols.pop()[:1], _space(node)) if len(symbols) == 1 else _ANY_MEMORY
            (writes if stores or "store" in match.form.effects else reads).update(places)
        return Effect(frozenset(reads), frozenset(writes))
    modifiers = set(node.opcode.modifiers)
    if match.form.effects:
        places = _space(node)
        if modifiers & ORDERED:
            writes |= _ANY_MEMORY | places
        elif match.form.effects != {"load"}:
            writes |= places
        elif "const" not in modifiers and not ("param" in places and _is_own_parameter(kernel, node)):
            reads |= places
    return Effect(frozenset(reads), frozenset(writes))


def _space(node: Instruction) -> frozenset[Resource]:
    """The memory that an access may reach, by its modifiers."""
    named = (m.partition("::")[0] for m in node.opcode.modifiers)
    return next((_SPACES[m] for m in named if m in _SPACES), _ANY_MEMORY)


def _is_unsteady(node: Instruction) -> bool:
    """Whether an instruction reads a special register that changes by itself."""
    found = (special(name.text) for operand in node.operands for name in names(operand))
    return any(register is not None and register.scope not in _STEADY for register in found)


def _is_own_parameter(kernel: Function, node: Instruction) -> bool:
    """Whether a load is of a parameter of the kernel, which nothing writes."""
    own = {d.name for p in kernel.parameters for d in p.declarators} if kernel.kind == "entry" else set[str]()
    memory = memory_in(node.operands[-1])
    return memory is not None and any(name.text in own for name in names(memory))
