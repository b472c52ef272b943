"""Launches of an application chosen by number: `3,7-9`, `every:10`, `first:2`."""

import re
from dataclasses import dataclass

from ptxtool.base.diag import error

FORMS = "3,7-9 (numbers, from 1), every:10 (1, 11, 21 and so on) or first:2"
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?")


@dataclass(frozen=True)
class LaunchChoice:
    """The launches whose number lies in one of the ranges (first and last), and of these every `step`-th."""

    ranges: tuple[tuple[int, int], ...]
    step: int = 1

    def __contains__(self, number: int) -> bool:
        return (number - 1) % self.step == 0 and any(first <= number <= last for first, last in self.ranges)


_ALWAYS = ((1, 10**12),)
ALL = LaunchChoice(_ALWAYS)


def launch_choice(text: str) -> LaunchChoice:
    """The choice that a text means. Raises E502."""
    kind, _, count = text.partition(":")
    if kind in ("every", "first") and re.fullmatch(r"\d{1,12}", count) and int(count):
        return LaunchChoice(_ALWAYS, int(count)) if kind == "every" else LaunchChoice(((1, int(count)),))
    found = [_RANGE.fullmatch(part.strip()) for part in text.split(",")]
    ranges = tuple((int(hit[1]), int(hit[2] or hit[1])) for hit in found if hit)
    if len(ranges) < len(found) or not all(1 <= first <= last for first, last in ranges):
        raise error("E502", f"'{text}' chooses no launches", help=f"give {FORMS}")
    return LaunchChoice(ranges)
