"""Phrases of messages and reports: numbers with nouns, lists of words, the name that a misspelt one was meant to be."""

from collections.abc import Iterable

_LONGEST = 100
"""Longer words get no suggestion: they are no misspellings, and comparing them takes long."""
_LOOK_ALIKE = str.maketrans("lIOo", "1100")


def counted(n: object, noun: str, plural: str = "") -> str:
    """A number with its noun, such as "1 register" and "0 registers"; `n` may be a text, shown unchanged."""
    return f"{n} {noun if str(n) == '1' else plural or noun + 's'}"


def one_line(text: str, most: int) -> str:
    """A text on one line of at most `most` characters: blanks and line ends are one blank, a long end is "..."."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else f"{line[: most - 3]}..."


def abbreviated(name: str, most: int = 120) -> str:
    """A name of at most `most` characters: of a longer one the beginning and the end, as names often differ there."""
    end = most // 4
    return name if len(name) <= most else f"{name[: most - end - 3]}...{name[-end:]}"


def series(words: Iterable[str], conjunction: str = "or") -> str:
    """Words as a list: "a", "a or b", "a, b or c"."""
    *most, last = words
    return f"{', '.join(most)} {conjunction} {last}" if most else last


def nearest(word: str, candidates: Iterable[str], cutoff: float = 0.6) -> str:
    """The candidate most like a word, "" if none is similar; of similar ones that with the longest common beginning."""
    if len(word) > _LONGEST:
        return ""
    choices = sorted(set(candidates))
    plain = word.translate(_LOOK_ALIKE)
    if plain != word:
        for choice in choices:
            if choice.translate(_LOOK_ALIKE) == plain:
                return choice
    from difflib import get_close_matches  # only misspelt words need it

    found = get_close_matches(word, choices, n=4, cutoff=cutoff)
    return max(found, key=lambda choice: _common_beginning(word, choice), default="")


def alike(word: str, candidates: Iterable[str], most: int = 3) -> list[str]:
    """At most so many candidates that a word may stand for: those that contain it, then the most similar ones."""
    if not word or len(word) > _LONGEST:
        return []
    choices = sorted(set(candidates))
    from difflib import get_close_matches

    inside = (choice for choice in choices if word.lower() in choice.lower())
    return list(dict.fromkeys((*inside, *get_close_matches(word, choices, n=most))))[:most]


def did_you_mean(
    word: str,
    candidates: Iterable[str],
    otherwise: str = "",
    *,
    then: str = "",
    mark: str = "",
    meant: str = "",
) -> str:
    """The help of a message about an unknown name: "did you mean 'add'?", or `otherwise` where nothing is like it.

    `then`, such as the list of all names, follows in either case; `mark` stands before the name, as in `'.u32'`;
    `meant` is the name if it is known.
    """
    near = meant or nearest(word, candidates)
    return " ".join(filter(None, (f"did you mean '{mark}{near}'?" if near else otherwise, then)))


def _common_beginning(a: str, b: str) -> int:
    """How many characters two words begin with alike."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
