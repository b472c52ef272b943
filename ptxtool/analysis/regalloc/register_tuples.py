"""Register tuples of PTXPlus: webs that must stay in adjacent registers.

For register assignment. Registers that stand in braces together, or that a wide operand names by its first, are
adjacent, and keep their alignment if they have it; a post-incremented register is the same before and after.
"""

from collections.abc import Iterator, Mapping

import msgspec

from ptxtool.analysis.regalloc.live_ranges import Ranges
from ptxtool.ir.defuse import adjacent_words, is_wide
from ptxtool.ir.names import memory_in
from ptxtool.ir.nodes import Dual, Function, Immediate, Instruction, Memory, Name

_ALONE = frozenset({Name, Immediate, Dual})
"""Operands whose registers need no others, where values have 32 bits, as those of addresses."""


class AdjacentWebs(msgspec.Struct):
    """Webs that stay as far apart as their registers' numbers are, on units with the same residues."""

    numbers: dict[int, int]
    alignment: int


def register_tuples(ranges: Ranges) -> dict[int, AdjacentWebs]:
    """Per web that some operand needs adjacent to others, or that is post-incremented, its tuple; none in PTX."""
    found: dict[int, AdjacentWebs] = {}
    function = ranges.function
    if not function.registers.is_ptxplus:
        return found
    for i, node in enumerate(function.instructions):
        for operand in node.operands:
            if type(operand) not in _ALONE and (not isinstance(operand, Memory) or operand.post_increment):
                break
        else:
            if not is_wide(node.opcode.text, len(node.operands)):
                continue  # nearly all
        for webs, alignment in _adjacent_webs(ranges, i):
            _join(found, webs, alignment)
        for k in _post_incremented(function, i, node):
            step = ranges.def_uses[i]
            before, after = ranges.reads[i][step.uses.index(k)], ranges.writes[i][step.defs.index(k)]
            if before != after:
                number = _number(function.registers[k].name)
                _join(found, {before: number, after: number}, 1)
    return found


def _join(found: dict[int, AdjacentWebs], webs: Mapping[int, int], alignment: int) -> None:
    """Merge webs, with their registers' numbers, with the tuples they are in."""
    merged = AdjacentWebs({}, alignment)
    for web, number in webs.items():
        known = found.get(web) or AdjacentWebs({web: number}, 1)
        merged.numbers.update(known.numbers)
        merged.alignment = max(merged.alignment, known.alignment)
    for web in merged.numbers:
        found[web] = merged


def _adjacent_webs(ranges: Ranges, i: int) -> Iterator[tuple[dict[int, int], int]]:
    """Per operand that names adjacent registers: their webs with the registers' numbers, and the alignment."""
    function, step = ranges.function, ranges.def_uses[i]
    for names, is_written in adjacent_words(function, i):
        webs: dict[int, int] = {}
        for name in names:
            k = function.registers.resolve_index(name, i)
            side, sets = (step.defs, ranges.writes) if is_written else (step.uses, ranges.reads)
            if k in side:
                webs[sets[i][side.index(k)]] = _number(name)
        if len(webs) > 1:
            n = len(names)
            first = min(_number(name) for name in names)
            alignment = 4 if n >= 4 else 2
            yield webs, alignment if first % alignment == 0 else 1


def _number(name: str) -> int:
    return int("".join(c for c in name if c.isdecimal()))


def _post_incremented(function: Function, i: int, node: Instruction) -> Iterator[int]:
    """The registers that an instruction's addresses increment."""
    for operand in node.operands:
        memory = memory_in(operand)
        if memory and memory.post_increment and isinstance(memory.base, Name):
            k = function.registers.resolve_index(memory.base.text, i)
            if k >= 0:
                yield k
