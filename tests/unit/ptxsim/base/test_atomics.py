"""Words that threads share: the operations, compiled and in Python, and that sums of two threads lose nothing."""

import threading
import time
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from ptxsim.base import atomics
from ptxsim.base.atomics import add_to, exchange, load_acquire, pause, store_release, ticks
from ptxsim.base.jit import JIT_DISABLED, entry, types, uncached

compiled = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


def _all(address: Any) -> int:
    atomics.store_release(address, np.int64(5))
    before = atomics.exchange(address, np.int64(7))
    added = atomics.add_to(address, np.int64(3))
    atomics.pause()
    return int(10000 * before + 100 * added + atomics.load_acquire(address))


@compiled
def test_compiled_operations() -> None:
    word = np.zeros(1, np.int64)

    @uncached
    def operations(address):  # type: ignore[no-untyped-def]
        store_release(address, np.int64(5))
        before = exchange(address, np.int64(7))
        added = add_to(address, np.int64(3))
        pause()
        return 10000 * before + 100 * added + load_acquire(address)

    assert operations(np.uint64(word.ctypes.data)) == 5 * 10000 + 7 * 100 + 10
    assert word[0] == 10


def test_operations_without_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    word = np.zeros(1, np.int64)
    for name, python in (
        ("load_acquire", atomics._load),
        ("store_release", atomics._store),
        ("exchange", atomics._exchange),
        ("add_to", atomics._add_to),
        ("pause", atomics._nothing),
    ):
        monkeypatch.setattr(atomics, name, python)
    assert _all(word.ctypes.data) == 5 * 10000 + 7 * 100 + 10


@compiled
def test_the_clock_goes_on_evenly() -> None:
    @uncached
    def read():  # type: ignore[no-untyped-def]
        return ticks()

    times = []
    for _ in range(3):
        times.append((read(), time.perf_counter()))
        time.sleep(0.02)
    first, second = ((b[0] - a[0]) / (b[1] - a[1]) for a, b in pairwise(times))
    assert first == pytest.approx(second, rel=0.1)
    assert first > 1e6  # ticks a second


def _add_often(address: Any, n: Any) -> int:
    for _ in range(n):
        add_to(address, np.int64(1))
    return 0


@compiled
def test_sums_of_threads_lose_nothing() -> None:
    word = np.zeros(1, np.int64)
    add = entry(types.int64(types.uint64, types.int64))(_add_often)
    add(word.ctypes.data, 0)  # compiled before the threads start
    threads = [threading.Thread(target=add, args=(word.ctypes.data, 1_000_000)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert word[0] == 2_000_000
