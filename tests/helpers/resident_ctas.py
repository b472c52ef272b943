"""Resident thread blocks as the papers print them, by sharing percentage: 90 entries.

Table 5 of the register-sharing paper (Table VI of the resource-sharing paper), threads and registers from its Table 2;
Table VIII of the resource-sharing paper, threads and bytes per block from its Table III.
"""

from ptxtool.analysis.occupancy.sharing_plan import sharing_plan
from ptxtool.formats.gpu import load_gpu

GPU = load_gpu("tesla-c2050")
GPU_16K = GPU.with_sm(scratchpad_bytes=16384)  # the resource-sharing paper's SM

PERCENT = (0, 10, 30, 50, 70, 90)

REGISTERS = {
    "backprop": (256, 24, (5, 5, 5, 5, 6, 6)),
    "b+tree": (508, 24, (2, 2, 2, 3, 3, 3)),
    "hotspot": (256, 36, (3, 3, 3, 4, 4, 6)),
    "LIB": (192, 36, (4, 4, 5, 5, 6, 8)),
    "MUM": (256, 28, (4, 4, 4, 5, 5, 6)),
    "mri-q": (256, 24, (5, 5, 5, 5, 6, 6)),
    "sgemm": (128, 48, (5, 5, 5, 5, 6, 8)),
    "stencil": (512, 28, (2, 2, 2, 2, 2, 3)),
}
SCRATCHPAD = {
    "CONV1": (64, 2560, (6, 6, 6, 6, 7, 8)),
    "CONV2": (128, 5184, (3, 3, 3, 3, 3, 4)),
    "lavaMD": (128, 7200, (2, 2, 2, 2, 2, 4)),
    "NW1": (16, 2180, (7, 7, 7, 8, 8, 8)),
    "NW2": (16, 2180, (7, 7, 7, 8, 8, 8)),
    "SRAD1": (256, 6144, (2, 2, 2, 3, 4, 4)),
    "SRAD2": (256, 5120, (3, 3, 3, 3, 3, 5)),
}


def with_registers(application: str) -> tuple[int, ...]:
    """Resident CTAs by percentage, registers shared."""
    threads, registers, _ = REGISTERS[application]
    return tuple(sharing_plan(GPU, threads, registers, share_registers=p).resident_ctas for p in PERCENT)


def with_scratchpad(application: str) -> tuple[int, ...]:
    """Resident CTAs by percentage, scratchpad shared."""
    threads, size, _ = SCRATCHPAD[application]
    plans = (sharing_plan(GPU_16K, threads, 8, size, share_scratchpad=p) for p in PERCENT)
    return tuple(plan.resident_ctas for plan in plans)
