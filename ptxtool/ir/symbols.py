"""The registers and labels of a function: their order, and what a name means at an instruction.

For def/use, liveness, first use, the declaration passes, lowering. A register's *index* is its place in textual
declaration order over the whole function, nested `{ }` blocks included (they continue the counter); its *sequence
number*, the papers' register number, is index + 1. Parameters and results in the `.reg` space come first.
`.reg .v4 .f32 %v;` is one register.

A name means the innermost declaration that stands before the instruction, and in one block the first. A range such as
`%r<100000>` is never expanded: `_DeclaredRegisters` holds all of it. A name declared twice in one block keeps its first
declaration; the repetition takes no number and is listed in `duplicates`. Special registers, labels and `_` are no
registers.

Names are found in constant time or by bisection, however deep the blocks nest (`scopes`).

Not handled: `.reg` at module scope, which the PTX ABI forbids.

Reference: PTX ISA, sections 5.1.1 (register state space), 5.4.4 (parameterized names); A. Bakhoda et al.,
"Analyzing CUDA workloads using a detailed GPU simulator", 2009, whose PTXPlus dialect numbers registers so.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import overload

import msgspec

from ptxtool.ir.nodes import Declaration, Directive, Function, Label, ScopeClose, ScopeOpen
from ptxtool.ir.scopes import NameHistory, Scopes
from ptxtool.isa.types import TYPES

PTXPLUS_ZERO = "$r124"
"""PTXPlus: reads as zero, is never written."""
PTXPLUS_SINKS = frozenset({"$o127", "_"})
"""PTXPlus: results written there are discarded."""
LABEL_LISTS = frozenset({"branchtargets", "calltargets", "callprototype"})
"""Directives whose label is their name."""
MAX_DIGITS = 18
"""A range has fewer registers than a number of so many digits."""
MOST_OF_RANGE = 1 << 32
"""Registers of a range; `check` reports one that has more."""
MAX_SINGLE = 65_536
"""Up to this number a range is compared name by name with other names of its block that it may repeat."""
MAX_REPEATED = 8
"""So many names are listed of a range that repeats another."""
NAMES_PER_STATEMENT = 2
"""Ranges with more names per statement than that are looked up name by name."""
_LONG = 1000
"""Statements of a text in which these are ranges with more than one name per statement: unused names take memory."""


class Register(msgspec.Struct, frozen=True):
    """One declared register. `type` has no dot; `vector` is its number of elements (1, 2, 4 or 8).

    `role` is "zero" or "sink" for PTXPlus's hard-wired zero and bit bucket, "" otherwise.
    """

    name: str
    index: int
    type: str
    vector: int
    declaration: Declaration
    role: str = ""
    is_ptxplus: bool = False

    @property
    def sequence_number(self) -> int:
        """Its place in declaration order, from 1."""
        return self.index + 1

    @property
    def is_zero(self) -> bool:
        return self.role == "zero"

    @property
    def is_sink(self) -> bool:
        return self.role == "sink"

    @property
    def is_predicate(self) -> bool:
        return self.type == "pred"

    @property
    def bits(self) -> int:
        """Its width in bits, all elements together; an unknown type counts as 32."""
        known = TYPES.get(self.type)
        return (known.bits if known else 32) * self.vector

    @property
    def units(self) -> int:
        """The 32-bit registers it takes; 0 for predicates, the zero register and sinks."""
        return 0 if self.is_predicate or self.role else -(-self.bits // 32)

    @property
    def kind(self) -> str:
        """Its class: "predicate", "zero", "sink"; PTXPlus "address", "general"; PTX "32-bit", ..."""
        if self.role:
            return self.role
        if self.is_predicate:
            return "predicate"
        if self.is_ptxplus:
            return "address" if self.name.startswith("$ofs") else "general"
        return f"{self.bits}-bit"

    def __str__(self) -> str:
        return self.name


class Duplicate(msgspec.Struct, frozen=True):
    """A name declared again in the same block: which, where, and the index of the register that has it already."""

    name: str
    declaration: Declaration
    first: int


class _DeclaredRegisters(msgspec.Struct, frozen=True):
    """Consecutive registers of one declarator, from index `first`: one name, or the numbers of a range from `low` on.

    `depth` is the number of blocks around the declaration; `outer` are the registers that have the same name or prefix
    where this declaration stands.
    """

    first: int
    count: int
    name: str
    low: int | None
    declaration: Declaration
    visible_from: int
    depth: int
    outer: "_DeclaredRegisters | None"

    @property
    def end(self) -> int:
        """The end of the numbers."""
        return (self.low or 0) + self.count

    def name_of(self, index: int) -> str:
        return self.name if self.low is None else f"{self.name}{self.low + index - self.first}"

    def index_of(self, number: int) -> int:
        """The index of the register with that number after a range's prefix (0 for a single name), -1 if none has."""
        offset = number - (self.low or 0)
        return self.first + offset if 0 <= offset < self.count else -1


