"""What is noted of an atomic, and that it is done in the order of the notes."""

from typing import Any

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.base.program import CONTEXT, NO_ROOM, UOP
from ptxsim.execute.codes import ADD, ATOMIC32, ATOMIC64, DEFER, FLOAT
from ptxsim.execute.memory.deferred_atomics import NOTED, apply, defer

defer_in_python = for_python(defer)
ROWS = 3  # one constant row, the warp's row, the scratch row


class Launch:
    """A warp with one row of each file, and memory for a word of every lane."""

    def __init__(self, most: int) -> None:
        self.words, self.longs = np.zeros((ROWS, 32), np.uint32), np.zeros((ROWS, 32), np.uint64)
        self.memory, self.noted = np.zeros(64, np.uint64), np.zeros(most, NOTED)
        self.context, self.uops = np.zeros(1, CONTEXT), np.zeros(2, UOP)
        for name, value in {
            "r32": self.words.ctypes.data,
            "r64": self.longs.ctypes.data,
            "uops": self.uops.ctypes.data,
            "noted": self.noted.ctypes.data,
            "most_noted": most,
            "noted_cta": 7,
        }.items():
            self.context[name] = value
        for name in ("total_rows32", "total_rows64"):
            self.context[name] = ROWS
        for name in ("constant_rows32", "constant_rows64", "rows32", "rows64", "n_uops"):
            self.context[name] = 1
        self.point_at([0] * 32)

    def point_at(self, words: list[int]) -> None:
        self.context[0]["lane_pointer"] = [self.memory.ctypes.data + 4 * w for w in words]

    def deferred(self, of_64_bits: bool, a: int, mask: int) -> int:
        uop = np.zeros(1, UOP)
        uop["op"], uop["d"], uop["a"], uop["b"] = DEFER, 1, a, of_64_bits
        done: int = defer_in_python(self.context[0], uop[0], mask)
        return done


def test_what_is_noted() -> None:
    launch = Launch(3)
    launch.words[1], launch.longs[1] = np.arange(32), np.arange(32) << 40
    launch.words[0] = 5
    assert launch.deferred(False, 0, 0xFF) == 1
    assert launch.deferred(True, 0, 1) == 1
    assert launch.deferred(False, -1, 2) == 1
    assert launch.noted["cta"].tolist() == [7] * 3
    assert launch.noted["uop"].tolist() == [1] * 3
    assert launch.noted["mask"].tolist() == [0xFF, 1, 2]
    assert launch.noted["operand"].tolist() == [
        list(range(32)),
        [n << 40 for n in range(32)],
        [5] * 32,  # a constant
    ]
    assert (launch.noted["pointer"] == launch.context[0]["lane_pointer"]).all()


def test_a_fault_where_there_is_no_room() -> None:
    launch = Launch(1)
    assert launch.deferred(False, 0, 1) == 1
    assert launch.deferred(False, 0, 1) == 0
    assert launch.context[0]["error"] == NO_ROOM


def applied(values: list[float], type_: Any) -> Any:
    """The sum of numbers in this order, of which each is a note."""
    launch = Launch(len(values))
    launch.uops[1] = (ATOMIC64 if type_ is np.float64 else ATOMIC32, 0, 0, 0, ADD | FLOAT << 8, 8)
    rows = launch.longs if type_ is np.float64 else launch.words
    for value in values:
        rows.view(type_)[1, 4] = value
        launch.deferred(type_ is np.float64, 0, 1 << 4)
    assert apply(launch.context, launch.noted) == len(values)
    return launch.memory.view(type_)[2 if type_ is np.float32 else 1]


def test_the_order_of_sums() -> None:
    for type_, large in ((np.float32, 2.0**24), (np.float64, 2.0**53)):
        assert applied([large, 1, 1], type_) == large
        assert applied([1, 1, large], type_) == large + 2
