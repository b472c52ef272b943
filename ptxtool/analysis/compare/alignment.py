"""Which elements of two sequences correspond: for comparing two kernels statement by statement.

Equal beginnings and ends correspond. Between them, runs of `WINDOWS[0]` elements that occur once on either side are
anchors, and the longest chain of anchors in order is taken; then shorter runs, down to single elements. Between
anchors the shortest edit script is searched, with at most `MAX_EDITS` insertions and deletions at a time: what is
reached by then stands, and a new search begins there. So no input takes more than linear time.

Reference: E. W. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986. The anchors are B.
Cohen's "patience diff", on windows.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from itertools import pairwise

WINDOWS = (16, 4, 1)
MAX_EDITS = 200

Pairs = list[tuple[int, int]]


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> Pairs:
    """Pairs of positions of equal elements, ascending on both sides."""
    numbers: dict[Hashable, int] = {}
    first = [numbers.setdefault(element, len(numbers)) for element in a]
    second = [numbers.setdefault(element, len(numbers)) for element in b]
    pairs: Pairs = []
    pending = [(0, len(first), 0, len(second), 0)]
    while pending:
        a_low, a_high, b_low, b_high, level = pending.pop()
        while a_low < a_high and b_low < b_high and first[a_low] == second[b_low]:
            pairs.append((a_low, b_low))
            a_low, b_low = a_low + 1, b_low + 1
        while a_low < a_high and b_low < b_high and first[a_high - 1] == second[b_high - 1]:
            a_high, b_high = a_high - 1, b_high - 1
            pairs.append((a_high, b_high))
        if a_low == a_high or b_low == b_high:
            continue
        if level == len(WINDOWS):
            pairs += _shortest_edits(first, second, (a_low, a_high), (b_low, b_high))
            continue
        anchors = _anchors(first, second, (a_low, a_high), (b_low, b_high), WINDOWS[level])
        pairs += anchors
        ends = [(a_low - 1, b_low - 1), *anchors, (a_high, b_high)]
        for (a_start, b_start), (a_end, b_end) in pairwise(ends):
            pending.append((a_start + 1, a_end, b_start + 1, b_end, level + 1))
    return sorted(pairs)


def _anchors(
    a: Sequence[int], b: Sequence[int], a_range: tuple[int, int], b_range: tuple[int, int], width: int
) -> Pairs:
    """The longest chain of windows that occur once in either range, as pairs of their elements."""
    places = [_unique_windows(sequence, *span, width) for sequence, span in ((a, a_range), (b, b_range))]
    common = [(place, places[1][window]) for window, place in places[0].items() if window in places[1]]
    chain: Pairs = []
    for a_place, b_place in _longest_chain(common):
        for k in range(width):
            pair = (a_place + k, b_place + k)
            if not chain or (pair[0] > chain[-1][0] and pair[1] > chain[-1][1]):
                chain.append(pair)
    return chain


def _unique_windows(sequence: Sequence[int], low: int, high: int, width: int) -> dict[tuple[int, ...], int]:
    places: dict[tuple[int, ...], int] = {}
    for k in range(low, high - width + 1):
        window = tuple(sequence[k : k + width])
        places[window] = -1 if window in places else k
    return {window: place for window, place in places.items() if place >= 0}


def _longest_chain(pairs: Pairs) -> Pairs:
    """The longest subsequence that ascends on both sides, of pairs that ascend on the first."""
    tails: list[int] = []  # per length, the least last element of a chain
    at: list[int] = []  # and the number of that pair
    before: list[int] = []
    for k, (_, place) in enumerate(pairs):
        length = bisect_left(tails, place)
        tails[length : length + 1] = [place]
        at[length : length + 1] = [k]
        before.append(at[length - 1] if length else -1)
    chain: Pairs = []
    k = at[-1] if at else -1
    while k >= 0:
        chain.append(pairs[k])
        k = before[k]
    return chain[::-1]


def _shortest_edits(
    a: Sequence[int], b: Sequence[int], a_range: tuple[int, int], b_range: tuple[int, int]
) -> Pairs:
    """The matches of the shortest edit script of two ranges, or of its beginnings where it is too long."""
    pairs: Pairs = []
    a_low, b_low = a_range[0], b_range[0]
    while a_low < a_range[1] and b_low < b_range[1]:
        found, a_low, b_low = _edit_script(a, b, a_low, a_range[1], b_low, b_range[1])
        pairs += found
    return pairs


def _edit_script(
    a: Sequence[int], b: Sequence[int], a_low: int, a_high: int, b_low: int, b_high: int
) -> tuple[Pairs, int, int]:
    """Myers' greedy search from one corner: the matches, and the place that was reached."""
    n, m = a_high - a_low, b_high - b_low
    reached = {1: 0}  # diagonal -> how far into `a`
    history: list[dict[int, int]] = []
    for edits in range(min(n + m, MAX_EDITS) + 1):
        history.append(reached.copy())
        for diagonal in range(-edits, edits + 1, 2):
            x = _step(reached, edits, diagonal)
            while x < n and x - diagonal < m and a[a_low + x] == b[b_low + x - diagonal]:
                x += 1
            reached[diagonal] = x
            if x >= n and x - diagonal >= m:
                return _walk_back(history, diagonal, x, a_low, b_low), a_high, b_high
    ends = ((x, d) for d, x in reached.items() if (d - edits) % 2 == 0 and x <= n and x - d <= m)
    x, diagonal = max(ends, key=lambda end: 2 * end[0] - end[1])
    return _walk_back(history, diagonal, x, a_low, b_low), a_low + x, b_low + x - diagonal


def _step(reached: dict[int, int], edits: int, diagonal: int) -> int:
    """The place that one more edit reaches on a diagonal: an insertion from the one above, or a deletion from the one
    below."""
    above, below = reached.get(diagonal + 1, -1), reached.get(diagonal - 1, -1)
    return above if diagonal == -edits or (diagonal != edits and below < above) else below + 1


def _walk_back(history: list[dict[int, int]], diagonal: int, x: int, a_low: int, b_low: int) -> Pairs:
    """The matches on the path to a place, from the states before every edit."""
    pairs: Pairs = []
    for edits in reversed(range(len(history))):
        start = _step(history[edits], edits, diagonal)
        pairs += ((a_low + k, b_low + k - diagonal) for k in range(start, x))
        above, below = history[edits].get(diagonal + 1, -1), history[edits].get(diagonal - 1, -1)
        down = diagonal == -edits or (diagonal != edits and below < above)
        x, diagonal = (above, diagonal + 1) if down else (below, diagonal - 1)
    return pairs