def _splits(name: str) -> Iterator[tuple[str, int]]:
    """The ways to read a name as prefix and number, without leading zeros: `a10` is a+10 and a1+0."""
    end = len(name)
    for cut in range(max(len(name.rstrip("0123456789")), end - MAX_DIGITS), end):
        if name[cut] != "0" or cut == end - 1:
            yield name[:cut], int(name[cut:])


_SPECIAL_NAMES = tuple((name, 0) for name in (PTXPLUS_ZERO, *PTXPLUS_SINKS))
_SPECIAL_IN_RANGES = tuple(split for name, _ in _SPECIAL_NAMES for split in _splits(name))
_HARDWARE_REGISTER = re.compile(r"\$(?:ofs[0-9]+|r124|o127)")
_UNDECLARED = Declaration(0, 0, (), "reg", ("u32",), None, ())


def hardware_register(name: str, index: int = -1) -> Register | None:
    """A register that PTXPlus hardware has and that a text may use without a declaration; None for other names."""
    if not _HARDWARE_REGISTER.fullmatch(name):
        return None
    return Register(name, index, "u32", 1, _UNDECLARED, _role(name), True)


def _role(name: str) -> str:
    """The role of a PTXPlus register."""
    return "zero" if name == PTXPLUS_ZERO else "sink" if name in PTXPLUS_SINKS else ""


