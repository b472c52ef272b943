"""The slot counters of a run, summed over SMs and schedulers."""

from typing import Any

import numpy as np

from ptxsim.timing.sm_state import IDLE, SCOREBOARD, STALL


def slot_counts(sms: Any, n_schedulers: int) -> tuple[dict[str, int], dict[int, int]]:
    """Sum the slot counters over SMs and schedulers, and check that every slot was charged exactly once."""
    slots = np.asarray(sms["slots"])[:, :n_schedulers, :]
    active = int(np.sum(sms["active_cycles"]))
    totals = slots.sum(axis=(0, 1))
    assert int(totals.sum()) == n_schedulers * active, (
        "scheduler slots do not sum to schedulers x active cycles"
    )
    # index 2 + n: issued with n lanes active in the SIMT stack
    by_lanes = {lanes: int(totals[STALL + lanes]) for lanes in range(1, 33) if totals[STALL + lanes]}
    return (
        {
            "idle": int(totals[IDLE]),
            "scoreboard": int(totals[SCOREBOARD]),
            "stall": int(totals[STALL]),
            "issued": sum(by_lanes.values()),
        },
        by_lanes,
    )
