"""Upward-exposed uses: which registers straight-line code writes, and which it reads before it writes them.

For `flow.py`. `instructions.py` collects them, which looks at every operand anyway: over a large file fetching operands
costs more than what is done with them. A region ends at every label and after every instruction that may jump, so that
each basic block is one region or several. For PTX.
"""

from collections.abc import Iterable
from typing import NamedTuple

from ptxtool.cfg.blocks import Cfg
from ptxtool.ir.defuse import roles
from ptxtool.ir.nodes import Instruction
from ptxtool.isa.table import Match, table
from ptxtool.parse.operands import number_of

_ENDING = frozenset({"exit", "return", "branch", "call"})


class Region(NamedTuple):
    """Straight-line code: where it starts, the registers that it writes, and the first read of each exposed one."""

    start: int
    written: set[int]
    exposed: dict[int, int]


class AccessedOperands(NamedTuple):
    """The numbers of an instruction's operands that it reads and writes, and whether it may jump."""

    read: tuple[int, ...]
    written: tuple[int, ...]
    ends: bool


def accessed_operands(node: Instruction) -> AccessedOperands:
    """Which operands are read and which written."""
    match = table().match(node.opcode.text, len(node.operands), ptxplus=False)
    if match is None:  # which operands it writes is unknown: none of them is taken to be read before a write
        return AccessedOperands((), tuple(range(len(node.operands))), True)
    ends = (
        not _ENDING.isdisjoint(match.form.effects)
        or match.form.sem == "break"
        or "exit" in match.modifiers
        or any(spec.role in "ls" for spec in match.form.operands)
    )
    kinds = roles(node, match)
    unread = _may_replace_accumulator(node, match)
    read = tuple(k for k, kind in enumerate(kinds) if kind in "rx" and not (unread and k == 0))
    return AccessedOperands(read, tuple(k for k, kind in enumerate(kinds) if kind in "wx"), ends)


def _may_replace_accumulator(node: Instruction, match: Match) -> bool:
    """Whether a `wgmma` may write its accumulator without reading it, as it does where scale-d is false."""
    scales = [k for k, spec in enumerate(match.operands) if spec.name == "scale"]
    return node.opcode.base == "wgmma" and any(not number_of(node.operands[k]) for k in scales)


def of_blocks(regions: Iterable[Region], cfg: Cfg) -> list[Region]:
    """The regions of each basic block as one."""
    found = [Region(block.start, set(), {}) for block in cfg.blocks]
    blocks = iter(cfg.blocks)
    end, current = 0, Region(0, set(), {})
    for start, written, exposed in regions:
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
