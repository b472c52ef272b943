"""Walk two versions of a function side by side along random paths, and see whether a read finds another value.

An oracle for the proof of register assignment that knows no sets of facts: every write makes a new token, in the old
version in a register, in the new one in a place; every read must find the token of the old register. Registers of the
new version are called as `renaming.spread` calls them; those with units in common overwrite each other. What was
inserted carries tokens along: copies, spills, reloads, saved predicates; the token of a constant definition is what it
says, so that writing it again gives the same one. A walk that finds nothing proves nothing, one that does does.
"""

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import accesses
from ptxtool.ir.nodes import Function, Instruction, Label, Name

_WIDTHS = {"%rb": 1, "%rs": 1, "%r": 1, "%rd": 2, "%rq": 4, "%ro": 8}
_PURE = frozenset(
    {"mov", "cvta", "cvt", "add", "sub", "mul", "mad", "shl", "shr", "and", "or", "xor", "not", "neg"}
)
_CHANGING = re.compile(r"%(clock|globaltimer|warpid|smid|pm)")
_NAME = re.compile(r"(?<![\w$%.])[A-Za-z_$%][\w$]*")
_SLOT = re.compile(r"\[__ptxtool_spill\w*(?:\+(\d+))?\]")
Token = object


class Mixed(NamedTuple):
    """What a write under a guard leaves: one token in some lanes, a new one in others."""

    old: Token
    new: Token


def reads_wrong(
    before: Function,
    after: Function,
    origins: Sequence[int],
    seed: int,
    n_walks: int = 40,
    n_steps: int = 2000,
) -> bool:
    """Whether some read on one of the walks finds another value than it did."""
    walk = _Walk(before, after, origins)
    return any(walk.finds_one(random.Random(f"{seed} {n}"), n_steps) for n in range(n_walks))


