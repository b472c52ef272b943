"""docs/allocation.md says what the allocator and ptxas give (`benchmarks/bench_allocate.py --write` mends it)."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ptxas import needs_ptxas
from scripts import BENCHMARKS, module_of

from ptxtool.external.ptxas import find_ptxas, version
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite

BENCH = module_of(BENCHMARKS / "bench_allocate.py")
COLOURING = module_of(BENCHMARKS / "coalescing.py")
LONG = module_of(BENCHMARKS / "long_kernels.py")
QUICK = ("ptx/cuda/own_kernels.sm75.ptx", "ptx/numba/mathk.sm75.fastmath.ptx", "ptx/triton/softmax.sm75.ptx")


def part(name: str) -> str:
    """What stands between the marks of a part."""
    page = BENCH.PAGE.read_text(encoding="utf-8")
    return str(page.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- end of {name} -->")[0])


def lines(name: str) -> list[list[str]]:
    """The rows of a part's first table, without its head."""
    rows = [line for line in part(name).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in rows[2:]]


def number(cell: str) -> int:
    return int(cell.rstrip("*"))


def kernels_of(shared: Path, file: str, tmp_path: Path, with_ptxas: bool) -> list[list[str]]:
    """The lines that the benchmark makes of one file."""
    (tmp_path / Path(file).name).symlink_to(shared / "corpus" / file)
    table = BENCH.counts(list(BENCH.rows(tmp_path, with_ptxas))).splitlines()[4:]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table]


def test_the_means_are_those_of_the_rows() -> None:
    rows = lines("counts")
    assert len(rows) > 100
    o1, o3 = (BENCH.mean(number(row[3]) / number(row[k]) for row in rows) for k in (4, 5))
    assert part("counts").startswith(f"{len(rows)} kernels.")
    assert f"{o1:.2f} (-O1), {o3:.2f} (-O3).\n" in part("counts")
    assert [row for row in rows if row[6] != f"{number(row[3]) / number(row[5]):.2f}"] == []
    assert [row for row in rows if number(row[3]) < number(row[2])] == []


def test_the_share_that_spills_is_that_of_the_rows() -> None:
    all_, spilled = lines("counts"), lines("spills")
    share = f"{100 * len(spilled) / len(all_):.1f}%"
    assert part("spills").startswith(f"{len(spilled)} of {len(all_)} kernels spill ({share}).\n")
    needs = {row[0]: (row[5], row[3]) for row in all_}
    assert {row[0]: (row[1], row[2]) for row in spilled} == {row[0]: needs[row[0]] for row in spilled}


def test_colouring_differs_where_the_page_says() -> None:
    rows = [line.split("|")[1:-1] for line in part("colouring").splitlines() if line.startswith("|")]
    differing = [
        [int(cell) for cell in row[1:]] for row in rows if len(row) == 4 and row[1].strip().isdecimal()
    ]
    summary = {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows if len(row) == 3}
    assert [row for row in differing if row[1] == row[2] or min(row[1:]) < row[0]] == []
    fewer = [
        sum(ours < theirs for _, ours, theirs in differing),
        sum(theirs < ours for _, ours, theirs in differing),
    ]
    assert summary["kernels with fewer than the other"] == [str(n) for n in fewer]
    units = [int(n) for n in summary["units, all kernels together"]]
    assert units[0] - units[1] == sum(ours - theirs for _, ours, theirs in differing)


@pytest.mark.parametrize("file", QUICK)
def test_our_counts_are_those_of_the_page(file: str, shared: Path, tmp_path: Path) -> None:
    page = {row[0]: row[1:4] for row in lines("counts")}
    found = {row[0]: row[1:4] for row in kernels_of(shared, file, tmp_path, with_ptxas=False)}
    assert found
    assert found == {name: page[name] for name in found}


@needs_ptxas
def test_ptxas_counts_are_those_of_the_page(shared: Path, tmp_path: Path) -> None:
    if version(find_ptxas() or "") != "13.0":
        pytest.skip("the page has the figures of ptxas 13.0")
    page = {row[0]: row for row in lines("counts")}
    found = {row[0]: row for row in kernels_of(shared, QUICK[0], tmp_path, with_ptxas=True)}
    assert found
    assert found == {name: page[name] for name in found}


# ---- the colouring that it is compared with, and the kernels of growing length


@st.composite
def live_ranges(draw: st.DrawFn) -> tuple[list[list[tuple[int, int]]], list[int]]:
    """Ranges of one to three segments, and their widths."""
    segments, widths = [], []
    for _ in range(draw(st.integers(1, 14))):
        bounds = draw(st.lists(st.integers(0, 40), min_size=2, max_size=6, unique=True).map(sorted))
        segments.append([(a, b) for a, b in zip(bounds[::2], bounds[1::2], strict=False)])
        widths.append(draw(st.sampled_from((1, 1, 2, 4))))
    return segments, widths


def meet(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> bool:
    return any(s < f and t < e for s, e in a for t, f in b)


@settings(max_examples=200)
@given(found=live_ranges(), data=st.data())
def test_colours_keep_apart_what_meets(
    found: tuple[list[list[tuple[int, int]]], list[int]], data: st.DataObject
) -> None:
    segments, widths = found
    n = len(segments)
    neighbours = COLOURING.interference(segments)
    assert neighbours == [
        {m for m in range(n) if m != k and meet(segments[k], segments[m])} for k in range(n)
    ]
    ends = st.integers(0, n - 1)
    copies = data.draw(st.lists(st.tuples(ends, ends).filter(lambda p: p[0] != p[1]), max_size=6))
    n_units = data.draw(st.integers(4, 16))
    result = COLOURING.Colourer(neighbours, widths, copies, n_units, [1.0] * n).run()
    placed = {k: range(unit, unit + widths[k]) for k, unit in result.unit.items()}
    assert [k for k, units in placed.items() if units[0] % widths[k] or units[-1] >= n_units] == []
    assert [
        (k, m) for k in placed for m in neighbours[k] if m in placed and {*placed[k]} & {*placed[m]}
    ] == []
    if n_units >= sum(widths) + 8:  # room for all of them side by side, aligned
        assert not result.homeless


def test_a_chain_of_copies_becomes_one_register() -> None:
    segments = [[(k, k + 1)] for k in range(6)]
    copies = list(pairwise(range(6)))
    result = COLOURING.Colourer(COLOURING.interference(segments), [1] * 6, copies, 4, [1.0] * 6).run()
    assert (result.n_copies_left, len(set(result.unit.values()))) == (0, 1)


def test_what_has_no_colour_is_homeless() -> None:
    segments = [[(0, 4)]] * 3
    result = COLOURING.Colourer(COLOURING.interference(segments), [1] * 3, [], 2, [1.0, 5.0, 1.0]).run()
    assert len(result.homeless) == 1
    assert result.homeless != (1,)


@pytest.mark.parametrize("generate", [LONG.straight, LONG.branching])
def test_kernels_of_growing_length_are_allocated(generate: object) -> None:
    module = parse(generate(300))  # type: ignore[operator]
    n = len(module.kernels["k"].instructions)
    assert 270 <= n <= 330
    after = rewrite(module, "allocate").module.kernels["k"]
    assert len(after.registers) < len(module.kernels["k"].registers) / 3
