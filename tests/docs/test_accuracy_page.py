"""docs/accuracy.md says what tests expect and what the simulator gives (`benchmarks/accuracy.py --write` mends it)."""

from pathlib import Path

import pytest
from microkernels import C2050, GPGPUSIM42, VOLTA_MEMORY, Case
from reference_kernels import recorded_run, recorded_runs
from scripts import BENCHMARKS, module_of

_QUICK = ("fma_chain_w1", "pointer_chase_w4", "shared_conflict_s8", "histogram")


ACCURACY = module_of(BENCHMARKS / "accuracy.py")


def part(name: str) -> str:
    """What stands between the marks of a part."""
    page = ACCURACY.PAGE.read_text(encoding="utf-8")
    return str(page.partition(f"<!-- {name} -->\n")[2].partition(f"<!-- end of {name} -->")[0])


def tables(text: str) -> list[list[list[str]]]:
    """The rows of every table of a text, without heads."""
    blocks = [block for block in text.strip().split("\n\n") if block.startswith("|")]
    return [
        [[c.strip() for c in line.split("|")[1:-1]] for line in b.strip().splitlines()[2:]] for b in blocks
    ]


@pytest.mark.parametrize(
    ("name", "cases"),
    [("tesla-c2050", C2050), ("gpgpusim42-c2050", GPGPUSIM42), ("volta-memory", VOLTA_MEMORY)],
)
def test_figures(name: str, cases: tuple[Case, ...]) -> None:
    (rows,) = tables(part(name))
    assert [row[:3] for row in rows] == [[c.row, c.what, c.expected] for c in cases]
    assert [row[4] for row in rows] == [c.why for c in cases]
    assert [c for c, row in zip(cases, rows, strict=True) if not c.holds(float(row[3]))] == []


def cycles_on_the_page() -> dict[tuple[str, str], tuple[str, str, str]]:
    """Their cycles, ours and the error by title and launch."""
    found = {}
    for section in part("runs").split("### ")[1:]:
        title, _, text = section.partition("\n")
        for launch, theirs, ours, error, *_ in tables(text)[0]:
            found[title, launch] = theirs, ours, error
    return found


def test_every_recorded_run_is_there(shared: Path) -> None:
    expected = {
        (ACCURACY.title(row["config"]), row["launch"]): row["cycles"] for row in recorded_runs(shared)
    }
    page = cycles_on_the_page()
    assert {key: int(theirs) for key, (theirs, _, _) in page.items()} == expected
    for theirs, ours, error in page.values():
        assert error == f"{(int(ours) / int(theirs) - 1) * 100:+.1f}%"


def test_the_summary_is_that_of_the_rows() -> None:
    errors: dict[str, list[float]] = {}
    for (title, launch), (theirs, ours, _) in cycles_on_the_page().items():
        if ACCURACY.is_kernel(launch):
            errors.setdefault(title, []).append(abs(int(ours) / int(theirs) - 1))
    summary = {row[0]: row[1] for row in tables(part("runs"))[0]}
    for title in ("lrr", "gto", "two_level:6"):
        n, mean = len(errors[title]), sum(errors[title]) / len(errors[title])
        assert summary[f"{title}, {n} launches"] == f"{100 * mean:.1f}%"


@pytest.mark.parametrize("name", _QUICK)
def test_our_cycles_are_those_of_the_page(name: str, shared: Path) -> None:
    # within 1%: the model moves on, and the page is written now and then
    result = ACCURACY.simulate(recorded_run(shared, name, "C2050-lrr"))
    assert result.cycles == pytest.approx(int(cycles_on_the_page()["lrr", name][1]), rel=0.01)
