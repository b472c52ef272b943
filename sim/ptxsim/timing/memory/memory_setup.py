"""The records of the memory system (`memory_state.py`), initialised from a GPU description.

Limits: network and L2 run at the core's clock; one or two slices a channel; the sizes of a machine are powers of two
where the address map needs bits of them.
Reference: timing-model sections 0 and 3.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ptxsim.base.aligned import in_small_pages
from ptxsim.timing.memory.mapping.hashes import POLYNOMIALS, polynomial
from ptxsim.timing.memory.mapping.random_slices import first_words
from ptxsim.timing.memory.memory_state import (
    BANKS,
    FERMI,
    FIFO,
    FOREVER,
    L1,
    LATENCY_RING,
    LINEAR,
    MAX_BANKS,
    MAX_CHANNELS,
    MAX_DATA,
    MAX_ENTRIES,
    MAX_FLITS,
    MAX_LINES,
    MAX_SECTORS,
    MAX_SLICES,
    MAX_SMS,
    MAX_WAITERS,
    MEMORY,
    PIPE,
    POLYNOMIAL,
    POOL,
    RING,
    SECTOR_LINES,
    SECTOR_SETS,
    SECTORS,
    TIMINGS,
    TURNAROUNDS,
    WINDOW,
)
from ptxtool.base.diag import error
from ptxtool.formats.gpu import Gpu
from ptxtool.formats.gpu_parts import Dram

_FERMI_MARGIN = 8192
"""Requests that are left for slices and channels, at least."""
_MOST_PACKETS = 1 << 14
"""Room of an end of a network of packets, at most."""
_POLYNOMIALS = f"there are polynomials for {', '.join(map(str, POLYNOMIALS))}"


def make_l1(gpu: Gpu, n_sms: int) -> Any:
    """An array of `n_sms` empty `L1` records. Raises E502 for a cache larger than the records."""
    caches = in_small_pages(n_sms, L1)
    given = gpu.l1d
    _at_most("l1d.miss_queue", given.miss_queue, RING // 2)
    caches["miss_capacity"] = given.miss_queue
    caches["miss_read_max"] = given.miss_queue_read_max
    _at_most("l1d.latency_cycles", given.latency_cycles, PIPE)
    caches["pipe_cycles"] = given.latency_cycles
    _at_most("l1d.banks", given.banks, BANKS)
    _log2("l1d.banks", given.banks)
    caches["n_banks"], caches["bank_hashed"] = given.banks, given.bank_hash == "xor"
    caches["bank_shift"] = _log2("l1d.bank_bytes", given.bank_bytes)
    caches["replies_per_line"] = -(-given.line_bytes // gpu.l2.sector_bytes)
    if given.sector_bytes < given.line_bytes:
        _set_sectors(caches, gpu)
    caches["flush"] = given.flush_when_empty
    caches["merge_in_queue"] = given.merge_needs_queue
    if given.set_hash == "fermi" and (given.sets, given.line_bytes) != (32, 128):
        message = f"{gpu.name}: l1d.set_hash is 'fermi' for {given.sets} sets of {given.line_bytes} bytes"
        raise error("E502", message, help="this hash is of 32 sets of 128 bytes")
    _set_cache(caches["cache"], "l1d", given)
    return caches


def _set_sectors(caches: Any, gpu: Gpu) -> None:
    """Configure L1s with sectors."""
    given = gpu.l1d
    _at_most("l1d.sets x ways", given.sets * given.ways, SECTOR_LINES)
    _at_most("l1d.sets", given.sets, SECTOR_SETS)
    for wrong, message, help in (
        (
            (given.line_bytes, gpu.l2.sector_bytes) != (128, 32),
            f"l1d.sector_bytes is 32 in lines of {given.line_bytes} bytes",
            "sectors are 32 bytes of lines of 128, in the L2 too: l2.sector_bytes = 32",
        ),
        (given.latency_cycles == 0, "l1d.latency_cycles is 0 with sectors", "give it 1 or more"),
        (
            gpu.ldst.segment_bytes != 32 or gpu.ldst.uncached_segment_bytes != 32,
            "accesses are longer than the sectors of the L1",
            "give ldst.segment_bytes and ldst.uncached_segment_bytes the value 32",
        ),
        (
            given.allocation != "miss" and given.store_miss == "allocate",
            f"l1d.allocation is '{given.allocation}' with l1d.store_miss 'allocate'",
            'a cache in which stores take lines allocates on a miss: l1d.allocation = "miss"',
        ),
    ):
        if wrong:
            raise error("E502", f"{gpu.name}: {message}", help=help)
    caches["sectored"], caches["replies_per_line"] = 1, 1
    caches["keeps_global"], caches["sends"] = given.stores != "local-back", given.stores == "through"
    caches["allocates"] = given.store_miss == "allocate"
    caches["on_fill"] = given.allocation != "miss"
    caches["dirty_percent"] = given.dirty_percent


def make_memory(gpu: Gpu, memory: Any = None) -> Any:
    """An array of one `MEMORY` record, all caches empty: a new one, or this. Raises E502 for a machine that the records
    cannot hold."""
    _check(gpu)
    if memory is None:
        memory = in_small_pages(1, MEMORY)
    m = memory[0]
    icnt, l2, dram = gpu.icnt, gpu.l2, gpu.dram
    m["next"] = FOREVER
    m["n_sms"], m["n_slices"], m["n_channels"] = gpu.sm.count, l2.slices, dram.channels
    m["slices_per_channel"] = dram.slices_per_channel
    m["chunk_shift"] = chunk = _log2("dram.interleave_bytes", dram.interleave_bytes)
    m["slice_shift"] = _log2("dram.slice_bytes", dram.slice_bytes or dram.interleave_bytes)
    m["bank_shift"] = bank = chunk + 1 + _log2("dram.row_bytes", dram.row_bytes // dram.interleave_bytes)
    _set_slices(m, gpu, chunk)
    m["bank_mask"] = dram.banks // 2 - 1
    m["bank_hashed"] = dram.bank_hash == "xor"
    m["row_shift"] = bank + _log2("dram.banks", dram.banks) - 1
    m["flits"] = [min(255, _flits(gpu, size)) for size in range(MAX_DATA + 1)]
    # a network of flits has the cycle between ROP delay and tags in its own delay
    m["rop_cycles"] = l2.rop_cycles + (icnt.kind == "packets")
    m["port_shift"] = _log2("l2.port_bytes", l2.port_bytes)
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
    # a window of all reads is one of all writes
    m["window"] = dram.reorder_window if dram.reorder_window < dram.scheduler_queue else WINDOW
    m["banks"] = dram.banks
    per_group = _log2("dram.banks / bank_groups", dram.banks // dram.bank_groups)
    m["group_shift"] = per_group if dram.bank_group_bits == "high" else 0
    m["group_mask"] = dram.bank_groups - 1
    for bank in range(dram.banks):
        m["group_banks"][bank >> m["group_shift"] & m["group_mask"]] |= 1 << bank
    m["ring_mask"] = (1 << int(m["credits"]).bit_length()) - 1
    m["row_with_column"] = dram.row_with_column
    m["two_buses"] = dram.row_bus == "own"
    m["group_wait"] = dram.read_to_precharge == "group"
    m["choice_in_turn"] = dram.bank_choice == "in-turn"
    m["atom_shift"] = _log2("dram.atom_bytes", dram.atom_bytes)
    for name in TIMINGS + TURNAROUNDS:
        m[name] = getattr(dram, name)
    m["slice_next"] = m["channel_next"] = m["dram_next"] = FOREVER
    m["margin"] = margin = max(_FERMI_MARGIN, _between_l2_and_dram(gpu))
    m["sector_margin"] = 2 * margin
    m["pool"] = m["n_free"] = min(POOL, 8 * margin)
    m["port_sms_shift"] = _log2("icnt.sms_per_port", icnt.sms_per_port)
    ports = gpu.sm.count // icnt.sms_per_port
    _set_network(m["requests"], gpu, ports, l2.slices, 0)
    _set_network(m["replies"], gpu, l2.slices, ports, 1)
    for name in ("next", "return_due", "entry_due", "unripe_next"):
        m["channel"][name] = FOREVER
    m["channel"]["bank"]["row"] = -1
    _set_cache(m["slice"][: l2.slices]["cache"], "l2", l2)
    return memory


def _set_slices(m: Any, gpu: Gpu, chunk: int) -> None:
    """How a `MEMORY` record finds the slice of an address, in chunks of 2**chunk bytes."""
    if gpu.dram.slice_hash == "polynomial":
        hashed = hashed_slices(gpu.dram)
        m["slice_bits"] = bits = hashed.bit_length() - 1
        m["hash_shift"] = chunk + bits if hashed == gpu.l2.slices else -1
        m["slice_poly"][:bits] = polynomial(hashed)
    elif gpu.dram.slice_hash == "random":
        m["scatter_shift"] = chunk + 1 - gpu.dram.slices_per_channel
        m["random_word"] = first_words()


def hashed_slices(dram: Dram) -> int:
    """Slices that a hash tells apart: those of a power of two of channels."""
    return dram.slices_per_channel << (dram.channels - 1).bit_length()


def _set_cache(cache: Any, name: str, given: Any) -> None:
    """Configure an array of empty `CACHE` records as the GPU file's table `name` says."""
    _at_most(f"{name}.sets x ways", given.sets * given.ways, MAX_LINES)
    _at_most(f"{name}.mshr_entries", given.mshr_entries, MAX_ENTRIES)
    _at_most(f"{name}.mshr_waiters", given.mshr_waiters, MAX_WAITERS)
    cache["sets"], cache["ways"], cache["line_bytes"] = given.sets, given.ways, given.line_bytes
    cache["line_shift"] = _log2(f"{name}.line_bytes", given.line_bytes)
    cache["set_mask"] = -1 if given.sets & (given.sets - 1) else given.sets - 1
    cache["set_bits"] = bits = given.sets.bit_length() - 1
    cache["hashed"] = {"linear": LINEAR, "fermi": FERMI}.get(given.set_hash, POLYNOMIAL)
    if given.set_hash == "polynomial":
        if given.sets not in POLYNOMIALS:
            raise error("E502", f"'{name}.set_hash' is 'polynomial' for {given.sets} sets", help=_POLYNOMIALS)
        cache["set_poly"][..., :bits] = polynomial(given.sets)
    elif given.set_hash == "xor":
        cache["set_poly"][..., :bits] = 1 << np.arange(bits)
    cache["max_waiters"] = given.mshr_waiters
    cache["n_free"] = given.mshr_entries
    cache["free"] = np.arange(MAX_ENTRIES)
    cache["tag"][..., : given.sets * given.ways] = -1


