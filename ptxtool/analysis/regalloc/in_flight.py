"""Live intervals of registers in flight: those that asynchronous instructions use after they were issued.

For register assignment. `wgmma.mma_async` writes its accumulators, and reads a matrix in registers, until a
`wgmma.wait_group N` with at most N groups committed since; `tcgen05.ld` writes its results and `tcgen05.st` reads its
values until the `tcgen05.wait` of its kind. Until then, on every path, the registers may hold nothing else, and the
values may not be spilled.

Reference: PTX ISA, sections 9.7.15 and 9.7.16 (asynchronous warpgroup-level matrix instructions, tcgen05).
"""

from collections.abc import Iterator

from ptxtool.analysis.flow.accesses import Interval
from ptxtool.analysis.flow.asynchronous import launched, passed
from ptxtool.analysis.regalloc.live_ranges import Ranges
from ptxtool.ir.names import names
from ptxtool.ir.nodes import Instruction, Vector


def in_flight_intervals(ranges: Ranges) -> dict[int, tuple[Interval, ...]]:
    """Per web that an asynchronous instruction uses, its live intervals with those in which it is in flight."""
    found: dict[int, tuple[Interval, ...]] = {}
    for i in ranges.function.at_bases("wgmma", "tcgen05"):
        node = ranges.function.instructions[i]
        kind = launched(node)
        if kind:
            points = tuple(_until_wait(ranges, i, kind))
            for web in _webs(ranges, i, node):
                found[web] = _merged([*found.get(web, ranges.intervals[web]), *points])
    return found


def _merged(intervals: list[Interval]) -> tuple[Interval, ...]:
    """Intervals in ascending order, those that touch or overlap as one."""
    intervals.sort()
    merged = intervals[:1]
    for start, end in intervals[1:]:
        if start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _webs(ranges: Ranges, i: int, node: Instruction) -> Iterator[int]:
    """The webs that an instruction in flight uses. Addresses, descriptors and predicates are read at once."""
    step = ranges.def_uses[i]
    yield from ranges.writes[i]
    vectors = [operand for operand in node.operands if isinstance(operand, Vector)]
    late = {ranges.function.registers.resolve_index(n.text, i) for vector in vectors for n in names(vector)}
    yield from (web for k, web in zip(step.uses, ranges.reads[i], strict=True) if k in late)


def _until_wait(ranges: Ranges, i: int, kind: str) -> Iterator[Interval]:
    """The points from an instruction to the waits for it, on all paths."""
    blocks, block_of = ranges.cfg.blocks, ranges.cfg.block_of
    start = blocks[block_of[i]]
    # where a walk begins, the end of its block, the groups committed since
    work = [(i, start.end, 0)]
    seen: set[tuple[int, int]] = set()
    while work:
        first, end, age = work.pop()
        last = first
        for j in range(first, end):
            last = j
            if j != i or first != i:
                waits, age = passed(ranges.function.instructions[j], kind, age)
                if waits:
                    break
        else:
            for successor in ranges.cfg.successors[block_of[last]]:
                if successor != ranges.cfg.exit and (successor, age) not in seen:
                    seen.add((successor, age))
                    block = blocks[successor]
                    work.append((block.start, block.end, age))
            yield 2 * first, 2 * last + 2
            continue
        yield 2 * first, 2 * last + 1
