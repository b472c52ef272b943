"""CUDA's limits: against `cuda_occupancy.h`, where the toolkit is installed, and points of the guide."""

import itertools
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ptxtool.analysis.occupancy.cuda_limits import (
    CudaTarget,
    check_registers,
    cuda_target,
    is_target,
    most_registers,
)
from ptxtool.analysis.occupancy.occupancy import occupancy
from ptxtool.base.diag import PtxError

FROM_KEPLER = (
    *("sm_30", "sm_32", "sm_35", "sm_37", "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70"),
    *("sm_72", "sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90", "sm_100", "sm_101", "sm_103"),
    *("sm_110", "sm_120", "sm_121"),
)
"""`cuda_occupancy.h` of CUDA 13 no longer has Fermi."""

THREADS = (1, 32, 96, 128, 160, 224, 256, 384, 512, 768, 992, 1024)
REGISTERS = (0, 1, 8, 9, 16, 24, 31, 32, 33, 36, 40, 41, 48, 56, 63, 64, 72, 80, 96, 128, 168, 200, 255)
SHARED = (0, 1, 1000, 4096, 10000, 16384, 33000, 49152)

PROGRAM = r"""
#include <stdio.h>
#include "cuda_occupancy.h"
int main(void)
{
    int major, minor, threads, warps, registers, cta_registers, n, block, shared_sm, shared_cta, bytes, reserved;
    while (scanf("%d %d %d %d %d %d %d %d %d %d %d", &major, &minor, &warps, &registers, &cta_registers, &shared_sm,
                 &shared_cta, &reserved, &block, &n, &bytes) == 11) {
        struct cudaOccDeviceProp device = {0};
        struct cudaOccFuncAttributes kernel = {0};
        struct cudaOccDeviceState state = {0};
        struct cudaOccResult result = {0};
        threads = warps * 32;
        device.computeMajor = major, device.computeMinor = minor;
        device.maxThreadsPerBlock = 1024, device.maxThreadsPerMultiprocessor = threads;
        device.regsPerBlock = cta_registers, device.regsPerMultiprocessor = registers;
        device.warpSize = 32, device.numSms = 1;
        device.sharedMemPerBlock = shared_cta, device.sharedMemPerBlockOptin = shared_cta;
        device.sharedMemPerMultiprocessor = shared_sm, device.reservedSharedMemPerBlock = reserved;
        kernel.maxThreadsPerBlock = 1024, kernel.numRegs = n, kernel.sharedSizeBytes = bytes;
        state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, block, 0))
            return 1;
        printf("%d\n", result.activeBlocksPerMultiprocessor);
    }
    return 0;
}
"""


def header() -> Path | None:
    """The folder of `cuda_occupancy.h`."""
    nvcc = shutil.which("nvcc")
    folders = [Path("/usr/local/cuda/include")]
    if nvcc is not None:
        folders.append(Path(nvcc).resolve().parent.parent / "include")
    return next((folder for folder in folders if (folder / "cuda_occupancy.h").is_file()), None)


def resident(target: CudaTarget, threads: int, registers: int, scratchpad: int) -> int:
    """The resident CTAs, 0 where none fits."""
    try:
        return occupancy(target, threads, registers, scratchpad).resident_ctas
    except PtxError as problem:
        return 0 if problem.diagnostics[0].code == "E402" else -1