class RegisterTable(Sequence[Register]):
    """The registers of one function in declaration order. Immutable; entries are created when they are asked for."""

    def __init__(self, function: Function):
        found = _DeclarationWalk(function)
        self.is_ptxplus = found.is_ptxplus
        self.head = found.head
        """The registers of the function's head: results, then parameters."""
        self.duplicates = tuple(found.duplicates)
        """Names declared again in the same block, in textual order."""
        self.everywhere = MeaningEverywhere(self)
        """Name -> what it means at every instruction."""
        self._declared = found.declared
        self._firsts = [declared.first for declared in found.declared]
        self._names = found.names
        self._ranges = found.ranges
        self._length = found.length
        self._created: dict[int, Register] = {}
        for _, prefix, numbers, first in self.ranges_everywhere():
            self.everywhere.ranges[prefix] = numbers, first
            n = len(function.body or ())
            if len(numbers) <= (NAMES_PER_STATEMENT if n < _LONG else 1) * n:
                indices = zip(range(first, first + len(numbers)))  # tuples of one
                self.everywhere.update(zip([f"{prefix}{k}" for k in numbers], indices, strict=True))

    def resolve_index(self, name: str, instruction_index: int) -> int:
        """The index of the register that a name means at an instruction, -1 if it is none."""
        everywhere = self.everywhere[name]
        if everywhere is not None:
            return everywhere[0] if everywhere else -1
        return self._innermost(self._declarations(name), instruction_index)

    def _declarations(self, name: str) -> list[tuple[NameHistory[_DeclaredRegisters], int]]:
        """The declarations that a name may come from: its own, and ranges by prefix with its number there."""
        found = [(self._ranges[prefix], number) for prefix, number in _splits(name) if prefix in self._ranges]
        return [(self._names[name], 0), *found] if name in self._names else found

    @staticmethod
    def _innermost(candidates: Sequence[tuple[NameHistory[_DeclaredRegisters], int]], position: int) -> int:
        """The register of the innermost block among those of a name; in one block the first declared."""
        depth, index = -1, -1
        for history, number in candidates:
            declared = history.at(position)
            while declared is not None and declared.depth >= depth:
                candidate = declared.index_of(number)
                if candidate >= 0:
                    if declared.depth > depth or candidate < index:
                        depth, index = declared.depth, candidate
                    break
                declared = declared.outer
        return index

    def meaning_everywhere(self, name: str) -> tuple[int, ...] | None:
        """What `everywhere` has of a name: None where more than one declaration, or one in mid-body, decides it."""
        # a range that ends before the number, or begins after it, declares another name
        candidates = [
            (history, number)
            for history, number in self._declarations(name)
            if len(history.meanings) > 1
            or (only := history.meanings[0]) is None
            or only.outer is not None
            or only.index_of(number) >= 0
        ]
        if not candidates:
            return ()
        positions = [position for history, _ in candidates for position in history.positions]
        if len(positions) > 1:
            return None
        index = self._innermost(candidates, positions[0])
        return () if index < 0 else (index,) if positions[0] == 0 else None

    def ranges_everywhere(self) -> Iterator[tuple[Declaration, str, range, int]]:
        """Ranges whose names mean the same registers at every instruction: prefix, numbers, index of the first."""
        # the names of `%r1<5>` may be in `%r<99>` too
        if any(prefix[-1].isdecimal() for prefix in self._ranges):
            return
        stems = {name.rstrip("0123456789") for name in self._names}
        for prefix, history in self._ranges.items():
            declared = history.meanings[0]
            if history.positions == [0] and prefix not in stems and declared and declared.outer is None:
                numbers = range(declared.low or 0, declared.end)
                yield declared.declaration, prefix, numbers, declared.first

    def resolve(self, name: str, instruction_index: int) -> Register | None:
        """The register that a name means at an instruction, None if it is none."""
        index = self.resolve_index(name, instruction_index)
        return None if index < 0 else self[index]

    def in_head(self, name: str) -> Register | None:
        """The register that the function's head declares under a name, whatever hides it in the body."""
        return next((self[k] for k in self.head if self.name_of(k) == name), None)

    def visible_from(self, index: int) -> int:
        """The first instruction that can see a register."""
        return self._declared_with(index).visible_from

    def declaration_of(self, index: int) -> Declaration:
        """The declaration that a register's index stands in."""
        return self._declared_with(index).declaration

    def name_of(self, index: int) -> str:
        """A register's name, without creating the register."""
        return self._declared_with(index).name_of(index)

    def declarator_of(self, index: int) -> int:
        """The number of the declarator that a register's index stands in: its registers have the same type."""
        return bisect_right(self._firsts, index) - 1

    def by_declarator(self, indices: Sequence[int]) -> Iterator[Sequence[int]]:
        """Registers in ascending order, those of one declarator together: of one type."""
        start = 0
        while start < len(indices):
            declared = self._declared_with(indices[start])
            end = bisect_left(indices, declared.first + declared.count, start)
            yield indices[start:end]
            start = end

    def names_of(self, indices: Sequence[int]) -> list[str]:
        """The names of registers of one declarator."""
        declared = self._declared_with(indices[0])
        return [declared.name_of(index) for index in indices]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every register's name, by index. Names repeat where blocks shadow each other."""
        return tuple(d.name_of(i) for d in self._declared for i in range(d.first, d.first + d.count))

    @cached_property
    def special_bits(self) -> int:
        """The bits of the zero register and the sinks: registers that are never live."""
        bits = 0
        for declared in self._declared if self.is_ptxplus else ():
            for prefix, number in _SPECIAL_NAMES if declared.low is None else _SPECIAL_IN_RANGES:
                if prefix == declared.name and (index := declared.index_of(number)) >= 0:
                    bits |= 1 << index
        return bits

    def _declared_with(self, index: int) -> _DeclaredRegisters:
        return self._declared[bisect_right(self._firsts, index) - 1]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Register: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Register, ...]: ...
    def __getitem__(self, index: int | slice) -> Register | tuple[Register, ...]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._length)))
        if index < 0:
            index += self._length
        if not 0 <= index < self._length:
            raise IndexError(f"no register with index {index}")
        register = self._created.get(index)
        if register is None:
            declared = self._declared_with(index)
            name, declaration = declared.name_of(index), declared.declaration
            role = _role(name) if self.is_ptxplus else ""
            register = self._created[index] = Register(
                name, index, declaration.type, declaration.vector, declaration, role, self.is_ptxplus
            )
        return register

    def __str__(self) -> str:
        return "\n".join(f"{r.sequence_number:>5}  {r.name}  .{r.type}" for r in self)


