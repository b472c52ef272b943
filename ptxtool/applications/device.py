"""What an application may ask of the device: the machine's figures as `cudaDeviceProp` and attributes have them."""

from ptxtool.applications.protocol import DEVICE
from ptxtool.applications.settings import Settings

CONSTANT_BYTES = 64 << 10
FUNCTIONAL_SHARED_BYTES = 227 << 10
"""Of a CTA where no machine limits it: as much as any GPU has."""


def device_record(settings: Settings, target: int) -> bytes:
    """The `DEVICE` record: `target` is the compute capability, 75 for 7.5.

    Without time and without a machine of the user's choice, a CTA may have as much shared memory as any GPU has.
    """
    gpu = settings.gpu
    sm, dram = gpu.sm, gpu.dram
    shared = sm.scratchpad_per_cta or sm.scratchpad_bytes
    if not settings.timed and not settings.gpu_chosen:
        shared = FUNCTIONAL_SHARED_BYTES
    return DEVICE.pack(
        settings.memory_bytes,
        shared,
        max(shared, sm.scratchpad_bytes),
        CONSTANT_BYTES,
        sm.scratchpad_reserved,
        target // 10,
        target % 10,
        sm.count,
        sm.registers_per_cta or sm.registers,
        sm.registers,
        sm.threads,
        sm.ctas,
        1000 * gpu.clocks.core_mhz,
        1000 * gpu.clocks.dram_mhz,
        dram.channels * dram.atom_bytes,  # bits: an atom is a burst of 8 transfers
        gpu.l2.slices * gpu.l2.sets * gpu.l2.ways * gpu.l2.line_bytes,
        settings.tracks_writes,
    )
