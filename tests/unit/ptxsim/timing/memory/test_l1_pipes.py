"""The pipes before the tags of an L1: their length, and one access a cycle in each bank."""

from typing import Any

from volta_memory import BANKED, machine

from ptxsim.base.jit import for_python
from ptxsim.timing.memory import l1_pipes
from ptxsim.timing.memory.memory_setup import make_l1
from ptxsim.timing.memory.memory_state import FOREVER, MISS, READ, WRITE
from ptxtool.formats.gpu import Gpu, load_gpu

bank_of = for_python(l1_pipes.bank_of)
is_full = for_python(l1_pipes.is_full)
next_look_up = for_python(l1_pipes.next_look_up)
pipe_enter = for_python(l1_pipes.pipe_enter)
pipe_leave = for_python(l1_pipes.pipe_leave)
pipe_look_up = for_python(l1_pipes.pipe_look_up)

GPU42 = load_gpu("gpgpusim42-c2050")
LINE = 128


def empty(gpu: Gpu) -> Any:
    return make_l1(gpu, 1)[0]


def first_miss(l1: Any) -> tuple[int, ...]:
    """The first request of the miss queue: (line, bytes, kind, tag)."""
    place = int(l1["miss_head"])
    return tuple(int(l1[f"miss_{name}"][place]) for name in ("line", "bytes", "kind", "tag"))


def test_an_access_is_looked_up_35_cycles_after_it_enters_the_pipe() -> None:
    # timing-model-42 section 3.2: places that close up after an access that is refused
    l1 = empty(GPU42)
    for k in range(35):
        assert pipe_enter(l1, 128 * k, 128, 0, k, 0, k)
    assert not pipe_enter(l1, 0, 128, 0, 35, 0, 35)
    assert [int(due) for due in l1["pipe"][0]["due"][:35]] == list(range(35, 70))
    assert [pipe_look_up(l1, 0, 35)] == [MISS]
    pipe_leave(l1, 0)
    assert pipe_enter(l1, 0, 128, 0, 35, 0, 35)
    assert first_miss(l1) == (0, LINE, READ, GPU42.l1d.mshr_entries - 1)


def test_stores_pass_the_pipe_with_their_words() -> None:
    l1 = empty(GPU42)
    assert pipe_enter(l1, 0x1040, 64, 1, 3, 0xF << 16, 0)
    assert pipe_look_up(l1, 0, 35) == MISS
    assert int(l1["miss_words"][0]) == 0xF << 16
    assert first_miss(l1) == (0x1040, 64, WRITE, 3)


def test_banks_take_one_access_each_in_a_cycle() -> None:
    # 4 banks of 32 bytes: sectors 0 to 3 of a line at once, and no other one of bank 2
    l1 = empty(machine(*BANKED))
    for sector in range(4):
        assert bank_of(l1, 0x1000 + 32 * sector) == sector
        assert pipe_enter(l1, 0x1000 + 32 * sector, 32, 0, sector, 255, 7)
    assert not pipe_enter(l1, 0x2040, 32, 0, 9, 255, 7)
    assert not is_full(l1, 0x2040)
    assert pipe_enter(l1, 0x2040, 32, 0, 9, 255, 8)
    assert next_look_up(l1) == 27  # 20 cycles later
    assert [pipe_look_up(l1, bank, 27) for bank in range(4)] == [MISS] * 4
    for bank in range(4):
        pipe_leave(l1, bank)
    assert next_look_up(l1) == 28


def test_a_refused_access_does_not_make_the_cache_look_again() -> None:
    l1 = empty(machine(*BANKED))
    assert pipe_enter(l1, 0, 32, 0, 0, 255, 0)
    l1["pipe"]["stuck"][0] = 1
    assert next_look_up(l1) == FOREVER
    assert for_python(l1_pipes.stuck_banks)(l1) == 1
    for_python(l1_pipes.try_again)(l1)
    assert next_look_up(l1) == 20


def test_banks_may_be_mixed_with_higher_bits() -> None:
    # bits 5 and 6, exclusive-or of bits 7 and 8
    l1 = empty(machine(*BANKED, 'l1d.bank_hash="xor"'))
    assert [bank_of(l1, 128 * k) for k in range(5)] == [0, 1, 2, 3, 0]
