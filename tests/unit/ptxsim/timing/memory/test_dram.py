"""When a DRAM channel gives which command: the timing parameters one by one, in its own cycles.

The figures follow from the table of timing-model section 3.5. The machine's DRAM has the core's clock here, so that a
core cycle is a DRAM cycle; a bank is idle and its row closed at first.
"""

from itertools import pairwise

import pytest
from dram_commands import BANK, COLUMNS, GROUP, ONE_CLOCK, ROW, commands, reads, stores, times
from memory_machine import LINE, Machine
from msgspec.structs import replace

from ptxsim.timing.memory.memory_state import READ
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings

SECTORS = load_gpu("gpgpusim42-c2050")
SECTORS = replace(SECTORS, clocks=replace(SECTORS.clocks, dram_mhz=SECTORS.clocks.core_mhz))


def test_a_read_of_a_closed_row() -> None:
    # tRCD 12, then the second column of the line in the same bank group: tCCDL 3
    assert commands(reads(0)) == [(0, "A"), (12, "R"), (15, "R")]


def test_a_row_that_is_open() -> None:
    # the next line of the row: columns go on at tCCDL, for any requester
    assert commands(reads(0, COLUMNS)) == [(0, "A"), (12, "R"), (15, "R"), (18, "R"), (21, "R")]


def test_activates_of_two_banks() -> None:
    # tRRD 6; the second bank's columns at 6 + tRCD
    assert commands(reads(0, BANK)) == [(0, "A"), (6, "A"), (12, "R"), (15, "R"), (18, "R"), (21, "R")]


def test_another_row_of_the_bank() -> None:
    # precharge not before tRAS 28 (nor 15 + tRTPL 2); then tRP 12: 40, which tRC 40 allows; then tRCD
    found = commands(reads(0, ROW))
    assert found == [(0, "A"), (12, "R"), (15, "R"), (40, "A"), (52, "R"), (55, "R")]


def _spacing(other: int, gpu: Gpu) -> list[int]:
    """Cycles between the columns of two banks whose rows are open."""

    def send(machine: Machine) -> None:
        reads(0, other)(machine)
        machine.finish()
        reads(COLUMNS, other + COLUMNS)(machine)

    columns = times(commands(send, gpu), "R")
    return [b - a for a, b in pairwise(columns)]


def test_columns_of_two_bank_groups() -> None:
    # they alternate at tCCD 2 where the banks are of two groups, and come at tCCDL 3 where not
    assert _spacing(GROUP, ONE_CLOCK) == [2, 2, 2]
    assert _spacing(BANK, ONE_CLOCK) == [3, 3, 3]


def test_the_groups_of_gpgpusim42() -> None:
    # timing-model-42 section 3.7: by the low two bits of the bank; a line is four columns, a sector each, and those of
    # the second bank come a cycle after
    assert _spacing(BANK, SECTORS) == [3, 2, 2, 2, 2, 2, 3]
    assert _spacing(GROUP, SECTORS) == [3] * 7


def test_a_store_that_misses_and_its_line_read() -> None:
    # write columns tRCDWR 7 after the activate; the read tWTR 11 after the last of them
    assert commands(stores(0)) == [(0, "A"), (7, "W"), (10, "W"), (21, "R"), (24, "R")]


def test_a_write_behind_a_read() -> None:
    # tRTW 12 after the read at 24
    found = commands(stores(0, COLUMNS))
    assert times(found, "W") == [7, 10, 36, 39]
    assert times(found, "R") == [21, 24, 50, 53]


def test_a_precharge_behind_a_write() -> None:
    # not before the last write, 39, and tWTP 18 (the last read, 53, and tRTPL 2 would be earlier); then tRP 12, tRCD 12
    def send(machine: Machine) -> None:
        stores(0, COLUMNS)(machine)
        assert machine.send(ROW, READ, LINE, 2)

    assert commands(send)[-3:] == [(57 + 12, "A"), (57 + 24, "R"), (57 + 27, "R")]


@pytest.mark.parametrize(("of", "activate"), [("bank", 15 + 100 + 12), ("group", 21 + 100 + 12)])
def test_a_read_keeps_the_rows_of_its_group_open(of: str, activate: int) -> None:
    """Two banks of a group are opened in cycles 0 and 6 (tRRD) and read in 12 and 15 (tRCD, tCCDL), 18 and 21. Another
    row of the first one is opened tRP = 12 after its precharge, tRTPL = 100 after the last read that counts."""
    gpu = with_settings(ONE_CLOCK, ["dram.tRTPL=100", f'dram.read_to_precharge="{of}"'])
    found = commands(reads(0, BANK, ROW), gpu)
    assert times(found, "R")[:4] == [12, 15, 18, 21]
    assert times(found, "A") == [0, 6, activate]
