"""Physical registers for a function: from live ranges to a unit of a register file for every value.

For `allocate`, `compact` and the register counts of reports. The general file is counted in units of 32 bits: 64-bit
values take aligned pairs, 128-bit ones aligned quadruples, narrower ones a unit each. Predicates have a file of their
own, as have PTXPlus's address registers. In PTXPlus registers that stand in braces together, or that a wide operand
names by its first, stay adjacent and keep their alignment.

Values leave a file that is too small (`spills.py`), the rest is packed (`packing.py`); where alignment loses too much
for the packing to succeed, one more unit must be free, and so on.

Not handled: registers of vector type (`.reg .v4 .f32 %v;`) and PTXPlus's indirect branches; E301 names them. Registers
in the head of a `.func` keep places of their own.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ptxtool.analysis.flow.accesses import Accesses, Flags, Numbers, segments_of
from ptxtool.analysis.flow.copies import is_copy
from ptxtool.analysis.flow.loops import Loops, loops, loops_of
from ptxtool.analysis.regalloc.in_flight import held
from ptxtool.analysis.regalloc.linear_scan import Item, Member, Packing, Singles, pack, place_fixed
from ptxtool.analysis.regalloc.live_ranges import Ranges, live_ranges
from ptxtool.analysis.regalloc.physical import units_of
from ptxtool.analysis.regalloc.rematerialisation import recipes
from ptxtool.analysis.regalloc.spills import FILES, Relief, Tenancy, Values
from ptxtool.base.diag import error
from ptxtool.cfg.dominance import dominators
from ptxtool.ir.defuse import adjacent_words
from ptxtool.ir.nodes import Declaration, Function, Instruction, Memory, Name, Unary

_ENDLESS = 1 << 16
_PATIENCE = 24


@dataclass(frozen=True)
class Assignment:
    """The places of a function's values.

    `unit[v]` is the first unit of value v in its file, `used` the number of units needed per file, `slot` the byte
    offset of every value in local memory, `frame_bytes` their size together. Registers of the head are counted apart.
    """

    ranges: Ranges = field(repr=False, compare=False)
    tenancy: Tenancy = field(repr=False)
    unit: Mapping[int, int] = field(repr=False)
    used: Mapping[str, int]
    slot: Mapping[int, int] = field(repr=False)
    frame_bytes: int

    @property
    def registers(self) -> int:
        """32-bit registers per thread of this function alone."""
        return self.used["general"] + self.used["head"]

    @property
    def predicates(self) -> int:
        return self.used["predicate"]

    @cached_property
    def n_spilled(self) -> int:
        """Values that live in local memory."""
        return len(self.slot)

    @cached_property
    def n_rematerialised(self) -> int:
        return len(self.tenancy.left["recipe"])

    def place(self, web: int, instruction: int) -> int:
        """The unit of a web, or of what stands for it, at an instruction that names it."""
        return self.unit[self.tenancy.at(web, instruction)]


class TooFewRegisters(Exception):
    """No assignment with that limit."""


def assign(
    function: Function,
    max_regs: int | None = None,
    max_predicates: int | None = None,
    spill: bool = True,
) -> Assignment:
    """Places for all values of a function in files of that size, None for as many as it takes.

    Raises `PtxError`: E202 on an undeclared label, E301 for a register of vector type; `TooFewRegisters` where the
    values do not fit, with `spill` because the operands of one instruction alone do not.
    """
    refuse(function)
    return _Assigner(function, live_ranges(function)).best(max_regs, max_predicates, spill)


def refuse(function: Function) -> None:
    """E301 for what has no physical register, or whose flow the text does not tell."""
    for _, declaration in function.other_statements:
        if isinstance(declaration, Declaration) and declaration.space == "reg" and declaration.vector > 1:
            raise error(
                "E301",
                "registers of vector type have no physical register",
                function.source,
                declaration.start,
                declaration.end,
                help="declare its elements as registers and write {%a, %b} where it is used",
            )
    for i in function.at_bases("tex", "tld4", "brx"):
        node = function.instructions[i]
        if node.opcode.base != "brx" and (offset := _typed_offset(function, i)):
            raise error(
                "E301",
                f"'{offset}' is an offset, and no depth, by its declared type alone, which physical registers have not",
                function.source,
                node.start,
                node.end,
                help="write the offset as a vector or a literal",
            )
        if node.opcode.base == "brx" and function.registers.is_ptxplus:
            raise error(
                "E301",
                f"'{node.opcode.text}' jumps to an address that the text does not name: "
                "nobody can tell which registers are read there",
                function.source,
                node.start,
                node.end,
                help="branch to labels instead",
            )


def _typed_offset(function: Function, index: int) -> str:
    """The scalar operand of a texture instruction that is an integer register, "" if there is none.

    ptxas takes such an operand for a depth where it is declared `.b32` or `.f32`.
    """
    if function.registers.is_ptxplus:
        return ""
    operands = function.instructions[index].operands
    last = operands[-1] if len(operands) == 3 else None
    register = function.registers.resolve(last.text, index) if isinstance(last, Name) else None
    return register.name if register is not None and register.type in ("s32", "u32") else ""


class _Assigner:
    def __init__(self, function: Function, ranges: Ranges):
        self.function = function
        self.ranges = ranges
        self.head = len(function.registers.head)
        self._copies = tuple(_copies(function, ranges))
        self.groups = groups(function, ranges)
        self.held = held(ranges)
        self._is_tight = False  # whether alignment has cost a unit so far

    def best(self, max_regs: int | None, max_predicates: int | None, spill: bool) -> Assignment:
        """With what is loaded staying for more than one instruction, if that does not leave too little room."""
        if not spill:
            return self._run(max_regs, max_predicates, spill)
        try:
            found = self._run(max_regs, max_predicates, spill)
            if not self._is_tight or not found.tenancy.n_steps:
                return found
        except TooFewRegisters:
            found = None
        try:
            other = self._run(max_regs, max_predicates, spill, may_join=False)
        except TooFewRegisters:
            if found is None:
                raise
            return found
        return other if found is None or other.tenancy.n_steps < found.tenancy.n_steps else found

    def _run(
        self, max_regs: int | None, max_predicates: int | None, spill: bool, may_join: bool = True
    ) -> Assignment:
        """Places for all values; with `may_join` what is loaded may stay for more than one instruction."""
        head_units = sum(self.function.registers[k].units for k in range(self.head))
        limits = {
            "general": _ENDLESS if max_regs is None else max_regs - head_units,
            "predicate": _ENDLESS if max_predicates is None else max_predicates,
            "address": _ENDLESS,
        }
        tenancy = self._tenancy()
        unit: dict[int, int] = {}
        used = {"head": head_units}
        for file in ("predicate", "address", "general"):  # predicates that leave become general values
            may_spill = spill and file != "address"
            places, used[file] = self._fit(tenancy, file, limits[file], may_spill, may_join)
            unit.update(places)
        slot, frame = _slots(tenancy)
        return Assignment(self.ranges, tenancy, unit, used, slot, frame)

    def _tenancy(self) -> Tenancy:
        """Every web as a value; registers of the head stand apart."""
        ranges, registers = self.ranges, self.function.registers
        known, of_web = np.unique(np.array(ranges.register, np.int64), return_inverse=True)
        file, width = np.zeros(len(known), np.int8), np.zeros(len(known), np.int64)
        done = 0
        for some in registers.by_declarator(known.tolist()):
            for alike in ((k,) for k in some) if registers.is_ptxplus else (some,):
                register = registers[alike[0]]
                kind = "predicate" if register.is_predicate else register.kind
                kind = "head" if alike[0] < self.head else kind if kind in FILES else "general"
                here = slice(done, done + len(alike))
                file[here], width[here] = FILES.index(kind), 0 if kind == "head" else register.units or 1
                done += len(alike)
        segments = ranges.segments
        if self.held:
            segments = segments_of([self.held.get(web, some) for web, some in enumerate(segments)])
        return Tenancy(ranges.n_points, Values(file[of_web], width[of_web], segments), self)

    @cached_property
    def accesses(self) -> Accesses:
        """Those of the webs; a write need not read what stays in the slot if the store stands under its guard."""
        return self.ranges.accesses.with_plain_writes(self._storing)

    def shares_guard(self, instruction: Numbers, writes: Flags) -> Flags:
        under_guard = np.zeros(len(self.ranges.def_uses), np.bool_)
        stores = under_guard.copy()
        under_guard[self._guarded], stores[self._storing] = True, True
        return np.where(writes, stores[instruction], under_guard[instruction])

    @cached_property
    def _guarded(self) -> list[int]:
        """PTX: the instructions under a guard.

        Of PTXPlus some may write parts of a register; what else is in it would be missing in a slot.
        """
        if self.function.registers.is_ptxplus:
            return []
        return [i for i, node in enumerate(self.function.instructions) if node.guard is not None]

    @cached_property
    def _storing(self) -> list[int]:
        """Of these, those that write no predicate, so that it is there behind them."""
        registers, def_uses = self.function.registers, self.ranges.def_uses
        return [
            i
            for i in self._guarded
            if (defs := def_uses[i].defs) and not any(registers[k].is_predicate for k in defs)
        ]

    @cached_property
    def block_of(self) -> Numbers:
        return np.array(self.ranges.cfg.block_of, np.int64)

    @cached_property
    def recipes(self) -> Mapping[int, tuple[int, ...]]:
        """Those of the webs whose registers are constant."""
        known = recipes(self.function, self.ranges.def_uses)
        return {web: known[k] for web, k in enumerate(self.ranges.register) if k in known} if known else {}

    def _fit(
        self, tenancy: Tenancy, file: str, limit: int, may_spill: bool, may_join: bool
    ) -> tuple[Mapping[int, int], int]:
        """Places in one file, spilling where there are too few. Raises `TooFewRegisters`."""
        if limit < 0:
            raise TooFewRegisters
        target = limit
        relief = Relief(tenancy, file, self._loop_depths, self._staying, may_join)
        for _ in range(_PATIENCE if may_spill else 1):
            if relief.most() > target and not (may_spill and relief.to(target)):
                break
            least = relief.most()
            items = self._items(tenancy, file)
            packing = pack(items, tenancy.n_points, min(limit, 2 * least + 8), self._copies, least)
            if packing.homeless or packing.n_units > least:
                packing = self._as_named(items, tenancy.n_points, packing, limit)
            if not packing.homeless:
                return packing.unit, packing.n_units
            target -= 1
            self._is_tight = True
        raise TooFewRegisters

    def _as_named(
        self, items: Sequence[Item | Member], n_points: int, packing: Packing, limit: int
    ) -> Packing:
        """The places that the registers' names say, if they are allowed and take fewer units than a packing."""
        named: list[Item] = []
        for item in items:
            webs = [m.web for m in item.members]
            first = self._named_unit(webs[0]) if webs[0] < len(self.ranges) else -1
            if first < 0 or (item.fixed >= 0 and first != item.fixed):
                return packing
            base = first - item.members[0].offset
            named.append(Item(item.members, item.size, item.alignment, item.residue, base, item.avoid))
        n_units = max((item.fixed + item.size for item in named), default=0)
        most = limit if packing.homeless else packing.n_units - 1
        if n_units > most or any(item.fixed < 0 for item in named):
            return packing
        kept = place_fixed(named, n_points, n_units)
        return packing if kept.homeless else kept

    def _named_unit(self, web: int) -> int:
        """The unit that the name of a web's register says, -1 if it says none."""
        place = units_of(self.function.registers[self.ranges.register[web]])
        return -1 if place is None else place.first

    @cached_property
    def _loops(self) -> Loops:
        if self.function.registers.is_ptxplus:
            return loops(self.function)
        cfg = self.ranges.cfg  # without calls that stay in the function both views are the same
        return loops_of(cfg, dominators(cfg))

    def _loop_depths(self) -> Sequence[int]:
        depths = [self._loops.depth(block.index) for block in self._loops.cfg.blocks]
        return [depths[block] for block in self._loops.cfg.block_of]

    @cached_property
    def _staying(self) -> frozenset[int]:
        """Webs that stand alone may leave: groups would have to be loaded and stored as a whole.

        Nor does what an instruction in flight uses, nor what has a value at entry.
        """
        return self.ranges.at_entry.union(self.groups, self.held)

    def _items(self, tenancy: Tenancy, file: str) -> Sequence[Item | Member]:
        """What is to be placed in a file: webs alone, temporaries, and groups of webs that stay adjacent."""
        if not self.function.registers.is_ptxplus:
            return _alone(tenancy, tenancy.in_file(file))
        items: list[Item | Member] = []
        done: set[int] = set()
        for member in _alone(tenancy, tenancy.in_file(file)):
            group = self.groups.get(member.web)
            if group is None:
                fixed, avoid = self._at_entry(member.web, file)
                items.append(Item((member,), member.width, member.width, 0, fixed, avoid))
            elif id(group) not in done:
                done.add(id(group))
                items.append(self._group_item(tenancy, group, file))
        return items

    def _group_item(self, tenancy: Tenancy, group: "Group", file: str) -> Item:
        low = min(group.numbers.values())
        alone = _alone(tenancy, np.array(sorted(group.numbers)))
        members = [Member(m.web, m.segments, group.numbers[m.web] - low, m.width) for m in alone]
        size = max(m.offset + m.width for m in members)
        fixed, avoid = -1, 0
        for member in members:
            unit, mask = self._at_entry(member.web, file)
            if unit >= 0:
                fixed = unit - member.offset
            avoid |= mask >> member.offset
        return Item(tuple(members), size, group.alignment, low % group.alignment, fixed, avoid)

    def _at_entry(self, web: int, file: str) -> tuple[int, int]:
        """PTXPlus: where a value must be when the kernel starts, and where it must not be.

        `$r0` holds the thread id then, every other register zero.
        """
        if web not in self.ranges.at_entry or file != "general":
            return -1, 0
        is_thread_id = self.function.registers[self.ranges.register[web]].name == "$r0"
        return (0, 0) if is_thread_id and self.function.kind == "entry" else (-1, 1)


