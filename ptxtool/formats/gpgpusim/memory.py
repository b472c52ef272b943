"""GPGPU-Sim's options of caches, network and DRAM. For `machine.py`.

Limits: the address map is that of the base machine with other sizes, and so is a network of flits; an L1 allocates on
a miss.
Reference: docs/gpgpusim.md; timing-model sections 0 and 3, timing-model-42 section 3.
"""

from collections.abc import Mapping

from ptxtool.formats.files import is_file
from ptxtool.formats.gpgpusim import values
from ptxtool.formats.gpgpusim.given import Given
from ptxtool.formats.gpgpusim.text import Setting, read_network

MOST_READONLY_LINES = 1024
"""Lines of an instruction, constant or texture cache that the simulator holds."""
MOST_FRAGMENTS, MOST_RESULTS = 512, 16
"""Places of a texture cache's queues that it holds."""
MOST_MERGES, MOST_MISSES = 64, 512
"""Merged misses of a line of the L1 or L2, and MSHRs, that the simulator holds."""
_STREAMING_MSHRS = 4
"""MSHRs of a streaming L1 for each of its sectors: it may grow to so many times its size."""
MOST_BUFFER_FLITS = 128
"""Flits of a network buffer that it holds, whatever else lies before the crossbar."""
MOST_WRITES = 128
"""Places of a DRAM channel's write queue that it holds."""
_UNLIMITED = 64  # places of a DRAM queue without a limit: more never wait there
_POLICIES = ("replacement", "write policy", "allocation", "write allocation")
_LINEAR = "the set is bits of the address"
_POLYNOMIALS = (16, 32, 64)  # sets or slices for which GPGPU-Sim has one
_SECTOR_BYTES = 32
_SECTOR_ARCH = 40  # compute capability from which accesses are coalesced by sectors
_KEPLER_END = 39  # below it, Kepler's are as Fermi's
_STORES = {"L": "local-back", "B": "back", "T": "through"}
_SPEEDUPS = {  # internal speedup -> delays of packets, gap after a packet, input speedup: timing-model 3.4, TM42 3.4
    1.0: ([7, 8, 9, 10, 11], 1, "2"),
    2.0: ([6, 7, 8, 9], 0, "1"),
}


def read_memory(given: Given) -> None:
    """Caches, network and DRAM."""
    perfect = given.is_on("gpgpu_perfect_inst_const_cache")
    for name, table in (("gpgpu_cache:il1", "fetch"), ("gpgpu_const_cache:l1", "l1c")):
        given.put(f"{table}.perfect", perfect, "gpgpu_perfect_inst_const_cache")
        if perfect:  # whatever its size
            continue
        found = _cache(given, name, table, "L R f N")
        _misses(given, name, table, found)
        _lines(given, name, table, found)
    _l1t(given)
    _l1d(given)
    _l2(given)
    _dram(given)
    _dram_timing(given)
    _address_map(given)
    _network(given)


def _cache(given: Given, name: str, table: str, policies: str) -> values.Cache:
    """Sizes of a cache into a table; `policies` is what the simulator has, in the order of the letters."""
    setting = given.need(name)
    found = values.cache(setting)
    given.put_all(table, name, sets=found.sets, ways=found.ways, line_bytes=found.line_bytes)
    has = (found.replacement, found.write, found.allocation, found.write_allocation)
    for letter, known, what in zip(has, policies.split(), _POLICIES, strict=True):
        if letter and letter not in known:
            given.differs(setting, f"it is '{known[0]}'", f"{what} '{letter}'")
    return found


def _misses(given: Given, name: str, table: str, found: values.Cache, most_merges: int | None = None) -> None:
    """Where misses wait, with no more merged ones than `most_merges`."""
    for key in ("miss_queue", "mshr_entries", "mshr_waiters"):
        given.put(f"{table}.{key}", getattr(found, key), name)
    if most_merges is not None and found.mshr_waiters > most_merges:
        given.put(f"{table}.mshr_waiters", most_merges, name)
        given.differs(given.need(name), f"it is {most_merges}", f"a merge limit of {found.mshr_waiters}")


def _lines(given: Given, name: str, table: str, found: values.Cache) -> None:
    """No more lines than the simulator holds."""
    lines = found.sets * found.ways
    if lines > MOST_READONLY_LINES >= found.ways:
        sets = MOST_READONLY_LINES // found.ways
        given.put(f"{table}.sets", sets, name)
        given.differs(given.need(name), f"it has {sets} sets", f"a cache of {lines} lines")


