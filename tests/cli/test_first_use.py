"""`ptxtool first-use` on the small kernel: the order of the registers, and where sharing stops."""

from pathlib import Path

from commands import clean_data
from smallkernel import Cli


def test_first_use_orders_by_the_text(cli: Cli, kernel_file: Path) -> None:
    (kernel,) = clean_data(cli, "first-use", kernel_file)["kernels"]
    # declared: $r0-$r4 1-5, $r124 6, $o127 7, $p0 8, $p1 9
    assert [(r["name"], r["before"], r["after"], r["line"]) for r in kernel["registers"]] == [
        ("$r1", 2, 1, 9),
        ("$r124", 6, 2, 9),
        ("$p0", 8, 3, 10),
        ("$o127", 7, 4, 10),
        ("$r2", 3, 5, 12),
        ("$r3", 4, 6, 12),
        ("$r4", 5, 7, 14),
        ("$r0", 1, 8, None),
        ("$p1", 9, 9, None),
    ]


def test_first_use_says_where_sharing_stops(cli: Cli, kernel_file: Path) -> None:
    # floor(36 * 10%) = 3 private: $r124 (6) stops the first instruction before; after, $o127 (4) the second
    (kernel,) = clean_data(cli, "first-use", kernel_file, "--share-registers", 90, "--registers", 36)[
        "kernels"
    ]
    assert kernel["private_registers"] == 3
    touched = kernel["first_shared"]
    assert [touched[when]["line"] for when in ("before", "after")] == [9, 10]
    assert [touched[when]["register"] for when in ("before", "after")] == ["$r124", "$o127"]
    assert [touched[when]["sequence"] for when in ("before", "after")] == [6, 4]
    text = cli("first-use", kernel_file, "--share-registers", 90, "--registers", 36).stdout
    assert "private registers: 1 to 3" in text
    assert "  before: line 9, $r124 (register 6): mov.u32 $r1, $r124;\n" in text


def test_first_use_with_nothing_beyond_the_private_ones(cli: Cli, kernel_file: Path) -> None:
    text = cli("first-use", kernel_file, "--share-registers", 10, "--registers", 36).stdout
    assert "private registers: 1 to 32" in text
    assert "before: none" in text
    assert "after:  none" in text
