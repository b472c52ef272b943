"""Values that leave a register file: what stays of them, and which ones leave."""

from collections.abc import Collection, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

from ptxtool.analysis.flow.accesses import Access, Accesses, Flags, Numbers, Segment, segments_of
from ptxtool.analysis.regalloc.spills import FILES, Relief, Room, Step, Tenancy, Values


class Value(NamedTuple):
    file: str
    width: int
    segments: tuple[Segment, ...]


class Webs:
    """Accesses and recipes by value."""

    def __init__(self, accesses: Sequence[Sequence[Access]], recipes: Mapping[int, tuple[int, ...]]):
        self.accesses, self.recipes = as_arrays(accesses), recipes
        self.block_of = np.arange(20) // 10

    def shares_guard(self, instruction: Numbers, writes: Flags) -> Flags:
        shares: Flags = (instruction == 4) | (instruction == 6) & ~writes
        return shares


def as_arrays(accesses: Sequence[Sequence[Access]]) -> Accesses:
    flat = np.array([access for some in accesses for access in some], np.int64).reshape(-1, 3)
    reads, writes = flat[:, 1].astype(np.bool_), flat[:, 2].astype(np.bool_)
    return Accesses(flat[:, 0], reads, reads, writes, np.cumsum([0, *(len(some) for some in accesses)]))


def relieve(
    found: Tenancy, limit: int, staying: Collection[int] = (), deep: int = -1
) -> npt.NDArray[np.int32] | None:
    """The demand when at most so many units are live, None if that cannot be; instruction `deep` is in a loop."""
    relief = Relief(found, "general", lambda: [int(i == deep) for i in range(20)], staying)
    return relief.demand if relief.to(limit) else None


def steps(found: Tenancy, is_behind: bool) -> dict[int, list[Step]]:
    """What is inserted before or behind every instruction."""
    here = [step for step in found.steps if step[1] == is_behind]
    return {i: [*some] for i, some in groupby(here, lambda step: step[0])}


def read(i: int) -> Access:
    return i, True, False


def write(i: int) -> Access:
    return i, False, True


def tenancy(*values: tuple[Value, Sequence[Access]], **recipes: tuple[int, ...]) -> Tenancy:
    webs = Webs([accesses for _, accesses in values], {int(k[1:]): r for k, r in recipes.items()})
    files = np.array([FILES.index(value.file) for value, _ in values], np.int8)
    widths = np.array([value.width for value, _ in values])
    return Tenancy(40, Values(files, widths, segments_of([value.segments for value, _ in values])), webs)


def test_loads_and_stores_under_guards() -> None:
    """4 writes under a guard; 6 as well, and changes the guard."""
    found = tenancy(
        (Value("general", 1, ((1, 17),)), (write(0), write(4), (6, True, True), read(8))),
        (Value("general", 1, ((3, 17),)), (write(1), read(4), read(6))),
    )
    found.leave([0, 1])
    assert {i: [step[-1] for step in some] for i, some in steps(found, is_behind=True).items()} == {
        0: [False],
        1: [False],
        4: [True],
        6: [False],
    }
    before = steps(found, is_behind=False)
    guarded = {i: [step[-2:] for step in some] for i, some in before.items()}
    assert guarded == {4: [(1, True)], 6: [(0, False), (1, True)], 8: [(0, False)]}


def test_a_spilled_value_lives_at_its_accesses_only() -> None:
    """Written by 0, read by 5; 3 reads and writes it."""
    found = tenancy((Value("general", 2, ((1, 11),)), (write(0), (3, True, True), read(5))))
    found.leave([0])
    assert found.left["slot"] == [0]
    assert [*found.values.segments[1:]] == [((1, 2),), ((6, 8),), ((10, 11),)]
    assert found.values.width.tolist() == [2, 2, 2, 2]
    assert (found.in_file("general").tolist(), found.in_file("general", temporaries=False).tolist()) == (
        [1, 2, 3],
        [],
    )
    load, store = steps(found, is_behind=False), steps(found, is_behind=True)
    assert load == {3: [(3, False, "load", 2, 0, False)], 5: [(5, False, "load", 3, 0, False)]}
    assert store == {0: [(0, True, "store", 1, 0, False)], 3: [(3, True, "store", 2, 0, False)]}
    assert [found.at(0, i) for i in (0, 3, 4, 5)] == [1, 2, 0, 3]


