"""Sizes of grids and CTAs as options give them: `256`, `16,16` or `8x4x2`."""

_MAX_DIGITS = 20


def sizes(text: str) -> tuple[int, ...] | None:
    """The whole numbers of a list; None where one of them is none, or is longer than any size."""
    words = [word.strip() for word in text.replace("x", ",").split(",")]
    if not all(word.isdecimal() and len(word) <= _MAX_DIGITS for word in words):
        return None
    return tuple(map(int, words))