def _l1t(given: Given) -> None:
    name = "gpgpu_tex_cache:l1"
    setting, found = given.need(name), _cache(given, name, "l1t", "L R m N")
    _lines(given, name, "l1t", found)
    if found.results is None:
        shape = "a texture cache ends with F:FRAGMENTS:REQUESTS,REORDER:RESULTS, such as F:128:4,128:2"
        raise setting.wrong(shape, "has no result FIFO")
    for key, what, size, most in (
        ("fragment_fifo", "fragment FIFO", found.mshr_entries, MOST_FRAGMENTS),
        ("request_fifo", "request FIFO", found.mshr_waiters, MOST_FRAGMENTS),
        ("result_fifo", "result FIFO", found.results, MOST_RESULTS),
    ):
        given.put(f"l1t.{key}", min(size, most), name)
        if size > most:
            given.differs(setting, f"it is {most}", f"a {what} of {size}")
    given.put("l1t.reorder_buffer", found.miss_queue, name)


def _l1d(given: Given) -> None:
    name = "gpgpu_cache:dl1"
    rules = given.need("gpgpu_coalesce_arch")
    skips = given.is_on("gpgpu_gmem_skip_L1D")
    by_sectors = values.whole(rules) >= _SECTOR_ARCH
    # what passes the L1 by is coalesced by sectors from Fermi on, and local memory as global memory is
    short = by_sectors or (skips and values.whole(rules) != 13)
    sectored = values.cache(given.need(name)).is_sectored and short
    setting, found = given.need(name), _cache(given, name, "l1d", "L LTB mfs NL" if sectored else "L L m N")
    _misses(given, name, "l1d", found, MOST_MERGES)
    _set_hash(given, "l1d", setting, found)
    if sectored:
        _sectors(given, name, found)
    elif found.is_sectored:
        worth = "where a warp uses less than the line"
        given.differs(setting, "a miss brings the whole line", "a sectored L1", worth)
    if given.version == 4:
        _banks(given)
    given.put("l1d.miss_queue_read_max", max(1, found.miss_queue - 2), name)
    given.put("l1d.bypass", ["cg", "global"] if skips else ["cg"], "gpgpu_gmem_skip_L1D")
    given.put("l1d.latency_cycles", 0)
    given.take("l1d.latency_cycles", "gpgpu_l1_latency")
    given.take("ldst.shared_pipe_cycles", "gpgpu_smem_latency")
    given.put("l1d.flush_when_empty", given.is_on("gpgpu_flush_l1_cache"), "gpgpu_flush_l1_cache")
    given.put("ldst.uncached_segment_bytes", 128 if values.whole(rules) == 13 else 32, rules.name)
    given.put("ldst.segment_bytes", 32 if short else 128, rules.name)
    given.put("ldst.vectors", "first-element" if by_sectors else "whole", rules.name)
    if not by_sectors and values.whole(rules) != 13 and not 20 <= values.whole(rules) < _KEPLER_END:
        given.differs(rules, "accesses are coalesced as with 20")


def _set_hash(given: Given, table: str, setting: Setting, found: values.Cache) -> None:
    """The function of a cache's set index."""
    known = {"": "linear", "L": "linear", "X": "xor"}
    if table == "l1d":
        known["H"] = "fermi"
    if found.sets in _POLYNOMIALS:
        known["P"] = "polynomial"
    given.put(f"{table}.set_hash", known.get(found.set_index, "linear"), setting.name)
    if found.set_index not in known:
        given.differs(setting, _LINEAR, f"set index function '{found.set_index}'")


def _sectors(given: Given, name: str, found: values.Cache) -> None:
    """An L1 with sectors: its policies, and its share of the memory that it has in common with shared memory."""
    given.put_all(
        "l1d",
        name,
        sector_bytes=32,
        stores=_STORES.get(found.write, "local-back"),
        store_miss="allocate" if found.write_allocation == "L" else "pass",
    )
    given.take("l1d.dirty_percent", "gpgpu_l1_cache_write_ratio")
    _allocation(given, name, found)
    if given.is_on("gpgpu_adaptive_cache_config"):
        _adaptive(given, name, found)