def test_a_constant_is_computed_where_it_is_read() -> None:
    found = tenancy((Value("general", 1, ((1, 11),)), (write(0), read(5))), v0=(0,))
    found.leave([0])
    assert found.left["recipe"] == [0]
    assert found.dropped == {0}
    assert [*found.steps] == [(5, False, "compute", 1, 0, False)]
    assert found.in_file("general").tolist() == [1]


def test_a_predicate_becomes_a_word() -> None:
    found = tenancy((Value("predicate", 1, ((1, 11),)), (write(0), read(5))))
    found.leave([0])
    word = found.word[0]
    assert (found.file(word), found.values.segments[word]) == ("general", ((1, 11),))
    assert [*found.steps] == [(0, True, "save", 2, 0, False), (5, False, "restore", 3, 0, False)]
    assert found.demand("general").max() == 1


def test_a_word_of_a_predicate_with_a_hole() -> None:
    """Three accesses, two of them of the second value; its word has both of its segments."""
    found = tenancy(
        (Value("general", 1, ((1, 3),)), (write(0), read(1))),
        (Value("predicate", 1, ((3, 5), (9, 13))), (write(1), read(2), write(4), read(6))),
    )
    found.leave([1])
    word = found.word[1]
    assert found.values.segments[word] == ((3, 5), (9, 13))
    assert [*found.values.segments[word + 1 :]] == [((3, 4),), ((4, 5),), ((9, 10),), ((12, 13),)]


def test_a_word_that_leaves_is_loaded_before_the_predicate_is_restored() -> None:
    found = tenancy((Value("predicate", 1, ((1, 11),)), (write(0), read(5))))
    found.leave([0])
    found.leave([found.word[0]])
    assert [step[2] for step in steps(found, is_behind=False)[5]] == ["load", "restore"]
    assert [step[2] for step in steps(found, is_behind=True)[0]] == ["save", "store"]


def test_a_copy_stands_for_a_value_where_it_is_told() -> None:
    found = tenancy((Value("general", 1, ((1, 11),)), (write(0), read(3), read(5))))
    assert found.copy(0, 4, [5]) == 1
    assert [found.at(0, i) for i in (0, 3, 5)] == [0, 0, 1]
    assert [*found.steps] == [(4, False, "copy", 1, 0, False)]


def room(limit: int = 1, taken: Collection[int] = (), loops: Collection[int] = ()) -> Room:
    """Of a file in which a unit is taken at some points; some instructions are in a loop."""
    demand = np.array([point in taken for point in range(40)], np.int32)
    return Room(demand, limit, np.where(np.isin(np.arange(20), [*loops]), 8.0, 1.0))


def loads(found: Tenancy) -> list[int]:
    return [step[0] for step in found.steps if not step[1]]


def test_what_is_loaded_stays_where_there_is_room() -> None:
    """Written by 0, read by 1, 2 and 6; between 2 and 6 another value needs the only unit."""
    found = tenancy((Value("general", 1, ((1, 13),)), (write(0), read(1), read(2), read(6))))
    found.leave([0], room(taken=[8]))
    assert loads(found) == [6]
    assert [*found.values.segments[1:]] == [((1, 5),), ((12, 13),)]
    assert [found.at(0, i) for i in (0, 1, 2, 6)] == [1, 1, 1, 2]


def test_what_is_loaded_stays_in_its_block() -> None:
    """9 and 10 are in different blocks."""
    found = tenancy((Value("general", 1, ((1, 21),)), (write(0), read(9), read(10), read(11))))
    found.leave([0], room())
    assert loads(found) == [10]


