"""Spilling: what stays of spilled values, what is inserted for them, and which values are spilled."""

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from msgspec.structs import replace

from ptxtool.analysis.flow.accesses import Access, Accesses, Interval, Intervals
from ptxtool.analysis.regalloc.spills import (
    FILES,
    FreeUnits,
    Insertion,
    SpillInputs,
    SpillState,
    ValueTable,
    reduce_demand,
    spill,
)

N = 20
"""Instructions; two blocks of ten."""


class Value(NamedTuple):
    file: str
    width: int
    intervals: tuple[Interval, ...]


class Values(NamedTuple):
    """Values, and what spilling needs to know of them."""

    state: SpillState
    inputs: SpillInputs

    def spill(self, numbers: Sequence[int], free: FreeUnits | None = None) -> None:
        spill(self.state, numbers, self.inputs, free)

    def inserted(self, is_after: bool) -> dict[int, list[Insertion]]:
        """What is inserted before or after every instruction."""
        here = [one for one in self.state.insertions if one.is_after == is_after]
        return {i: [*some] for i, some in groupby(here, lambda one: one.instruction)}

    def loads(self) -> list[int]:
        """The instructions before which something is inserted."""
        return [one.instruction for one in self.state.insertions if not one.is_after]

    def spilled(self) -> dict[str, list[int]]:
        state = self.state
        return {"slot": state.in_slot, "word": [*state.word], "constant": [*state.rematerialised]}

    def fit(
        self, limit: int, unspillable: Collection[int] = (), deep: int = -1
    ) -> npt.NDArray[np.int32] | None:
        """The demand when at most so many units are live, None if that cannot be; instruction `deep` is in a loop."""
        inputs = replace(self.inputs, unspillable=unspillable, weights=weights([deep]))
        demand = self.state.demand("general")
        return demand if reduce_demand(self.state, "general", demand, limit, inputs) else None


def weights(loops: Collection[int]) -> npt.NDArray[np.float64]:
    """Of all instructions, some of which are in a loop."""
    return np.where(np.isin(np.arange(N), [*loops]), 8.0, 1.0)


def as_arrays(accesses: Sequence[Sequence[Access]]) -> Accesses:
    flat = np.array([access for some in accesses for access in some], np.int64).reshape(-1, 3)
    reads, writes = flat[:, 1].astype(np.bool_), flat[:, 2].astype(np.bool_)
    return Accesses(flat[:, 0], reads, reads, writes, np.cumsum([0, *(len(some) for some in accesses)]))


def values(*found: tuple[Value, Sequence[Access]], **sequences: tuple[int, ...]) -> Values:
    """Values with their accesses; `v0` is the rematerialisation sequence of value 0. 4 and 6 are under guards, and 6
    changes its guard."""
    files = np.array([FILES.index(value.file) for value, _ in found], np.int8)
    widths = np.array([value.width for value, _ in found])
    table = ValueTable(files, widths, Intervals.of([value.intervals for value, _ in found]))
    at = np.arange(N)
    inputs = SpillInputs(
        accesses=as_arrays([accesses for _, accesses in found]),
        block_of=at // 10,
        weights=weights(()),
        may_guard_load=(at == 4) | (at == 6),
        may_guard_store=at == 4,
        sequences={int(k[1:]): sequence for k, sequence in sequences.items()},
        unspillable=(),
    )
    return Values(SpillState(2 * N, table), inputs)


def read(i: int) -> Access:
    return i, True, False


def write(i: int) -> Access:
    return i, False, True


def test_loads_and_stores_under_guards() -> None:
    """4 writes under a guard; 6 as well, and changes the guard."""
    found = values(
        (Value("general", 1, ((1, 17),)), (write(0), write(4), (6, True, True), read(8))),
        (Value("general", 1, ((3, 17),)), (write(1), read(4), read(6))),
    )
    found.spill([0, 1])
    assert {i: [step.is_guarded for step in some] for i, some in found.inserted(is_after=True).items()} == {
        0: [False],
        1: [False],
        4: [True],
        6: [False],
    }
    before = found.inserted(is_after=False)
    guarded = {i: [(step.value, step.is_guarded) for step in some] for i, some in before.items()}
    assert guarded == {4: [(1, True)], 6: [(0, False), (1, True)], 8: [(0, False)]}


