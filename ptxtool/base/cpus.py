"""The processors that this process may use, and whether they have other work."""

import os
from pathlib import Path

_LOAD = Path("/proc/loadavg")
"""Of Linux: its fourth word begins with the number of threads that run or could run now (proc(5))."""


def available_cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def has_free_cpus(n: int) -> bool:
    """Whether n threads, the caller's among them, would each have a processor now, as far as is known."""
    try:
        running = int(_LOAD.read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):
        return True
    return running - 1 + n <= (os.cpu_count() or n)
