"""Live values by place: a chart with a column per allocated register, as wide as the register pressure.

For `live.py`, where a column per register of the text is too wide. A place is a 32-bit register that `allocate`, or
`compact` for PTXPlus, would give to a thread's values, a predicate, or an address register; a value of 64 bits has two.
Where these are too many for the width as well, a column stands for 2, 4, 8, ... neighbouring places.

    ^ defined here    v used here    x both    : live through    . some of the column's places are
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ptxtool.analysis.regalloc.assignment import Assignment, assign
from ptxtool.analysis.regalloc.spills import FILES
from ptxtool.ir.nodes import Function

_FILES = (("general", "r"), ("head", "r"), ("address", "o"), ("predicate", "p"))
"""The files in the order of their columns, with the letter that their first column has."""
_STEP = 10
"""Columns from one number of the head to the next."""


@dataclass(frozen=True)
class LivePlaces:
    """Per instruction, the places that are live before it, written and read by it: bit k is place k.

    `files` are the letter and the places of each file that has some, in the order of the columns.
    """

    files: tuple[tuple[str, range], ...]
    live: tuple[int, ...]
    written: tuple[int, ...]
    read: tuple[int, ...]

    def columns(self, per_column: int) -> list[int]:
        """The places of every column, as sets; 0 for a gap between two files."""
        found: list[int] = []
        for _, places in self.files:
            found += [0] if found else []
            for first in places[::per_column]:
                n = min(per_column, places.stop - first)
                found.append(((1 << n) - 1) << first)
        return found

    def per_column(self, width: int) -> int:
        """The least power of two of places in a column with which all columns fit into a width."""
        n = 1
        while len(self.columns(n)) > max(width, 2 * len(self.files)):
            n *= 2
        return n

    def heads(self, per_column: int) -> str:
        """The numbers of places above their columns: `r         r10       r20       p`."""
        text = ""
        for letter, places in self.files:
            text += " " if text else ""
            n_columns = -(-len(places) // per_column)
            marks = ""
            for column in range(0, n_columns, _STEP):
                mark = letter + str(column * per_column)
                if column + len(mark) <= n_columns or not column:
                    marks = marks.ljust(column) + mark
            text += marks[:n_columns].ljust(n_columns)
        return text.rstrip()

    def marks(self, instruction: int, columns: Iterable[int]) -> str:
        """The marks of an instruction, one for each column."""
        live, written, read = (sets[instruction] for sets in (self.live, self.written, self.read))
        return "".join(_mark(live & own, written & own, read & own, own) for own in columns).rstrip()


def _mark(live: int, written: int, read: int, own: int) -> str:
    if written or read:
        return "x" if written and read else "^" if written else "v"
    return " " if not live else ":" if live == own else "."


def live_places(function: Function) -> LivePlaces:
    """The places of a function's values. Raises E301 where values have no physical register, E202 for labels."""
    return _places(assign(function))


def _places(assignment: Assignment) -> LivePlaces:
    ranges, values = assignment.ranges, assignment.spills.values
    first: dict[str, int] = {}
    files: list[tuple[str, range]] = []
    end = 0
    for file, letter in _FILES:
        first[file] = end
        if assignment.used[file]:
            files.append((letter, range(end, end + assignment.used[file])))
        end += assignment.used[file]
    registers = ranges.function.registers
    in_head: dict[int, int] = {}
    for k in registers.head:
        in_head[k] = sum(registers[j].units for j in registers.head[: k - registers.head.start])
    masks: list[int] = []
    for web, register in enumerate(ranges.register):
        file, width = FILES[values.file[web]], int(values.width[web])
        unit = assignment.unit.get(web, 0)
        if file == "head":
            unit, width = in_head[register], registers[register].units
        masks.append(((1 << width) - 1) << (first[file] + unit))
    n = len(ranges.def_uses)
    change = [0] * (n + 1)
    for web, mask in enumerate(masks):
        for start, stop in ranges.intervals[web]:
            change[(start + 1) // 2] ^= mask
            change[(stop + 1) // 2] ^= mask
    live: list[int] = []
    now = 0
    for i in range(n):
        now ^= change[i]
        live.append(now)
    written, read = (tuple(_union(masks, webs) for webs in side) for side in (ranges.writes, ranges.reads))
    return LivePlaces(tuple(files), tuple(live), written, read)


def _union(masks: list[int], webs: Iterable[int]) -> int:
    found = 0
    for web in webs:
        found |= masks[web]
    return found
