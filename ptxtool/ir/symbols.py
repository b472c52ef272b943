"""The registers and labels of a function: their order, and what a name means at an instruction.

For everyone who speaks of registers: def/use, liveness, first use, the declaration passes, lowering. A
register's *index* is its place in textual declaration order over the whole function, nested `{ }` blocks
included (they continue the counter); its *sequence number*, the papers' register number, is index + 1.
Parameters and results in the `.reg` space come first. `.reg .v4 .f32 %v;` is one register.

A name means the innermost declaration that stands before the instruction. `%r<100000>` stays a range and is
expanded only where somebody asks. A name declared twice in one block keeps its first declaration; the
repetition takes no number and is listed in `duplicates`. Special registers, labels and `_` are not registers.

Not handled: `.reg` at module scope, which the PTX ABI forbids.

Reference: PTX ISA, sections 5.1.1 (register state space), 5.4.4 (parameterized names); A. Bakhoda et al.,
"Analyzing CUDA workloads using a detailed GPU simulator", 2009, whose PTXPlus dialect numbers registers so.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

from ptxtool.ir.nodes import Declaration, Directive, Function, Instruction, Label, ScopeClose, ScopeOpen
from ptxtool.isa.types import TYPES

PTXPLUS_ZERO = "$r124"
"""PTXPlus: reads as zero, is never written."""
PTXPLUS_SINKS = frozenset({"$o127", "_"})
"""PTXPlus: what is written there is gone."""
MAX_DIGITS = 18
"""A range has fewer registers than a number of so many digits."""
MAX_SINGLE = 65_536
"""Up to this number a range is compared name by name with other names of its block that it may repeat."""
MAX_REPEATED = 8
"""So many names are listed of a range that repeats another."""


@dataclass(frozen=True)
class Register:
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


@dataclass(frozen=True)
class Duplicate:
    """A name declared again in the same block: which, where, and the index of the register that has it already."""

    name: str
    declaration: Declaration
    first: int


@dataclass(frozen=True)
class _Segment:
    """Consecutive registers of one declarator, from index `first`; `low` is a range's number there."""

    first: int
    count: int
    name: str
    low: int | None
    declaration: Declaration
    visible_from: int

    def name_of(self, index: int) -> str:
        return self.name if self.low is None else f"{self.name}{self.low + index - self.first}"


class _Scope:
    """One block while the table is built and asked: plain names, and ranges by prefix."""

    def __init__(self, parent: "_Scope | None"):
        self.parent = parent
        self.names: dict[str, _Segment] = {}
        self.ranges: dict[str, list[_Segment]] = {}
        self.found: dict[str, tuple[int, int]] = {}  # name -> (index, first instruction that sees it)
        self.outer: dict[str, _Scope | None] = {}  # name -> the next block around that declares it
        self._ends: dict[str, int] = {}  # prefix -> the end of its ranges
        self._limits: dict[str, int] = {}  # prefix -> the end of the numbers behind it in names of this block

    def find(self, name: str) -> tuple[int, int] | None:
        """Index and first instruction of a name declared in this very block."""
        known = self.found.get(name)
        if known is not None:
            return known
        segment = self.names.get(name)
        index = segment.first if segment else -1
        if segment is None and self.ranges:
            for prefix, number in _splits(name):
                for candidate in self.ranges.get(prefix, ()):
                    offset = number - (candidate.low or 0)
                    if 0 <= offset < candidate.count and (segment is None or candidate.first < segment.first):
                        segment, index = candidate, candidate.first + offset
        if segment is None:
            return None
        self.found[name] = index, segment.visible_from
        return self.found[name]

    def add_name(self, name: str, segment: _Segment) -> None:
        self.names[name] = segment
        for prefix, number in _splits(name):
            self._limits[prefix] = max(self._limits.get(prefix, 0), number + 1)

    def add_range(self, prefix: str, segment: _Segment) -> None:
        self.ranges.setdefault(prefix, []).append(segment)
        end = self._ends[prefix] = max(self._ends.get(prefix, 0), (segment.low or 0) + segment.count)
        for shorter, number in _splits(prefix):
            self._limits[shorter] = max(self._limits.get(shorter, 0), int(f"{number}{end}"))

    def range_end(self, prefix: str) -> int:
        """The end of the numbers that ranges of that very name have taken."""
        return self._ends.get(prefix, 0)

    def clash_limit(self, prefix: str) -> int:
        """The number from which on no name of `prefix<n>` can repeat a name of this block."""
        ranges = max((self._ends.get(shorter, 0) for shorter, _ in _splits(prefix)), default=0)
        return max(self._limits.get(prefix, 0), self.range_end(prefix), ranges)

    def around(self, name: str) -> "_Scope | None":
        """The nearest block around this one that declares a name; asked once per block and name."""
        path: list[_Scope] = []
        scope: _Scope = self
        while name not in scope.outer:
            path.append(scope)
            parent = scope.parent
            if parent is None or parent.find(name) is not None:
                scope.outer[name] = parent
                break
            scope = parent
        for passed in path:
            passed.outer[name] = scope.outer[name]
        return scope.outer[name]