class _Walk:
    def __init__(self, before: Function, after: Function, origins: Sequence[int]) -> None:
        self.before, self.after = before, after
        self.cfg: Cfg = build(before)
        self.old, self.new = list(accesses(before)), list(accesses(after))
        # what runs before an old instruction, and where a block falls through to the label after it; and its own
        self.runs: list[list[int]] = [[] for _ in before.instructions]
        self.falling: dict[int, list[int]] = {}
        self.own: list[int] = [-1] * len(before.instructions)
        pending: list[int] = []
        j = 0
        for statement in after.body or ():
            if isinstance(statement, Label) and pending:
                block = self.cfg.block_of[before.labels[statement.name] - 1]
                self.falling.setdefault(block, []).extend(pending)
                pending = []
            elif isinstance(statement, Instruction):
                if origins[j] < 0:
                    pending.append(j)
                else:
                    self.runs[origins[j]], self.own[origins[j]], pending = pending, j, []
                j += 1
        self.constants = self._constants()

    def finds_one(self, chance: random.Random, n_steps: int) -> bool:
        old: dict[str, Token] = {}
        new: dict[str, Token] = {}
        fresh = count()
        block = self.cfg.entry
        steps = 0
        while block != self.cfg.exit and steps < n_steps:
            for i in self.cfg.blocks[block].instructions:
                steps += 1
                for j in self.runs[i]:
                    self._inserted(j, new)
                if self.own[i] < 0:
                    self._dropped(i, old)
                elif self._kept(i, self.own[i], old, new, fresh):
                    return True
            following = chance.choice(self.cfg.successors[block])
            if following == block + 1:
                for j in self.falling.get(block, ()):
                    self._inserted(j, new)
            block = following
        return False

    def _inserted(self, j: int, new: dict[str, Token]) -> None:
        node = self.after.instructions[j]
        names = [o.text for o in node.operands if isinstance(o, Name)]
        text = self.after.text(j)
        slot = _SLOT.search(text)
        if slot is not None:
            width = int(node.opcode.modifiers[-1][1:]) // 8
            place = f"[{slot[1] or 0}:{width}]"
            to, source = (names[0], place) if node.opcode.base == "ld" else (place, names[0])
            token = new.get(source)
            if node.guard is not None and isinstance(
                token, Mixed
            ):  # the slot keeps what it has in the other lanes
                token = Mixed(new.get(to), token.new)
            self._put(new, to, token)
        elif node.opcode.base == "selp":
            self._put(new, names[0], ("word", new.get(names[1])))
        elif node.opcode.base == "setp":
            word = new.get(names[1])
            self._put(new, names[0], word[1] if isinstance(word, tuple) and word[0] == "word" else word)
        elif node.opcode.base == "mov" and len(names) == 2 and names[1] in new:
            self._put(new, names[0], new[names[1]])
        else:
            self._put(new, names[0], self._says(self.after, j, new))

    def _dropped(self, i: int, old: dict[str, Token]) -> None:
        node = self.before.instructions[i]
        to, source = node.operands[:2]
        assert isinstance(to, Name)
        is_copy = node.opcode.base == "mov" and isinstance(source, Name) and self._is_register(i, source.text)
        old[to.text] = (
            old.get(source.text) if is_copy and isinstance(source, Name) else self._says(self.before, i, old)
        )

    def _is_register(self, i: int, name: str) -> bool:
        return self.before.registers.resolve_index(name, i) >= 0

    def _kept(
        self, i: int, j: int, old: dict[str, Token], new: dict[str, Token], fresh: "Iterator[int]"
    ) -> bool:
        a, b = self.before.instructions[i], self.after.instructions[j]
        reads: list[tuple[str, str]] = []
        writes: list[tuple[str, str, bool]] = []
        for was, now in zip(self.old[i], self.new[j], strict=True):
            if was is not None and now is not None:
                reads += zip(was.reads, now.reads, strict=True)
                writes += ((x, y, whole) for (x, whole), (y, _) in zip(was.writes, now.writes, strict=True))
        if a.guard is not None and b.guard is not None:
            reads.append((a.guard.name, b.guard.name))
        if any(old.get(x) is not None and old[x] != new.get(y) for x, y in reads):
            return True
        made: list[tuple[str, str, Token, Token]] = []
        constant = self._constant(i, old)
        for x, y, whole in writes:
            token: Token = constant or (i, next(fresh))
            if (whole and a.guard is None) or old.get(x) is None:
                made.append((x, y, token, token))
            else:
                made.append((x, y, Mixed(old[x], token), Mixed(new.get(y), token)))
        for x, y, of_old, of_new in made:
            old[x] = of_old
            self._put(new, y, of_new)
        return False

    def _says(self, function: Function, i: int, tokens: dict[str, Token]) -> Token:
        """What an instruction says, tokens for its source registers."""
        opcode, _, sources = function.text(i).partition(",")
        return opcode.split()[0], _NAME.sub(lambda name: repr(tokens.get(name[0], name[0])), sources)

    def _constant(self, i: int, old: dict[str, Token]) -> Token:
        """What the only definition of a register says, if it is constant; None for other instructions."""
        if i not in self.constants:
            return None
        return self._says(self.before, i, old)

    def _constants(self) -> frozenset[int]:
        """Instructions that define a register once, from constants alone."""
        writes = [[x for one in found if one for x, _ in one.writes] for found in self.old]
        n_writes = Counter(x for names in writes for x in names)
        is_kernel = self.before.kind == "entry"
        parameters = {d.name for p in self.before.params for d in p.declarators if is_kernel}
        constant: set[str] = set()
        found: set[int] = set()
        for i, node in enumerate(self.before.instructions):
            base = node.opcode.base
            if node.guard is not None or len(writes[i]) != 1 or n_writes[writes[i][0]] > 1:
                continue
            reads = {x for one in self.old[i] if one for x in one.reads}
            registers = {x for x in reads if self._is_register(i, x)}
            is_load = base == "ld" and node.opcode.modifiers[0] == "param" and bool(reads & parameters)
            is_pure = (base in _PURE or is_load) and "cc" not in node.opcode.modifiers
            if is_pure and registers <= constant and not _CHANGING.search(self.before.text(i)):
                constant.update(writes[i])
                found.add(i)
        return frozenset(found)

    def _put(self, new: dict[str, Token], name: str, token: Token) -> None:
        for other in list(new):
            if _overlap(name, other):
                del new[other]
        new[name] = token


def _overlap(a: str, b: str) -> bool:
    """Whether two registers have units in common."""
    if a == b:
        return True
    if a[0] == "[" and b[0] == "[":
        first, second = (range(o, o + n) for o, n in (map(int, x[1:-1].split(":")) for x in (a, b)))
        return first.start < second.stop and second.start < first.stop
    if a[:2] == "%p" or b[:2] == "%p":
        return False
    first, second = _units(a), _units(b)
    return first.start < second.stop and second.start < first.stop


def _units(name: str) -> range:
    stem = name.rstrip("0123456789")
    width = _WIDTHS.get(stem)
    if width is None or stem == name:
        return range(0)  # no register of `spread`: a parameter
    number = int(name[len(stem) :])
    return range(number * width, (number + 1) * width)


def registers_of(function: Function, node: Instruction, index: int) -> list[tuple[int, int, str]]:
    """Where registers stand in an instruction's text: (start, end, name), offsets in the file."""
    text = function.source.text[node.start : node.end]
    head = re.match(r"(@[\s!]*[\w$%]+\s+)?[\w.:]+", text)
    first = head.end() if head else 0
    found: list[tuple[int, int, str]] = []
    for hit in re.finditer(r"(?<![\w$%.])[A-Za-z_$%][\w$]*", text):
        is_opcode = hit.start() < first and (node.guard is None or hit[0] != node.guard.name)
        if not is_opcode and function.registers.resolve_index(hit[0], index) >= 0:
            found.append((node.start + hit.start(), node.start + hit.end(), hit[0]))
    return found