class MeaningEverywhere(dict[str, tuple[int, ...] | None]):
    """Name -> what it means at every instruction: (index,), () for what is no register; None if the position decides.

    For loops over all names of a function: a subscript costs a tenth of a call. Names are looked up when they are first
    asked for; those of `ranges`, which nothing hides, are entered at once, which is six times as fast, if the text is
    long enough to mention most of them.
    """

    def __init__(self, registers: RegisterTable):
        super().__init__()
        self._registers = registers
        self.ranges: dict[str, tuple[range, int]] = {}
        """By prefix, the numbers and the index of the first register."""

    def __missing__(self, name: str) -> tuple[int, ...] | None:
        prefix, number = next(_splits(name), ("", -1))
        numbers, first = self.ranges.get(prefix, (range(0), 0))
        is_there = number in numbers
        found = (first + number - numbers.start,) if is_there else self._registers.meaning_everywhere(name)
        self[name] = found
        return found


class _DeclarationWalk:
    """One walk over a function's declarations: its registers in order, and what names mean from which position on.

    Three tables hold what is in force at the current declaration: single names, ranges by prefix, and for each prefix
    the end of the numbers that names of the innermost block have after it (names from there on are new to the block).
    """

    def __init__(self, function: Function):
        module = function.module
        self.is_ptxplus: bool = module is not None and module.is_ptxplus  # pyright: ignore[reportUnnecessaryComparison]
        self.declared: list[_DeclaredRegisters] = []
        self.duplicates: list[Duplicate] = []
        self.length = 0
        self.names: dict[str, NameHistory[_DeclaredRegisters]] = {}
        self.ranges: dict[str, NameHistory[_DeclaredRegisters]] = {}
        self._names, self._ranges = Scopes[_DeclaredRegisters](), Scopes[_DeclaredRegisters]()
        self._number_ends = Scopes[int]()
        for declaration in (*function.returns, *function.params):
            self._declare(declaration, 0)
        self.head = range(self.length)
        for position, statement in function.other_statements:
            if isinstance(statement, Declaration):
                self._declare(statement, position)
            elif isinstance(statement, ScopeOpen):
                for scopes in (self._names, self._ranges, self._number_ends):
                    scopes.enter()
            elif isinstance(statement, ScopeClose) and self._names.depth:
                for name in self._names.leave():
                    self.names[name].add(position, self._names.get(name))
                for prefix in self._ranges.leave():
                    self.ranges[prefix].add(position, self._ranges.get(prefix))
                self._number_ends.leave()

    def _declare(self, declaration: Declaration, position: int) -> None:
        for declarator in declaration.declarators if declaration.space == "reg" else ():
            prefix, count = declarator.name, declarator.count
            if count is None:
                self._declare_name(prefix, declaration, position)
                continue
            count = min(count, MOST_OF_RANGE)
            repeated = min(count, self._range_end(prefix))
            low = max(repeated, min(count, self._first_new_number(prefix), MAX_SINGLE))
            for number in (*range(min(repeated, MAX_REPEATED)), *range(repeated, low)):
                self._declare_name(f"{prefix}{number}", declaration, position)
            if count > low:
                self._add(count - low, prefix, low, declaration, position)
                self._raise_number_end(prefix, count)
                for shorter, number in _splits(prefix):
                    self._raise_number_end(shorter, int(f"{number}{count}"))

    def _declare_name(self, name: str, declaration: Declaration, position: int) -> None:
        known = self._names.here(name)
        first = known.first if known is not None else self._index_in_ranges(name)
        if first >= 0:
            self.duplicates.append(Duplicate(name, declaration, first))
            return
        self._add(1, name, None, declaration, position)
        for prefix, number in _splits(name):
            self._raise_number_end(prefix, number + 1)

    def _add(self, count: int, name: str, low: int | None, declaration: Declaration, position: int) -> None:
        scopes, histories = (self._names, self.names) if low is None else (self._ranges, self.ranges)
        depth, outer = scopes.depth, scopes.get(name)
        found = _DeclaredRegisters(self.length, count, name, low, declaration, position, depth, outer)
        self.declared.append(found)
        self.length += count
        scopes.declare(name, found)
        histories.setdefault(name, NameHistory()).add(position, found)

    def _index_in_ranges(self, name: str) -> int:
        """The index of a name that a range of the innermost block declares, the first such; -1 if none does."""
        found: list[int] = []
        for prefix, number in _splits(name):
            declared = self._ranges.here(prefix)
            while declared is not None and declared.depth == self._names.depth:
                found.append(declared.index_of(number))
                declared = declared.outer
        return min((index for index in found if index >= 0), default=-1)

    def _range_end(self, prefix: str) -> int:
        """The end of the numbers that ranges of that very name have in the innermost block."""
        latest = self._ranges.here(prefix)
        return latest.end if latest is not None else 0

    def _first_new_number(self, prefix: str) -> int:
        """The number from which on no name of `prefix<n>` can repeat a name of the innermost block."""
        ends = (self._range_end(shorter) for shorter, _ in _splits(prefix))
        return max(self._number_ends.here(prefix) or 0, *ends, 0)

    def _raise_number_end(self, prefix: str, end: int) -> None:
        self._number_ends.declare(prefix, max(self._number_ends.here(prefix) or 0, end))


