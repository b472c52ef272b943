"""The name that a misspelt one was probably meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST = 100
"""Longer words are like nothing: no misspelling, and comparing them takes long."""
_LOOK_ALIKE = str.maketrans("lIOo", "1100")


def nearest(word: str, candidates: Iterable[str], cutoff: float = 0.6) -> str:
    """The candidate most like a word, "" where none is; the longer common beginning wins among equals."""
    if len(word) > _LONGEST:
        return ""
    choices = sorted(set(candidates))
    plain = word.translate(_LOOK_ALIKE)
    if plain != word:
        for choice in choices:
            if choice.translate(_LOOK_ALIKE) == plain:
                return choice
    found = get_close_matches(word, choices, n=4, cutoff=cutoff)
    return max(found, key=lambda choice: _common_beginning(word, choice), default="")


def did_you_mean(word: str, candidates: Iterable[str], otherwise: str = "") -> str:
    """Advice about a misspelt word: the candidate most like it, or else what `otherwise` says."""
    near = nearest(word, candidates)
    return f"did you mean '{near}'?" if near else otherwise


def _common_beginning(a: str, b: str) -> int:
    """How many characters two words begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
