"""What reads need, followed backwards: right texts are accepted, and never one in which facts find a violation."""

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from kernels import ptx

from ptxtool.cfg.blocks import Cfg, build
from ptxtool.ir.defuse import DefUse
from ptxtool.validate.assignment.flow import Boundary, Checker, LiveValues
from ptxtool.validate.assignment.obligations import Obligations
from ptxtool.validate.assignment.steps import (
    Convert,
    Equal,
    Halves,
    Kept,
    Known,
    Move,
    Recompute,
    Step,
    StepGuard,
)

VALUES, PLACES = 4, 5
OVERLAPS = {0: (0,), 1: (1, 2), 2: (2, 1), 3: (3,), 4: (4,)}
"""Places 1 and 2 share a unit."""
CONSTANT = 3
"""This value is a constant definition's."""
START = Boundary(((0, 0),), ())
"""Value 0 is in place 0 when the function starts."""


def graph(body: str) -> Cfg:
    return build(ptx(body, ".reg .pred %p<2>;"))


def is_right(cfg: Cfg, steps: Sequence[Step], boundary: Boundary = START) -> bool:
    return Obligations(cfg, steps, frozenset({CONSTANT}), boundary, OVERLAPS, VALUES).is_right()


def has_violations(cfg: Cfg, steps: Sequence[Step], boundary: Boundary = START) -> bool:
    """The same by facts, whose live values come from what the old function reads and writes."""
    items = [(i, i) if isinstance(step, Kept | Equal | Known) else (-1, i) for i, step in enumerate(steps)]
    values = LiveValues(cfg, items, steps, [def_use(s) for s in steps], frozenset({CONSTANT}), boundary)
    return bool(Checker(values, OVERLAPS, VALUES, {}).run())


def def_use(step: Step) -> DefUse:
    """What a kept or dropped instruction reads and writes."""
    match step:
        case Kept():
            defs = tuple(v for v, _ in step.writes)
            kills = tuple(one[0] for one in step.writes if one not in step.partial)
            return DefUse(defs, kills, tuple(v for v, _ in step.reads), ())
        case Equal(value, other, _):
            return DefUse((value,), (value,), (other,), ())
        case Known(value):
            return DefUse((value,), (value,), (), ())
    return DefUse((), (), (), ())


def write(value: int, place: int, wholly: bool = True) -> Kept:
    return Kept((), ((value, place),), () if wholly else ((value, place),))


def read(value: int, place: int) -> Kept:
    return Kept(((value, place),), ())


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([write(1, 3), read(1, 3)], True),
        ([write(1, 3), read(1, 4)], False),
        ([write(1, 3), write(2, 3), read(1, 3)], False),  # overwritten
        ([write(1, 1), write(2, 2), read(1, 1)], False),  # by a place that overlaps it
        ([write(1, 3), write(1, 4), read(1, 3)], False),  # the old value of the register
        ([read(0, 0)], True),  # there at the start
        ([read(0, 3)], False),
        ([read(1, 3)], True),  # undefined
        ([write(2, 3), read(1, 3)], True),
        ([write(1, 4), write(2, 3), read(1, 3)], False),
        ([write(1, 3), write(1, 3, wholly=False), read(1, 3)], True),
        ([write(1, 4), write(1, 3, wholly=False), read(1, 3)], False),  # its other part is elsewhere
        ([write(1, 3), Move(4, 3), write(2, 3), read(1, 4)], True),  # spilled
        ([write(1, 3), Move(4, 3), write(1, 3), read(1, 4)], False),
        ([write(1, 3), Move(4, 3), write(2, 4), Move(3, 4), read(1, 3)], False),
        ([write(1, 3), Move(4, 3, StepGuard(0, False, "")), read(1, 3)], False),  # left to the facts
        ([write(1, 3), Equal(2, 1), read(2, 3), read(1, 3)], True),
        ([write(1, 3), Equal(2, 1), write(1, 4), read(2, 3)], True),
        ([write(1, 3), Equal(2, 1), write(2, 4), read(2, 3)], False),
        ([write(1, 3), write(2, 4), Equal(0, 1, (2,)), read(2, 4)], False),  # lost with the copy
        ([write(1, 3), Convert(4, 3, True), Convert(1, 4, False), read(1, 1)], True),
        ([write(1, 3), Convert(4, 3, True), read(1, 4)], False),  # a word is not the predicate
        ([write(1, 3), Halves(1, 4, 3, False), Halves(1, 4, 0, True), read(1, 0)], True),
        ([write(1, 3), Halves(1, 4, 3, False), Halves(4, 1, 0, True), read(1, 0)], False),  # exchanged
        ([write(1, 3), Halves(1, 2, 3, False), Halves(1, 2, 0, True), read(1, 0)], False),  # they overlap
        ([Known(3), Recompute(4, ((3, ()),)), read(3, 4)], True),
        ([Known(3), read(3, 4)], False),
        ([Known(3), Recompute(4, ((3, ((0, 0),)),)), read(3, 4)], True),
        ([Known(3), write(1, 0), Recompute(4, ((3, ((0, 0),)),)), read(3, 4)], False),
        ([Known(3), Recompute(4, ((3, ((0, 0),)), (3, ((0, 0),)))), read(3, 4)], False),  # left to the facts
    ],
)
def test_straight_code(steps: list[Step], expected: bool) -> None:
    cfg = graph("membar.gl; " * len(steps) + "ret;")
    found = is_right(cfg, [*steps, Kept((), ())])
    assert found == expected
    if found:
        assert not has_violations(cfg, [*steps, Kept((), ())])


