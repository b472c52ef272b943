"""Lines that copies before a launch leave in the L2 (timing-model-42 section 3.6)."""

from ptxsim.timing.memory.copied import ages, copies_clock, leave, leave_in_empty
from ptxsim.timing.memory.memory_setup import make_memory
from ptxsim.timing.memory.sectors import LRU_START
from ptxtool.formats.gpu import load_gpu


def test_copies_that_are_known_leave_what_they_left_before() -> None:
    gpu = load_gpu("gpgpusim42-c2050")
    for copies in ([(40, 1000), (4096, 1 << 20), (96, 8)], [(1 << 16, 3000)], []):
        expected = make_memory(gpu)
        leave(expected, copies)
        for _ in range(2):
            memory = make_memory(gpu)
            leave_in_empty(memory, gpu, copies)
            assert memory.tobytes() == expected.tobytes()


def test_copies_are_younger_than_accesses_before_them_and_older_than_those_of_the_launch() -> None:
    memory = make_memory(load_gpu("gpgpusim42-c2050"))
    m = memory[0]
    used = ages(m["slice"]["cache"][: m["n_slices"]])
    used[...] = -1  # the youngest access of an earlier launch
    # bytes 100 to 299 lie in lines 0 to 2, bytes 512 to 639 in line 4: they are entered at -4 to -1
    clock = copies_clock(memory, [(100, 200), (512, 128)])
    assert LRU_START + clock == -4
    assert (used == -5).all()


def test_no_copies_change_nothing() -> None:
    memory = make_memory(load_gpu("gpgpusim42-c2050"))
    before = memory.tobytes()
    assert copies_clock(memory, []) == -LRU_START
    assert memory.tobytes() == before
