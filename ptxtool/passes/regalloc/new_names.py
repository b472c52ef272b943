"""What the registers of a function are called before and after an assignment.

For `renaming.py`. Most registers have one new name everywhere, so that the text can be renamed at once (`everywhere`).
The others need a look at every instruction that names them: registers with several webs in different units, those of
which a temporary stands for the value at some instructions, those of a function's head, and names that blocks hide or
that mean something else in the text.
"""

from ptxtool.analysis.regalloc.assignment import Assignment
from ptxtool.ir.nodes import Function
from ptxtool.passes.regalloc.physical_names import DeclaredNames, PhysicalNames, Spelling, local_names


class NewNames:
    """The names of a function's registers in the old text, and of its values in the new one.

    `old[k]` is the old name of register k, `spelling[k]` spells the units of its values, None for the head's registers;
    `of_web[w]` is the new name of web w, None where temporaries stand for it. `are_marked`: all old names begin with %
    or $.
    """

    def __init__(self, function: Function, assignment: Assignment, names: PhysicalNames | DeclaredNames):
        self.function, self.assignment, self.spelled = function, assignment, names
        self._spellings: dict[tuple[str, int], Spelling] = {}
        self.old: dict[int, str] = {}
        self.spelling: dict[int, Spelling | None] = {}
        self.are_marked = True
        registers, n, spills = assignment.ranges.register, len(assignment.ranges), assignment.spills
        self._first_web = dict(zip(reversed(registers), reversed(range(n)), strict=True))
        table = function.registers
        for indices in table.by_declarator(sorted(self._first_web)):
            self.old.update(zip(indices, table.names_of(indices), strict=True))
            self.are_marked = self.are_marked and self.old[indices[0]][0] in "%$"
            first, file = table[indices[0]], spills.file(self._first_web[indices[0]])
            bits = 1 if first.is_predicate else first.bits
            spelling = None if file == "head" else self._spelled(file, bits)
            self.spelling.update(dict.fromkeys(indices, spelling))
        units = map(assignment.unit.get, range(n))  # none of what has left its file
        self.of_web = [
            self.old[k] if spelling is None else None if unit is None else spelling[unit]
            for k, spelling, unit in zip(registers, map(self.spelling.get, registers), units, strict=True)
        ]
        self._left = {web for web in spills.spilled if web < n}
        self._moved = {web for web, _, _ in spills.temporaries if web < n} - self._left
        for web in self._moved:
            self.of_web[web] = None

    def everywhere(self) -> tuple[dict[str, str], set[int], set[int]]:
        """The new names, by the old ones, of registers that have one everywhere; the other registers; and those of the
        others that have only temporaries, at every instruction that names them."""
        registers, names, of_web = self.assignment.ranges.register, self.old, self.of_web
        left = {registers[web] for web in self._left}
        others = {registers[web] for web in self._moved}
        if len(self._first_web) < len(registers):
            for web, k in enumerate(registers):
                first = self._first_web[k]
                if first != web and (of_web[web] is None or of_web[web] != of_web[first]):
                    others.add(k)
        others.update(k for k, spelling in self.spelling.items() if spelling is None)
        owner = dict(zip(names.values(), names, strict=True))
        if len(owner) < len(names):  # blocks that hide names
            hidden = [k for k, name in names.items() if owner[name] != k]
            others.update(hidden, [owner[names[k]] for k in hidden])
        words, of_module = {*self.function.bases, *local_names(self.function)}, self.function.module.names
        others.update(k for name, k in owner.items() if name in words or name in of_module)
        if not self.are_marked:
            others |= left
        uniform = {
            names[k]: name
            for k, web in self._first_web.items()
            if k not in others and (name := of_web[web]) is not None
        }
        return uniform, others, left - others

    def of_temporaries(self, registers: set[int]) -> dict[tuple[int, str], str]:
        """By instruction and old name, the names of the temporaries for the values of some registers."""
        of_web, unit = self.assignment.ranges.register, self.assignment.unit
        old, spelling = self.old, self.spelling
        n = len(of_web)
        return {
            (i, old[k]): spelling[k][unit[temporary]]  # type: ignore[index]  # none of the head
            for web, i, temporary in self.assignment.spills.temporaries
            if web < n and (k := of_web[web]) in registers
        }

    def at(self, i: int) -> list[str]:
        """The new names of the registers that an instruction reads and then of those that it writes."""
        ranges, unit = self.assignment.ranges, self.assignment.unit
        temporary = self.assignment.spills.at
        step, names, spelling = ranges.def_uses[i], self.of_web, self.spelling
        return [
            names[web] or spelling[k][unit[temporary(web, i)]]  # type: ignore[index]  # none of the head
            for k, web in zip(step.uses + step.defs, ranges.reads[i] + ranges.writes[i], strict=True)
        ]

    def _spelled(self, file: str, bits: int) -> Spelling:
        found = self._spellings.get((file, bits))
        if found is None:
            found = self._spellings[file, bits] = Spelling(self.spelled, file, bits)
        return found

    def bits(self, value: int) -> int:
        """The width of a value that is no temporary."""
        ranges = self.assignment.ranges
        spelling = self.spelling[ranges.register[value]] if value < len(ranges) else None
        return spelling.bits if spelling is not None else 32  # beyond the webs are words

    def spelling_of(self, value: int, bits: int) -> Spelling:
        """The spelling of a value's file for a width."""
        return self._spelled(self.assignment.spills.file(value), bits)

    def general(self, bits: int) -> Spelling:
        """The spelling of the units of the general file for a width."""
        return self._spelled("general", bits)

    def of(self, value: int, bits: int) -> str:
        """The name of a value's unit, spelled for a width."""
        return self.spelling_of(value, bits)[self.assignment.unit[value]]

    def n_used(self) -> dict[int, int]:
        """Per width, how many names the new text has, counted from number 0."""
        used: dict[int, int] = {}
        for spelling in self._spellings.values():
            used[spelling.bits] = max(spelling.n_names, used.get(spelling.bits, 0))
        return used
