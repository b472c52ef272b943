"""FineReg: live registers of a stalled CTA go to the PCRF where another CTA needs its registers' place.

New CTAs are launched while the PCRF has room, and a full one leads to exchanges: abstract, sections I, IV.A and V.B.
Section V.E looks for a ready CTA first (`ready_first`).

Y. Oh et al., "FineReg: fine-grained register file management for augmenting GPU throughput", MICRO 2018.
"""

from ptxsim.timing.residency.decisions import FETCH, LAUNCH, LOOK_UP, STAY, SWAP


def launch_first(view):
    """The decision about a stalled CTA."""
    if view.can_swap:
        return SWAP
    if view.can_launch:
        return LAUNCH
    if view.can_look_up:
        return LOOK_UP
    return FETCH if view.can_fetch else STAY


def ready_first(view):
    """The same, with a ready CTA before a new one."""
    if view.can_swap:
        return SWAP
    if view.can_fetch:
        return FETCH
    if view.can_look_up:
        return LOOK_UP
    return LAUNCH if view.can_launch else STAY