def _slots(tenancy: Tenancy) -> tuple[dict[int, int], int]:
    """Byte offsets in local memory: values whose ranges do not meet share them."""
    items = _alone(tenancy, np.array(sorted(tenancy.left["slot"]), np.int64))
    if not items:
        return {}, 0
    size = sum(2 * item.size for item in items)
    packing = pack(items, tenancy.n_points, size)
    return {n: 4 * unit for n, unit in packing.unit.items()}, 4 * packing.n_units


def _alone(tenancy: Tenancy, numbers: Numbers) -> Singles:
    """Values as items that may go wherever they stand aligned."""
    values = tenancy.values
    return Singles(numbers, values.width[numbers], values.segments.at(numbers))


def _copies(function: Function, ranges: Ranges) -> Iterator[tuple[int, int]]:
    """The webs on both sides of every copy."""
    for i in function.at_bases("mov"):
        if len(ranges.writes[i]) == len(ranges.reads[i]) == 1 and is_copy(function, i):
            yield ranges.writes[i][0], ranges.reads[i][0]


@dataclass
class Group:
    """Webs that stay as far apart as their registers' numbers are, on units with the same residues."""

    numbers: dict[int, int]
    alignment: int


def groups(function: Function, ranges: Ranges) -> dict[int, Group]:
    """PTXPlus: the webs that some operand wants adjacent, and post-incremented registers before and after."""
    found: dict[int, Group] = {}
    if not function.registers.is_ptxplus:
        return found
    for i, node in enumerate(function.instructions):
        for webs, alignment in _adjacent_webs(function, ranges, i, node):
            _join(found, webs, alignment)
        for k in _post_incremented(function, i, node):
            step = ranges.def_uses[i]
            before, after = ranges.reads[i][step.uses.index(k)], ranges.writes[i][step.defs.index(k)]
            if before != after:
                number = _number(function.registers[k].name)
                _join(found, {before: number, after: number}, 1)
    return found


def _join(found: dict[int, Group], webs: Mapping[int, int], alignment: int) -> None:
    """Merge webs, given with their registers' numbers, with the groups they are in."""
    merged = Group({}, alignment)
    for web, number in webs.items():
        group = found.get(web) or Group({web: number}, 1)
        merged.numbers.update(group.numbers)
        merged.alignment = max(merged.alignment, group.alignment)
    for web in merged.numbers:
        found[web] = merged


def _adjacent_webs(
    function: Function, ranges: Ranges, i: int, node: Instruction
) -> Iterator[tuple[dict[int, int], int]]:
    """Per operand that names adjacent registers: their webs with the registers' numbers, and the alignment."""
    step = ranges.def_uses[i]
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
    """The registers that an instruction's addresses count on."""
    for operand in node.operands:
        inside = operand.operand if isinstance(operand, Unary) else operand
        if isinstance(inside, Memory) and inside.post_increment and isinstance(inside.base, Name):
            k = function.registers.resolve_index(inside.base.text, i)
            if k >= 0:
                yield k