def _splits(name: str) -> Iterator[tuple[str, int]]:
    """The ways to read a name as prefix and number, without leading zeros: `a10` is a+10 and a1+0."""
    end = len(name)
    start = end
    while start > max(0, end - MAX_DIGITS) and name[start - 1] in "0123456789":
        start -= 1
    for cut in range(start, end):
        if name[cut] != "0" or cut == end - 1:
            yield name[:cut], int(name[cut:])


class RegisterTable(Sequence[Register]):
    """The registers of one function in declaration order. Immutable; entries are made when asked for."""

    def __init__(self, function: Function):
        module = function.module
        self.is_ptxplus: bool = module is not None and module.is_ptxplus  # pyright: ignore[reportUnnecessaryComparison]
        self._segments: list[_Segment] = []
        self._length = 0
        self._duplicates: list[Duplicate] = []
        self._made: dict[int, Register] = {}
        scope = _Scope(None)
        self._scopes = [scope]  # the scope in force from instruction self._starts[k] on
        self._starts = [0]
        for declaration in (*function.returns, *function.params):
            self._declare(declaration, scope, 0)
        position = 0
        for statement in function.body or ():
            kind = type(statement)
            if kind is Instruction:
                position += 1
            elif kind is Declaration:
                self._declare(statement, scope, position)  # type: ignore[arg-type]
            elif kind is ScopeOpen:
                scope = self._enter(_Scope(scope), position)
            elif kind is ScopeClose and scope.parent is not None:
                scope = self._enter(scope.parent, position)
        self._firsts = [s.first for s in self._segments]

    def _enter(self, scope: _Scope, position: int) -> _Scope:
        if self._starts[-1] == position:
            self._scopes[-1] = scope
        else:
            self._starts.append(position)
            self._scopes.append(scope)
        return scope

    def _declare(self, declaration: Declaration, scope: _Scope, position: int) -> None:
        if declaration.space != "reg":
            return
        for declarator in declaration.declarators:
            if declarator.count is None:
                self._add_name(declarator.name, declaration, scope, position)
                continue
            repeated = min(declarator.count, scope.range_end(declarator.name))
            for number in range(min(repeated, MAX_REPEATED)):
                self._add_name(f"{declarator.name}{number}", declaration, scope, position)
            low = max(repeated, min(declarator.count, scope.clash_limit(declarator.name), MAX_SINGLE))
            for number in range(repeated, low):
                self._add_name(f"{declarator.name}{number}", declaration, scope, position)
            count = declarator.count - low
            if count > 0:
                segment = _Segment(self._length, count, declarator.name, low, declaration, position)
                scope.add_range(declarator.name, segment)
                self._segments.append(segment)
                self._length += count

    def _add_name(self, name: str, declaration: Declaration, scope: _Scope, position: int) -> None:
        known = scope.find(name)
        if known is not None:
            self._duplicates.append(Duplicate(name, declaration, known[0]))
            return
        segment = _Segment(self._length, 1, name, None, declaration, position)
        scope.add_name(name, segment)
        self._segments.append(segment)
        self._length += 1

    @property
    def duplicates(self) -> tuple[Duplicate, ...]:
        """Names declared again in the same block, in textual order."""
        return tuple(self._duplicates)

    def resolve_index(self, name: str, instruction_index: int) -> int:
        """The index of the register that a name means at an instruction, -1 if it is none."""
        block = bisect_right(self._starts, instruction_index) - 1 if len(self._starts) > 1 else 0
        scope: _Scope | None = self._scopes[block]
        while scope is not None:
            known = scope.found.get(name) or scope.find(name)
            if known is not None and known[1] <= instruction_index:
                return known[0]
            scope = scope.around(name)
        return -1

    def resolve(self, name: str, instruction_index: int) -> Register | None:
        """The register that a name means at an instruction, None if it is none."""
        index = self.resolve_index(name, instruction_index)
        return None if index < 0 else self[index]

    def visible_from(self, index: int) -> int:
        """The first instruction that can see a register."""
        return self._segment(index).visible_from

    def declaration_of(self, index: int) -> Declaration:
        """The declaration that a register's index stands in."""
        return self._segment(index).declaration

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every register's name, by index. Names repeat where blocks shadow each other."""
        return tuple(s.name_of(i) for s in self._segments for i in range(s.first, s.first + s.count))

    @cached_property
    def special_bits(self) -> int:
        """The bits of the zero register and the sinks: registers that are never live."""
        bits = 0
        if self.is_ptxplus:
            for segment in self._segments:
                for name in (PTXPLUS_ZERO, *sorted(PTXPLUS_SINKS)):
                    for prefix, number in ((name, None), *_splits(name)):
                        offset = 0 if number is None else number - (segment.low or 0)
                        same = prefix == segment.name and (number is None) == (segment.low is None)
                        if same and 0 <= offset < segment.count:
                            bits |= 1 << (segment.first + offset)
        return bits

    def _segment(self, index: int) -> _Segment:
        return self._segments[bisect_right(self._firsts, index) - 1]

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
        register = self._made.get(index)
        if register is None:
            segment = self._segment(index)
            name = segment.name_of(index)
            role = ""
            if self.is_ptxplus:
                role = "zero" if name == PTXPLUS_ZERO else "sink" if name in PTXPLUS_SINKS else ""
            declaration = segment.declaration
            register = Register(
                name, index, declaration.type, declaration.vector, declaration, role, self.is_ptxplus
            )
            self._made[index] = register
        return register

    def __str__(self) -> str:
        return "\n".join(f"{r.sequence_number:>5}  {r.name}  .{r.type}" for r in self)


