"""For register schemes of your own: the decisions that a scheme returns (docs/schemes.md)."""

from ptxsim.timing.residency.decisions import FETCH, LAUNCH, LOOK_UP, STAY, SWAP

__all__ = ["FETCH", "LAUNCH", "LOOK_UP", "STAY", "SWAP"]
