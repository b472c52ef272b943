"""`KERNEL`: what CTA dispatch and the warps of a launch need of it. A run has one record, or one for every launch.

The programs of several launches lie one after the other in one array of instructions (`timing/concurrent/members.py`):
an instruction's number says which launch it belongs to. Each launch has its own `CONTEXT`, with its parameters, its
constants and its register rows.
"""

import numpy as np

from ptxsim.base.jit import record, record_at, records
from ptxsim.base.program import CONTEXT

# which launch an SM takes its next CTA from, where several run at the same time (select_kernel.py)
ONE_PER_SM, LEFTOVER, SPATIAL = range(3)
MOST_RUNNING = 128
"""Launches that run at the same time."""

# where a launch is: it waits for others or for a free place among those that run; it runs; all of its CTAs have ended
WAITING, RUNNING, ENDED = range(3)

KERNEL = record(
    [
        ("grid", "i8", (3,)),
        ("block", "i8", (3,)),
        ("threads_per_cta", "i8"),
        ("warps_per_cta", "i8"),
        ("n_ctas", "i8"),
        ("next_cta", "i8"),
        ("ctas_done", "i8"),
        ("first_instruction", "i8"),
        ("end_instruction", "i8"),  # after the last
        ("shared_image", "u8"),  # address of the initial contents of a CTA's shared memory
        ("shared_bytes", "i8"),
        ("special_rows", "u8"),  # address of int32 pairs: special register, row
        ("n_special_rows", "i8"),
        # of launches that run at the same time; a launch that has a run to itself does not use them
        ("resident_ctas", "i8"),  # of an SM, where it runs no other launch
        ("registers", "i8"),  # that a CTA takes from an SM
        ("scratchpad", "i8"),  # bytes
        ("launch_cycles", "i8"),  # from its turn to its first CTA
        ("state", "i8"),
        ("waits_for", "i8"),  # launches that it waits for and that have not ended
        ("successors", "u8"),  # address of int64: the launches that wait for this one
        ("n_successors", "i8"),
        ("ready_cycle", "i8"),  # first cycle in which it can have a CTA launched
        ("first_cycle", "i8"),  # in which one was; -1: none was
        ("end_cycle", "i8"),  # in which the last one ended
        ("warp_instructions", "i8"),
        ("thread_instructions", "i8"),
        ("cta_cycles", "i8"),  # from the launches of CTAs to their ends, summed over CTAs
    ]
)

kernel_at = record_at(KERNEL)
"""`kernel_at(address of the records, i)`"""
context_at = record_at(CONTEXT)
"""`context_at(address of the contexts, i)`"""
special_rows_at = records(np.dtype(np.int32), 2)
"""`special_rows_at(address, n)`"""