def test_what_lanes_may_lack_is_loaded_again() -> None:
    """4 writes under a guard, and 6 reads under one."""
    found = tenancy((Value("general", 1, ((1, 17),)), (write(4), read(5), read(6), read(7))))
    found.leave([0], room())
    assert loads(found) == [5, 7]


def test_nothing_stays_from_what_defines_a_constant() -> None:
    """The second value is a constant that 1 defines: it may leave as well, and then 1 goes with what it loads."""
    found = tenancy(
        (Value("general", 1, ((1, 7),)), (write(0), read(1), read(3))),
        (Value("general", 1, ((3, 9),)), (write(1), read(4))),
        v0=(0,),
        v1=(0, 1),
    )
    found.leave([0], room())
    assert loads(found) == [1, 3]


def test_short_ways_and_loops_come_first() -> None:
    """The unit at point 6 is there for one of them: the way from 1 to 4 is longer than the one from 2 to 4."""
    ways = (
        (Value("general", 1, ((3, 9),)), (read(1), read(4))),
        (Value("general", 1, ((3, 9),)), (read(2), read(4))),
    )
    found = tenancy(*ways)
    found.leave([0, 1], room())
    assert (found.at(0, 1) == found.at(0, 4), found.at(1, 2) == found.at(1, 4)) == (False, True)
    found = tenancy(*ways, (Value("general", 1, ((3, 9),)), (read(3), read(5))))
    found.leave([1, 2], room(loops=[5]))
    assert (found.at(1, 2) == found.at(1, 4), found.at(2, 3) == found.at(2, 5)) == (False, True)


def test_demand_counts_units_per_file() -> None:
    found = tenancy(
        (Value("general", 2, ((1, 4),)), ()),
        (Value("general", 1, ((0, 2), (3, 5))), ()),
        (Value("predicate", 1, ((0, 9),)), ()),
    )
    assert found.demand("general")[:6].tolist() == [1, 3, 2, 3, 1, 0]
    assert found.demand("predicate").sum() == 9


def crowd(first: Sequence[Access] = (write(0), read(18))) -> Tenancy:
    """Two values that are live from 1 to 37, and a third, from 21 to 25."""
    return tenancy(
        (Value("general", 1, ((1, 37),)), first),
        (Value("general", 1, ((1, 37),)), (write(0), read(6), read(8), read(18))),
        (Value("general", 1, ((21, 25),)), (write(10), read(12))),
    )


def test_the_cheapest_leaves() -> None:
    found = crowd()
    demand = relieve(found, 2)
    assert demand is not None
    assert demand.max() == 2
    assert found.left == {"slot": [0], "word": [], "recipe": []}


def test_what_is_read_in_a_loop_is_dear() -> None:
    """The first value has fewer accesses, but one of them in a loop."""
    found = crowd((write(0), read(15)))
    relieve(found, 2, deep=15)
    assert found.left == {"slot": [1], "word": [], "recipe": []}


def test_constants_go_first() -> None:
    found = crowd()
    found.webs = Webs([found.accesses(n) for n in range(3)], {1: (0,)})
    relieve(found, 2)
    assert found.left == {"slot": [], "word": [], "recipe": [1]}


def test_who_may_not_leave_stays() -> None:
    found = crowd()
    assert relieve(found, 2, staying=(0, 2)) is not None
    assert found.left == {"slot": [1], "word": [], "recipe": []}


def test_leaving_is_no_use_where_its_own_accesses_are_crowded() -> None:
    """The third value is written and read where the others are live: its temporaries need the place as much."""
    assert relieve(crowd(), 2, staying=(0, 1)) is None


@pytest.mark.parametrize("limit", [0, 1])
def test_operands_of_one_instruction_cannot_be_fewer(limit: int) -> None:
    found = tenancy(
        (Value("general", 1, ((1, 7),)), (write(0), read(3))),
        (Value("general", 1, ((3, 7),)), (write(1), read(3))),
    )
    assert relieve(found, limit) is None


def test_nobody_leaves_where_all_fit() -> None:
    found = crowd()
    assert relieve(found, 3) is not None
    assert not any(found.left.values())