def _allocation(given: Given, name: str, found: values.Cache) -> None:
    """When a line gets its place; the MSHRs of a streaming cache, each of which takes an access of every warp."""
    if found.allocation in ("f", "s") and (found.write_allocation == "L" or found.write == "B"):
        advice = "write 'm': GPGPU-Sim refuses a cache that allocates on a fill and writes back, or allocates on stores"
        raise given.need(name).wrong(advice)
    given.put("l1d.allocation", {"f": "fill", "s": "streaming"}.get(found.allocation, "miss"), name)
    if found.allocation != "s":
        return
    sectors = found.sets * found.ways * found.line_bytes // _SECTOR_BYTES
    wanted = _STREAMING_MSHRS * sectors
    held = min(wanted, MOST_MISSES)
    given.put_all("l1d", name, mshr_entries=held, mshr_waiters=MOST_MERGES)
    if held < wanted:
        worth = f"where an SM waits for more than {held} sectors"
        given.differs(given.need(name), f"it has {held}", f"a streaming L1 of {wanted} MSHRs", worth)


def _adaptive(given: Given, name: str, found: values.Cache) -> None:
    """The memory that the L1 and shared memory divide. Until GPGPU-Sim 4.0, which has no options for it, four times the
    L1 that the file gives, of which shared memory takes 0, 8, 16, 32 or 64 KB or all that an SM has."""
    size, options = given.need("gpgpu_unified_l1d_size"), given.need("gpgpu_shmem_option")
    if options.name not in given.options and size.name not in given.options:
        most = given.need("gpgpu_shmem_size")
        given.put("l1d.adaptive_bytes", 4 * found.sets * found.ways * found.line_bytes, name)
        scratchpads = {1024 * kilobytes for kilobytes in (0, 8, 16, 32, 64)} | {values.whole(most)}
        given.put("l1d.adaptive_scratchpads", sorted(scratchpads), most.name)
        return
    left = values.numbers(options, ",", tuple(range(1, 33)))
    if values.whole(size, 1) < max(left):
        raise size.wrong(f"give {max(left)} or more: '-{options.name}' has so many KB of shared memory")
    given.put("l1d.adaptive_bytes", 1024 * values.whole(size), size.name)
    given.put("l1d.adaptive_scratchpads", sorted(1024 * kilobytes for kilobytes in left), options.name)


def _banks(given: Given) -> None:
    given.take("l1d.banks", "gpgpu_l1_banks", 1)
    given.take("l1d.bank_bytes", "gpgpu_l1_banks_byte_interleaving", 1)
    hash = given.need("gpgpu_l1_banks_hashing_function")
    known = {0: "linear", 1: "xor"}.get(values.whole(hash))
    given.put("l1d.bank_hash", known or "linear", hash.name)
    if known is None:
        given.differs(hash, "the bank is bits of the address")


def _l2(given: Given) -> None:
    name = "gpgpu_cache:dl2"
    setting, found = given.need(name), _cache(given, name, "l2", "L B m WL")
    _set_hash(given, "l2", setting, found)
    _misses(given, name, "l2", found, MOST_MERGES)
    allocates = found.write_allocation == "L"
    given.put_all(
        "l2",
        name,
        sector_bytes=32 if found.is_sectored else 128,
        store_miss="allocate" if allocates else "fetch",
        port_bytes=found.port_bytes,
        miss_queue_read_max=max(1, found.miss_queue - 2),
        miss_queue_write_max=max(1, found.miss_queue - (1 if allocates else 3)),
    )
    queues = given.need("gpgpu_dram_partition_queues")
    icnt, dram, fill, reply = values.numbers(queues, ":", (4,))
    given.put_all("l2", queues.name, icnt_queue=icnt, dram_queue=dram, fill_queue=fill, reply_queue=reply)
    given.take("l2.rop_cycles", "gpgpu_l2_rop_latency")
    given.put("l2.copies_fill", given.is_on("gpgpu_perf_sim_memcpy"), "gpgpu_perf_sim_memcpy")


