"""Bytes: constants given by name, loops that lanes leave early, a table of distances along the lanes of a warp."""

import numpy as np


def test_find(execute):
    text = np.frombuffer(bytes(np.random.default_rng(19).choice(list(b"ab"), 2000).tolist()), np.uint8).copy()
    pattern = b"abbab"
    places, count, first = np.full(400, -1, np.int32), np.zeros(1, np.int32), np.full(1, 2**31 - 1, np.int32)
    padded = np.frombuffer(pattern.ljust(16, b"\0"), np.uint8)
    constants = {"pattern": padded, "length": np.array([len(pattern)], np.int32)}
    execute("find", 4, 96, [text, len(text), places, count, first], constants=constants)
    expected = [i for i in range(len(text)) if text.tobytes().startswith(pattern, i)]
    assert sorted(places[: count[0]].tolist()) == expected
    assert first[0] == expected[0]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def test_edit_distance(execute):
    word = b"saturday"
    words = [b"sunday", b"saturday", b"", b"monday", b"yadrutas", b"s", b"a day on saturn and its ring"]
    letters = np.frombuffer(b"".join(w.ljust(32, b"\0") for w in words), np.uint8).copy()
    lengths = np.array([len(w) for w in words], np.int32)
    distance = np.full(len(words), -1, np.int32)
    given = np.frombuffer(word, np.uint8).copy()
    execute("edit_distance", len(words), 32, [given, len(word), letters, lengths, distance])
    assert distance.tolist() == [edit_distance(word, w) for w in words]
    assert distance[0] == 3
