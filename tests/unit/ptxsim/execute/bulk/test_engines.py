"""What a copy engine takes, piece by piece, and what a completed copy leaves."""

from typing import Any

import numpy as np

from ptxsim.base.jit import for_python
from ptxsim.base.program import BULK, CLUSTER, CONTEXT, ENGINE, ENGINE_COPIES, TRANSFER, WHEN_DUE
from ptxsim.execute.bulk import engines
from ptxsim.execute.bulk.transfers import TO_GLOBAL, WITHIN_CLUSTER
from ptxsim.execute.codes import BYTES_SHIFT, EXPECTED_SHIFT, PHASE_SHIFT

GLOBAL_BASE = 0x1000


class Bench:
    """A context with two SMs of 8 warps, 4096 bytes of global memory, and a copy to work on."""

    def __init__(self, warp: int = 0) -> None:
        self.memory = np.zeros(4096, np.uint8)
        self.context, self.bulk = np.zeros(1, CONTEXT), np.zeros(1, BULK)
        self.engines, self.copies = np.zeros(2, ENGINE), np.zeros(1 + 2 * ENGINE_COPIES, TRANSFER)
        x = self.context[0]
        x["global_memory"], x["global_base"], x["global_bytes"] = (
            self.memory.ctypes.data,
            GLOBAL_BASE,
            self.memory.nbytes,
        )
        x["bulk"], x["warp"], x["cycle"] = self.bulk.ctypes.data, warp, 100
        self.bulk["when"], self.bulk["warps"] = WHEN_DUE, 8
        self.bulk["engines"], self.bulk["transfers"] = self.engines.ctypes.data, self.copies.ctypes.data
        self.engines["issue_cycles"], self.engines["next"] = 5, 1 << 62

    def copy(self, **fields: Any) -> Any:
        for name, value in {"mask": 0xFFFF, **fields}.items():
            self.copies[0][name] = value
        return self.copies[0]

    def accept(self, **fields: Any) -> None:
        self.copy(**fields)
        for_python(engines.accept)(self.context[0], self.copies[0])


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
