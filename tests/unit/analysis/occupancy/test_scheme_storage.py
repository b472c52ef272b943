"""Storage of the register schemes, against the figures that the FineReg paper prints and what they should have been."""

import pytest

from ptxtool.analysis.occupancy.overhead import LETTERS
from ptxtool.analysis.occupancy.scheme_storage import SCHEMES, storage_bits, storage_of
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

GPU = load_gpu("gtx980-finereg")


def parts(scheme: str) -> dict[str, int]:
    return {item.name: item.bits for item in storage_of(GPU, scheme).items}


def test_finereg_part_by_part_in_bytes() -> None:
    found = parts("finereg")
    assert found["where the context of each CTA is"] + found["where the registers of each CTA are"] == 64 * 8
    assert found["cache of live vectors"] == 384 * 8
    assert (
        found["first entry and live registers of each CTA"] == 336 * 8
    )  # 10 + 11 bits; printed: 10 + 6, 256 bytes
    assert found["tag of each PCRF entry"] == 2944 * 8  # 23 bits; printed: 21
    assert found["free entries"] == 128 * 8
    assert found["switching logic"] == 19661  # 2.4 KB
    assert storage_of(GPU, "finereg").bits_per_sm == (64 + 384 + 336 + 2944 + 128) * 8 + 19661


def test_virtual_thread_is_finereg_without_a_pcrf() -> None:
    assert parts("virtual-thread").items() <= parts("finereg").items()
    assert storage_of(GPU, "virtual-thread").bits_per_sm == 256 + 19661


def test_regmutex_on_48_warps_is_the_papers() -> None:
    fermi = load_gpu("tesla-c2050")
    assert storage_of(fermi, "regmutex").bits_per_sm == 48 + 48 + 48 * 6


def test_the_pool_of_switched_warps() -> None:
    both = parts("virtual-thread-regmutex")
    assert both["section of each warp"] == 512 * 9
    assert parts("virtual-thread").items() <= both.items()


def test_a_renaming_table_for_512_warps_has_44_kilobytes() -> None:
    found = storage_of(with_settings(GPU, ("sm.warps=64",)), "release-by-name")
    assert found.items[0].bits * (512 // 64) == 44 * 1024 * 8


def test_registers_in_dram() -> None:
    assert parts("reg-dram")["lines of each CTA on their way"] == 128 * 12  # 0 to 2048 of them


def test_unified_memory_has_tags_for_as_many_entries_as_it_holds() -> None:
    # 278528 bytes are 2176 registers of 128 bytes: 12 bits to name one, 2 flags, 5 and 6 bits
    assert parts("finereg-unified")["tag of each PCRF entry"] == 2176 * (12 + 2 + 5 + 6)
    assert parts("virtual-thread-unified") == parts("virtual-thread")
    without = with_settings(GPU, ("switching.unified_bytes=0",))
    assert storage_of(without, "finereg-unified").items == storage_of(GPU, "finereg").items


def test_bits_that_are_not_known() -> None:
    assert (storage_bits(GPU, "none"), storage_bits(GPU, "unified")) == (0, None)
    assert storage_bits(GPU, "virtual-thread") == 256 + 19661
    assert storage_bits(GPU, "mine.py:Mine") is None


def test_every_scheme_has_parts_in_known_letters() -> None:
    for scheme in SCHEMES:
        storage = storage_of(GPU, scheme)
        assert all(item.bits > 0 for item in storage.items)
        used = {letter for item in storage.items for letter in item.formula if letter.isupper()} - {"K", "B"}
        assert used <= set(LETTERS)


def test_an_unknown_scheme_is_a_diagnostic() -> None:
    with pytest.raises(PtxError) as caught:
        storage_of(GPU, "fine-reg")
    assert "E502" in str(caught.value)
    assert "did you mean 'finereg'" in str(caught.value)
