"""The counters of L1 caches and of the memory beyond them, for results: sums over all records of a kind."""

from typing import Any

from ptxsim.base.sums import Sums
from ptxsim.timing.memory.memory_state import L1, MEMORY

# the counters of each record; `clock.py` sets them to zero between kernels
CACHE_COUNTS = ("accesses", "hits", "misses", "pending_hits", "reservation_fails")
L1_COUNTS = ("stores", "store_hits")
READONLY_COUNTS = ("accesses", "misses", "reservation_fails")
CHANNEL_COUNTS = ("requests", "reads", "writes", "activates", "row_hits")
NETWORK_COUNTS = ("packets", "flits")
NETWORKS = ("requests", "replies")

_l1 = Sums(L1, {name: f"cache.{name}" for name in CACHE_COUNTS} | {name: name for name in L1_COUNTS})
_memory = Sums(
    MEMORY,
    {f"l2_{name}": f"slice.cache.{name}" for name in CACHE_COUNTS}
    | {f"dram_{name}": f"channel.{name}" for name in CHANNEL_COUNTS}
    | {f"icnt_{side}_{what}": f"{side}.{what}" for side in NETWORKS for what in NETWORK_COUNTS},
)


def l1_counts(caches: Any) -> dict[str, int]:
    """The counters of an array of L1 records, or of one."""
    return _l1.of(caches)


def memory_counts(memory: Any) -> dict[str, int]:
    """The counters of a `MEMORY` array: `l2_...`, `dram_...` (reads and writes in column commands) and `icnt_...`."""
    return _memory.of(memory)
