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
    }
    most = float(warp * gpu.sm.schedulers)
    units = {
        (unit, kind): UnitTiming(
            timing.latency, min(most, warp * n_units[timing.unit] / timing.interval), timing.unit
        )
        for unit, kinds in gpu.latency.items()
        for kind, timing in kinds.items()
    }
    in_partitions = pipeline.bank_function == "reg"
    banks = pipeline.register_banks // (gpu.sm.register_partitions if in_partitions else 1)
    memory_units = frozenset(gpu.ldst.units)
    return MachineTiming(
        units, most, float(warp), memory_units, banks if pipeline.bank_conflicts else 0, warp
    )
