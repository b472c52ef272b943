"""The decisions of a register scheme, for everything that can be possible."""

from collections.abc import Callable
from itertools import product
from types import SimpleNamespace
from typing import Any

from ptxsim.timing.residency.decisions import FETCH, LAUNCH, LOOK_UP, STAY, SWAP

_NAMES = {SWAP: "can_swap", FETCH: "can_fetch", LAUNCH: "can_launch", LOOK_UP: "can_look_up"}


def prefers(decide: Callable[[Any], int], *order: int) -> bool:
    """Whether a scheme takes the first possible decision of some, and otherwise lets the CTA stay."""
    for possible in product((0, 1), repeat=4):
        view = SimpleNamespace(**dict(zip(_NAMES.values(), possible, strict=True)))
        if decide(view) != next((d for d in order if getattr(view, _NAMES[d])), STAY):
            return False
    return True
