"""The fixed point of the check: facts that all paths agree on, and reads of places that may hold others."""

import tracemalloc
from collections.abc import Mapping

import pytest
from kernels import ptx

from ptxtool.cfg.blocks import build
from ptxtool.validate.assignment.flow import Boundary, Checker, LiveValues, Violation, fixed_point
from ptxtool.validate.assignment.steps import Convert, Equal, Kept, Move, Step


def violations(
    body: str,
    steps: Mapping[int, Step],
    overlaps: dict[int, tuple[int, ...]] | None = None,
    lost: Mapping[int, tuple[int, ...]] | None = None,
) -> list[Violation]:
    """Check a body whose instructions are the items; those without a step do nothing. Values and places: 0 to 9."""
    function = ptx(body, ".reg .b32 %r<10>; .reg .pred %p<4>;")
    cfg = build(function)
    n = len(function.instructions)
    items = [(i, i) if isinstance(steps.get(i, Kept((), ())), Kept | Equal) else (-1, i) for i in range(n)]
    every = [steps.get(i, Kept((), ())) for i in range(n)]
    values = LiveValues(cfg, items, every, function.def_uses, frozenset(), Boundary((), ()))
    places = overlaps or {place: (place,) for place in range(20)}
    return Checker(values, places, len(function.registers), lost or {}).run()


def write(value: int, place: int, wholly: bool = True) -> Kept:
    return Kept((), ((value, place),), () if wholly else ((value, place),))


def read(value: int, place: int) -> Kept:
    return Kept(((value, place),), ())


STRAIGHT = "mov.u32 %r1, 1; mov.u32 %r3, 1; mov.u32 %r2, 1; st.global.u32 [0], %r1; ret;"


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ({0: write(1, 4), 3: read(1, 4)}, None),
        ({0: write(1, 4), 3: read(1, 5)}, 5),
        ({0: write(1, 4), 2: write(2, 4), 3: read(1, 4)}, 4),
        ({0: write(1, 4), 2: write(2, 5), 3: read(1, 4)}, None),
        ({0: write(1, 4), 1: Move(5, 4), 2: write(2, 4), 3: read(1, 5)}, None),
        ({0: write(1, 4), 1: Move(5, 4), 2: write(2, 5), 3: read(1, 5)}, 5),
        ({0: write(1, 4), 1: Convert(5, 4, True), 3: read(1, 5)}, 5),  # a word is not the predicate
        ({0: write(1, 4), 1: Convert(5, 4, True), 2: Convert(6, 5, False), 3: read(1, 6)}, None),
    ],
)
def test_straight_code(steps: dict[int, Step], place: int | None) -> None:
    found = violations(STRAIGHT, steps)
    assert [(one.item, one.value, one.place) for one in found] == (
        [(3, 1, place)] if place is not None else []
    )


def test_a_place_that_overlaps_another_is_overwritten_with_it() -> None:
    apart: dict[int, tuple[int, ...]] = {place: (place,) for place in range(20)}
    steps = {0: write(1, 4), 2: write(2, 5), 3: read(1, 4)}
    assert violations(STRAIGHT, steps, apart) == []
    assert len(violations(STRAIGHT, steps, {**apart, 4: (4, 5), 5: (5, 4)})) == 1


def test_a_violation_says_where_the_value_is() -> None:
    (found,) = violations(STRAIGHT, {0: write(1, 4), 1: Move(6, 4), 2: write(2, 4), 3: read(1, 4)})
    assert found == Violation(3, 1, 4, frozenset({2}), (6,))


def test_a_dropped_copy_makes_values_equal_until_one_changes() -> None:
    body = "mov.u32 %r1, 1; mov.u32 %r2, %r1; mov.u32 %r1, 2; st.global.u32 [0], %r2; ret;"
    steps: dict[int, Step] = {0: write(1, 4), 1: Equal(2, 1), 2: write(1, 5), 3: read(2, 4)}
    assert violations(body, steps) == []
    assert len(violations(body, {**steps, 2: write(1, 4)})) == 1


def test_a_partial_write_needs_the_old_value_in_its_place() -> None:
    body = "mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; st.global.u32 [0], %r1; ret;"
    steps: dict[int, Step] = {0: write(1, 4), 1: write(1, 4, wholly=False), 2: read(1, 4)}
    assert violations(body, steps) == []
    assert len(violations(body, {**steps, 1: write(1, 5, wholly=False), 2: read(1, 5)})) == 1


def test_paths_must_agree_unless_no_definition_comes_along_one() -> None:
    body = "@%p1 bra E; mov.u32 %r1, 1; bra J; E: mov.u32 %r1, 2; J: st.global.u32 [0], %r1; ret;"
    assert violations(body, {1: write(1, 4), 3: write(1, 4), 4: read(1, 4)}) == []
    assert len(violations(body, {1: write(1, 4), 3: write(1, 5), 4: read(1, 4)})) == 1
    assert violations(body.replace("mov.u32 %r1, 2", "bar.sync 0"), {1: write(1, 4), 4: read(1, 4)}) == []


def test_what_a_loop_overwrites_is_gone_in_the_next_round() -> None:
    body = "mov.u32 %r1, 1; L: st.global.u32 [0], %r1; mov.u32 %r2, 1; @%p1 bra L; ret;"
    assert violations(body, {0: write(1, 4), 1: read(1, 4), 2: write(2, 5)}) == []
    assert len(violations(body, {0: write(1, 4), 1: read(1, 4), 2: write(2, 4)})) == 1


def test_the_fixed_point_visits_a_block_until_its_end_stays() -> None:
    """Numbers grow around the loop, up to 3."""
    cfg = build(ptx("mov.u32 %r1, 1; L: add.u32 %r1, %r1, 1; @%p1 bra L; ret;"))

    def meet(block: int, ends: Mapping[int, int]) -> int:
        return max((ends[p] for p in cfg.predecessors[block] if p in ends), default=0)

    found = fixed_point(cfg, meet, lambda block, start: min(start + 1, 3))
    assert [found[block] for block in range(3)] == [0, 3, 3]


def test_places_that_lose_their_values_hold_nothing() -> None:
    steps = {0: write(1, 11), 1: write(3, 12), 2: read(1, 11), 3: read(3, 12)}
    assert violations(STRAIGHT, steps) == []
    (found,) = violations(STRAIGHT, steps, lost={2: (11, 13)})
    assert (found.item, found.value, found.place) == (2, 1, 11)


def test_a_long_block_takes_memory_for_the_values_that_places_hold() -> None:
    """5000 values pass through eight places: of the others nothing is kept but that they have values."""
    n, n_places = 5000, 8
    function = ptx("".join(f"mov.u32 %r{k}, 1;" for k in range(n)) + "ret;", f".reg .b32 %r<{n}>;")
    steps = [*(write(k, k % n_places) for k in range(n)), Kept(((n - n_places, 0), (n - 1, 0)), ())]
    items = [(i, i) for i in range(n + 1)]
    values = LiveValues(build(function), items, steps, function.def_uses, frozenset(), Boundary((), ()))
    checker = Checker(values, {place: (place,) for place in range(n_places)}, n, {})
    tracemalloc.start()
    found = checker.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found == [Violation(n, n - 1, 0, frozenset({n - n_places}), (n_places - 1,))]
    assert peak < 150 * n