DIAMOND = "membar.gl; @%p0 bra ELSE; membar.gl; bra END; ELSE: membar.gl; END: membar.gl; ret;"
LOOP = "membar.gl; HEAD: membar.gl; membar.gl; @%p0 bra HEAD; membar.gl; ret;"


@pytest.mark.parametrize(
    ("body", "steps", "expected"),
    [
        (DIAMOND, {0: write(1, 3), 5: read(1, 3)}, True),
        (DIAMOND, {2: write(1, 3), 4: write(1, 3), 5: read(1, 3)}, True),
        (DIAMOND, {2: write(1, 3), 4: write(1, 4), 5: read(1, 3)}, False),
        (DIAMOND, {0: write(1, 3), 4: write(2, 3), 5: read(1, 3)}, False),
        (DIAMOND, {2: write(1, 3), 4: write(2, 3), 5: read(1, 3)}, True),  # undefined on the other path
        (LOOP, {0: write(1, 3), 1: read(1, 3)}, True),
        (LOOP, {0: write(1, 3), 1: read(1, 3), 2: write(2, 3)}, False),  # the second time
        (LOOP, {0: write(1, 3), 1: Move(4, 3), 2: write(2, 3), 4: read(1, 4)}, False),
        (LOOP, {0: write(1, 3), 1: read(1, 3), 2: write(1, 3)}, True),
    ],
)
def test_paths(body: str, steps: Mapping[int, Step], expected: bool) -> None:
    cfg = graph(body)
    every = [steps.get(i, Kept((), ())) for i in range(len(cfg.kernel.instructions))]
    assert is_right(cfg, every) == expected
    assert has_violations(cfg, every) != expected


def test_values_at_the_end() -> None:
    cfg = graph("membar.gl; ret;")
    for place, expected in ((3, True), (4, False)):
        boundary = Boundary((), ((1, place),))
        assert is_right(cfg, [write(1, 3), Kept((), ())], boundary) == expected


def test_unreachable_code_is_not_followed() -> None:
    assert is_right(graph("ret; membar.gl; ret;"), [Kept((), ()), read(0, 3), Kept((), ())])


def random_step(random: Random) -> Step:
    value, other = random.randrange(CONSTANT), random.randrange(CONSTANT)
    place, source, third = random.sample(range(PLACES), 3)
    same = min(value, 2) + 1 if random.random() < 0.7 else place  # a place of its own, mostly
    match random.choice("rrrrrrwwwwwpmmmeechkcg"):
        case "r":
            return Kept(((value, same),), ())
        case "w":
            return Kept(((other, other + 1),), ((value, same),))
        case "p":
            return write(value, same, wholly=False)
        case "m":
            return Move(place, source)
        case "e":
            return Equal(value, other, (random.randrange(CONSTANT),) if random.random() < 0.2 else ())
        case "h":
            return Halves(place, source, third, random.random() < 0.5)
        case "k":
            return random.choice([Known(CONSTANT), read(CONSTANT, place)])
        case "c":
            return Convert(place, source, random.random() < 0.5)
    sources = ((value, same),) if random.random() < 0.5 else ()
    return Recompute(place, ((CONSTANT, sources),))


def test_what_is_accepted_has_no_violation() -> None:
    random = Random(7)
    outcomes: dict[tuple[bool, bool], int] = {}
    for _ in range(1500):
        body = random.choice(
            (DIAMOND, LOOP, "membar.gl; A: membar.gl; @%p0 bra B; bra A; B: membar.gl; ret;")
        )
        body = body.replace("membar.gl;", "membar.gl; " * random.randint(1, 4))
        cfg = graph(body)
        n = len(cfg.kernel.instructions)
        steps = [Kept((), ()) if i in cfg.flows else random_step(random) for i in range(n)]
        key = is_right(cfg, steps), has_violations(cfg, steps)
        outcomes[key] = outcomes.get(key, 0) + 1
    assert outcomes.get((True, True), 0) == 0
    assert outcomes[True, False] > 100
    assert outcomes[False, True] > 100
