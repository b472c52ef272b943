"""CTAs that wait for one another (`grid.sync()`), and locks between threads of one warp."""

from typing import Any

import numpy as np
import pytest


def test_heat_on_a_ring(execute: Any) -> None:
    n, steps = 200, 5
    x = np.random.default_rng(4).integers(0, 1000, n).astype(np.float32)
    now, following = x.copy(), np.zeros_like(x)
    execute("diffuse", 4, 64, [now, following, n, steps])
    for _ in range(steps):
        x = np.float32(0.5) * x + np.float32(0.25) * (np.roll(x, -1) + np.roll(x, 1))
    assert (following == x).all()


def test_transfers_lose_nothing(execute: Any, request: pytest.FixtureRequest) -> None:
    """The timed run keeps lanes that have left a loop waiting after it: a lock between lanes never comes free."""
    if "launch" in request.node.callspec.id:
        pytest.skip("only runs without time let all lanes go on")
    rng = np.random.default_rng(5)
    n, accounts = 128, np.zeros((6, 3), np.int32)
    accounts[:, 1] = 1000
    source, target, amount = rng.integers(0, 6, n), rng.integers(0, 6, n), rng.integers(1, 50, n)
    balance = accounts[:, 1].copy()
    np.subtract.at(balance, source, amount)
    np.add.at(balance, target, amount)
    execute("transfer", 2, 64, [accounts, *(a.astype(np.int32) for a in (source, target, amount))])
    assert accounts[:, 1].tolist() == balance.tolist()
    assert not accounts[:, 0].any()


def test_the_last_one_adds_up(execute: Any) -> None:
    x = np.arange(32 * 9, dtype=np.int32)
    total = np.zeros(1, np.int32)
    execute("total", 9, 32, [x, np.zeros(9, np.int32), total])
    assert total[0] == x.sum()
