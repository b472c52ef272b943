"""Which registers a stretch of straight code writes, and which it reads before it writes them.

For `flow.py`. Found on the way by `instructions.py`, which looks at every operand anyway: over a large file fetching
operands costs more than what is done with them. A stretch ends at every label and behind every instruction that may
jump, so that each basic block is one stretch or several. For PTX.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.defuse import roles
from ptxtool.ir.nodes import Instruction
from ptxtool.isa.table import table

_ENDING = frozenset({"exit", "return", "branch", "call"})


class Exposure(NamedTuple):
    """Of one stretch or block: where it starts, its registers by index, and what reads an exposed one first."""

    start: int
    written: set[int]
    exposed: dict[int, int]


class Places(NamedTuple):
    """The numbers of an instruction's operands that it reads and writes, and whether it may jump."""

    read: tuple[int, ...]
    written: tuple[int, ...]
    ends: bool


def fixed_places(node: Instruction) -> Places | None:
    """The places of all instructions of that opcode and number of operands, None if the operands themselves decide."""
    match = table().match(node.opcode.text, len(node.operands), ptxplus=False)
    return None if match is not None and "call" in match.form.effects else places(node)


def places(node: Instruction) -> Places:
    """Which operands are read and which written."""
    match = table().match(node.opcode.text, len(node.operands), ptxplus=False)
    ends = match is None or (
        not _ENDING.isdisjoint(match.form.effects)
        or match.form.sem == "break"
        or "exit" in match.modifiers
        or any(spec.role in "ls" for spec in match.form.operands)
    )
    kinds = roles(node, match)
    read = tuple(k for k, kind in enumerate(kinds) if kind in "rx")
    return Places(read, tuple(k for k, kind in enumerate(kinds) if kind in "wx"), ends)


def of_blocks(stretches: Iterable[Exposure], cfg: Cfg) -> list[Exposure]:
    """One per basic block."""
    found = [Exposure(block.start, set(), {}) for block in cfg.blocks]
    blocks = iter(cfg.blocks)
    end, current = 0, Exposure(0, set(), {})
    for start, written, exposed in stretches:
        while start >= end:
            block = next(blocks, None)
            if block is None:
                return found
            end, current = block.end, found[block.index]
        for register, index in exposed.items():
            if register not in current.written:
                current.exposed.setdefault(register, index)
        current.written.update(written)
    return found
