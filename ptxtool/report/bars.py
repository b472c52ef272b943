"""Bars and curves in characters."""

from collections.abc import Sequence


def bar(value: float, longest: float, width: int) -> str:
    """A bar of up to `width` marks, `longest` being all of them; "" for nothing, and `-` marks below zero."""
    if longest <= 0:
        return ""
    length = min(width, round(width * abs(value) / longest))
    return ("#" if value > 0 else "-") * length


def chart(values: Sequence[int], width: int = 100, height: int = 8) -> list[str]:
    """A curve as lines from the top down: one column per value, or per group of neighbours (their maximum).

    Each line starts with the value its marks stand for or exceed.
    """
    if not values:
        return []
    n = min(width, len(values))
    columns = [
        max(values[k * len(values) // n : max(k * len(values) // n + 1, (k + 1) * len(values) // n)])
        for k in range(n)
    ]
    top = max(columns)
    height = max(1, min(height, top))
    gutter = len(str(top))
    lines: list[str] = []
    for level in range(height, 0, -1):
        least = max(1, -(-top * level // height))
        marks = "".join("#" if value >= least else " " for value in columns)
        lines.append(f"{least:>{gutter}} |{marks}".rstrip())
    lines.append(f"{'':>{gutter}} +{'-' * n}")
    return lines
