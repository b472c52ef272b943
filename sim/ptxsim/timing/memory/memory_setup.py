"""The records of the memory system (`memory_state.py`), initialised from a GPU description.

Limits: network and L2 run at the core's clock; one or two slices a channel; the sizes of a machine are powers of two
where the address map needs bits of them.
Reference: timing-model sections 0 and 3.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ptxsim.timing.memory.memory_state import (
    FIFO,
    FOREVER,
    L1,
    LATENCY_RING,
    MAX_BANKS,
    MAX_CHANNELS,
    MAX_DATA,
    MAX_ENTRIES,
    MAX_FLITS,
    MAX_LINES,
    MAX_SLICES,
    MAX_SMS,
    MAX_WAITERS,
    MEMORY,
    PIPE,
    POOL,
    POOL_MARGIN,
    RING,
    SECTORS,
    TIMINGS,
    TURNAROUNDS,
    WINDOW,
)
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Dram


def make_l1(gpu: Gpu, n_sms: int) -> Any:
    """An array of `n_sms` empty `L1` records. Raises E502 for a cache larger than the records."""
    caches = np.zeros(n_sms, L1)
    given = gpu.l1d
    _at_most("l1d.miss_queue", given.miss_queue, RING // 2)
    caches["miss_capacity"] = given.miss_queue
    caches["miss_read_max"] = given.miss_queue_read_max
    _at_most("l1d.latency_cycles", given.latency_cycles, PIPE)
    caches["pipe_cycles"] = given.latency_cycles
    caches["replies_per_line"] = -(-given.line_bytes // gpu.l2.sector_bytes)
    caches["flush"] = given.flush_when_empty
    caches["merge_in_queue"] = given.merge_needs_queue
    caches["cache"]["hashed"] = given.set_hash == "fermi"
    if given.set_hash == "fermi" and (given.sets, given.line_bytes) != (32, 128):
        message = f"{gpu.name}: l1d.set_hash is 'fermi' for {given.sets} sets of {given.line_bytes} bytes"
        raise error("E502", message, help="this hash is of 32 sets of 128 bytes")
    _set_cache(caches["cache"], "l1d", given)
    return caches


def make_memory(gpu: Gpu) -> Any:
    """An array of one `MEMORY` record, all caches empty. Raises E502 for a machine that the records cannot hold."""
    _check(gpu)
    memory = np.zeros(1, MEMORY)
    m = memory[0]
    icnt, l2, dram = gpu.icnt, gpu.l2, gpu.dram
    m["next"] = FOREVER
    m["n_sms"], m["n_slices"], m["n_channels"] = gpu.sm.count, l2.slices, dram.channels
    m["slices_per_channel"] = dram.slices_per_channel
    m["chunk_shift"] = chunk = _log2("dram.interleave_bytes", dram.interleave_bytes)
    m["bank_shift"] = bank = chunk + 1 + _log2("dram.row_bytes", dram.row_bytes // dram.interleave_bytes)
    m["bank_mask"] = dram.banks // 2 - 1
    m["row_shift"] = bank + _log2("dram.banks", dram.banks) - 1
    m["flits"] = np.minimum(255, -(-(icnt.header_bytes + np.arange(MAX_DATA + 1)) // icnt.flit_bytes))
    m["rop_cycles"], m["port_shift"] = l2.rop_cycles, _log2("l2.port_bytes", l2.port_bytes)
    m["miss_read_max"], m["miss_write_max"] = l2.miss_queue_read_max, l2.miss_queue_write_max
    m["sector_bytes"] = l2.sector_bytes if l2.sector_bytes < l2.line_bytes else 0
    m["constant_quirk"] = l2.constant_line_quirk
    m["quirk"] = l2.upper_half_store_quirk
    m["icnt_capacity"], m["dram_capacity"] = l2.icnt_queue - l2.icnt_queue_free + 1, l2.dram_queue
    m["fill_capacity"] = l2.fill_queue
    m["core_mhz"], m["dram_mhz"] = gpu.clocks.core_mhz, gpu.clocks.dram_mhz
    m["fixed_cycles"], m["return_cycles"] = dram.fixed_cycles, dram.return_cycles
    # one private credit a slice and those that all slices of the channel share
    m["credits"] = dram.slices_per_channel + _in_dram(dram) - 1
    m["queue_capacity"] = dram.scheduler_queue, dram.write_queue
    m["write_high"], m["write_low"] = dram.write_queue_high, dram.write_queue_low
    m["window"] = dram.reorder_window
    m["banks"] = dram.banks
    per_group = _log2("dram.banks / bank_groups", dram.banks // dram.bank_groups)
    m["group_shift"] = per_group if dram.bank_group_bits == "high" else 0
    m["group_mask"] = dram.bank_groups - 1
    for bank in range(dram.banks):
        m["group_banks"][bank >> m["group_shift"] & m["group_mask"]] |= 1 << bank
    m["ring_mask"] = (1 << int(m["credits"]).bit_length()) - 1
    m["row_with_column"] = dram.row_with_column
    m["atom_shift"] = _log2("dram.atom_bytes", dram.atom_bytes)
    for name in TIMINGS + TURNAROUNDS:
        m[name] = getattr(dram, name)
    m["slice_next"] = m["channel_next"] = m["dram_next"] = FOREVER
    m["n_free"] = POOL
    m["free"] = np.arange(POOL - 1, -1, -1)
    _set_network(m["requests"], gpu, gpu.sm.count, l2.slices, 0)
    _set_network(m["replies"], gpu, l2.slices, gpu.sm.count, 1)
    for name in ("next", "return_due", "entry_due", "unripe_next"):
        m["channel"][name] = FOREVER
    m["channel"]["bank"]["row"] = -1
    _set_cache(m["slice"][: l2.slices]["cache"], "l2", l2)
    return memory


def _set_cache(cache: Any, name: str, given: Any) -> None:
    """Configure an array of empty `CACHE` records as the GPU file's table `name` says."""
    _at_most(f"{name}.sets x ways", given.sets * given.ways, MAX_LINES)
    _at_most(f"{name}.mshr_entries", given.mshr_entries, MAX_ENTRIES)
    _at_most(f"{name}.mshr_waiters", given.mshr_waiters, MAX_WAITERS)
    cache["sets"], cache["ways"], cache["line_bytes"] = given.sets, given.ways, given.line_bytes
    cache["line_shift"] = _log2(f"{name}.line_bytes", given.line_bytes)
    cache["set_mask"] = -1 if given.sets & (given.sets - 1) else given.sets - 1
    cache["max_waiters"] = given.mshr_waiters
    cache["n_free"] = given.mshr_entries
    cache["free"] = np.arange(MAX_ENTRIES)
    cache["tag"][..., : given.sets * given.ways] = -1


