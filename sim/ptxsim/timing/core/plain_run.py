"""Runs without what only some runs have: for these the cycle loop is compiled without the code for it.

A plain run has one launch with the machine to itself, and shares, switches, renames, counts by instruction and draws
nothing. Its loop is 3 to 5% faster and takes a quarter less time to compile.
"""

from typing import Any

_PLAIN = (
    ("clusters", 0),
    ("concurrent", 0),
    ("dynamic", 0),
    ("eager_slots", 0),
    ("engines", 0),
    ("entry_registers", 0),
    ("event_skip", 1),
    ("has_prints", 0),
    ("has_window", 0),
    ("hotspots", 0),
    ("renaming_words", 0),
    ("sections", 0),
    ("sees_heads", 0),
    ("shared_pairs", 0),
    ("shares_scratchpad", 0),
    ("switching", 0),
    ("timeline", 0),
)
_THREE_CLASSES = (*_PLAIN, ("collector_sets", 0))  # of a machine whose classes have their own collector units
_KINDS = _THREE_CLASSES, _PLAIN, ()
"""The loops of plain runs: their constant fields, with the values; and that of any run."""
Constants = tuple[tuple[str, int], ...]


def kinds(has_team: bool) -> list[Constants]:
    """The constant fields of all loops of one thread, or of several; first the loop of any run, the longest."""
    return [(("has_team", int(has_team)), *kind) for kind in reversed(_KINDS)]


def constant_fields(run: Any, has_team: bool = False) -> Constants:
    """The fields of a `RUN` record whose values its loop may take for granted, with these.

    `run`: the array of the record of a launch that is set up, with its policy.
    """
    kind = next(kind for kind in _KINDS if all(run[0][name] == value for name, value in kind))
    return (("has_team", int(has_team)), *kind)


def is_plain(constants: Constants) -> bool:
    """Whether a loop with these constant fields is one of plain runs."""
    return len(constants) > 1