def _dram(given: Given) -> None:
    channels, slices = given.whole("gpgpu_n_mem", 1), given.whole("gpgpu_n_sub_partition_per_mchannel", 1)
    given.put("dram.channels", channels, "gpgpu_n_mem")
    given.put("dram.slices_per_channel", slices, "gpgpu_n_sub_partition_per_mchannel")
    given.put("l2.slices", channels * slices, "gpgpu_n_mem")
    _slice_hash(given, channels, slices)
    own_bus = given.is_on("dram_dual_bus_interface")
    given.put("dram.row_bus", "own" if own_bus else "shared", "dram_dual_bus_interface")
    given.take("dram.fixed_cycles", "dram_latency")
    for key, name in (
        ("scheduler_queue", "gpgpu_frfcfs_dram_sched_queue_size"),
        ("return_queue", "gpgpu_dram_return_queue_size"),
    ):
        size = given.need(name)
        given.put(f"dram.{key}", values.whole(size) or _UNLIMITED, name)
        if not values.whole(size):
            given.differs(size, f"it has {_UNLIMITED} places", "a queue without limit")
    in_order = given.whole("gpgpu_dram_scheduler") == 0
    window = 1 if in_order else given.tables["dram"]["scheduler_queue"]
    given.put("dram.reorder_window", window, "gpgpu_dram_scheduler")
    if given.is_on("dram_seperate_write_queue_enable"):
        marks = given.need("dram_write_queue_size")
        places, high, low = values.numbers(marks, ":", (3,))
        if places > MOST_WRITES:
            high, low = (max(1, mark * MOST_WRITES // places) for mark in (high, low))
            shorter = f"it is {MOST_WRITES}, with marks at {high} and {low}"
            worth = "to kernels that write more than the L2 holds"
            given.differs(marks, shorter, f"a write queue of {places}", worth)
            places = MOST_WRITES
        given.put_all("dram", marks.name, write_queue=places, write_queue_high=high, write_queue_low=low)
    chips = given.whole("gpgpu_dram_buswidth", 1) * given.whole("gpgpu_n_mem_per_ctrlr", 1)
    burst = given.whole("gpgpu_dram_burst_length", 1)
    given.put("dram.atom_bytes", burst * chips, "gpgpu_dram_buswidth")
    given.put("dram.tBURST", _burst_cycles(given), "gpgpu_dram_burst_length")
    if (
        given.version == 4 and burst * chips <= _SECTOR_BYTES
    ):  # on Fermi's bursts of 64 bytes it matters little
        given.put_all("dram", "gpgpu_dram_scheduler", bank_choice="in-turn", read_to_precharge="group")


def _slice_hash(given: Given, channels: int, per_channel: int) -> None:
    """How the slice of an address is chosen."""
    name = "gpgpu_memory_partition_indexing"
    setting = given.setting(name)
    kind = 0 if setting is None else values.whole(setting)
    given.put("dram.slice_hash", {2: "polynomial", 4: "random"}.get(kind, "none"), name)
    hashed = per_channel << (channels - 1).bit_length()  # as if channels were a power of two
    if setting is not None and kind == 2 and hashed not in _POLYNOMIALS:
        many = ", ".join(map(str, _POLYNOMIALS))
        raise setting.error(
            f"'-{name}' is 2 with {channels * per_channel} slices",
            f"it is for {many}, with channels rounded up to a power of two: write '-{name} 0', or change -gpgpu_n_mem",
        )
    if setting is not None and kind not in (0, 2, 4):
        given.differs(setting, "consecutive chunks go round the channels, not hashed")


def _burst_cycles(given: Given) -> int:
    """Command cycles for which a burst holds the data bus."""
    return given.whole("gpgpu_dram_burst_length", 1) // given.whole("dram_data_command_freq_ratio", 1)


def _dram_timing(given: Given) -> None:
    setting = given.need("gpgpu_dram_timing_opt")
    t, burst = values.dram_timing(setting), _burst_cycles(given)
    if t["RCD"] <= t["WL"]:
        message = f"'-{setting.name}': RCD is {t['RCD']} with WL {t['WL']}"
        raise setting.error(message, "give a WL below RCD: a row opens before it is written")
    turns = not given.is_on("dram_elimnate_rw_turnaround")
    cycles = {f"t{key}": t[key] for key in ("CCD", "CCDL", "RRD", "RCD", "RAS", "RP", "RC", "RTPL")} | {
        "CL": t["CL"],
        "WL": t["WL"],
        "banks": t["nbk"],
        "tRCDWR": t["RCD"] - (t["WL"] + 1),
        "tRTW": turns * (t["CL"] + burst + 2 - t["WL"]),
        "tWTR": turns * (t["WL"] + burst + t["CDLR"]),
        "tWTP": t["WL"] + burst + t["WR"],
    }
    given.put_all("dram", setting.name, **cycles)
    groups = max(1, t["nbkgrp"])
    if given.version == 3:  # it tells groups by one bit less of the bank than it says
        given.put("dram.bank_groups", max(1, groups // 2), setting.name)
        return
    low = given.whole("dram_bnkgrp_indexing_policy") == 1
    given.put("dram.bank_group_bits", "low" if low else "high", "dram_bnkgrp_indexing_policy")
    hash = given.need("dram_bnk_indexing_policy")
    known = {0: "none", 1: "xor"}.get(values.whole(hash))
    given.put("dram.bank_hash", known or "none", hash.name)
    if known is None:
        given.differs(hash, "the bank is bits of the address")
    given.put("dram.bank_groups", max(1, t["nbk"] // groups) if low else groups, setting.name)


def _address_map(given: Given) -> None:
    name = "gpgpu_mem_addr_mapping"
    setting = given.setting(name)
    if setting is None:
        given.warn(f"there is no '-{name}'", f"the address map is that of {given.base}")
        return
    found = values.address_map(setting)
    if not found.is_plain(given.tables["dram"]["banks"]):
        order = "from bit 0 columns, one bank bit (the slice), columns, the other bank bits, rows"
        given.differs(setting, f"it is {order}", "this order of bits")
    given.put("dram.interleave_bytes", found.chunk_bytes, name)
    given.put("dram.slice_bytes", found.slice_bytes % found.chunk_bytes, name)
    given.put("dram.row_bytes", max(found.row_bytes, found.chunk_bytes), name)


def _network(given: Given) -> None:
    given.take("icnt.flit_bytes", "icnt_flit_size", 1)
    given.take("icnt.response_fifo", "gpgpu_n_cluster_ejection_buffer_size", 1)
    mode, file = given.need("network_mode"), given.setting("inter_config_file")
    instead = f"the network is that of {given.base}"
    if values.whole(mode) == 2 and given.version >= 4:  # GPGPU-Sim 3.x has no such network
        _packets(given)
    elif values.whole(mode) != 1:
        given.differs(mode, instead)
    elif file is None:
        given.warn("there is no '-inter_config_file'", instead)
    elif not is_file(given.path.parent / file.value):
        given.warn(f"no file '{file.value}' beside this one", instead, file)
    else:
        _network_file(given, read_network(given.path.parent / file.value))


def _packets(given: Given) -> None:
    """The crossbar that GPGPU-Sim has itself: it counts packets."""
    given.put("icnt.kind", "packets", "network_mode")
    given.take("icnt.input_packets", "icnt_in_buffer_limit", 1)
    given.take("icnt.output_packets", "icnt_out_buffer_limit", 1)
    arbiter = given.need("icnt_arbiter_algo")
    rule = "inputs-in-turn" if values.whole(arbiter) == 0 else "outputs-in-turn"
    given.put("icnt.arbiter", rule, arbiter.name)
    if values.whole(arbiter) > 1:
        given.differs(arbiter, "each output takes one packet from the inputs in turn")


def _network_file(given: Given, network: Mapping[str, Setting]) -> None:
    for entry, key in (("flit_size", "flit_bytes"), ("vc_buf_size", "buffer_flits")):
        if entry in network:
            given.put(f"icnt.{key}", values.whole(network[entry], 1))
            given.places[f"icnt.{key}"] = network[entry]
    if given.tables["icnt"].get("buffer_flits", 0) > MOST_BUFFER_FLITS:
        given.put("icnt.buffer_flits", MOST_BUFFER_FLITS)
        _network_differs(given, network["vc_buf_size"], f"it is {MOST_BUFFER_FLITS}")
    known = {"topology": "fly", "n": "1", "num_vcs": "1", "output_speedup": "1"}
    speedup = network.get("internal_speedup")
    if speedup is not None:
        chosen = _SPEEDUPS.get(values.decimal(speedup))
        if chosen is None:
            _network_differs(given, speedup, f"delays are those of {given.base}")
        else:
            given.put("icnt.unloaded_cycles", chosen[0])
            given.put("icnt.packet_gap_cycles", chosen[1])
            known["input_speedup"] = chosen[2]
    for entry, value in known.items():
        if entry in network and network[entry].value != value:
            _network_differs(given, network[entry], f"it is {value}")


def _network_differs(given: Given, entry: Setting, instead: str) -> None:
    given.warn(f"'{entry.name} = {entry.value}' is not modelled", f"here {instead}", entry)