def _set_network(network: Any, gpu: Gpu, n_in: int, n_out: int, is_reply: int) -> None:
    icnt = gpu.icnt
    network["n_in"], network["n_out"], network["is_reply"] = n_in, n_out, is_reply
    network["words"] = -(-max(n_in, n_out) // 64)
    # the queues before the crossbar are one FIFO: injection queue, router buffer, and the reply queue of a slice
    network["longest"] = longest = _flits(gpu, _reply_bytes(gpu) if is_reply else gpu.l2.line_bytes)
    network["input_flits"] = icnt.injection_queue_flits + icnt.buffer_flits
    if is_reply:
        network["input_flits"] += gpu.l2.reply_queue * longest
    if not icnt.head_of_line:  # one FIFO per output, with room for the packets of all inputs
        network["by_output"], network["n_in"] = 1, n_out
        network["input_flits"] = min(network["input_flits"], FIFO // n_in)
        _at_most("icnt inputs without head-of-line blocking", n_in, FIFO // longest)
    network["output_packets"] = icnt.buffer_flits + (icnt.response_fifo if is_reply else 0)
    network["gap"] = icnt.packet_gap_cycles
    last = len(icnt.unloaded_cycles) - 1
    for flits in range(1, MAX_FLITS):
        extra = max(0, flits - 1 - last)  # beyond the longest packet measured: one cycle per flit
        network["unloaded"][flits] = icnt.unloaded_cycles[min(flits - 1, last)] + extra
    network["next"] = network["asking"] = FOREVER
    network["out_due"] = FOREVER


def _flits(gpu: Gpu, size: int) -> int:
    """Flits of a packet with `size` bytes of data and its header."""
    return -(-(size + gpu.icnt.header_bytes) // gpu.icnt.flit_bytes)


def _reply_bytes(gpu: Gpu) -> int:
    """Bytes of the longest reply: a line or a sector."""
    return min(gpu.l2.line_bytes, gpu.l2.sector_bytes)


def _in_dram(dram: Dram) -> int:
    """Requests that a channel has room for."""
    return dram.scheduler_queue + dram.write_queue + dram.return_queue


def _check(gpu: Gpu) -> None:
    """Raise E502 where the records or the model cannot hold a machine."""
    for wrong, message, help in _limits(gpu):
        if wrong:
            raise error("E502", f"{gpu.name}: {message}", help=help)
    l2, dram, icnt = gpu.l2, gpu.dram, gpu.icnt
    _at_most("l2.line_bytes", l2.line_bytes, MAX_DATA)
    _at_most("sm.count", gpu.sm.count, MAX_SMS)
    _at_most("l2.slices", l2.slices, MAX_SLICES)
    _at_most("dram.channels", dram.channels, MAX_CHANNELS)
    _at_most("dram.banks", dram.banks, MAX_BANKS)
    _at_most("dram.scheduler_queue", dram.scheduler_queue, WINDOW)
    _at_most("dram.write_queue", dram.write_queue, WINDOW)
    _at_most("dram.scheduler_queue + write_queue + return_queue", _in_dram(dram), LATENCY_RING - 2)
    if l2.icnt_queue_free > l2.icnt_queue:
        message = f"{gpu.name}: l2.icnt_queue_free is above l2.icnt_queue"
        raise error("E502", message, help="give it a smaller one")
    before = icnt.injection_queue_flits + icnt.buffer_flits + l2.reply_queue * _flits(gpu, _reply_bytes(gpu))
    _at_most("icnt flits before the crossbar", before, FIFO)
    _at_most("icnt packets after the crossbar", icnt.buffer_flits + icnt.response_fifo, FIFO)
    _at_most("icnt flits of a line", _flits(gpu, l2.line_bytes), MAX_FLITS - 1)
    own = l2.slices * (l2.miss_queue + l2.dram_queue + l2.fill_queue)
    own += dram.channels * (dram.slices_per_channel + _in_dram(dram))
    _at_most("requests between L2 and DRAM", own, POOL_MARGIN)
    for name in ("miss_queue", "icnt_queue", "dram_queue", "fill_queue"):
        _at_most(f"l2.{name}", getattr(l2, name), RING)
    if l2.sector_bytes < l2.line_bytes:
        _at_most("l2.sets x ways", l2.sets * l2.ways, MAX_LINES // SECTORS)


def _limits(gpu: Gpu) -> Iterator[tuple[bool, str, str]]:
    """What the model cannot be: whether the machine is so, the message, and the advice."""
    clocks, l1d, l2, dram = gpu.clocks, gpu.l1d, gpu.l2, gpu.dram
    yield (
        not clocks.core_mhz == clocks.icnt_mhz == clocks.l2_mhz,
        "the clocks of core, network and L2 differ",
        "give clocks.icnt_mhz and clocks.l2_mhz the value of clocks.core_mhz",
    )
    yield (
        dram.slices_per_channel not in (1, 2) or l2.slices != dram.channels * dram.slices_per_channel,
        f"{l2.slices} L2 slices on {dram.channels} channels of {dram.slices_per_channel} slices",
        "a channel has one or two slices: l2.slices = dram.channels x dram.slices_per_channel",
    )
    sectored = l2.sector_bytes < l2.line_bytes
    yield (
        sectored != (l2.store_miss == "allocate"),
        f"l2.store_miss is '{l2.store_miss}' with sectors of {l2.sector_bytes} bytes",
        "caches of lines fetch on a store miss, caches of sectors allocate: sector_bytes = 32",
    )
    yield (
        sectored and (l2.line_bytes, l2.sector_bytes) != (128, 32),
        f"l2.sector_bytes is {l2.sector_bytes} in lines of {l2.line_bytes} bytes",
        "sectors are 32 bytes of lines of 128",
    )
    yield (
        gpu.ldst.uncached_segment_bytes > l2.sector_bytes,
        "ldst.uncached_segment_bytes is above l2.sector_bytes",
        "what passes the L1 by goes by sectors: uncached_segment_bytes = 32",
    )
    # a read miss queues the read and a write-back; a write miss the write-back, and without sectors also the line read
    # and the store itself
    store = 1 if sectored else 3
    yield (
        l2.miss_queue_read_max + 2 > l2.miss_queue or l2.miss_queue_write_max + store > l2.miss_queue,
        f"an l2.miss_queue of {l2.miss_queue} is too short",
        f"it needs 2 places more than miss_queue_read_max and {store} more than miss_queue_write_max",
    )
    longest = _flits(gpu, l2.line_bytes)
    yield (
        longest > gpu.icnt.injection_queue_flits,
        f"a line of {longest} flits does not fit icnt.injection_queue_flits",
        f"give it {longest} or more",
    )
    yield (
        not dram.write_queue_low <= dram.write_queue_high <= dram.write_queue,
        f"dram.write_queue of {dram.write_queue} with marks {dram.write_queue_high} and {dram.write_queue_low}",
        "write_queue_low <= write_queue_high <= write_queue; all 0: writes wait where reads do",
    )
    yield (
        dram.write_queue > 0 and dram.write_queue_low < 1,
        "dram.write_queue_low is 0",
        "give it 1 or more: writes are served until fewer wait",
    )
    yield dram.banks < 2, f"dram.banks is {dram.banks}", "give it 2 or more, a power of two"
    yield (
        l1d.miss_queue_read_max + 2 > l1d.miss_queue,
        f"an l1d.miss_queue of {l1d.miss_queue} is too short",
        "a load miss may leave a read and a write-back: it needs 2 places more than miss_queue_read_max",
    )
    for name in ("fetch", "l1c", "l1d"):
        line_bytes = getattr(gpu, name).line_bytes
        _log2(f"{name}.line_bytes", line_bytes)
        yield (
            line_bytes > l2.line_bytes,
            f"{name}.line_bytes is {line_bytes}, l2.line_bytes {l2.line_bytes}",
            "a line of the L2 has to hold one of the caches before it",
        )


def _at_most(key: str, value: int, limit: int) -> None:
    if value > limit:
        raise error("E502", f"'{key}' is {value}", help=f"the simulator holds at most {limit}")


def _log2(key: str, value: int) -> int:
    if value < 1 or value & (value - 1):
        raise error(
            "E502", f"'{key}' gives {value}, no power of two", help="the address map needs powers of two"
        )
    return value.bit_length() - 1
