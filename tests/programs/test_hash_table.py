"""Compare-and-swap: a hash table, and locks that lanes of a warp take one after the other."""

import numpy as np

EMPTY = 0xFFFFFFFF


def test_insert_and_look_up(execute):
    random = np.random.default_rng(10)
    keys = random.integers(0, 150, 400, dtype=np.uint32) * 7919
    slots, counts = np.full(256, EMPTY, np.uint32), np.zeros(256, np.uint32)
    execute("insert", 4, 128, [keys, len(keys), slots, counts, 255])
    unique, expected = np.unique(keys, return_counts=True)
    used = slots != EMPTY
    assert dict(zip(slots[used].tolist(), counts[used].tolist(), strict=True)) == dict(
        zip(unique.tolist(), expected.tolist(), strict=True)
    )
    asked = np.arange(200, dtype=np.uint32) * 7919
    found = np.full(200, EMPTY, np.uint32)
    execute("look_up", 2, 128, [asked, 200, slots, counts, 255, found])
    assert found.tolist() == [int((keys == k).sum()) for k in asked]


def test_locks(execute):
    random = np.random.default_rng(11)
    moves = random.integers(0, 12, (150, 2)).astype(np.int32)
    locks, balance = np.zeros(12, np.int32), np.full(12, 100, np.int32)
    execute("transfer", 3, 64, [moves, len(moves), locks, balance])
    leaving, coming = (np.bincount(moves[:, k], minlength=12) for k in (0, 1))
    assert balance.tolist() == (100 - leaving + coming).tolist()
    assert not locks.any()