def test_a_spilled_value_lives_at_its_accesses_only() -> None:
    """Written by 0, read by 5; 3 reads and writes it."""
    found = values((Value("general", 2, ((1, 11),)), (write(0), (3, True, True), read(5))))
    found.spill([0])
    assert found.state.in_slot == [0]
    assert [*found.state.values.intervals][1:] == [((1, 2),), ((6, 8),), ((10, 11),)]
    assert found.state.values.width.tolist() == [2, 2, 2, 2]
    assert (
        found.state.in_file("general").tolist(),
        found.state.in_file("general", temporaries=False).tolist(),
    ) == (
        [1, 2, 3],
        [],
    )
    load, store = found.inserted(is_after=False), found.inserted(is_after=True)
    assert load == {3: [(3, False, "load", 2, 0, False)], 5: [(5, False, "load", 3, 0, False)]}
    assert store == {0: [(0, True, "store", 1, 0, False)], 3: [(3, True, "store", 2, 0, False)]}
    assert [found.state.at(0, i) for i in (0, 3, 4, 5)] == [1, 2, 0, 3]


def test_a_constant_is_computed_where_it_is_read() -> None:
    found = values((Value("general", 1, ((1, 11),)), (write(0), read(5))), v0=(0,))
    found.spill([0])
    assert found.state.rematerialised == {0: (0,)}
    assert found.state.dropped == {0}
    assert [*found.state.insertions] == [(5, False, "compute", 1, 0, False)]
    assert found.state.in_file("general").tolist() == [1]


def test_a_predicate_becomes_a_word() -> None:
    found = values((Value("predicate", 1, ((1, 11),)), (write(0), read(5))))
    found.spill([0])
    word = found.state.word[0]
    assert (found.state.file(word), found.state.values.intervals[word]) == ("general", ((1, 11),))
    assert [*found.state.insertions] == [(0, True, "save", 2, 0, False), (5, False, "restore", 3, 0, False)]
    assert found.state.demand("general").max() == 1


def test_a_word_of_a_predicate_with_a_hole() -> None:
    """Three accesses, two of them of the second value; its word has both of its segments."""
    found = values(
        (Value("general", 1, ((1, 3),)), (write(0), read(1))),
        (Value("predicate", 1, ((3, 5), (9, 13))), (write(1), read(2), write(4), read(6))),
    )
    found.spill([1])
    word = found.state.word[1]
    assert found.state.values.intervals[word] == ((3, 5), (9, 13))
    assert [*found.state.values.intervals][word + 1 :] == [((3, 4),), ((4, 5),), ((9, 10),), ((12, 13),)]


def test_a_spilled_word_is_loaded_before_the_predicate_is_restored() -> None:
    found = values((Value("predicate", 1, ((1, 11),)), (write(0), read(5))))
    found.spill([0])
    found.spill([found.state.word[0]])
    assert [step.kind for step in found.inserted(is_after=False)[5]] == ["load", "restore"]
    assert [step.kind for step in found.inserted(is_after=True)[0]] == ["save", "store"]


def test_a_copy_stands_for_a_value_at_some_accesses() -> None:
    found = values((Value("general", 1, ((1, 11),)), (write(0), read(3), read(5))))
    assert found.state.copy(0, 4, [5]) == 1
    assert [found.state.at(0, i) for i in (0, 3, 5)] == [0, 0, 1]
    assert [*found.state.insertions] == [(4, False, "copy", 1, 0, False)]


def free_units(taken: Collection[int] = ()) -> FreeUnits:
    """Of a file of one unit that is taken at some points."""
    return FreeUnits(np.array([point in taken for point in range(2 * N)], np.int32), 1)


def test_what_is_loaded_stays_where_there_is_free_units() -> None:
    """Written by 0, read by 1, 2 and 6; between 2 and 6 another value needs the only unit."""
    found = values((Value("general", 1, ((1, 13),)), (write(0), read(1), read(2), read(6))))
    found.spill([0], free_units(taken=[8]))
    assert found.loads() == [6]
    assert [*found.state.values.intervals][1:] == [((1, 5),), ((12, 13),)]
    assert [found.state.at(0, i) for i in (0, 1, 2, 6)] == [1, 1, 1, 2]


def test_what_is_loaded_stays_in_its_block() -> None:
    """9 and 10 are in different blocks."""
    found = values((Value("general", 1, ((1, 21),)), (write(0), read(9), read(10), read(11))))
    found.spill([0], free_units())
    assert found.loads() == [10]


