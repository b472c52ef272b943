"""The parts of a machine: one struct for each table of a GPU file, and what its keys may be. For `gpu.py`.

`tesla-c2050.toml` says what every key means.
"""

from typing import Annotated, Literal

import msgspec

from ptxtool.analysis.occupancy.occupancy import Amount, Count
from ptxtool.analysis.occupancy.sharing_plan import Pairs

Cycles = Amount

CacheWord = Literal[
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "volatile",
    "relaxed",
    "acquire",
    "release",
    "mmio",
    "global",
    "local",
]
"""What a memory instruction may say of caches and ordering; "global", "local": all of that memory, whatever it says."""


class GpuTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One table of a GPU file; the file's comments say what its keys mean."""


class Clocks(GpuTable, frozen=True):
    core_mhz: Count
    icnt_mhz: Count
    l2_mhz: Count
    dram_mhz: Count


class Fetch(GpuTable, frozen=True):
    ibuffer_entries: Count
    per_cycle: Count
    perfect: bool
    line_bytes: Count
    sets: Count
    ways: Count
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count


class Pipeline(GpuTable, frozen=True):
    id_oc_sp: Count
    id_oc_sfu: Count
    id_oc_mem: Count
    oc_ex_sp: Count
    oc_ex_sfu: Count
    oc_ex_mem: Count
    ex_wb: Count
    sp_units: Count
    sfu_units: Count
    issue_per_warp: Count
    issue_pairs: Literal["different-units", "any"]
    sub_cores: bool
    collectors_shared: Amount
    ports_shared: Amount
    out_ports_shared: Amount
    collector_steps: Count
    id_oc_int: Amount
    id_oc_dp: Amount
    id_oc_tensor: Amount
    oc_ex_int: Amount
    oc_ex_dp: Amount
    oc_ex_tensor: Amount
    int_units: Amount
    dp_units: Amount
    tensor_units: Amount
    collectors_sp: Count
    collectors_sfu: Count
    collectors_mem: Count
    ports_sp: Count
    ports_sfu: Count
    ports_mem: Count
    collectors_int: Amount
    collectors_dp: Amount
    collectors_tensor: Amount
    ports_int: Amount
    ports_dp: Amount
    ports_tensor: Amount
    register_banks: Count
    bank_function: Literal["reg", "reg+warp"]
    bank_conflicts: bool
    collector_step: Literal["ldst", "own"]
    collector_reads: Count
    collector_duplicates: bool
    scheduler_order: Literal["fixed", "rotating"]
    first_path: Literal["lower", "taken"]
    divergence: Literal["stack", "independent"]
    long_operation: Literal["until-loaded", "until-computed"]

    @property
    def has_classes(self) -> bool:
        """Whether it is a pipeline of six classes and several steps, as GPGPU-Sim 4.2 has from Kepler on."""
        alone = self.collectors_int + self.collectors_dp + self.collectors_tensor
        return self.collectors_shared + alone > 0 or self.collector_steps > 1


class Dispatch(GpuTable, frozen=True):
    first_sm: Cycles
    launch_cycles: Cycles
    cta_launch_cycles: Cycles
    idle_sms: Literal["counted", "asleep"]
    dynamic_scratchpad: Literal["counted", "ignored"]
    kernels: Literal["one-per-sm", "leftover", "spatial"] = "one-per-sm"
    concurrent_kernels: Annotated[int, msgspec.Meta(ge=1, le=128)] = 32


class Sharing(GpuTable, frozen=True):
    pairs: Pairs
    unowned: Literal["unshared", "owner", "non-owner"]
    lock_rule: Literal["safe", "strict", "symmetric"]


class Timing(GpuTable, frozen=True):
    """How one class of instructions executes: the unit, its latency and its initiation interval."""

    unit: Literal["SP", "SFU", "EITHER", "INT", "DP", "TENSOR"]
    latency: Count
    interval: Count


_PRODUCT_TYPES = {"s8": "int8", "u8": "int8", "s4": "int4", "u4": "int4", "e4m3": "fp8", "e5m2": "fp8"}


