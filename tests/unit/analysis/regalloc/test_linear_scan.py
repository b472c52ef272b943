"""Placing live ranges in a register file: small files by hand, random ones by the definition."""

from hypothesis import given
from hypothesis import strategies as st

from ptxtool.analysis.flow.accesses import Interval
from ptxtool.analysis.regalloc.linear_scan import (
    Member,
    RegisterTuple,
    allocate_fixed,
    least_units,
    linear_scan,
)


def item(web: int, *intervals: Interval, width: int = 1, fixed: int = -1, avoid: int = 0) -> RegisterTuple:
    return RegisterTuple((Member(web, intervals, 0, width),), width, width, fixed=fixed, avoid=avoid)


def places(items: list[RegisterTuple], limit: int = 16, **more: object) -> dict[int, int]:
    found = linear_scan(items, 20, limit, **more)  # type: ignore[arg-type]
    assert not found.unallocated
    return dict(found.unit)


def test_ranges_that_meet_stay_apart_and_others_share() -> None:
    assert places([item(0, (0, 4)), item(1, (2, 8)), item(2, (4, 8))]) == {0: 0, 1: 1, 2: 0}


def test_a_hole_has_room_for_another() -> None:
    assert places([item(0, (0, 2), (8, 10)), item(1, (2, 8))]) == {0: 0, 1: 0}


def test_pairs_are_aligned_and_single_units_fill_the_gap() -> None:
    assert places([item(0, (0, 9)), item(1, (1, 9), width=2), item(2, (2, 9))]) == {0: 0, 1: 2, 2: 1}


def test_a_single_unit_goes_beside_a_taken_one_before_it_opens_a_pair() -> None:
    """Units 0, 2, 3 are taken when 3 comes: it takes 1, and the next pair finds 4 and 5."""
    items = [item(0, (0, 9)), item(1, (0, 9), width=2), item(2, (1, 9)), item(3, (2, 9), width=2)]
    found = linear_scan(items, 20, 16)
    assert (found.unit[2], found.unit[3], found.n_units) == (1, 4, 6)


def test_the_widest_first_where_that_needs_fewer() -> None:
    """In order of their starts the single unit would be 0 and the quadruple 4 to 7."""
    found = linear_scan([item(0, (0, 9)), item(1, (1, 9), width=4)], 20, 16)
    assert (found.unit, found.n_units) == ({1: 0, 0: 4}, 5)


def test_a_copy_wants_the_place_of_what_it_copies() -> None:
    items = [item(0, (0, 3)), item(1, (0, 5)), item(2, (5, 9))]
    assert places(items)[2] == 0
    assert places(items, copies=[(2, 1)])[2] == 1


def test_fixed_and_forbidden_units() -> None:
    items = [item(0, (0, 9)), item(1, (0, 9), fixed=0), item(2, (0, 9), avoid=0b111)]
    assert places(items) == {0: 1, 1: 0, 2: 3}


def test_webs_that_stay_adjacent() -> None:
    pair = RegisterTuple((Member(0, ((0, 4),), 0, 1), Member(1, ((2, 6),), 1, 1)), 2, alignment=2)
    assert places([pair, item(2, (0, 2)), item(3, (4, 6))]) == {0: 0, 1: 1, 2: 1, 3: 0}


def test_a_residue_modulo_the_alignment() -> None:
    odd = RegisterTuple((Member(0, ((0, 4),), 0, 1), Member(1, ((0, 4),), 1, 1)), 2, alignment=4, residue=3)
    assert places([odd]) == {0: 3, 1: 4}


def test_what_finds_no_place_is_named() -> None:
    first, second = item(0, (0, 9), width=2), item(1, (1, 9), width=2)
    found = linear_scan([first, second], 20, 3)
    assert (found.unit, found.unallocated) == ({0: 0}, (second,))
    assert linear_scan([first], 20, 0).unallocated == (first,)


def test_fixed_places_may_stay_if_nothing_meets() -> None:
    assert not allocate_fixed([item(0, (0, 4), fixed=3), item(1, (4, 8), fixed=3)], 20, 4).unallocated
    assert allocate_fixed([item(0, (0, 5), fixed=3), item(1, (4, 8), fixed=3)], 20, 4).unallocated


