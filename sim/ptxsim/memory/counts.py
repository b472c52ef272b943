"""The counters of L1 caches and of the memory behind them, for results: of all records of a kind together."""

from typing import Any

from ptxsim.memory.state import L1, MEMORY
from ptxsim.sums import Sums

_OF_CACHE = ("accesses", "hits", "misses", "pending_hits", "reservation_fails")
_OF_CHANNEL = ("requests", "reads", "writes", "activates", "row_hits")
_NETWORKS = ("requests", "replies")

_l1 = Sums(L1, {name: f"cache.{name}" for name in _OF_CACHE} | {n: n for n in ("stores", "store_hits")})
_memory = Sums(
    MEMORY,
    {f"l2_{name}": f"slice.cache.{name}" for name in _OF_CACHE}
    | {f"dram_{name}": f"channel.{name}" for name in _OF_CHANNEL}
    | {f"icnt_{side}_{what}": f"{side}.{what}" for side in _NETWORKS for what in ("packets", "flits")},
)


def l1_counts(caches: Any) -> dict[str, int]:
    """The counters of an array of L1 records, or of one."""
    return _l1.of(caches)


def memory_counts(memory: Any) -> dict[str, int]:
    """The counters of a `MEMORY` array: `l2_...`, `dram_...` (reads and writes in column commands) and `icnt_...`."""
    return _memory.of(memory)
