"""The registers and labels of a function: their order, and what a name means at an instruction.

For everyone who speaks of registers: def/use, liveness, first use, the declaration passes, lowering. A
register's *index* is its place in textual declaration order over the whole function, nested `{ }` blocks
included (they continue the counter); its *sequence number*, the papers' register number, is index + 1.
Parameters and results in the `.reg` space come first. `.reg .v4 .f32 %v;` is one register.

A name means the innermost declaration that stands before the instruction. `%r<100000>` stays a range and is
expanded only where somebody asks. A name declared twice in one block keeps its first declaration; the
repetition takes no number and is listed in `duplicates`. Special registers, labels and `_` are not registers.

Both are found in constant time or by bisection, however deep the blocks nest (`scopes`).

Not handled: `.reg` at module scope, which the PTX ABI forbids.

Reference: PTX ISA, sections 5.1.1 (register state space), 5.4.4 (parameterized names); A. Bakhoda et al.,
"Analyzing CUDA workloads using a detailed GPU simulator", 2009, whose PTXPlus dialect numbers registers so.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

from ptxtool.ir.nodes import Declaration, Directive, Function, Label, ScopeClose, ScopeOpen
from ptxtool.ir.scopes import Scopes, Timeline
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
_NAMES_PER_STATEMENT = 4
"""Ranges with more names than that are not expanded before somebody asks for one."""


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
    """Consecutive registers of one declarator, from index `first`; `low` is a range's number there.

    `depth` is the number of blocks around the declaration.
    """

    first: int
    count: int
    name: str
    low: int | None
    declaration: Declaration
    visible_from: int
    depth: int

    def name_of(self, index: int) -> str:
        return self.name if self.low is None else f"{self.name}{self.low + index - self.first}"

    def index_of(self, number: int) -> int:
        """The index of the register with that number behind a range's prefix, -1 if it has none."""
        offset = number - (self.low or 0)
        return self.first + offset if 0 <= offset < self.count else -1


class _Ranges(NamedTuple):
    """The ranges of one prefix that are in force: the innermost and latest, and those before it."""

    segment: _Segment
    before: "_Ranges | None"


class _Block:
    """What an open block has declared, to find what it declares twice: names by their digits, ranges by prefix."""

    def __init__(self) -> None:
        self.ranges: dict[str, list[_Segment]] = {}
        self._ends: dict[str, int] = {}  # prefix -> the end of its ranges
        self._limits: dict[str, int] = {}  # prefix -> the end of the numbers behind it in names of this block

    def in_range(self, name: str) -> int:
        """The index of a name that a range of this block declares, -1 if none does."""
        found = -1
        for prefix, number in _splits(name) if self.ranges else ():
            for segment in self.ranges.get(prefix, ()):
                index = segment.index_of(number)
                found = index if found < 0 or 0 <= index < found else found
        return found

    def add_name(self, name: str) -> None:
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


def _digits_start(name: str) -> int:
    """Where the digits at the end of a name begin, as far as they can be a number of a range."""
    return max(len(name.rstrip("0123456789")), len(name) - MAX_DIGITS)


