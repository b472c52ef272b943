"""Register allocation measured: counts beside ptxas and graph colouring, spills, speed. Prints Markdown tables.

    python benchmarks/bench_allocate.py [--folder DIR] [--write] [--only counts|spills|speed|colouring]

Counts are of every kernel in the PTX files of a folder, by default the corpus beside the checkout (`../shared/corpus`),
without those compiled for debugging, which ptxas does not optimise. Called functions count
(`ptxtool/analysis/regalloc/register_need.py`). The ptxas columns need ptxas. Colouring is `benchmarks/coalescing.py` on
the same live ranges, with the fewest units for which it needs no spill. Times are CPU seconds, medians; they depend on
the machine, the other figures do not.

`--write` puts the tables into docs/allocation.md.
"""

import argparse
import gc
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

CHECKOUT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CHECKOUT / "benchmarks"))

from coalescing import Colourer, Colouring, interference  # noqa: E402
from long_kernels import branching, straight  # noqa: E402
from page_tables import put_tables  # noqa: E402

from ptxtool.analysis.regalloc.assignment import Assignment, TooFewRegisters, assign, is_copy  # noqa: E402
from ptxtool.analysis.regalloc.live_ranges import live_ranges  # noqa: E402
from ptxtool.analysis.regalloc.physical import PREDICATES  # noqa: E402
from ptxtool.analysis.regalloc.register_need import register_need  # noqa: E402
from ptxtool.analysis.regalloc.spills import FILES  # noqa: E402
from ptxtool.base.mangled import source_name  # noqa: E402
from ptxtool.external.ptxas import ptxas_usage  # noqa: E402
from ptxtool.ir.nodes import Function, Module  # noqa: E402
from ptxtool.parse import parse  # noqa: E402
from ptxtool.passes.pipeline import rewrite  # noqa: E402
from ptxtool.passes.regalloc.allocate import Allocate  # noqa: E402
from ptxtool.passes.regalloc.compact import Compact  # noqa: E402
from ptxtool.results.register_counts import PtxasUsage  # noqa: E402

PAGE = CHECKOUT / "docs" / "allocation.md"
CORPUS = CHECKOUT.parent / "shared" / "corpus"
PARTS = ("counts", "spills", "speed", "colouring")
SIZES = (1250, 2500, 5000, 10000, 20000)
_REPEATS = 3