def _set_network(network: Any, gpu: Gpu, n_in: int, n_out: int, is_reply: int) -> None:
    icnt = gpu.icnt
    network["n_in"], network["n_out"], network["is_reply"] = n_in, n_out, is_reply
    network["words"] = -(-max(n_in, n_out) // 64)
    network["next"] = network["asking"] = network["out_due"] = FOREVER
    if icnt.kind == "packets":
        network["of_packets"], network["longest"] = 1, 1
        network["in_turn"] = icnt.arbiter == "inputs-in-turn"
        network["n_nodes"], network["first_node"] = n_in + n_out, n_out if is_reply else 0
        network["input_flits"] = icnt.input_packets + (gpu.l2.reply_queue if is_reply else 0)
        network["output_packets"] = icnt.output_packets + (icnt.response_fifo if is_reply else 0)
        network["unloaded"] = (
            0 if is_reply else 1
        )  # a slice takes packets before the crossbar moves, an SM after it
        return
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


def _flits(gpu: Gpu, size: int) -> int:
    """Flits of a packet with `size` bytes of data and its header; 1 where the network counts packets."""
    if gpu.icnt.kind == "packets":
        return 1
    return -(-(size + gpu.icnt.header_bytes) // gpu.icnt.flit_bytes)


def _reply_bytes(gpu: Gpu) -> int:
    """Bytes of the longest reply: a line or a sector."""
    return min(gpu.l2.line_bytes, gpu.l2.sector_bytes)


def _in_dram(dram: Dram) -> int:
    """Requests that a channel has room for."""
    return dram.scheduler_queue + dram.write_queue + dram.return_queue


def _between_l2_and_dram(gpu: Gpu) -> int:
    """Requests that slices and channels have room for."""
    l2, dram = gpu.l2, gpu.dram
    own = l2.slices * (l2.miss_queue + l2.dram_queue + l2.fill_queue)
    return own + dram.channels * (dram.slices_per_channel + _in_dram(dram))


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
    if icnt.kind == "flits":
        reply = _flits(gpu, _reply_bytes(gpu))
        before = icnt.injection_queue_flits + icnt.buffer_flits + l2.reply_queue * reply
        _at_most("icnt flits before the crossbar", before, FIFO)
        _at_most("icnt packets after the crossbar", icnt.buffer_flits + icnt.response_fifo, FIFO)
        _at_most("icnt flits of a line", _flits(gpu, l2.line_bytes), MAX_FLITS - 1)
    else:
        _at_most("icnt.input_packets", icnt.input_packets, _MOST_PACKETS)
        _at_most("icnt.output_packets", icnt.output_packets, _MOST_PACKETS)
    _at_most("requests between L2 and DRAM", _between_l2_and_dram(gpu), POOL // 8)
    for name in ("miss_queue", "icnt_queue", "dram_queue", "fill_queue"):
        _at_most(f"l2.{name}", getattr(l2, name), RING)
    if l2.sector_bytes < l2.line_bytes:
        _at_most("l2.sets x ways", l2.sets * l2.ways, MAX_SECTORS // SECTORS)


def _limits(gpu: Gpu) -> Iterator[tuple[bool, str, str]]:
    """What the model cannot be: whether the machine is so, the message, and the advice."""
    clocks, l1d, l2, dram = gpu.clocks, gpu.l1d, gpu.l2, gpu.dram
    yield (
        not clocks.core_mhz == clocks.icnt_mhz == clocks.l2_mhz,
        "the clocks of core, network and L2 differ",
        "give clocks.icnt_mhz and clocks.l2_mhz the value of clocks.core_mhz",
    )
    yield (
        gpu.sm.count % gpu.icnt.sms_per_port > 0,
        f"{gpu.sm.count} SMs at ports for {gpu.icnt.sms_per_port} each",
        "give sm.count a multiple of icnt.sms_per_port, which is a power of two",
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
        l1d.line_bytes < 32,
        f"l1d.line_bytes is {l1d.line_bytes}",
        "give it 32 or more: no access is shorter",
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
    yield (
        dram.slice_bytes > dram.interleave_bytes,
        f"dram.slice_bytes is {dram.slice_bytes} in chunks of {dram.interleave_bytes} bytes",
        "give it dram.interleave_bytes or less",
    )
    yield (
        dram.slice_hash == "polynomial" and hashed_slices(dram) not in POLYNOMIALS,
        f"dram.slice_hash is 'polynomial' for {l2.slices} slices",
        _POLYNOMIALS + ", with channels rounded up to a power of two",
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
