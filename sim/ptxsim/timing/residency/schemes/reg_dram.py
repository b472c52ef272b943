"""Reg+DRAM: a few CTAs more are resident than the register file holds, with all of their registers in DRAM.

The scheme that the FineReg paper compares itself with (section VI.A), in the manner of Zorua: Virtual Thread, and a
stalled CTA is exchanged with a ready one in DRAM. That new CTAs come before those is a choice, as is the other order.

Y. Oh et al., FineReg, MICRO 2018; N. Vijaykumar et al., "Zorua: a holistic approach to resource virtualization in
GPUs", MICRO 2016.
"""

from ptxsim.timing.residency.decisions import FETCH, LAUNCH, STAY, SWAP


def launch_first(view):
    """The decision about a stalled CTA."""
    if view.can_swap:
        return SWAP
    if view.can_launch:
        return LAUNCH
    return FETCH if view.can_fetch else STAY


def ready_first(view):
    """The same, with a ready CTA before a new one."""
    if view.can_swap:
        return SWAP
    if view.can_fetch:
        return FETCH
    return LAUNCH if view.can_launch else STAY
