"""Stalls of CTAs as they are counted: how long a CTA ran before it stalled, and how long the stall lasted.

A CTA runs from its launch, from its return to the pipeline, or from the end of its last stall, until all of its warps
are stalled (`trigger.py`). The stall lasts until one of them can go on; of a CTA that leaves the pipeline, until the
last of its loads has returned. A stall is counted when it ends or makes the CTA leave.

Oh et al., FineReg, MICRO 2018, Table III, which counts from the first instruction of a CTA instead of its launch;
timing-model section 6.1.
"""

from ptxsim.base.jit import njit
from ptxsim.timing.residency.trigger import NOT_STALLED


@njit
def starts_running(run, switch, slot, launched):
    """The CTA in a slot begins to run, because it was launched or has come back."""
    switch.stalled_since[slot] = NOT_STALLED
    switch.running_since[slot] = run.cycle
    switch.never_stalled[slot] = launched


@njit
def note_stall(run, switch, slot, since):
    """The CTA in a slot is stalled from cycle `since` on; NOT_STALLED: it is not, or not any more."""
    before = switch.stalled_since[slot]
    if since == NOT_STALLED:
        if before != NOT_STALLED and before < run.cycle:
            _count(switch, slot, before)
            switch.stall_cycles += run.cycle - before
            switch.running_since[slot] = run.cycle
        switch.stalled_since[slot] = NOT_STALLED
    elif before == NOT_STALLED:
        switch.stalled_since[slot] = max(since, run.cycle)


@njit
def leaves_stalled(switch, slot, c):
    """The stalled CTA in a slot, of context c, leaves the pipeline."""
    _count(switch, slot, switch.stalled_since[slot])
    switch.stall_began[c] = switch.stalled_since[slot]
    switch.stalled_since[slot] = NOT_STALLED


@njit
def becomes_ready(run, switch, c):
    """A CTA in shared memory has the last of its loads."""
    switch.stall_cycles += run.cycle - switch.stall_began[c]


@njit
def _count(switch, slot, since):
    cycles = since - switch.running_since[slot]
    switch.stalls += 1
    switch.to_stall_sum += cycles
    if switch.never_stalled[slot]:
        switch.never_stalled[slot] = 0
        switch.first_stalls += 1
        switch.to_first_stall_sum += cycles
