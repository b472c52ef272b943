"""What the values of GPGPU-Sim's options mean."""

from collections.abc import Callable

import pytest

from ptxtool.base.diag import PtxError
from ptxtool.base.source import Source
from ptxtool.formats.gpgpusim import values
from ptxtool.formats.gpgpusim.text import Setting


def setting(value: str) -> Setting:
    return Setting("x", value, Source("x.config", f"-x {value}"), 0, 3, 3 + len(value))


@pytest.mark.parametrize(("value", "number"), [("12", 12), ("0x1F", 31), ("010", 8), ("0", 0)])
def test_the_base_of_a_number(value: str, number: int) -> None:
    assert values.whole(setting(value)) == number


@pytest.mark.parametrize("value", ["09", "1.5", "-1", "many", "0x"])
def test_no_whole_numbers(value: str) -> None:
    with pytest.raises(PtxError, match="'-x' is"):
        values.whole(setting(value))


@pytest.mark.parametrize("value", ["0x8000000000000000", "0x" + "f" * 5000, str(1 << 64)])
def test_numbers_above_64_bits(value: str) -> None:
    with pytest.raises(PtxError, match="'-x' does not fit into 64 bits"):
        values.whole(setting(value))


@pytest.mark.parametrize("value", ["8:8:many", "8:8", "8:8:" + "9" * 5000])
def test_no_three_numbers(value: str) -> None:
    with pytest.raises(PtxError, match="give 3 whole numbers with ':' between"):
        values.numbers(setting(value), ":", (3,))


@pytest.mark.parametrize("read", [values.cache, values.dram_timing])
def test_thousands_of_digits_are_no_number(read: Callable[[Setting], object]) -> None:
    with pytest.raises(PtxError, match=r"no cache|no timing parameter"):
        read(
            setting(
                "nbk=" + "9" * 5000 if read is values.dram_timing else f"{'9' * 5000}:128:4,L:L:m:N,A:8:8,8"
            )
        )


def test_clocks_are_rounded() -> None:
    assert values.megahertz(setting("575.5:700:699.4:924")) == [576, 700, 699, 924]


def test_a_cache_of_an_old_file() -> None:
    found = values.cache(setting("64:128:8,L:B:m:W:L,A:32:4,4:0,32"))
    assert (found.sets, found.line_bytes, found.ways) == (64, 128, 8)
    assert (found.replacement, found.write, found.allocation) == ("L", "B", "m")
    assert (found.write_allocation, found.set_index) == ("W", "L")
    assert (found.mshr_entries, found.mshr_waiters, found.miss_queue) == (32, 4, 4)
    assert (found.port_bytes, found.results, found.is_sectored) == (32, 0, False)


def test_what_a_cache_leaves_out() -> None:
    found = values.cache(setting("S:4:256:4,L:R:f:N,A:2:32,4"))
    assert (found.is_sectored, found.set_index, found.results) == (True, "", None)
    assert found.port_bytes == 256  # a line at once


def test_timing_by_name_or_by_place() -> None:
    named = values.dram_timing(
        setting("RP=10:nbk=16:CCD=2:RRD=6:RCD=12:RAS=28;RC=40: CL=12:WL=4:CDLR=5:WR=12")
    )
    placed = values.dram_timing(setting("16:2:6:12:28:10:40:12:4:5:12"))
    assert named == placed
    assert (named["RP"], named["nbkgrp"], named["RTPL"]) == (10, 1, 0)


MAP = "dramid@8;" + "00000000." * 4 + "0000RRRR.RRRRRRRR.BBBCCCCB.CCSSSSSS"


def test_an_address_map() -> None:
    """Rows of 2^12 bytes: six C and six S; the chunk of 256 bytes lies below the lowest bank bit."""
    found = values.address_map(setting(MAP))
    assert (found.chunk_bytes, found.row_bytes) == (256, 4096)
    assert found.bits[:12] == "CCCCCCCCBCCC"
    assert found.is_plain(16)
    assert not found.is_plain(8)


def test_a_map_with_its_bank_bits_in_another_place_is_not_plain() -> None:
    assert not values.address_map(setting(MAP.replace("BBBCCCCB.CC", "BBBBCCCC.CC"))).is_plain(16)
    assert not values.address_map(setting(MAP.replace("dramid@8", "dramid@4"))).is_plain(16)


def test_the_bit_of_the_slices_may_lie_in_a_chunk() -> None:
    found = values.address_map(setting(MAP.replace("BBBCCCCB.CC", "BBBCCCCC.BC")))
    assert found.is_plain(16)
    assert (found.chunk_bytes, found.slice_bytes) == (256, 128)
    assert values.address_map(setting(MAP)).slice_bytes == 256


@pytest.mark.parametrize("value", ["dramid@3;0", "dramid;0", "dramid@8;" + "R" * 63, "dramid@8;" + "X" * 64])
def test_no_address_maps(value: str) -> None:
    with pytest.raises(PtxError):
        values.address_map(setting(value))