def test_the_least_is_what_is_live_at_once() -> None:
    assert least_units([item(0, (0, 4)), item(1, (3, 8), width=2), item(2, (4, 8))], 20) == 3
    assert least_units([], 20) == 0


segment = st.tuples(st.integers(0, 18), st.integers(1, 6)).map(lambda s: (s[0], min(20, s[0] + s[1])))


@st.composite
def files(draw: st.DrawFn) -> list[RegisterTuple]:
    items: list[RegisterTuple] = []
    for web in range(draw(st.integers(1, 12))):
        ends = sorted(draw(st.lists(segment, min_size=1, max_size=3)))
        apart = [ends[0]]
        for start, end in ends[1:]:
            if start > apart[-1][1]:
                apart.append((start, end))
        items.append(item(web, *apart, width=draw(st.sampled_from([1, 1, 1, 2, 2, 4]))))
    return items


@given(files(), st.integers(1, 40), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=4))
def test_packings_by_definition(
    items: list[RegisterTuple], limit: int, copies: list[tuple[int, int]]
) -> None:
    """Every tuple is allocated or unallocated; bases are aligned, in the file, and no two values meet in one."""
    found = linear_scan(items, 20, limit, [(a, b) for a, b in copies if max(a, b) < len(items)])
    unallocated = {i.members[0].web for i in found.unallocated}
    assert unallocated.isdisjoint(found.unit)
    assert unallocated | found.unit.keys() == set(range(len(items)))
    holder: dict[tuple[int, int], int] = {}
    for one in items:
        (member,) = one.members
        if member.web in unallocated:
            continue
        first = found.unit[member.web]
        assert first % one.size == 0
        assert first + one.size <= found.n_units <= limit
        for start, end in member.intervals:
            for point in range(start, end):
                for unit in range(first, first + one.size):
                    assert holder.setdefault((point, unit), member.web) == member.web
    if not unallocated:
        assert found.n_units >= least_units(items, 20)


def first_fit(items: list[RegisterTuple], limit: int, copies: list[tuple[int, int]]) -> dict[int, int]:
    """Places in the order of first points, found unit by unit and point by point; those that find none are missing."""
    taken: set[tuple[int, int]] = set()
    unit: dict[int, int] = {}
    used = 0
    for one in sorted(items, key=lambda i: i.members[0].intervals[0][0]):
        (member,) = one.members
        points = [point for start, end in member.intervals for point in range(start, end)]
        busy = {u for u in range(limit) if any((point, u) in taken for point in points)}
        free = [
            u for u in range(0, limit - one.size + 1, one.size) if busy.isdisjoint(range(u, u + one.size))
        ]
        others = [b if a == member.web else a for a, b in copies if member.web in (a, b)]
        wanted = [unit[web] for web in others if unit.get(web) in free]
        beside = [u for u in free if one.size == 1 and u < used and u ^ 1 in busy]
        if free:
            base = unit[member.web] = (wanted or beside or free)[0]
            taken.update((point, base + k) for point in points for k in range(one.size))
            used = max(used, base + one.size)
    return unit


@given(files(), st.integers(1, 40), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=4))
def test_the_first_free_place_in_the_order_of_first_points(
    items: list[RegisterTuple], limit: int, copies: list[tuple[int, int]]
) -> None:
    """Unless another order needs fewer."""
    copies = [(a, b) for a, b in copies if a != b and max(a, b) < len(items)]
    expected = first_fit(items, limit, copies)
    n_units = max((unit + items[web].size for web, unit in expected.items()), default=0)
    if len(expected) == len(items) and n_units <= least_units(items, 20):
        assert linear_scan(items, 20, limit, copies).unit == expected


@given(files())
def test_single_units_lose_nothing_without_holes(items: list[RegisterTuple]) -> None:
    """Intervals in order of their starts are packed perfectly."""
    simple = [item(i.members[0].web, i.members[0].intervals[0]) for i in items]
    assert linear_scan(simple, 20, 40).n_units == least_units(simple, 20)
