"""The commands of a DRAM channel, with their cycles: for tests of its scheduler.

The machine's DRAM has the core's clock here, so that a core cycle is a DRAM cycle.
"""

from collections.abc import Callable
from functools import partial

from memory_machine import GPU, LINE, Machine
from msgspec.structs import replace

from ptxsim.timing.memory.counts import memory_counts
from ptxsim.timing.memory.memory_state import READ, WRITE
from ptxtool.formats.gpu import Gpu

ONE_CLOCK = replace(GPU, clocks=replace(GPU.clocks, dram_mhz=GPU.clocks.core_mhz))

# of channel 0 and its slice 0: section 3.5
ROW = 6 << 16  # bytes to another row of the same bank
BANK = 6 * 0x2000  # to the next bank of the same group, bank bit 1
GROUP = 6 * 0x8000  # to a bank of the other group, bank bit 3
COLUMNS = 6 * 0x200  # to the next 256 bytes of the same row
NAMES = {"dram_activates": "A", "dram_reads": "R", "dram_writes": "W"}


def commands(send: Callable[[Machine], None], gpu: Gpu = ONE_CLOCK) -> list[tuple[int, str]]:
    """The commands that follow, from the first activate on: when, and A(ctivate), R(ead) or W(rite)."""
    machine = Machine(gpu, skip=False)
    send(machine)
    found: list[tuple[int, str]] = []
    before = memory_counts(machine.array)
    for _ in range(900):
        machine.step()
        now = memory_counts(machine.array)
        found += [(machine.now, letter) for name, letter in NAMES.items() if now[name] > before[name]]
        before = now
    start = found[0][0]
    return [(when - start, letter) for when, letter in found]


def requests(kind: int, *lines: int) -> Callable[[Machine], None]:
    """Requests for lines, from as many SMs at once."""

    def send(machine: Machine) -> None:
        for sm, line in enumerate(lines):
            assert machine.send(line, kind, LINE, sm)

    return send


reads, stores = partial(requests, READ), partial(requests, WRITE)


def times(found: list[tuple[int, str]], letter: str) -> list[int]:
    return [when for when, name in found if name == letter]
