"""Live ranges of random kernels of few registers and many branches, against their definitions, by path search."""

from collections.abc import Iterator
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import ptx

from ptxtool.analysis.regalloc.live_ranges import Ranges, live_ranges
from ptxtool.cfg.blocks import control_flow
from ptxtool.ir.nodes import Function

NAMES = ("%r1", "%r2", "%r3")
names = st.sampled_from(NAMES)
guards = st.sampled_from(("", "", "", "@%p1 ", "@!%p1 "))


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """Statements with a label each, and branches to any of them: loops, code that nothing reaches, dead values."""
    n = draw(st.integers(1, 12))
    lines: list[str] = []
    for i in range(n):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            line = f"{draw(guards)}bra L{draw(st.integers(0, n))};"
        elif kind == 1:
            line = f"{draw(guards)}mov.b32 {draw(names)}, {i};"
        else:
            line = f"{draw(guards)}add.u32 {draw(names)}, {draw(names)}, {draw(names)};"
        lines.append(f"L{i}: {line}")
    return "\n".join([*lines, f"L{n}: ret;"])


class Paths:
    """Where control may go from every instruction, and what is reached without a kill."""

    def __init__(self, function: Function, ranges: Ranges):
        n = len(function.instructions)
        flows = control_flow(function)
        self.steps = ranges.def_uses
        self.next: list[list[int]] = []
        for i in range(n):
            flow = flows.get(i)
            targets = [i + 1] if flow is None else [*flow.targets, *([i + 1] if flow.falls else [])]
            self.next.append([t for t in targets if t < n])

    def after(self, i: int, k: int) -> set[int]:
        """The instructions that are reached after i before register k is overwritten, and those that overwrite it."""
        seen: set[int] = set()
        work = [*self.next[i]]
        while work:
            j = work.pop()
            if j not in seen:
                seen.add(j)
                work += () if k in self.steps[j].kills else self.next[j]
        return seen

    def uses(self, i: int, k: int) -> set[int]:
        return {j for j in self.after(i, k) if k in self.steps[j].uses}

    def reached(self) -> set[int]:
        seen, work = {0}, [0]
        while work:
            for j in self.next[work.pop()]:
                if j not in seen:
                    seen.add(j)
                    work.append(j)
        return seen


def values(paths: Paths, k: int, n: int) -> Iterator[set[tuple[int, str]]]:
    """The values of a register: definitions and uses that belong together, as instructions with "w" or "r"."""
    sets: list[set[tuple[int, str]]] = []
    for i in range(n):
        if k not in paths.steps[i].defs:
            continue
        mine = {(i, "w")} | {(j, "r") for j in paths.uses(i, k)}
        for j in paths.after(i, k):  # definitions that overwrite the value on some executions only
            if k in paths.steps[j].defs and k not in paths.steps[j].kills and paths.uses(j, k):
                mine.add((j, "w"))
        for other in [s for s in sets if s & mine]:
            sets.remove(other)
            mine |= other
        sets.append(mine)
    yield from sets


def of(ranges: Ranges, k: int) -> list[int]:
    """The webs of a register."""
    return [w for w, register in enumerate(ranges.register) if register == k]


@settings(max_examples=150)
@given(bodies())
def test_what_belongs_together_is_one_web(body: str) -> None:
    function = ptx(body)
    ranges = live_ranges(function)
    paths, n = Paths(function, ranges), len(function.instructions)
    webs: dict[int, set[tuple[int, str]]] = {}
    for i, step in enumerate(ranges.def_uses):
        for kind, sides, places in (("w", step.defs, ranges.writes[i]), ("r", step.uses, ranges.reads[i])):
            for k, web in zip(sides, places, strict=True):
                assert ranges.register[web] == k
                webs.setdefault(web, set()).add((i, kind))
    for k in set(ranges.register):
        wanted = list(values(paths, k, n))
        defined = set[tuple[int, str]]().union(*wanted)
        found = [webs[w] & defined for w in of(ranges, k)]
        for w, some in zip(of(ranges, k), found, strict=True) if len(paths.reached()) == n else ():
            # what no definition reaches is apart from all that some do, but for what a guarded write goes on with
            is_whole = all(k in paths.steps[i].kills for i, kind in some if kind == "w")
            assert not some or not is_whole or some == webs[w]
        assert sorted(map(sorted, filter(None, found))) == sorted(map(sorted, wanted))


@settings(max_examples=150)
@given(bodies())
def test_a_web_takes_its_place_where_it_is_live(body: str) -> None:
    """From each definition to every read that may follow; a definition without a read is one point."""
    function = ptx(body)
    ranges = live_ranges(function)
    paths, n = Paths(function, ranges), len(function.instructions)
    reached = paths.reached()
    points: dict[int, set[int]] = {}
    for web, intervals in enumerate(ranges.intervals):
        assert list(intervals) == sorted(intervals)
        assert all(a[1] < b[0] for a, b in pairwise(intervals))
        points[web] = {p for start, end in intervals for p in range(start, end)}
    for i in range(n):
        for k, web in zip(ranges.def_uses[i].defs, ranges.writes[i], strict=True):
            expected = {2 * i + 1}
            for j in {i} | paths.after(i, k) if paths.uses(i, k) else ():
                is_read_on = bool(paths.uses(j, k)) and (j == i or k not in paths.steps[j].kills)
                if j != i and (k in paths.steps[j].uses or is_read_on):
                    expected.add(2 * j)
                if is_read_on:
                    expected.add(2 * j + 1)
            assert i not in reached or expected <= points[web]
    for k in set(ranges.register):  # webs of one register never meet
        mine = [points[w] for w in of(ranges, k)]
        assert sum(map(len, mine)) == len(set().union(*mine))


@given(bodies())
def test_accesses_are_the_reads_and_writes_web_by_web(body: str) -> None:
    """A write that does not begin a segment continues the value, and so reads it."""
    ranges = live_ranges(ptx(body))
    for web, intervals in enumerate(ranges.intervals):
        expected: list[tuple[int, bool, bool]] = []
        for i, (read, written) in enumerate(zip(ranges.reads, ranges.writes, strict=True)):
            if web in read or web in written:
                continues = web in written and all(start != 2 * i + 1 for start, _ in intervals)
                expected.append((i, web in read or continues, web in written))
        assert list(ranges.accesses[web]) == expected
