"""docs/reproduction-schemes.md: its tables are those of the CSV beside it, and means are those of its numbers."""

import csv
import re
from statistics import geometric_mean

import pytest
from checkout import CHECKOUT

from ptxtool.sweep.reproduction.register_schemes.exhibits import NOISE
from ptxtool.sweep.reproduction.register_schemes.matrix import Restriction, matrix

PAGE = (CHECKOUT / "docs" / "reproduction-schemes.md").read_text(encoding="utf-8")
MATRIX = matrix(Restriction())
MACHINES = [machine.name for machine in MATRIX.machines]


def numbers() -> dict[str, dict[tuple[str, str], float | None]]:
    """The CSV: by exhibit the values of rows and columns."""
    found: dict[str, dict[tuple[str, str], float | None]] = {}
    text = (CHECKOUT / "docs" / "reproduction-schemes.csv").read_text(encoding="utf-8")
    for line in csv.DictReader(text.splitlines()):
        value = float(line["ours"]) if line["ours"] else None
        found.setdefault(line["exhibit"], {})[line["row"], line["column"]] = value
    return found


NUMBERS = numbers()


def shown(machine: str, title: str) -> list[list[str]]:
    """The rows of a table of a machine, its head first."""
    block = PAGE.split(f"<!-- schemes {machine} -->\n")[1].split(f"<!-- end of schemes {machine} -->")[0]
    section = block.split(f"### {title}\n")[1].split("\n### ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize("machine", MACHINES)
def test_every_kernel_has_a_row_with_the_numbers_of_the_csv(machine: str) -> None:
    head, *rows = shown(machine, "Speed by kernel")
    speeds = NUMBERS[f"speed {machine}"]
    assert [row[0] for row in rows] == list(dict.fromkeys(kernel for kernel, _ in speeds))
    assert {row[0] for row in rows} <= set(MATRIX.kernels)
    for row in rows:
        for column, cell in zip(head[1:], row[1:], strict=True):
            value = speeds[row[0], column]
            assert cell == ("" if value is None else f"{value:+.1f}"), (row[0], column)


@pytest.mark.parametrize("machine", MACHINES)
def test_speed_is_that_of_the_cycles(machine: str) -> None:
    cycles = NUMBERS[f"cycles {machine}"]
    for (kernel, column), value in NUMBERS[f"speed {machine}"].items():
        run, plain = cycles[kernel, column], cycles[kernel, "none"]
        assert (value is None) == (run is None)
        if run is not None and plain is not None:
            assert value == pytest.approx(100 * (plain / run - 1))


@pytest.mark.parametrize("machine", MACHINES)
def test_means_are_those_of_the_kernels(machine: str) -> None:
    """What is called a gain or a loss is beyond noise."""
    speeds = NUMBERS[f"speed {machine}"]
    for column in {column for _, column in speeds}:
        ratios = [1 + v / 100 for (_, c), v in speeds.items() if c == column and v is not None]
        mean = 100 * (geometric_mean(ratios) - 1)
        assert NUMBERS[f"means {machine}"][column, "geometric mean"] == pytest.approx(mean)
        (said,) = re.findall(rf"^\| {re.escape(column)} on {machine} \| (\w+)", PAGE, re.M)
        assert said == ("no" if abs(mean) <= NOISE else "gain" if mean > 0 else "loss")