class LabelTable:
    """The labels of one function; a `{ }` block may hide an outer label, and may be jumped into from inside only."""

    def __init__(self, function: Function):
        self._lists: dict[str, str] = {}
        self._blocks: list[dict[str, int]] = [{}]  # the labels of every block, the outermost first
        braces = [(0, 0)]  # a position, and the block that opens there; -1 where one closes
        open_blocks = [0]
        last, at = "", -1  # the label that no statement follows yet, and its instruction
        for position, statement in function.other_statements:
            block = self._blocks[open_blocks[-1]]
            if isinstance(statement, Label):
                last, at = statement.name, position
                block.setdefault(last, position)
                continue
            if isinstance(statement, Directive) and statement.name in LABEL_LISTS and at == position:
                self._lists[last] = statement.text
                block.pop(last, None)
            elif isinstance(statement, ScopeOpen):
                open_blocks.append(len(self._blocks))
                self._blocks.append({})
                braces.append((position, open_blocks[-1]))
            elif isinstance(statement, ScopeClose) and len(open_blocks) > 1:
                open_blocks.pop()
                braces.append((position, -1))
            at = -1
        self._braces = [position for position, _ in braces]
        self._distinct: dict[tuple[str, int], tuple[int, ...] | None] = {}
        self._same_targets: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._histories: dict[str, NameHistory[int]] = {}  # a block's labels count from its beginning
        scopes = Scopes[int]()
        for position, number in braces if len(braces) > 1 else ():
            if number < 0:
                for name in scopes.leave():
                    self._histories[name].add(position, scopes.get(name))
                continue
            if number:
                scopes.enter()
            for name, target in self._blocks[number].items():
                scopes.declare(name, target)
                self._histories.setdefault(name, NameHistory()).add(position, target)

    def resolve(self, name: str, instruction_index: int) -> int | None:
        """The instruction that a label means at an instruction (their number: the end), None if undeclared."""
        if not self._histories:  # no nested blocks
            return self._blocks[0].get(name)
        history = self._histories.get(name)
        return history.at(instruction_index) if history else None

    def resolve_list(self, name: str, instruction_index: int) -> tuple[int, ...] | None:
        """The targets of a `.branchtargets` list, without those that are undeclared; None if there is no such list."""
        text = self._lists.get(name)
        if text is None:
            return None
        targets = (self.resolve(word.strip(), instruction_index) for word in text.split(","))
        return tuple(target for target in targets if target is not None)

    def distinct_targets(self, name: str, instruction_index: int) -> tuple[int, ...] | None:
        """`resolve_list` without repetitions: one object for all instructions with the same targets."""
        key = name, bisect_right(self._braces, instruction_index)  # between two braces a name means the same
        if key not in self._distinct:
            found = self.resolve_list(name, instruction_index)
            targets = None if found is None else tuple(dict.fromkeys(found))
            self._distinct[key] = targets and self._same_targets.setdefault(targets, targets)
        return self._distinct[key]

    def targets(self) -> tuple[int, ...]:
        """Every instruction that a label stands before, ascending; always the same object."""
        return self._targets

    @cached_property
    def _targets(self) -> tuple[int, ...]:
        return tuple(sorted({position for block in self._blocks for position in block.values()}))
