"""When slices are shared, and how long they are: hand-worked."""

import pytest

from ptxsim.timing.workers.pace import Experience, Pace


def paces(speeds: dict[bool, float], n: int, known: Experience | None = None) -> str:
    """The kinds of n slices, S for shared, with these speeds in cycles a second."""
    pace, kinds = Pace(known or Experience(), 2), ""
    for _ in range(n):
        kinds += "aS"[pace.is_shared]
        pace.note(1000, 1000 / speeds[pace.is_shared], pace.is_shared)
    return kinds


def test_the_faster_kind_of_slice_goes_on() -> None:
    assert paces({False: 1.0, True: 1.5}, 24) == "aSSSa" + 16 * "S" + "aSS"
    assert paces({False: 1.0, True: 0.7}, 16) == "aSSaS" + 11 * "a"
    assert paces({False: 1.0, True: 0.5}, 30) == "aSaSaaSaaaaS" + 8 * "a" + "S" + 9 * "a"


def test_the_first_slices_are_short_and_not_shared() -> None:
    pace = Pace(Experience(), 2)
    for seconds in (0.004, 0.002):
        pace.note(1000, seconds, was_shared=False)
        assert not pace.is_shared
        assert pace.slice_seconds == 0.005
    pace.note(1000, 0.003, was_shared=False)
    assert pace.is_shared
    pace.note(1000, 0.031, was_shared=False)  # not compiled
    assert pace.is_shared
    assert pace.slice_seconds == pytest.approx(0.01)
    pace.note(1000, 1.0, was_shared=True)
    assert pace.slice_seconds == 0.1


def test_a_slice_of_the_slower_kind_is_short() -> None:
    pace = Pace(Experience(1.0, {False: 1e6, True: 1.5e6}), 2)
    lengths = []
    for _ in range(10):
        pace.note(100_000, 0.1, was_shared=pace.is_shared)
        lengths.append(pace.slice_seconds)
    assert lengths == [pytest.approx(0.025 * k) for k in range(1, 4)] + 4 * [0.1] + [0.005] + 2 * [0.1]


def test_a_launch_begins_with_what_the_last_one_has_shown() -> None:
    known = Experience()
    first = Pace(known, 2)
    assert first.first_cycles == 2_000
    first.note(8_000, 0.008, was_shared=False)
    first.note(6_000, 0.004, was_shared=True)
    first.learn()
    # 14 ms by one thread, of which workers would save a third
    assert known == Experience(pytest.approx(0.014), {False: pytest.approx(1e6), True: pytest.approx(1.5e6)})
    second = Pace(known, 2)
    assert second.is_shared
    assert second.first_cycles == 7_500  # 5 ms
    assert paces({False: 1e6, True: 1.5e6}, 12, known) == 8 * "S" + "a" + 3 * "S"
    assert known.interval == 16
    assert paces({False: 1e6, True: 0.5e6}, 4, known) == "SaSa"  # hopeless twice


def test_a_launch_that_is_short_or_slow_in_threads_begins_alone() -> None:
    known = Experience()
    short = Pace(known, 2)
    short.note(4_000, 0.004, was_shared=False)
    short.learn()
    assert (known.is_shared, Pace(known, 2).first_cycles) == (False, 8_000)
    speed = {False: 1e6, True: 1.5e6}
    assert not Experience(0.005, speed).is_shared  # saves less than 2 ms
    assert paces(speed, 12, Experience(0.005, speed)) == 10 * "a" + "SS"  # twice as long: a slice is 1 ms
    assert not Experience(0.1, {False: 1e6, True: 1.01e6}).is_shared
    shorter = Pace(Experience(0.1, speed), 2)
    shorter.note(3_000, 0.003, was_shared=True)
    shorter.learn()
    assert not Pace(shorter._known, 2).is_shared
    slower = {False: 1e6, True: 0.9e6}
    slow = Experience(0.1, dict(slower))
    assert paces(slower, 12, slow) == 8 * "a" + "S" + 3 * "a"
    assert paces(slower, 24, slow) == 16 * "a" + "S" + 7 * "a"


def test_a_launch_that_is_not_short_shows_once_whether_threads_are_faster() -> None:
    known = Experience()
    first = Pace(known, 2)
    for _ in range(2):
        first.note(6_000, 0.006, was_shared=False)  # and then it has ended
    first.learn()
    assert known.is_shared
    assert Pace(known, 2).first_cycles == 5_000  # 5 ms
    assert paces({False: 1e6, True: 1.5e6}, 10, known) == 8 * "S" + "aS"
    second = Pace(known, 2)
    second.note(12_000, 0.014, was_shared=True)
    second.learn()
    assert not Pace(known, 2).is_shared


def test_what_took_less_than_two_milliseconds_shows_little() -> None:
    known = Experience(0.1, {False: 1e6, True: 1.5e6})
    pace = Pace(known, 2)
    pace.note(75, 0.0015, was_shared=True)
    pace.note(99_925, 0.1, was_shared=False)
    pace.learn()
    assert known.speed == {False: pytest.approx(1e6, rel=0.01), True: 1.5e6}


def test_an_estimate_by_an_old_speed_is_not_above_what_workers_can_do() -> None:
    known = Experience(0.1, {False: 1e5, True: 1.5e6})  # that of one thread is of a first, slow launch
    pace = Pace(known, 2)
    pace.note(3_000, 0.002, was_shared=True)
    pace.learn()
    assert known.seconds == pytest.approx(0.004)
