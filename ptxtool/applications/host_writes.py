"""Whether the host can still write what a kernel waits for.

A launch has ended when its call returns: the thread that launched writes nothing before that. Other threads of the
process may, in memory that both sides share. A launch that only repeats itself waits for them in real time.
"""

import os
import time

PATIENCE = 10.0
"""Seconds in which nothing changes."""
_PAUSE = 0.05


def may_be_written(process: int, times: int) -> bool:
    """Whether a launch of a process looks again, after so many times in a row; waits a moment before it."""
    if times * _PAUSE >= PATIENCE or _n_threads(process) < 2:
        return False
    time.sleep(_PAUSE)
    return True


def _n_threads(process: int) -> int:
    """The threads of a process; 0 if it cannot be seen."""
    try:
        return len(os.listdir(f"/proc/{process}/task"))
    except OSError:
        return 0
