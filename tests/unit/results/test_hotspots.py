"""Where the slots of a launch went, as plain data."""

from collections.abc import Mapping
from dataclasses import replace

from ptxtool.results.hotspots import Hotspot, Hotspots, RegisterUse


def spot(instruction: int, reasons: Mapping[str, int], memory: int = 0, transactions: int = 0) -> Hotspot:
    return Hotspot(instruction, "k", 1, "ret;", "", 4, 100, 128, 0, memory, transactions, 0, 0, 0, reasons, 0)


SPOTS = (spot(0, {"alu": 5}), spot(1, {}), spot(2, {"lock": 3, "l1_miss": 6}), spot(3, {"ldst": 5}))
REASONS = {"issued": 10, "alu": 5, "lock": 3, "l1_miss": 6, "ldst": 5, "no_warp": 7}


def found(lock_as_stall: bool = False) -> Hotspots:
    return Hotspots(REASONS, (REASONS,), SPOTS, {"no_warp": 7}, lock_as_stall)


def test_the_hottest_instruction_lost_most_slots() -> None:
    assert [s.instruction for s in found().hottest()] == [2, 0, 3]
    assert SPOTS[2].lost == 9


def test_kinds_sum_to_all_slots() -> None:
    kinds = found().kinds(REASONS)
    assert kinds == {"issued": 10, "stall": 5, "idle": 7, "scoreboard": 14}
    assert sum(kinds.values()) == found().slots == 36


def test_slots_of_locks_may_count_as_stall() -> None:
    assert found(lock_as_stall=True).kinds(REASONS) == {"issued": 10, "stall": 8, "idle": 7, "scoreboard": 11}


def test_transactions_per_access() -> None:
    assert spot(0, {}, memory=4, transactions=10).transactions_per_access == 2.5
    assert spot(0, {}).transactions_per_access == 0.0


def test_the_registers_accessed_are_part_of_the_data() -> None:
    assert found().to_dict()["register_use"] is None
    used = replace(found(), register_use=RegisterUse(1000, 3, 50.0, 25.0, 75.0)).to_dict()["register_use"]
    assert used == {"window": 1000, "windows": 3, "mean": 50.0, "least": 25.0, "most": 75.0}
