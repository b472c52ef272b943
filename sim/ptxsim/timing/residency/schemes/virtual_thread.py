"""Virtual Thread: all registers stay in the file, and a stalled CTA leaves to a ready one, or else to a new one.

M. K. Yoon et al., "Virtual Thread: maximizing thread-level parallelism beyond GPU scheduling limit", ISCA 2016.
"""

from ptxsim.timing.residency.decisions import LAUNCH, STAY, SWAP


def decide(view):
    """The decision about a stalled CTA."""
    if view.can_swap:
        return SWAP
    return LAUNCH if view.can_launch else STAY