@dataclass(frozen=True)
class Row:
    """One kernel: its figures, and what ptxas uses at -O1 and -O3 (None where it does not say)."""

    file: str
    kernel: Function
    o1: PtxasUsage | None
    o3: PtxasUsage | None

    @property
    def name(self) -> str:
        return f"{self.file}: {source_name(self.kernel.name)}"

    @cached_property
    def assignment(self) -> Assignment:
        """Without bounds on any file: what the colouring is compared with."""
        return assign(self.kernel)

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Live at once, and allocated."""
        need = register_need(self.kernel)
        return need.live, need.registers

    @property
    def ratio(self) -> float | None:
        return self.counts[1] / self.o3.registers if self.o3 else None


def rows(folder: Path, with_ptxas: bool = True) -> Iterator[Row]:
    """The kernels of a folder, by file and place in it."""
    for path in sorted(folder.rglob("*.ptx")):
        module = parse(path.read_bytes().decode("utf-8", "surrogateescape"), path.name)
        if not is_optimised(module):
            continue
        runs = [ptxas_usage(module, level, timeout=120) if with_ptxas else None for level in (1, 3)]
        for kernel in module.kernels.values():
            o1, o3 = (run.kernels.get(kernel.name) if run else None for run in runs)
            yield Row(path.name.removesuffix(".ptx"), kernel, o1, o3)


def is_optimised(module: Module) -> bool:
    return "debug" not in (module.directive("target") or "")


def mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def table(header: Sequence[str], body: Iterable[Sequence[object]], right: int = 1) -> str:
    """A Markdown table; columns from `right` on are numbers."""
    lines = [header, ["---" if k < right else "---:" for k in range(len(header))], *body]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


# ---- counts


def counts(found: Sequence[Row]) -> str:
    """A line per kernel, and what they make together."""
    body = [
        (row.name, len(row.kernel.instructions), *row.counts, _used(row.o1), _used(row.o3), _ratio(row))
        for row in found
    ]
    head = ("kernel", "instructions", "live at once", "allocate", "ptxas -O1", "ptxas -O3", "ratio to -O3")
    return f"{summary(found)}\n\n{table(head, body)}"


def _used(used: PtxasUsage | None) -> str:
    """Registers, with a star where ptxas itself spills."""
    return f"{used.registers}{'*' if used.spill_bytes else ''}" if used else "-"


def _ratio(row: Row) -> str:
    return "-" if row.ratio is None else f"{row.ratio:.2f}"


def summary(found: Sequence[Row]) -> str:
    """The two means in a sentence."""
    compared = [row for row in found if row.o1 and row.o3]
    if not compared:
        return f"{len(found)} kernels; no ptxas to compare with."
    o1 = mean(row.counts[1] / row.o1.registers for row in compared if row.o1)
    o3 = mean(row.counts[1] / row.o3.registers for row in compared if row.o3)
    means = f"{o1:.2f} (-O1), {o3:.2f} (-O3)"
    return f"{len(compared)} kernels. Geometric mean of allocate's count over that of ptxas: {means}."


# ---- spills


def spills(found: Sequence[Row]) -> str:
    """What becomes of every kernel that does not fit into as many registers as ptxas -O3 takes."""
    compared = [row for row in found if row.o3]
    body: list[tuple[object, ...]] = []
    for row in compared:
        assert row.o3 is not None
        try:
            placed = assign(row.kernel, row.o3.registers, PREDICATES)
        except TooFewRegisters:
            body.append((row.name, _used(row.o3), row.counts[1], "-", "does not fit", "-"))
            continue
        if placed.n_spilled:
            left = placed.n_rematerialised
            body.append((row.name, _used(row.o3), row.counts[1], left, placed.n_spilled, placed.frame_bytes))
    share = f"{100 * len(body) / len(compared):.1f}%" if compared else "-"
    header = ("kernel", "N", "needed", "constants computed anew", "values spilled", "bytes of local memory")
    return f"{len(body)} of {len(compared)} kernels spill ({share}).\n\n{table(header, body)}"


# ---- speed


def speed(found: Sequence[Row]) -> str:
    """Instructions per second on the largest kernel, and on generated ones of growing length."""
    row = max(found, key=lambda row: len(row.kernel.instructions))
    text = row.kernel.source.text
    body = [
        (f"{row.name}, {what}", *_speeds(text, run))
        for what, run in (
            ("compact alone", lambda m: Compact().run(m)),
            ("allocate alone, 255 registers", lambda m: Allocate().run(m)),
            ("allocate, parsed again and proved", lambda m: rewrite(m, "allocate")),
        )
    ]
    for name, generate in (("straight", straight), ("branching", branching)):
        for size in SIZES:
            body.append((f"{name}, alone", *_speeds(generate(size), lambda m: Allocate().run(m))))
        body.append(
            (
                f"{name}, parsed again and proved",
                *_speeds(generate(SIZES[-1]), lambda m: rewrite(m, "allocate")),
            )
        )
    return table(("kernel", "instructions", "seconds", "instructions per second"), body)


def _speeds(text: str, run: Callable[[Module], object]) -> tuple[object, ...]:
    times: list[float] = []
    n = 0
    for _ in range(_REPEATS):
        module = parse(text)
        n = sum(len(kernel.instructions) for kernel in module.kernels.values())
        gc.collect()  # what parsing left to collect is not the pass's
        begin = time.process_time()
        run(module)
        times.append(time.process_time() - begin)
    seconds = statistics.median(times)
    return n, f"{seconds:.3f}", f"{n / seconds:.0f}"


# ---- graph colouring


@dataclass(frozen=True)
class Compared:
    """Packing and colouring of one kernel on the same live ranges."""

    row: Row
    least: int
    ours: int
    theirs: int
    n_copies: int
    left: int
    their_left: int
    seconds: float
    their_seconds: float


def compared(row: Row) -> Compared:
    begin = time.process_time()
    assign(row.kernel)
    middle = time.process_time()
    live_ranges(row.kernel)
    ranges = time.process_time() - middle
    placed = row.assignment
    values = placed.spills.values
    webs = np.flatnonzero(values.file == FILES.index("general")).tolist()
    number = {web: k for k, web in enumerate(webs)}
    copies = list(_copies(row.kernel, placed, number))
    least = int(placed.spills.demand("general").max(initial=0))
    accesses = [float(len(placed.ranges.accesses[web])) for web in webs]
    second = time.process_time()
    neighbours = interference([values.intervals[web] for web in webs])
    built = time.process_time() - second
    n_units, found, seconds = _fewest(
        neighbours, values.width[webs].tolist(), copies, max(1, least), accesses
    )
    left = sum(placed.unit[webs[a]] != placed.unit[webs[b]] for a, b in copies)
    ours = placed.used["general"]
    own = middle - begin - ranges
    return Compared(
        row, least, ours, n_units, len(copies), left, found.n_copies_left, max(0.0, own), built + seconds
    )


def _copies(kernel: Function, placed: Assignment, number: dict[int, int]) -> Iterator[tuple[int, int]]:
    ranges = placed.ranges
    for i in range(len(kernel.instructions)):
        if is_copy(kernel, i) and ranges.writes[i][0] in number:
            yield number[ranges.writes[i][0]], number[ranges.reads[i][0]]


def _fewest(
    neighbours: Sequence[set[int]],
    widths: Sequence[int],
    copies: Sequence[tuple[int, int]],
    least: int,
    accesses: Sequence[float],
) -> tuple[int, Colouring, float]:
    """The fewest units for which every node finds a colour, and the seconds of that one run.

    Which nodes are put aside in hope is chosen by degree alone, and by accesses and degree: the better one counts.
    """
    n_units = least
    while True:
        for costs in ([1.0] * len(widths), accesses):
            begin = time.process_time()
            found = Colourer(neighbours, widths, copies, n_units, costs).run()
            if not found.homeless:
                return n_units, found, time.process_time() - begin
        n_units += 1


def colouring(found: Sequence[Row]) -> str:
    """The sums over all kernels, and every kernel in which the counts differ."""
    all_ = [compared(row) for row in found]
    body = [
        ("units, all kernels together", sum(c.ours for c in all_), sum(c.theirs for c in all_)),
        (
            "kernels at the least possible",
            sum(c.ours == c.least for c in all_),
            sum(c.theirs == c.least for c in all_),
        ),
        (
            "kernels with fewer than the other",
            sum(c.ours < c.theirs for c in all_),
            sum(c.theirs < c.ours for c in all_),
        ),
        (
            f"copies left of {sum(c.n_copies for c in all_)}",
            sum(c.left for c in all_),
            sum(c.their_left for c in all_),
        ),
        (
            "seconds, live ranges apart",
            f"{sum(c.seconds for c in all_):.1f}",
            f"{sum(c.their_seconds for c in all_):.1f}",
        ),
    ]
    largest = max(all_, key=lambda c: len(c.row.kernel.instructions))
    body.append((f"seconds for {largest.row.name}", f"{largest.seconds:.2f}", f"{largest.their_seconds:.2f}"))
    differing = [(c.row.name, c.least, c.ours, c.theirs) for c in all_ if c.ours != c.theirs]
    parts = [table(("", "packing", "colouring"), body), "The kernels in which the two differ:"]
    return "\n\n".join([*parts, table(("kernel", "live at once", "packing", "colouring"), differing)])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=CORPUS, help="where the PTX files are")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/allocation.md")
    parser.add_argument("--only", choices=PARTS, help="one of the tables")
    options = parser.parse_args()
    found = list(rows(options.folder, options.only not in ("speed", "colouring")))
    if not found:
        parser.error(f"no kernels in {options.folder}")
    makers = {"counts": counts, "spills": spills, "speed": speed, "colouring": colouring}
    made = {part: makers[part](found) for part in PARTS if options.only in (None, part)}
    if not options.write:
        print("\n\n".join(made.values()))
        return
    put_tables(PAGE, made)


if __name__ == "__main__":
    main()