def _splits(name: str) -> Iterator[tuple[str, int]]:
    """The ways to read a name as prefix and number, without leading zeros: `a10` is a+10 and a1+0."""
    end = len(name)
    for cut in range(_digits_start(name), end):
        if name[cut] != "0" or cut == end - 1:
            yield name[:cut], int(name[cut:])


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
    """The registers of one function in declaration order. Immutable; entries are made when asked for."""

    def __init__(self, function: Function):
        module = function.module
        self.is_ptxplus: bool = module is not None and module.is_ptxplus  # pyright: ignore[reportUnnecessaryComparison]
        self._segments: list[_Segment] = []
        self._length = 0
        self._n_statements = len(function.body or ())
        self._duplicates: list[Duplicate] = []
        self._made: dict[int, Register] = {}
        self._names: dict[str, Timeline[_Segment]] = {}
        self._ranges: dict[str, Timeline[_Ranges]] = {}  # by prefix
        self._fixed: dict[
            str, tuple[int, int]
        ] = {}  # name -> (first instruction, index): it means nothing else
        names, ranges = Scopes[_Segment](), Scopes[_Ranges]()
        self._open = names, ranges  # what is in force while the table is made
        blocks = [_Block()]
        for declaration in (*function.returns, *function.params):
            self._declare(declaration, blocks[-1], 0)
        self.head = range(self._length)
        """The registers of the function's head: results, then parameters."""
        for position, statement in function.other_statements:
            kind = type(statement)
            if kind is Declaration:
                self._declare(statement, blocks[-1], position)  # type: ignore[arg-type]
            elif kind is ScopeOpen:
                blocks.append(_Block())
                names.enter()
                ranges.enter()
            elif kind is ScopeClose and names.depth:
                blocks.pop()
                for name in names.leave():
                    self._names[name].add(position, names.get(name))
                for prefix in ranges.leave():
                    self._ranges[prefix].add(position, ranges.get(prefix))
        del self._open
        self._firsts = [s.first for s in self._segments]
        # no range is called `%r1<5>`: then the digits at the end of a name are its number
        self._has_plain_ranges = not any(prefix[-1].isdecimal() for prefix in self._ranges)

    def _declare(self, declaration: Declaration, block: _Block, position: int) -> None:
        if declaration.space != "reg":
            return
        ranges = self._open[1]
        for declarator in declaration.declarators:
            prefix = declarator.name
            if declarator.count is None:
                self._add_name(prefix, declaration, block, position)
                continue
            repeated = min(declarator.count, block.range_end(prefix))
            for number in range(min(repeated, MAX_REPEATED)):
                self._add_name(f"{prefix}{number}", declaration, block, position)
            low = max(repeated, min(declarator.count, block.clash_limit(prefix), MAX_SINGLE))
            for number in range(repeated, low):
                self._add_name(f"{prefix}{number}", declaration, block, position)
            count = declarator.count - low
            if count > 0:
                segment = self._add_segment(count, prefix, low, declaration, position)
                block.add_range(prefix, segment)
                ranges.declare(prefix, found := _Ranges(segment, ranges.get(prefix)))
                self._ranges.setdefault(prefix, Timeline()).add(position, found)

    def _add_name(self, name: str, declaration: Declaration, block: _Block, position: int) -> None:
        names = self._open[0]
        known = names.here(name)
        first = known.first if known is not None else block.in_range(name)
        if first >= 0:
            self._duplicates.append(Duplicate(name, declaration, first))
            return
        segment = self._add_segment(1, name, None, declaration, position)
        block.add_name(name)
        names.declare(name, segment)
        self._names.setdefault(name, Timeline()).add(position, segment)

    def _add_segment(
        self, count: int, name: str, low: int | None, declaration: Declaration, position: int
    ) -> _Segment:
        segment = _Segment(self._length, count, name, low, declaration, position, self._open[0].depth)
        self._segments.append(segment)
        self._length += count
        return segment

    @property
    def duplicates(self) -> tuple[Duplicate, ...]:
        """Names declared again in the same block, in textual order."""
        return tuple(self._duplicates)

    def resolve_index(self, name: str, instruction_index: int) -> int:
        """The index of the register that a name means at an instruction, -1 if it is none."""
        fixed = self._fixed.get(name)
        if fixed is not None:
            return fixed[1] if fixed[0] <= instruction_index else -1
        plain = self._names.get(name)
        if plain is None and self._has_plain_ranges:
            stem = name.rstrip("0123456789")
            timeline = self._ranges.get(stem)
            number = name[len(stem) :]
            if timeline is not None and len(timeline.places) == 1 and 0 < len(number) <= MAX_DIGITS:
                place, found = timeline.places[0], timeline.values[0]
                if found is not None and found.before is None:
                    is_one = number[0] != "0" or len(number) == 1
                    index = found.segment.index_of(int(number)) if is_one else -1
                    self._fixed[name] = place, index
                    return index if place <= instruction_index else -1
        ranges = self._ranges_around(name)
        places = (len(plain.places) if plain else 0) + sum(len(timeline.places) for timeline, _ in ranges)
        if places > 1:
            return self._innermost(plain, ranges, instruction_index)
        # nothing hides it and it never ends: so it is with nearly all
        place = plain.places[0] if plain else ranges[0][0].places[0] if ranges else 0
        index = self._innermost(plain, ranges, place)
        self._fixed[name] = place, index
        return index if place <= instruction_index else -1

    def settled_ranges(self) -> Iterator[tuple[Declaration, str, range, int]]:
        """Ranges whose names mean the same registers at every instruction: prefix, numbers, index of the first."""
        stems = {name.rstrip("0123456789") for name in self._names}
        for prefix, timeline in self._ranges.items() if self._has_plain_ranges else ():
            found = timeline.values[0]
            alone = len(timeline.places) == 1 and timeline.places[0] == 0 and prefix not in stems
            if alone and found is not None and found.before is None:
                segment = found.segment
                low = segment.low or 0
                yield segment.declaration, prefix, range(low, low + segment.count), segment.first

    @cached_property
    def settled(self) -> "Settled":
        """What names mean wherever they stand."""
        known: dict[str, tuple[int, ...]] = {}
        for _, prefix, numbers, first in self.settled_ranges():
            if len(numbers) <= _NAMES_PER_STATEMENT * self._n_statements:
                indices = zip(range(first, first + len(numbers)))  # tuples of one
                known.update(zip([f"{prefix}{k}" for k in numbers], indices, strict=True))
        return Settled(self._meaning, known)

    def _meaning(self, name: str) -> tuple[int, ...] | None:
        """For `settled`: the index if it is the same at every instruction."""
        index = self.resolve_index(name, 0)
        fixed = self._fixed.get(name)
        if fixed is None or (fixed[0] > 0 and fixed[1] >= 0):
            return None
        return (index,) if index >= 0 else ()

    def _ranges_around(self, name: str) -> list[tuple[Timeline[_Ranges], int]]:
        """The ranges that a name may be in, with its number there."""
        found: list[tuple[Timeline[_Ranges], int]] = []
        end = len(name)
        for cut in range(_digits_start(name), end):
            timeline = self._ranges.get(name[:cut])
            if timeline is not None and (name[cut] != "0" or cut == end - 1):
                found.append((timeline, int(name[cut:])))
        return found

    @staticmethod
    def _innermost(
        plain: Timeline[_Segment] | None, ranges: Sequence[tuple[Timeline[_Ranges], int]], place: int
    ) -> int:
        """The register of the innermost block among those of a name; in one block the first declared."""
        segment = plain.at(place) if plain else None
        depth, index = (segment.depth, segment.first) if segment else (-1, -1)
        for timeline, number in ranges:
            found = timeline.at(place)
            while found is not None and found.segment.depth >= depth:
                candidate = found.segment.index_of(number)
                if candidate >= 0:
                    if found.segment.depth > depth or candidate < index:
                        depth, index = found.segment.depth, candidate
                    break
                found = found.before
        return index

    def resolve(self, name: str, instruction_index: int) -> Register | None:
        """The register that a name means at an instruction, None if it is none."""
        index = self.resolve_index(name, instruction_index)
        return None if index < 0 else self[index]

    def in_head(self, name: str) -> Register | None:
        """The register that the function's head declares under a name, whatever hides it in the body."""
        return next((self[k] for k in self.head if self.name_of(k) == name), None)

    def visible_from(self, index: int) -> int:
        """The first instruction that can see a register."""
        return self._segment(index).visible_from

    def declaration_of(self, index: int) -> Declaration:
        """The declaration that a register's index stands in."""
        return self._segment(index).declaration

    def name_of(self, index: int) -> str:
        """A register's name, without making the register or, of a range, all of them."""
        return self._segment(index).name_of(index)

    def declarator_of(self, index: int) -> int:
        """The number of the declarator that a register's index stands in: of one, registers have the same type."""
        return bisect_right(self._firsts, index) - 1

    def by_declarator(self, indices: Sequence[int]) -> Iterator[Sequence[int]]:
        """Registers, given in ascending order, those of one declarator together: of one type."""
        place = 0
        while place < len(indices):
            segment = self._segment(indices[place])
            end = bisect_left(indices, segment.first + segment.count, place)
            yield indices[place:end]
            place = end

    def names_of(self, indices: Sequence[int]) -> list[str]:
        """The names of registers of one declarator."""
        segment = self._segment(indices[0])
        if segment.low is None:
            return [segment.name] * len(indices)
        prefix, offset = segment.name, segment.low - segment.first
        return [f"{prefix}{offset + k}" for k in indices]

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
            role = _role(name) if self.is_ptxplus else ""
            declaration = segment.declaration
            register = Register(
                name, index, declaration.type, declaration.vector, declaration, role, self.is_ptxplus
            )
            self._made[index] = register
        return register

    def __str__(self) -> str:
        return "\n".join(f"{r.sequence_number:>5}  {r.name}  .{r.type}" for r in self)