class Products(GpuTable, frozen=True):
    """Products in a cycle, by type, and when they are there. The values are those of files without the table."""

    first_cycles: Cycles = 0
    latency_per_interval: Annotated[float, msgspec.Meta(ge=0)] = 0.0

    def times(self, type_name: str, products: int) -> tuple[int, int] | None:
        """Latency and initiation interval of so many products of a type; None: those of `latency.mma`."""
        rate = getattr(self, _PRODUCT_TYPES.get(type_name, type_name), 0)
        if not rate:
            return None
        interval = -(-products // rate)
        return max(1, self.first_cycles + round(interval * self.latency_per_interval)), interval


class Tensor(Products, frozen=True):
    """Products of a tensor core in a cycle, by the type of A: of `mma`, and of `wgmma`."""

    f16: Amount = 0
    bf16: Amount = 0
    tf32: Amount = 0
    f64: Amount = 0
    fp8: Amount = 0
    int8: Amount = 0
    int4: Amount = 0
    b1: Amount = 0


class Tcgen05(Products, frozen=True):
    """Products of an SM in a cycle, by the kind of `tcgen05.mma`."""

    f16: Amount = 0
    tf32: Amount = 0
    f8f6f4: Amount = 0
    i8: Amount = 0
    mxf8f6f4: Amount = 0
    mxf4: Amount = 0
    mxf4nvf4: Amount = 0


class Ldst(GpuTable, frozen=True):
    units: tuple[str, ...]
    shared_pipe_cycles: Count
    response_hops: Cycles
    segment_bytes: Literal[32, 128]
    uncached_segment_bytes: Literal[32, 128]
    vectors: Literal["whole", "first-element"]
    atomic_warp_parts: Literal[1, 2]


class L1c(GpuTable, frozen=True):
    perfect: bool
    sets: Count
    ways: Count
    line_bytes: Count
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count


class L1t(GpuTable, frozen=True):
    sets: Count
    ways: Count
    line_bytes: Count
    fragment_fifo: Count
    reorder_buffer: Count
    request_fifo: Count
    result_fifo: Count


class L1d(GpuTable, frozen=True):
    latency_cycles: Cycles
    sets: Count
    banks: Count
    bank_bytes: Count
    bank_hash: Literal["linear", "xor"]
    set_hash: Literal["linear", "fermi", "xor", "polynomial"]
    ways: Count
    line_bytes: Count
    sector_bytes: Literal[32, 128]
    stores: Literal["local-back", "back", "through"]
    store_miss: Literal["pass", "allocate"]
    allocation: Literal["miss", "fill", "streaming"]
    dirty_percent: Annotated[int, msgspec.Meta(ge=0, le=100)]
    adaptive_bytes: Amount
    adaptive_scratchpads: tuple[Amount, ...]
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count
    miss_queue_read_max: Count
    merge_needs_queue: bool
    bypass: tuple[CacheWord, ...]
    flush_when_empty: bool

    def left_by(self, scratchpad_bytes: int) -> "L1d":
        """The cache that a launch has whose CTAs take so many bytes of shared memory in an SM.

        Where the two share `adaptive_bytes`, shared memory gets the smallest of `adaptive_scratchpads` that is enough,
        else the largest, and the cache the rest in whole ways. A cache that shares it and streams allocates on a miss
        where there is no shared memory, else on a fill (GPGPU-Sim 4.2, `shader_core_config::max_cta`).
        """
        if not self.adaptive_bytes:
            return self
        allocation = self.allocation
        if allocation == "streaming":
            allocation = "fill" if scratchpad_bytes else "miss"
        enough = [size for size in sorted(self.adaptive_scratchpads) if size >= scratchpad_bytes]
        size = enough[0] if enough else max(self.adaptive_scratchpads, default=0)
        most = self.adaptive_bytes // (self.sets * self.line_bytes)
        ways = max(1, round(most * (1 - size / self.adaptive_bytes)))
        return msgspec.structs.replace(self, ways=ways, allocation=allocation)


class Tma(GpuTable, frozen=True):
    """The copy engine of an SM. The values here are those of files without the table."""

    issue_cycles: Cycles = 32
    requests_per_cycle: Count = 1
    latency_cycles: Cycles = 32
    cluster_cycles: Cycles = 180
    cluster_bytes_per_cycle: Count = 32
    try_wait_cycles: Count = 10000


class Icnt(GpuTable, frozen=True):
    kind: Literal["flits", "packets"]
    arbiter: Literal["outputs-in-turn", "inputs-in-turn"]
    input_packets: Count
    output_packets: Count
    flit_bytes: Count
    injection_queue_flits: Count
    buffer_flits: Count
    header_bytes: Count
    unloaded_cycles: Annotated[tuple[Count, ...], msgspec.Meta(min_length=1)]
    packet_gap_cycles: Cycles
    head_of_line: bool
    sms_per_port: Count
    response_fifo: Count


class L2(GpuTable, frozen=True):
    slices: Count
    sets: Count
    ways: Count
    line_bytes: Count
    sector_bytes: Literal[32, 128]
    set_hash: Literal["linear", "xor", "polynomial"]
    store_miss: Literal["fetch", "allocate"]
    upper_half_store_quirk: bool
    constant_line_quirk: bool
    copies_fill: bool
    adjacent_buffers: bool
    mshr_entries: Count
    mshr_waiters: Count
    miss_queue: Count
    miss_queue_read_max: Count
    miss_queue_write_max: Count
    port_bytes: Count
    icnt_queue: Count
    icnt_queue_free: Count
    dram_queue: Count
    fill_queue: Count
    reply_queue: Count
    rop_cycles: Cycles


class Dram(GpuTable, frozen=True):
    """`t...`, `CL` and `WL` are in DRAM cycles, `fixed_cycles` in core cycles."""

    channels: Count
    slices_per_channel: Count
    interleave_bytes: Count
    slice_bytes: Amount
    slice_hash: Literal["none", "polynomial", "random"]
    scheduler_queue: Count
    return_queue: Count
    fixed_cycles: Cycles
    return_cycles: Cycles
    banks: Count
    bank_hash: Literal["none", "xor"]
    bank_groups: Count
    bank_group_bits: Literal["high", "low"]
    row_bytes: Count
    atom_bytes: Count
    reorder_window: Count
    write_queue: Amount
    write_queue_high: Amount
    write_queue_low: Amount
    row_with_column: bool
    row_bus: Literal["shared", "own"]
    bank_choice: Literal["oldest", "in-turn"]
    read_to_precharge: Literal["bank", "group"]
    tCCD: Cycles
    tCCDL: Cycles
    tRRD: Cycles
    tRCD: Cycles
    tRCDWR: Cycles
    tRAS: Cycles
    tRP: Cycles
    tRC: Cycles
    CL: Cycles
    WL: Cycles
    tRTW: Cycles
    tWTR: Cycles
    tWTP: Cycles
    tRTPL: Cycles
    tBURST: Cycles
