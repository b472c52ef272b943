"""Machines with parts of Volta's memory system, as settings over GPGPU-Sim 4.2's Fermi."""

from functools import cache

from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings

COALESCED = ["ldst.segment_bytes=32", 'ldst.vectors="first-element"']
SECTORS = [
    *COALESCED,
    "l1d.latency_cycles=20",
    "l1d.sector_bytes=32",
    "l1d.sets=4",
    "l1d.ways=64",
    'l1d.set_hash="linear"',
    'l1d.stores="through"',
    'l1d.store_miss="allocate"',
    "l1d.dirty_percent=25",
    "l1d.mshr_entries=512",
    "l1d.miss_queue=16",
    "l1d.miss_queue_read_max=14",
    "l1d.merge_needs_queue=true",
]
"""An L1 of 32 KB with sectors, and stores that are written through."""
BANKED = [*SECTORS, "l1d.banks=4"]
SIXTEEN = ["l2.slices=16", "dram.channels=8", "dram.row_bytes=2048"]
"""Slices of QV100q; chunks are of 256 bytes, with 16 banks."""
HASHED = [*SIXTEEN, 'dram.slice_hash="polynomial"']
PACKETS = ['icnt.kind="packets"', "icnt.response_fifo=32"]
L2 = ["l2.sets=32", "l2.ways=24", 'l2.set_hash="polynomial"', "l2.mshr_entries=192", "l2.miss_queue=32"]
L2 += ["l2.miss_queue_read_max=30", "l2.miss_queue_write_max=31", "l2.rop_cycles=160"]
DRAM = ["dram.atom_bytes=32", 'dram.row_bus="own"', "dram.return_queue=192"]
DRAM += ["dram.tCCD=1", "dram.tCCDL=2", "dram.tRRD=3", "dram.WL=2", "dram.tBURST=1"]
DRAM += ["dram.tRTPL=3", "dram.tRCDWR=9", "dram.tRTW=13", "dram.tWTR=6", "dram.tWTP=13"]
ORDER = ['dram.bank_choice="in-turn"', 'dram.read_to_precharge="group"']
ALL = [*BANKED, *HASHED, *PACKETS, *L2, *DRAM, *ORDER]


@cache
def machine(*settings: str) -> Gpu:
    """GPGPU-Sim 4.2's Fermi with these settings."""
    return with_settings(load_gpu("gpgpusim42-c2050"), list(settings))
