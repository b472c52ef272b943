"""The registers of plain kept instructions, in bulk.

For `meaning.py`, which looks at every other instruction singly: nearly all instructions write all of their first
operand, or nothing, and read the others, and their names mean the same at every instruction. Equal operand texts share
a node, so an operand is analysed once per function: its *shape*, a number that is the same for operands that differ
only in registers of one class, and the registers in it. Two instructions with one opcode then correspond if the shapes
of their operands are the same, and so do their registers in pairs. Other instructions are left to `meaning.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise

from ptxtool.base.bits import indices
from ptxtool.base.kept import kept
from ptxtool.ir.defuse import accessed, is_plain_address, plain_sources
from ptxtool.ir.nodes import Dual, Function, Immediate, Instruction, Memory, Name, Operand, Vector
from ptxtool.validate.assignment.align import NONE, same_label, same_operation, structure

Pairs = tuple[tuple[int, int], ...]
"""Registers before and after."""
Meaning = tuple[int, tuple[int, ...]]
"""The shape of an operand and the registers in it."""
NO_SHAPE = -1
"""Of operands that are not plain."""
_STRETCH = 256
"""Items at a time: what is found of their operands on the way is in memory for these alone."""
_MOST_KEPT = 1000
"""Instructions of a function of which what is found is kept: of a larger one it takes much memory."""
_Meanings = tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]
"""Those of several operands: their shapes, and the registers in each."""


class _Side(dict[str, Meaning]):
    """The operands of one function. Sides that are compared use the same `numbers` of shapes.

    As a dict it has the meanings of names that stand alone; those of ranges that nothing hides are entered at once.
    They share names and indices with `RegisterTable.everywhere`, which has a whole text's.
    """

    def __init__(self, function: Function, numbers: dict[object, int]):
        super().__init__()
        self.registers, self.numbers = function.registers, numbers
        self.instructions = function.instructions
        self.special = frozenset(indices(self.registers.special_bits))
        self._classes: dict[int, object] = {}  # by declarator
        self._known: dict[int, Meaning] = {}  # by identity: the function has the operands
        shapes: dict[int, int] = {}
        n = len(self.instructions)
        most = n if n > _MOST_KEPT else 4 * n
        for _, prefix, numbers_there, first in self.registers.ranges_everywhere():
            there = range(first, first + len(numbers_there))
            if len(there) <= most and self.special.isdisjoint(there):
                shape, _ = self[f"{prefix}{numbers_there.start}"]
                shapes |= dict.fromkeys(there, shape)
        for name, index in self.registers.everywhere.items():
            if index and index[0] in shapes:
                self[name] = shapes[index[0]], index

    def __missing__(self, name: str) -> Meaning:
        found = self[name] = self._look_at_name(Name(name))
        return found

    def meanings(self, nodes: Iterable[Instruction]) -> "_Meanings":
        """The meanings of the operands of instructions, one after the other."""
        known = self._known
        found = [
            self[operand.text]
            if type(operand) is Name and not operand.part
            else known.get(id(operand)) or self._keep(operand)
            for node in nodes
            for operand in node.operands
        ]
        shapes, registers = zip(*found, strict=True) if found else ((), ())
        return shapes, registers

    def _keep(self, operand: Operand) -> Meaning:
        found = self._known[id(operand)] = self.look(operand)
        return found

    def look(self, operand: Operand) -> Meaning:
        """The meaning of an operand that was not analysed before."""
        kind = type(operand)
        if kind is Immediate:
            return self._number(operand), ()
        if isinstance(operand, Memory) and is_plain_address(operand):
            base = operand.base
            if base is None:
                return self._number((Memory, operand.symbol, operand.offset)), ()
            if type(base) is Name and not base.part:  # nearly all
                shape, registers = self[base.text]
                key: object = Memory, shape, operand.symbol, operand.offset
                return self._number(key) if shape != NO_SHAPE else NO_SHAPE, registers
        items = operand.items if isinstance(operand, Vector) else ()
        if isinstance(operand, Dual):
            items = operand.first, operand.second
        if items and all(type(item) is Name and not item.part for item in items):
            inside = [self[item.text] for item in items]  # type: ignore[union-attr]
            key = kind, *[shape for shape, _ in inside]
            registers = tuple(chain.from_iterable([some for _, some in inside]))
            return self._number(key) if NO_SHAPE not in key else NO_SHAPE, registers
        access = accessed(operand, "r")
        found = [self.registers.everywhere[name] for name in access.reads]
        if access.writes or None in found:
            return NO_SHAPE, ()
        key = structure(operand, self._class_of_name)
        return self._number(key), self._values(chain.from_iterable([some for some in found if some]))

    def _look_at_name(self, name: Name) -> Meaning:
        """The meaning of a name that stands alone, without a part."""
        found = self.registers.everywhere[name.text]
        if found is None:
            return NO_SHAPE, ()
        return self._number((Name, self._class_of_name(name))), self._values(found)

    def _values(self, registers: Iterable[int]) -> tuple[int, ...]:
        """Those of some registers that have values."""
        return tuple([k for k in registers if k not in self.special])

    def _number(self, key: object) -> int:
        """The number of a shape."""
        return self.numbers.setdefault(key, len(self.numbers))

    def _class(self, register: int) -> object:
        """The class of registers that can replace each other; those of one declarator are alike.

        The zero register of PTXPlus and its sinks have classes of their own, other ones than where they are undeclared.
        """
        if register in self.special:
            return "declared", self.registers.name_of(register)
        declarator = self.registers.declarator_of(register)
        found = self._classes.get(declarator)
        if found is None:
            one = self.registers[register]
            found = self._classes[declarator] = one.kind, one.bits, one.vector
        return found

    def _class_of_name(self, name: Name) -> object:
        """The part of a name that must be the same in one that stands for it."""
        found = self.registers.everywhere[name.text]
        return self._class(found[0]) if found else name.text, name.part


def plain_pairs(
    before: Function,
    after: Function,
    items: Sequence[tuple[int, int]],
    take: Callable[[int], object],
    names: Mapping[str, str] | None = None,
) -> Iterator[tuple[int, Pairs, Pairs]]:
    """Kept instructions by their item, with the registers that they write, all of them wholly, and that they read.

    Those of guards are not among them. `take` is called with registers of `after`, with each at least once. `names` are
    those of labels, as in `Alignment`.
    """
    left = _before(before) if len(before.instructions) <= _MOST_KEPT else _Side(before, {})
    right = left if after is before else _Side(after, left.numbers)
    for start in range(0, len(items), _STRETCH):
        yield from _pairs_of(left, right, start, items[start : start + _STRETCH], take, names)


def _pairs_of(
    left: _Side,
    right: _Side,
    first: int,
    items: Sequence[tuple[int, int]],
    take: Callable[[int], object],
    names: Mapping[str, str] | None,
) -> Iterator[tuple[int, Pairs, Pairs]]:
    """`plain_pairs` for some items, which are numbered from `first` on."""
    olds, news, encoded = left.instructions, right.instructions, names is not None
    is_ptxplus = left.registers.is_ptxplus
    # the items, and the number of operands that they write
    plain: list[tuple[int, Instruction, Instruction, int]] = []
    for item, (i, j) in enumerate(items, first):
        if i == NONE or j == NONE or not same_operation(old := olds[i], new := news[j], encoded):
            continue
        operands = old.operands
        n_written, end = plain_sources(old.opcode.text, len(operands), is_ptxplus)
        if end == len(operands):
            if n_written and type(operands[0]) is Memory:  # whose registers are read
                n_written = 0
            if not n_written or _is_written(operands[0]):
                plain.append((item, old, new, n_written))
        elif end == 0 and len(operands) == 1 and same_label(operands[0], new.operands[0], names):
            yield item, (), ()

    def meanings() -> tuple[_Meanings, _Meanings]:
        return left.meanings([one[1] for one in plain]), right.meanings([one[2] for one in plain])

    (shapes, found), (new_shapes, new_found) = meanings()
    if shapes != new_shapes or NO_SHAPE in shapes:
        same = [a == b != NO_SHAPE for a, b in zip(shapes, new_shapes, strict=True)]
        ends = [*accumulate([len(old.operands) for _, old, _, _ in plain], initial=0)]
        plain = [one for one, place in zip(plain, pairwise(ends), strict=True) if all(same[slice(*place)])]
        (_, found), (_, new_found) = meanings()
    known: dict[tuple[int, int], tuple[int, int]] = {}  # writes and reads of a register share a pair
    both_found = zip(chain.from_iterable(found), chain.from_iterable(new_found), strict=True)
    pairs = tuple([known.setdefault(pair, pair) for pair in both_found])
    for register in {*chain.from_iterable(new_found)}:
        take(register)
    ends = [*accumulate(map(len, found), initial=0)]  # where the pairs of each operand end
    at = 0  # the operand
    for item, old, _, n_written in plain:
        after_last = at + len(old.operands)
        start, middle, end = ends[at], ends[at + n_written], ends[after_last]
        at = after_last
        yield item, pairs[start:middle], pairs[middle:end]


@kept
def _before(function: Function) -> _Side:
    """The side of a function that several others are compared with, after different passes."""
    return _Side(function, {})


def _is_written(operand: Operand) -> bool:
    """Whether all that a destination names is written, and wholly."""
    if type(operand) is Name and not operand.part:
        return True
    writes, reads, named = accessed(operand, "w")
    return not reads and named == tuple([name for name, whole in writes if whole])