class Settled(dict[str, tuple[int, ...] | None]):
    """Name -> what it means at every instruction: (index,), () for what is no register; None if the place decides.

    For loops over all names of a function: a subscript costs a tenth of `resolve_index`. Names come in when they are
    first asked for; those of plain ranges are there from the beginning, which is six times as fast, if the text is long
    enough to mention most of them.
    """

    def __init__(
        self, meaning: Callable[[str], tuple[int, ...] | None], known: Mapping[str, tuple[int, ...]]
    ):
        super().__init__(known)
        self._meaning = meaning

    def __missing__(self, name: str) -> tuple[int, ...] | None:
        found = self[name] = self._meaning(name)
        return found


def register_table(function: Function) -> RegisterTable:
    """The registers of a function; `function.registers` keeps it."""
    return RegisterTable(function)


class LabelTable:
    """The labels of one function; a `{ }` block may hide an outer label, and may be jumped into from inside only."""

    def __init__(self, function: Function):
        self._blocks: list[dict[str, int]] = [{}]
        self._lists: dict[str, str] = {}
        braces: list[
            tuple[int, int]
        ] = []  # instructions before it, and the block it opens; -1 where it closes
        open_blocks = [0]
        last, at = "", -1  # the label that nothing stands behind yet, and its instruction
        for position, statement in function.other_statements:
            kind = type(statement)
            block = self._blocks[open_blocks[-1]]
            if kind is Label:
                last, at = statement.name, position  # type: ignore[union-attr]
                block.setdefault(last, position)
                continue
            if kind is Directive and statement.name in _LABEL_LISTS and at == position:  # type: ignore[union-attr]
                self._lists[last] = statement.text  # type: ignore[union-attr]
                block.pop(last, None)
            elif kind is ScopeOpen:
                open_blocks.append(len(self._blocks))
                self._blocks.append({})
                braces.append((position, open_blocks[-1]))
            elif kind is ScopeClose and len(open_blocks) > 1:
                open_blocks.pop()
                braces.append((position, -1))
            at = -1
        nested = {name for block in self._blocks[1:] for name in block}
        outermost = self._blocks[0]
        self._plain = {n: t for n, t in outermost.items() if n not in nested} if nested else outermost
        self._targets = self._timelines(braces, nested)

    def _timelines(self, braces: Sequence[tuple[int, int]], nested: set[str]) -> dict[str, Timeline[int]]:
        """What names of nested blocks mean from which instruction on: a block's labels count from its beginning."""
        found: dict[str, Timeline[int]] = {}
        scopes = Scopes[int]()
        for place, block in ((0, 0), *braces):
            if block < 0:
                for name in scopes.leave():
                    found[name].add(place, scopes.get(name))
                continue
            if block:
                scopes.enter()
            for name in self._blocks[block] if block else nested & self._blocks[0].keys():
                target = self._blocks[block][name]
                scopes.declare(name, target)
                found.setdefault(name, Timeline()).add(place, target)
        return found

    def resolve(self, name: str, instruction_index: int) -> int | None:
        """The instruction that a label means at an instruction (their number: the end), None if undeclared."""
        target = self._plain.get(name)
        if target is not None:
            return target
        timeline = self._targets.get(name)
        return timeline.at(instruction_index) if timeline else None

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