def register_table(function: Function) -> RegisterTable:
    """The registers of a function; `function.registers` keeps it."""
    return RegisterTable(function)


class LabelTable:
    """The labels of one function; a `{ }` block may hide an outer label, and may be jumped into from inside only."""

    def __init__(self, function: Function):
        self._blocks: list[dict[str, int]] = [{}]
        self._outer: list[dict[str, int]] = [{}]  # labels found in a block around: nesting may be deep
        self._parents = [-1]
        self._starts = [
            0
        ]  # from instruction self._starts[k] on, block self._in_force[k] is the innermost one
        self._in_force = [0]
        self._lists: dict[str, str] = {}
        block = position = 0
        pending: list[str] = []  # labels with nothing behind them yet
        for statement in function.body or ():
            kind = type(statement)
            if kind is Label:
                pending.append(statement.name)  # type: ignore[union-attr]
                self._blocks[block].setdefault(pending[-1], position)
                continue
            if kind is Instruction:
                position += 1
            elif kind is Directive and statement.name in _LABEL_LISTS and pending:  # type: ignore[union-attr]
                self._lists[pending[-1]] = statement.text  # type: ignore[union-attr]
                self._blocks[block].pop(pending[-1], None)
            elif kind is ScopeOpen:
                self._blocks.append({})
                self._outer.append({})
                self._parents.append(block)
                block = self._enter(len(self._blocks) - 1, position)
            elif kind is ScopeClose and self._parents[block] >= 0:
                block = self._enter(self._parents[block], position)
            pending.clear()

    def _enter(self, block: int, position: int) -> int:
        if self._starts[-1] == position:
            self._in_force[-1] = block
        else:
            self._starts.append(position)
            self._in_force.append(block)
        return block

    def resolve(self, name: str, instruction_index: int) -> int | None:
        """The instruction that a label means at an instruction (their number: the end), None if undeclared."""
        block = self._in_force[bisect_right(self._starts, instruction_index) - 1]
        passed: list[int] = []
        target: int | None = None
        while block >= 0:
            target = self._blocks[block].get(name)
            if target is None:
                target = self._outer[block].get(name)
            if target is not None:
                break
            passed.append(block)
            block = self._parents[block]
        if target is not None:
            for inner in passed:
                self._outer[inner][name] = target
        return target

    def resolve_list(self, name: str, instruction_index: int) -> tuple[int, ...] | None:
        """The targets of a `.branchtargets` list, without those that are undeclared; None if there is no such list."""
        text = self._lists.get(name)
        if text is None:
            return None
        targets = (self.resolve(word.strip(), instruction_index) for word in text.split(","))
        return tuple(target for target in targets if target is not None)

    def targets(self) -> tuple[int, ...]:
        """Every instruction that a label stands before, ascending."""
        return tuple(sorted({position for block in self._blocks for position in block.values()}))


_LABEL_LISTS = frozenset({"branchtargets", "calltargets", "callprototype"})


def label_table(function: Function) -> LabelTable:
    """The labels of a function."""
    return LabelTable(function)
