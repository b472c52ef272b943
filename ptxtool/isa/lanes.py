"""The lane operations as data: `lanes.toml`, checked.

For the simulator, which generates its compiled code from them, and for the tests that hold it to the instruction
table. An operation has a name, a group (one generated function each), the kinds of its result and operands, and
an expression. What the kinds mean stands at the top of `lanes.toml`.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

KINDS = frozenset({"u32", "i32", "u64", "i64", "f32", "f64", "p"})
MAX_OPERANDS = 4
GROUP_SIZE, MAX_GROUPS = 256, 16


class LaneError(Exception):
    """The table contradicts itself: our bug, found by the tests."""


@dataclass(frozen=True)
class LaneOperation:
    """One operation. `number` is its code in compiled code: GROUP_SIZE for each group before
    its own, and its place there."""

    name: str
    number: int
    group: str
    result: str
    operands: tuple[str, ...]
    expression: str

    @property
    def is_predicate(self) -> bool:
        """True if the result is a predicate, a mask of lanes."""
        return self.result == "p"

    @property
    def result_bits(self) -> int:
        return 1 if self.result == "p" else int(self.result[1:])


def load(text: str) -> dict[str, LaneOperation]:
    """Read and check a table from TOML text. Raises `LaneError`."""
    operations: dict[str, LaneOperation] = {}
    for group_number, (group, rows) in enumerate(tomllib.loads(text).items()):
        if group_number >= MAX_GROUPS or len(rows) > GROUP_SIZE:
            raise LaneError(f"'{group}' is one group too many, or holds more than {GROUP_SIZE} operations")
        for place, (name, row) in enumerate(rows.items()):
            if name in operations:
                raise LaneError(f"'{name}' stands twice")
            if set(row) != {"sig", "expr"}:
                raise LaneError(f"{name}: has columns {sorted(row)}, not 'sig' and 'expr'")
            result, *operands = row["sig"].split()
            unknown = {result, *operands} - KINDS
            if unknown or not 1 <= len(operands) <= MAX_OPERANDS:
                raise LaneError(f"{name}: bad signature '{row['sig']}'")
            compile(row["expr"], f"lanes.toml:{name}", "eval")
            operations[name] = LaneOperation(
                name, GROUP_SIZE * group_number + place, group, result, tuple(operands), row["expr"]
            )
    return operations


@cache
def operations() -> dict[str, LaneOperation]:
    """Every lane operation by name, in the order of the table."""
    return load(table_text())


@cache
def table_text() -> str:
    """The text of the table."""
    return (Path(__file__).parent / "lanes.toml").read_text(encoding="utf-8")