def test_what_lanes_may_lack_is_loaded_again() -> None:
    """4 writes under a guard, and 6 reads under one."""
    found = values((Value("general", 1, ((1, 17),)), (write(4), read(5), read(6), read(7))))
    found.spill([0], free_units())
    assert found.loads() == [5, 7]


def test_no_temporary_lives_on_from_a_constants_definition() -> None:
    """The second value is a constant that 1 defines: if it is spilled, 1 is dropped with what is loaded for it."""
    found = values(
        (Value("general", 1, ((1, 7),)), (write(0), read(1), read(3))),
        (Value("general", 1, ((3, 9),)), (write(1), read(4))),
        v0=(0,),
        v1=(0, 1),
    )
    found.spill([0], free_units())
    assert found.loads() == [1, 3]


def test_short_distances_and_loops_come_first() -> None:
    """The unit at point 6 is there for one of them: the distance from 1 to 4 is longer than that from 2 to 4."""
    pairs = (
        (Value("general", 1, ((3, 9),)), (read(1), read(4))),
        (Value("general", 1, ((3, 9),)), (read(2), read(4))),
    )
    found = values(*pairs)
    found.spill([0, 1], free_units())
    assert (found.state.at(0, 1) == found.state.at(0, 4), found.state.at(1, 2) == found.state.at(1, 4)) == (
        False,
        True,
    )
    found = values(*pairs, (Value("general", 1, ((3, 9),)), (read(3), read(5))))
    spill(found.state, [1, 2], replace(found.inputs, weights=weights([5])), free_units())
    assert (found.state.at(1, 2) == found.state.at(1, 4), found.state.at(2, 3) == found.state.at(2, 5)) == (
        False,
        True,
    )


def test_demand_counts_units_per_file() -> None:
    found = values(
        (Value("general", 2, ((1, 4),)), ()),
        (Value("general", 1, ((0, 2), (3, 5))), ()),
        (Value("predicate", 1, ((0, 9),)), ()),
    )
    assert found.state.demand("general")[:6].tolist() == [1, 3, 2, 3, 1, 0]
    assert found.state.demand("predicate").sum() == 9


def crowd(first: Sequence[Access] = (write(0), read(18)), **sequences: tuple[int, ...]) -> Values:
    """Two values that are live from 1 to 37, and a third, from 21 to 25."""
    return values(
        (Value("general", 1, ((1, 37),)), first),
        (Value("general", 1, ((1, 37),)), (write(0), read(6), read(8), read(18))),
        (Value("general", 1, ((21, 25),)), (write(10), read(12))),
        **sequences,
    )


def test_the_cheapest_is_spilled() -> None:
    found = crowd()
    demand = found.fit(2)
    assert demand is not None
    assert demand.max() == 2
    assert found.spilled() == {"slot": [0], "word": [], "constant": []}


def test_what_is_read_in_a_loop_is_dear() -> None:
    """The first value has fewer accesses, but one of them in a loop."""
    found = crowd((write(0), read(15)))
    found.fit(2, deep=15)
    assert found.spilled() == {"slot": [1], "word": [], "constant": []}


def test_constants_go_first() -> None:
    found = crowd(v1=(0,))
    found.fit(2)
    assert found.spilled() == {"slot": [], "word": [], "constant": [1]}


def test_unspillable_values_stay() -> None:
    found = crowd()
    assert found.fit(2, unspillable=(0, 2)) is not None
    assert found.spilled() == {"slot": [1], "word": [], "constant": []}


def test_a_value_whose_own_accesses_are_crowded_is_not_spilled() -> None:
    """The third value is written and read where the others are live: its temporaries need the place as much."""
    assert crowd().fit(2, unspillable=(0, 1)) is None


@pytest.mark.parametrize("limit", [0, 1])
def test_operands_of_one_instruction_cannot_be_fewer(limit: int) -> None:
    found = values(
        (Value("general", 1, ((1, 7),)), (write(0), read(3))),
        (Value("general", 1, ((3, 7),)), (write(1), read(3))),
    )
    assert found.fit(limit) is None


def test_nothing_is_spilled_where_all_fit() -> None:
    found = crowd()
    assert found.fit(3) is not None
    assert not found.state.spilled
