"""What the predictor of variants needs to know of a machine, from its GPU file."""

from ptxtool.analysis.demotion.predictor import MachineTiming, UnitTiming
from ptxtool.formats.gpu import Gpu


def machine_timing(gpu: Gpu) -> MachineTiming:
    """Latencies and throughputs of a machine: lanes per cycle = warp size * units / initiation interval.

    No unit is faster than the schedulers, each of which issues a warp per cycle; there is one load-store unit per SM.
    Register banks are those of one warp.
    """
    pipeline, warp = gpu.pipeline, gpu.sm.warp_size
    n_units = {
        "SP": pipeline.sp_units,
        "SFU": pipeline.sfu_units,
        "EITHER": pipeline.sp_units + pipeline.sfu_units,
        "INT": pipeline.int_units,
        "DP": pipeline.dp_units,
        "TENSOR": pipeline.tensor_units,
    }
    most = float(warp * gpu.sm.schedulers)
    units = {
        (unit, kind): UnitTiming(
            timing.latency, min(most, warp * n_units[timing.unit] / timing.interval), timing.unit
        )
        for unit, kinds in gpu.latency.items()
        for kind, timing in kinds.items()
    }
    memory_units, partitions = frozenset(gpu.ldst.units), gpu.sm.register_partitions
    # with "reg+warp" different warps have a register in different banks, so that no bank is busier than the others
    is_by_number = pipeline.bank_conflicts and pipeline.bank_function == "reg"
    banks = pipeline.register_banks // partitions if is_by_number else 0
    return MachineTiming(units, most, float(warp), memory_units, banks, partitions, warp)
