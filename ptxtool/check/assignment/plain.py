"""The registers of plain kept instructions of PTX, for all of them at once.

For `meaning.py`, which looks at every other instruction by itself: nearly all instructions write all of their first
operand, or nothing, and read the others, and their names mean the same at every instruction. Equal operand texts share
a node, so an operand is understood once per function: its *shape*, a number that is the same for operands that differ
in registers of one class alone, and the registers in it. Two instructions of one opcode then stand for each other if
the shapes of their operands are the same, and their registers do in pairs. It says nothing of the rest, right or wrong.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain

from ptxtool.check.assignment.align import NONE, same_operation
from ptxtool.ir.defuse import accessed, plain_sources
from ptxtool.ir.nodes import (
    Binary,
    Dual,
    Function,
    Group,
    Instruction,
    Memory,
    Name,
    Operand,
    Unary,
    Vector,
)

Pairs = tuple[tuple[int, int], ...]
"""Registers before and after."""


class _Side:
    """The operands of one function: the shapes and registers of the ones that were asked for, by identity."""

    def __init__(
        self, function: Function, numbers: dict[object, int], no_shape: int, take: Callable[[int], object]
    ):
        self._registers, self._numbers, self._take = function.registers, numbers, take
        self._no_shape = no_shape  # of operands that are not plain
        self._classes: dict[int, int] = {}  # the shapes of registers by declarator
        self.shapes: dict[int, int] = {}
        self.registers: dict[int, tuple[int, ...]] = {}

    def look(self, nodes: Iterable[Instruction]) -> list[int]:
        """Find out about the operands of instructions; their ids one after the other."""
        operands = [*chain.from_iterable([node.operands for node in nodes])]
        ids = [*map(id, operands)]
        settled, shapes, registers = self._registers.settled, self.shapes, self.registers
        for key, operand in dict(zip(ids, operands, strict=True)).items():
            if key not in shapes:
                found = settled[operand.text] if type(operand) is Name and not operand.part else None
                if found:
                    self._take(found[0])
                    shapes[key], registers[key] = self._class(found[0]), found
                else:
                    shapes[key], registers[key] = self._look(operand)
        return ids

    def _class(self, register: int) -> int:
        """The shape of registers that can stand for each other; those of one declarator are alike."""
        declarator = self._registers.declarator_of(register)
        shape = self._classes.get(declarator)
        if shape is None:
            one = self._registers[register]
            key = one.is_predicate, one.bits, one.vector
            shape = self._classes[declarator] = self._numbers.setdefault(key, len(self._numbers))
        return shape

    def _look(self, operand: Operand) -> tuple[int, tuple[int, ...]]:
        access = accessed(operand, "r")
        meanings = [self._registers.settled[name] for name in access.reads]
        found = tuple(chain.from_iterable([meaning for meaning in meanings if meaning]))
        if access.writes or None in meanings:
            return self._no_shape, ()
        for register in found:
            self._take(register)
        return self._numbers.setdefault(self._structure(operand), len(self._numbers)), found

    def _structure(self, operand: Operand | None) -> object:
        """What must be the same in an operand that stands for this one, as `align.same_shape` has it."""
        structure = self._structure
        if isinstance(operand, Name):
            found = self._registers.settled[operand.text]
            return (self._class(found[0]) if found else operand.text), operand.part
        if isinstance(operand, Memory):
            inside = structure(operand.base), structure(operand.offset), *map(structure, operand.coordinates)
            return Memory, operand.symbol, operand.post_increment, *inside
        if isinstance(operand, Vector | Group):
            return type(operand), *map(structure, operand.items)
        if isinstance(operand, Unary):
            return Unary, operand.operator, structure(operand.operand)
        if isinstance(operand, Binary):
            return Binary, operand.operator, structure(operand.left), structure(operand.right)
        if isinstance(operand, Dual):
            return Dual, operand.separator, structure(operand.first), structure(operand.second)
        return operand


def plain_pairs(
    before: Function, after: Function, items: Sequence[tuple[int, int]], take: Callable[[int], object]
) -> Iterator[tuple[int, Pairs, Pairs]]:
    """Kept instructions by their item, with the registers that they write, all of them wholly, and that they read.

    Those of guards are not among them. `take` is told which registers of `after` there are.
    """
    olds, news = before.instructions, after.instructions
    written = _written(olds)
    kept = [(item, olds[i], news[j]) for item, (i, j) in enumerate(items) if i != NONE and j != NONE]
    kept = [
        (item, old, new)
        for item, old, new in kept
        if written[old.opcode.text, len(old.operands)] >= 0 and same_operation(old, new)
    ]
    numbers: dict[object, int] = {}
    left, right = _Side(before, numbers, -1, lambda _: None), _Side(after, numbers, -2, take)
    ids, new_ids = left.look([old for _, old, _ in kept]), right.look([new for _, _, new in kept])
    shapes, new_shapes = left.shapes.__getitem__, right.shapes.__getitem__
    targets = {
        id(old.operands[0]): old.operands[0]
        for _, old, _ in kept
        if written[old.opcode.text, len(old.operands)]
    }
    partial = {key for key, operand in targets.items() if not _is_written(operand)}
    if partial or [*map(shapes, ids)] != [*map(new_shapes, new_ids)]:

        def is_plain(old: Instruction, new: Instruction) -> bool:
            if written[old.opcode.text, len(old.operands)] and id(old.operands[0]) in partial:
                return False
            return all(
                shapes(id(a)) == new_shapes(id(b)) for a, b in zip(old.operands, new.operands, strict=True)
            )

        kept = [(item, old, new) for item, old, new in kept if is_plain(old, new)]
        ids, new_ids = left.look([old for _, old, _ in kept]), right.look([new for _, _, new in kept])
    found = [*map(left.registers.__getitem__, ids)]
    new_found = map(right.registers.__getitem__, new_ids)
    pairs = tuple(zip(chain.from_iterable(found), chain.from_iterable(new_found), strict=True))
    ends = [0, *accumulate(map(len, found))]  # where the pairs of each operand end
    at = 0  # the operand
    for item, old, _ in kept:
        n = len(old.operands)
        start, middle, end = ends[at], ends[at + written[old.opcode.text, n]], ends[at + n]
        at += n
        yield item, pairs[start:middle], pairs[middle:end]


def _written(nodes: Iterable[Instruction]) -> dict[tuple[str, int], int]:
    """By opcode and number of operands: how many operands a plain instruction writes, the first or none; else -1."""
    found: dict[tuple[str, int], int] = {}
    for node in nodes:
        key = node.opcode.text, len(node.operands)
        if key not in found:
            first, end = plain_sources(node)
            found[key] = first if end == key[1] else -1
    return found


def _is_written(operand: Operand) -> bool:
    """Whether all that a destination names is written, and wholly."""
    if type(operand) is Name and not operand.part:
        return True
    writes, reads, named = accessed(operand, "w")
    return not reads and named == tuple([name for name, whole in writes if whole])
