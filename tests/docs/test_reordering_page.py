"""docs/reordering.md says what the orders give (`benchmarks/bench_reordering.py --write` mends it)."""

import pytest
from scripts import BENCHMARKS, module_of

from ptxtool.base.resources import resource_dir

BENCH = module_of(BENCHMARKS / "bench_reordering.py")


def rows(part: str) -> list[list[str]]:
    """The rows of a part's table, without its head."""
    page = BENCH.PAGE.read_text(encoding="utf-8")
    text = page.partition(f"<!-- {part} -->\n")[2].partition(f"\n<!-- end of {part} -->")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:]]


def test_expected_instructions_are_what_the_benchmark_finds() -> None:
    found = BENCH.samples(resource_dir("samples"), BENCH.SHARE, [row[0] for row in rows("expected")])
    table = BENCH.expected(found).splitlines()[2:]
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in table] == rows("expected")


def test_no_order_is_below_that_of_first_use() -> None:
    for row in rows("expected"):
        _, first, late, delayed = map(float, row[3:])
        assert first <= late <= delayed, row


def test_the_means_are_those_of_the_rows() -> None:
    check_means("simulated")
    check_means("scratchpad")


def check_means(part: str) -> None:
    *each, last = rows(part)
    assert last[0] == "geometric mean"
    for column in range(2, len(last)):
        gains = [1 + float(row[column].rstrip("%")) / 100 for row in each]
        assert float(last[column].rstrip("%")) == pytest.approx(100 * (BENCH.mean(gains) - 1), abs=0.011)


def test_marks_stand_where_the_page_says() -> None:
    for name, share, private, marked, split, *_ in rows("split"):
        (sample,) = BENCH.samples(resource_dir("samples"), share.rstrip("%"), [name])
        assert (sample.private, sample.n_pairs > 0) == (int(private), True)
        pipelines = (BENCH.FULL + BENCH.RELEASED, BENCH.FULL + BENCH.SPLIT + BENCH.RELEASED)
        kernels = [sample.rewritten(pipeline) for pipeline in pipelines]
        assert [BENCH.n_after_mark(kernel) for kernel in kernels] == [int(marked), int(split)]
