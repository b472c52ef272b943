"""What a copy engine takes."""

from typing import Any

import numpy as np
import pytest
from copy_bench import GLOBAL_BASE, Bench

from ptxsim import TensorMap
from ptxsim.base.jit import for_python
from ptxsim.base.program import ENGINE_COPIES, OUT_OF_BOUNDS
from ptxsim.execute.bulk import engine_queue as engines
from ptxsim.execute.bulk.engine_records import REDUCES, TENSOR, TO_GLOBAL


def test_copies_take_the_places_of_the_warp_s_sm() -> None:
    bench = Bench(warp=11)
    for number in range(3):
        bench.accept(bytes=16 * number)
    engine = bench.engines[1]
    assert engine["used"] == engine["fresh"] == 0b111
    assert engine["queue"][:3].tolist() == [0, 1, 2]
    assert engine["queue_count"] == 3
    assert engine["next"] == 101
    assert bench.engines[0]["used"] == 0
    mine = bench.copies[1 + ENGINE_COPIES :][:3]
    assert mine["bytes"].tolist() == [0, 16, 32]
    assert mine["context"].tolist() == [3, 3, 3]
    assert mine["due"].tolist() == [105, 105, 105]
    assert for_python(engines.free_places)(engine) == ENGINE_COPIES - 3


def test_stores_of_lanes_with_the_same_operands_are_one() -> None:
    """Their lane, and the count of groups of their thread, may differ."""
    bench = Bench()
    store = {"what": TO_GLOBAL, "of": 64, "to": bench.memory.ctypes.data, "end": 32}
    for lane in range(32):
        bench.accept(**store, lane=lane, tracker=8 * lane)
    assert bench.engines[0]["queue_count"] == 1
    bench.accept(**store | {"end": 48})
    bench.accept(**store)  # the one before is another one
    assert bench.engines[0]["queue_count"] == 3


@pytest.mark.parametrize("what", [0, TO_GLOBAL | REDUCES])
def test_loads_and_reductions_are_as_many_as_lanes(what: int) -> None:
    bench = Bench()
    for lane in range(3):
        bench.accept(what=what, end=32, lane=lane)
    assert bench.engines[0]["queue_count"] == 3


def test_rows_of_a_store_are_checked_in_one_lane() -> None:
    """Of the same store in other lanes nothing is looked at: the tensor could be gone."""
    bench = Bench()
    map_: Any = TensorMap(bench.memory.view(np.float32)[:128].reshape(4, 32), box=(32, 4))
    for lane in range(4):
        bench.copies[0]["map"] = np.frombuffer(map_.encode(GLOBAL_BASE), np.uint32)
        bench.accept(what=TENSOR | TO_GLOBAL, lane=lane, tracker=8 * lane)
        bench.context[0]["n_allocations"] = 0
    first = bench.copies[1]
    assert bench.engines[0]["queue_count"] == 1
    assert (first["rows"], first["row"], first["index"][1]) == (4, 0, 0)
    assert bench.context[0]["error"] == 0


def test_a_store_that_is_not_there_is_a_fault_and_is_not_taken() -> None:
    bench = Bench()
    map_: Any = TensorMap(bench.memory.view(np.float32)[:128].reshape(4, 32), box=(32, 4))
    bench.copies[0]["map"] = np.frombuffer(map_.encode(GLOBAL_BASE + 4096 - 256), np.uint32)
    bench.accept(what=TENSOR | TO_GLOBAL)
    assert bench.context[0]["error"] == OUT_OF_BOUNDS
    assert bench.engines[0]["queue_count"] == 0
