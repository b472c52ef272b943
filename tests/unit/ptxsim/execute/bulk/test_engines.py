"""The pieces of a copy, and what a completed one leaves."""

import numpy as np
from copy_bench import GLOBAL_BASE, Bench

from ptxsim.base.jit import for_python
from ptxsim.base.program import CLUSTER
from ptxsim.execute.bulk import engines
from ptxsim.execute.bulk.engine_records import TO_GLOBAL, WITHIN_CLUSTER
from ptxsim.execute.codes import BYTES_SHIFT, EXPECTED_SHIFT, PHASE_SHIFT


def test_a_plain_copy_is_one_piece() -> None:
    bench = Bench()
    t = bench.copy(of=bench.memory.ctypes.data + 256, first=16, end=80, rows=1)
    engine = bench.engines[0]
    assert for_python(engines._find_piece)(bench.context[0], t, engine) == 1
    assert (engine["piece"], engine["piece_end"]) == (GLOBAL_BASE + 272, GLOBAL_BASE + 336)
    assert for_python(engines._find_piece)(bench.context[0], t, engine) == 0


def test_the_pieces_of_a_store_are_those_of_its_destination() -> None:
    bench = Bench()
    t = bench.copy(what=TO_GLOBAL, to=bench.memory.ctypes.data + 64, end=32, rows=1)
    assert for_python(engines._find_piece)(bench.context[0], t, bench.engines[0]) == 1
    assert bench.engines[0]["piece"] == GLOBAL_BASE + 64


def test_a_copy_between_ctas_has_no_pieces() -> None:
    bench = Bench()
    t = bench.copy(what=WITHIN_CLUSTER, of=bench.memory.ctypes.data, end=32, rows=1)
    assert for_python(engines._find_piece)(bench.context[0], t, bench.engines[0]) == 0


def test_a_multicast_is_delivered_to_the_ctas_that_are_there() -> None:
    """Ranks 0, 1 and 3 of four, of which rank 1 has ended: 16 bytes, which the mbarriers at 64 wait for."""
    bench = Bench()
    bench.memory[:16] = range(1, 17)
    shared = [np.zeros(128, np.uint8) for _ in range(4)]
    for memory in shared:
        memory[64:72].view(np.int64)[0] = 1 << EXPECTED_SHIFT | 16 << BYTES_SHIFT
    cluster = np.zeros(1, CLUSTER)
    cluster[0]["n_ctas"] = 4
    cluster[0]["shared"][:4] = [memory.ctypes.data for memory in shared]
    cluster[0]["shared"][1] = 0
    t = bench.copy(
        of=bench.memory.ctypes.data,
        to=32,
        tracker=64,
        end=16,
        bytes=16,
        ctas=0b1011,
        cluster=cluster.ctypes.data,
    )
    for_python(engines._deliver)(bench.context[0], t)
    assert [int(memory[32:48].sum()) for memory in shared] == [136, 0, 0, 136]
    phases = [int(memory[64:72].view(np.int64)[0]) >> PHASE_SHIFT & 1 for memory in shared]
    assert phases == [1, 0, 0, 1]
    assert bench.context[0]["phase_ended"] == 1
