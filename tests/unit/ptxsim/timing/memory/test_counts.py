"""Counters of caches and of the memory beyond them: sums over the records of a kind."""

import numpy as np

from ptxsim.timing.memory.counts import CACHE_COUNTS, CHANNEL_COUNTS, l1_counts, memory_counts
from ptxsim.timing.memory.memory_state import L1, MEMORY


def test_counters_of_all_l1_caches_are_added_up() -> None:
    caches = np.zeros(3, L1)
    caches["cache"]["hits"], caches["store_hits"] = (1, 20, 300), (4, 0, 4)
    found = l1_counts(caches)
    assert found == dict.fromkeys((*CACHE_COUNTS, "stores"), 0) | {"hits": 321, "store_hits": 8}
    assert l1_counts(caches[1])["hits"] == 20


def test_counters_of_slices_channels_and_networks_have_their_own_names() -> None:
    memory = np.zeros(1, MEMORY)
    m = memory[0]
    for k, name in enumerate(CACHE_COUNTS):
        m["slice"]["cache"][name][:2] = k + 1, 10
    for k, name in enumerate(CHANNEL_COUNTS):
        m["channel"][name][:2] = k + 1, 100
    m["requests"]["packets"], m["replies"]["flits"] = 5, 6
    found = memory_counts(memory)
    assert [found[f"l2_{name}"] for name in CACHE_COUNTS] == [11, 12, 13, 14, 15]
    assert [found[f"dram_{name}"] for name in CHANNEL_COUNTS] == [101, 102, 103, 104, 105]
    assert (found["icnt_requests_packets"], found["icnt_requests_flits"]) == (5, 0)
    assert (found["icnt_replies_packets"], found["icnt_replies_flits"]) == (0, 6)