def points(name: str) -> list[tuple[int, int, int]]:
    """Threads, registers and bytes; a target that has no more than 63 registers per thread gets none above."""
    registers = [n for n in REGISTERS if n <= most_registers(name)]
    most = cuda_target(name).sm.scratchpad_per_cta
    shared = sorted({*(n for n in SHARED if n <= most), most, most // 2 + 1})
    return list(itertools.product(THREADS, registers, shared))


def test_resident_ctas_are_those_of_the_header_of_cuda(tmp_path: Path) -> None:
    folder, gcc = header(), shutil.which("gcc")
    if folder is None or gcc is None:
        pytest.skip("needs cuda_occupancy.h and gcc")
    (tmp_path / "ask.c").write_text(PROGRAM)
    subprocess.run([gcc, "-w", f"-I{folder}", "ask.c", "-o", "ask"], cwd=tmp_path, check=True)
    asked: list[str] = []
    ours: list[int] = []
    where: list[object] = []
    for name in FROM_KEPLER:
        target, number = cuda_target(name), int(name[3:])
        sm = target.sm
        device = (
            number // 10,
            number % 10,
            sm.warps,
            sm.registers,
            sm.registers_per_cta,
            sm.scratchpad_bytes,
        )
        device += (sm.scratchpad_per_cta, sm.scratchpad_reserved)
        for point in points(name):
            asked.append(" ".join(map(str, device + point)))
            ours.append(resident(target, *point))
            where.append((name, *point))
    done = subprocess.run(
        [tmp_path / "ask"], input="\n".join(asked), capture_output=True, text=True, check=True
    )
    theirs = list(map(int, done.stdout.split()))
    wrong = [each for each in zip(where, ours, theirs, strict=True) if each[1] != each[2]]
    assert not wrong, (
        f"{len(wrong)} of {len(ours)}: (target, threads, registers, bytes), ours, CUDA's: {wrong[:8]}"
    )
    assert len(ours) > 30_000


@pytest.mark.parametrize(
    ("name", "threads", "registers", "scratchpad", "ctas"),
    [
        ("sm_20", 256, 36, 0, 3),  # 36 * 32 = 1152 of a warp, 18 units of 64; 32768 // 2 // 1152 * 2 // 8
        ("sm_20", 192, 63, 0, 2),  # 2048 of a warp: 16 warps, two CTAs of 6
        ("sm_20", 64, 16, 0, 8),
        ("sm_52", 256, 36, 0, 6),  # 1280 of a warp: 12 in each of four partitions, 48 warps
        ("sm_75", 256, 32, 0, 4),  # 32 warps
        ("sm_90", 1024, 32, 0, 2),
        ("sm_90", 128, 32, 100_000, 2),  # 228 KB over 99 KB and 1 KB
    ],
)
def test_resident_ctas(name: str, threads: int, registers: int, scratchpad: int, ctas: int) -> None:
    assert resident(cuda_target(name), threads, registers, scratchpad) == ctas


def test_what_a_thread_may_have() -> None:
    assert [most_registers(name) for name in ("sm_20", "sm_21", "sm_30", "sm_32", "sm_90a", "")] == [
        *(63, 63, 63, 255, 255, 255)
    ]
    check_registers("sm_90", 255)
    with pytest.raises(PtxError, match=r"E402.*64 registers per thread: a thread of sm_30 has at most 63"):
        check_registers("sm_30", 64)
    with pytest.raises(PtxError, match=r"E402.*256 registers per thread: a thread has at most 255"):
        check_registers("", 256)


def test_names() -> None:
    assert is_target("sm_90a")
    assert is_target("sm_100f")
    assert not is_target("tesla-c2050")
    assert not is_target("sm_")
    assert not is_target("sm_90x")
    assert cuda_target("sm_90a").sm == cuda_target("sm_90").sm
    assert cuda_target("sm_90").with_scratchpad(4096).sm.scratchpad_bytes == 4096
    with pytest.raises(PtxError, match=r"(?s)E502.*no occupancy limits are known for 'sm_99'.*sm_120"):
        cuda_target("sm_99")


def test_a_cta_with_too_much_is_refused_with_the_bound_of_a_cta() -> None:
    with pytest.raises(PtxError, match="60000 bytes of scratchpad of 49152"):
        occupancy(cuda_target("sm_61"), 64, 16, 60000)
    with pytest.raises(PtxError, match="40960 registers of 32768"):
        occupancy(cuda_target("sm_53"), 1024, 40)
    assert json.dumps(occupancy(cuda_target("sm_61"), 64, 16).to_dict())
