"""The relocation space, worked out by hand; letters are entries, doubled where they have two units, '.' a gap."""

from random import Random

import pytest

from ptxtool.analysis.regalloc.relocation import relocated


def moved(before: str, n_banks: int = 0, pinned: str = "") -> str:
    """The space after all gaps have moved to its end, as text."""
    units = {before.index(name): before.count(name) for name in sorted(set(before) - {"."})}
    places = relocated(units, n_banks, frozenset(before.index(name) for name in pinned))
    after = ["."] * max((places[first] + n for first, n in units.items()), default=0)
    for first, place in places.items():
        after[place : place + units[first]] = before[first] * units[first]
    return "".join(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("abc", "abc"),
        ("a.bc", "abc"),  # shift
        ("a...b", "ab"),
        ("aa..bbc", "aabbc"),  # an aligned gap takes a pair
        ("a.bb", "bba"),  # swap: the pair trades places with the two units below it
        ("a...bb", "bba"),  # it moves to the next aligned slot before
        ("a.bbc", "bbac"),  # the gap that is left moves up, and takes the next
        ("a.bb.c", "bbac"),
        ("aa..bbbb", "bbbbaa"),  # four units
        ("a...bbbbcc", "bbbbcca"),  # the pair at 6 swaps with the single at 4
        ("aab.cccc", "ccccaab"),
    ],
)
def test_gaps_move_to_the_end(before: str, after: str) -> None:
    assert moved(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("abcd.fghi", "abcdifgh"),  # the gap is in bank 0, as i is
        ("abcd.fghijklm", "abcdifghmjkl"),  # and the gap that i leaves takes m
        ("abcd.fgh", "abcdfgh"),  # no entry of bank 0 is left: all shift
        ("ab.defghij", "abgdefhij"),  # g, then from the gap at 6 on as without banks
        ("abc.eefghijk", "abckeefghij"),  # an odd gap before a pair takes the last single of its bank, not g
        ("abcdf.gghij", "abcdfigghj"),
        ("abcde.gghhiijj", "abcdhhggjjiie"),  # no single: h trades places with e, four below, then j with e
        ("abcde.gghh", "abcdhhgge"),
        ("aabb..ddeeff", "aabbeeddff"),  # pairs keep their bank, too
    ],
)
def test_entries_keep_their_bank_while_they_can(before: str, after: str) -> None:
    assert moved(before, n_banks=4) == after


@pytest.mark.parametrize(
    ("before", "n_banks", "after"),
    [("a.bb", 0, "a.bb"), ("a.bbc", 0, "acbb"), ("a..cc", 0, "a.cc"), ("a.ccdde", 4, "aeccdd")],
)
def test_a_pinned_entry_stays(before: str, n_banks: int, after: str) -> None:
    assert moved(before, n_banks, pinned="a") == after


@pytest.mark.parametrize("n_banks", [0, 4])
def test_any_space_becomes_dense_and_aligned(n_banks: int) -> None:
    random = Random(7)
    for _ in range(300):
        units: dict[int, int] = {}
        place = 0
        while place < 60:
            n = random.choice((1, 1, 1, 2, 2, 4))
            place = -(-place // n) * n
            if random.random() < 0.7:
                units[place] = n
            place += n
        places = relocated(units, n_banks)
        taken = [u for first, new in places.items() for u in range(new, new + units[first])]
        assert sorted(taken) == list(range(sum(units.values())))
        assert all(new % units[first] == 0 for first, new in places.items())
