"""Lines that copies before a launch leave in the L2 (timing-model-42 section 3.6)."""

from typing import Any

import numpy as np

from ptxsim.base.pool.record_pool import UsedRecords
from ptxsim.timing.memory.copied import ages, copies_clock, leave, leave_in_empty
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.sectors import LRU_START
from ptxtool.formats.gpu import load_gpu


def test_copies_that_are_known_leave_what_they_left_before() -> None:
    gpu = load_gpu("gpgpusim42-c2050")
    for copies in ([(40, 1000), (4096, 1 << 20), (96, 8)], [(1 << 16, 3000)], []):
        expected, used = marked(make_memory(gpu))
        leave(expected, copies, used)
        for _ in range(2):
            memory, used_here = marked(make_memory(gpu))
            leave_in_empty(memory, gpu, copies, used_here)
            assert memory.tobytes() == expected.tobytes()
            assert np.array_equal(all_of(used_here), all_of(used))


def marked(memory: Any) -> tuple[Any, UsedRecords]:
    m = memory[0]
    return memory, UsedRecords([m["slice"]["cache"]["accesses"][: m["n_slices"]]])


def all_of(used: UsedRecords) -> Any:
    return np.arange(12)[used.indices()]


def test_slices_that_got_lines_are_used() -> None:
    memory, used = marked(make_memory(load_gpu("gpgpusim42-c2050")))
    leave(memory, [(0, 4), (256, 4)], used)  # chunks 0 and 1 of 256 bytes lie in channels 0 and 1
    assert all_of(used).tolist() == [0, 2]
    before = ages(memory[0]["slice"]["cache"][:12]).copy()
    leave(memory, [(6 * 256, 4)], used)  # the next chunk of channel 0: its other slice
    assert all_of(used).tolist() == [0, 1, 2]
    now = ages(memory[0]["slice"]["cache"][:12])  # lines of the copies before are older than these
    assert (now[[0, 2]] == before[[0, 2]] - 1).all()
    assert (now[3:] == 0).all()


def test_copies_are_younger_than_accesses_before_them_and_older_than_those_of_the_launch() -> None:
    memory = make_memory(load_gpu("gpgpusim42-c2050"))
    m = memory[0]
    used = ages(m["slice"]["cache"][: m["n_slices"]])
    used[...] = -1  # the youngest access of an earlier launch
    # bytes 100 to 299 lie in lines 0 to 2, bytes 512 to 639 in line 4: they are entered at -4 to -1
    clock = copies_clock(memory, [(100, 200), (512, 128)], UsedRecords())
    assert LRU_START + clock == -4
    assert (used == -5).all()


def test_no_copies_change_nothing() -> None:
    memory = make_memory(load_gpu("gpgpusim42-c2050"))
    before = memory.tobytes()
    assert copies_clock(memory, [], UsedRecords()) == -LRU_START
    assert memory.tobytes() == before
