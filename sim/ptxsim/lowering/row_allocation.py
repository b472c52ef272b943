"""Rows of registers: registers that are never needed at the same time have one row.

For `lower.py`. nvcc writes every value to a register of its own; with a row for each, the rows of all warps of a GPU
are tens of megabytes, and an instruction would wait for memory rather than compute. A register's span reaches from the
first to the last instruction, in the order of the text, at which it is named or live; a register takes the row that was
free last, of one whose span is over, else a new one (linear scan: M. Poletto, V. Sarkar, "Linear scan register
allocation", 1999). Live is per warp: lanes that wait keep what they will read. A register that is read before it is
written is live from the start on, and reads zero as if its row were its own. An instruction's destination is in
no row of its sources: micro-operations may write the one before they read the other.

Not shared: predicates (masks of 4 bytes), registers of several rows, and PTXPlus's registers, which are few and may be
halves of others.
"""

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush

from ptxsim.execute.codes import PACKED_TID
from ptxsim.lowering.builder import UopBuilder
from ptxsim.lowering.rows import NO_ROW
from ptxtool.analysis.flow.liveness import Liveness
from ptxtool.base.bits import indices
from ptxtool.ir.symbols import Register
from ptxtool.isa.types import TYPES


def assign_rows(builder: UopBuilder, own: bool = False) -> None:
    """Rows of the declared registers, and of PTXPlus's packed thread id in `$r0`; `own`: none is shared."""
    own = own or builder.ptxplus
    sizes = [_size(register, builder.ptxplus) for register in builder.registers]
    rows: dict[int, int] = {}
    if not own:
        found = spans(builder.live)
        for index in _parameters(builder):  # a call writes all of them
            found[index] = 0, found.get(index, (0, 0))[1]
        for file in (32, 64):
            rows |= _share(builder, file, {r: span for r, span in found.items() if sizes[r] == (file, 1)})
    for register, (file, count) in zip(builder.registers, sizes, strict=True):
        if register.index in rows:
            first = rows[register.index]
        elif file > 1 and count == 1 and not own:
            first = NO_ROW
        else:
            first = builder.n_rows[file]
            builder.n_rows[file] += count
        builder.register_rows.append((file, first, count))
        if builder.ptxplus and register.name == "$r0":
            builder.special_rows.setdefault(PACKED_TID, first)


def _size(register: Register, ptxplus: bool) -> tuple[int, int]:
    """The file of a register (32, 64, 1) and how many rows of it."""
    if register.is_predicate:
        return 1, 4 if ptxplus else 1
    element = TYPES[register.type].bits if register.type in TYPES else 32
    return (64, element // 64 * register.vector) if element >= 64 else (32, register.vector)


def _parameters(builder: UopBuilder) -> Iterator[int]:
    """The registers in which a function gets its parameters."""
    for parameter in builder.kernel.params:
        if parameter.space == "reg":
            for declarator in parameter.declarators:
                register = builder.registers.in_head(declarator.name)
                if register is not None:
                    yield register.index


def spans(live: Liveness) -> dict[int, tuple[int, int]]:
    """Of every register that is named or live somewhere, the first and the last instruction where it is."""
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for i, step in enumerate(live.def_uses):
        for register in step.touched:
            first.setdefault(register, i)
            last[register] = i
    blocks = [block.instructions for block in live.cfg.blocks if block.instructions]
    seen = 0
    for instructions in blocks:
        here = live.before_bits[instructions[0]]
        for register in indices(here & ~seen):
            first[register] = min(first.get(register, instructions[0]), instructions[0])
        seen |= here
    seen = 0
    for instructions in reversed(blocks):
        here = live.after_bits[instructions[-1]]
        for register in indices(here & ~seen):
            last[register] = max(last.get(register, instructions[-1]), instructions[-1])
        seen |= here
    return {register: (first[register], last[register]) for register in first}


def _share(builder: UopBuilder, file: int, found: Mapping[int, tuple[int, int]]) -> dict[int, int]:
    """A row of a file for each of these registers."""
    rows: dict[int, int] = {}
    free: list[int] = []
    taken: list[tuple[int, int]] = []  # end of a span and its row, the earliest first
    for register, (start, end) in sorted(found.items(), key=lambda item: (item[1][0], item[0])):
        while taken and taken[0][0] < start:
            free.append(heappop(taken)[1])
        rows[register] = free.pop() if free else builder.new_row(file)
        heappush(taken, (end, rows[register]))
    return rows
