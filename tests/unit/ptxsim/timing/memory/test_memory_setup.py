"""Records of the memory system: what a GPU description puts into them, and descriptions that they cannot hold."""

from typing import Any

import pytest
from memory_machine import GPU
from msgspec.structs import replace

from ptxsim.timing.memory.memory_setup import make_l1, make_memory
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings


@pytest.mark.parametrize(
    ("part", "changes", "words"),
    [
        ("l2", {"slices": 10}, "10 L2 slices"),
        ("l2", {"sets": 2048}, "l2.sets x ways"),
        ("l2", {"miss_queue": 3}, "l2.miss_queue"),
        ("dram", {"interleave_bytes": 192}, "dram.interleave_bytes"),
        ("clocks", {"l2_mhz": 1000}, "clocks"),
        ("icnt", {"injection_queue_flits": 3}, "injection_queue_flits"),
    ],
)
def test_machines_that_cannot_be_held_are_refused(part: str, changes: dict[str, Any], words: str) -> None:
    gpu = replace(GPU, **{part: replace(getattr(GPU, part), **changes)})
    with pytest.raises(PtxError) as refused:
        make_memory(gpu)
    assert refused.value.diagnostics[0].code == "E502"
    assert words in refused.value.diagnostics[0].message


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["l1d.miss_queue=33"], "l1d.miss_queue"),  # half of a ring of 64
        (["l1d.latency_cycles=129"], "l1d.latency_cycles"),
        (["l1d.set_hash='fermi'", "l1d.sets=64"], "64 sets of 128 bytes"),
        (["l1d.mshr_waiters=65"], "l1d.mshr_waiters"),
    ],
)
def test_an_l1_that_cannot_be_held_is_refused(settings: list[str], words: str) -> None:
    with pytest.raises(PtxError, match=f"E502.*{words}"):
        make_l1(with_settings(GPU, settings), 1)


def test_flits_of_a_packet_include_its_header() -> None:
    # 8 bytes of header, 32 a flit: 24 bytes of data fit into the first one
    flits = make_memory(GPU)[0]["flits"]
    assert [int(flits[size]) for size in (0, 24, 25, 56, 57, 128)] == [1, 1, 2, 2, 3, 5]


def test_banks_of_a_group_by_high_or_low_bits() -> None:
    # 16 banks in 2 groups: 0 to 7 and 8 to 15, or the even ones and the odd ones
    groups = [
        make_memory(with_settings(GPU, [f'dram.bank_group_bits="{bits}"']))[0]["group_banks"][:2].tolist()
        for bits in ("high", "low")
    ]
    assert groups == [[0x00FF, 0xFF00], [0x5555, 0xAAAA]]


def test_a_new_memory_is_empty() -> None:
    m = make_memory(load_gpu("gpgpusim42-c2050"))[0]
    assert int(m["n_free"]) == int(m["pool"]) == 65536
    assert not m["free"].any()  # each place holds its first request
    assert (m["channel"]["bank"]["row"] == -1).all()
    assert not m["slice"]["cache"]["state"].any()
