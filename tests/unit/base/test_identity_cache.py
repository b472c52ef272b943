"""Results kept by the identity of their objects: equal objects are different ones, and old entries go first."""

from ptxtool.base.identity_cache import IdentityCache


def test_a_result_is_computed_once_for_an_object_and_a_key() -> None:
    cache = IdentityCache[list[int]](4)
    key = [1]
    first = cache.get(key, "a", lambda: [10])
    assert cache.get(key, "a", lambda: [20]) is first
    assert cache.get(key, "b", lambda: [20]) == [20]
    assert cache.get((key, 1), "a", lambda: [30]) == [30]


def test_equal_objects_have_results_of_their_own() -> None:
    cache = IdentityCache[int](4)
    one, other = [1], [1]
    assert cache.get(one, 0, lambda: 1) == 1
    assert cache.get(other, 0, lambda: 2) == 2


def test_the_oldest_entry_goes_first_even_if_it_was_used() -> None:
    cache = IdentityCache[int](2)
    objects = [[k] for k in range(3)]
    for k, each in enumerate(objects[:2]):
        cache.get(each, 0, lambda k=k: k)  # type: ignore[misc]
    cache.get(objects[0], 0, lambda: 9)
    cache.get(objects[2], 0, lambda: 2)
    assert cache.get(objects[1], 0, lambda: 9) == 1
    assert cache.get(objects[0], 0, lambda: 9) == 9


def test_an_entry_keeps_its_objects_so_that_no_other_gets_their_identity() -> None:
    cache = IdentityCache[int](100)
    assert [cache.get([k], 0, lambda k=k: k) for k in range(50)] == list(range(50))  # type: ignore[misc]
