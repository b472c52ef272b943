"""A small kernel with its launch file, and sweep files about it: for the tests of sweeps."""

from pathlib import Path

from scalekernel import LAUNCH, SCALE

from ptxtool import api
from ptxtool.results.sweeps import SweepResult

FAULTY = SCALE.replace("mul.wide.s32 %rd2, %r4, 4;", "mul.wide.s32 %rd2, %r4, 4096;")
"""The same kernel, which leaves its buffer."""

SPEC = """\
kernels = ["scale.ptx"]
schedulers = ["lrr", "gto"]
share_registers = [0, 90]
"""


def write(folder: Path, text: str = SPEC, name: str = "tiny.toml") -> Path:
    """The kernel and its launch file, and a sweep file beside them."""
    (folder / "launch.toml").write_text(LAUNCH)
    (folder / "scale.ptx").write_text(SCALE)
    path = folder / name
    path.write_text(text)
    return path


def swept(path: Path, **options: object) -> SweepResult:
    """The sweep of a file, in this process unless said."""
    return api.sweep(path, **{"jobs": 1, **options})  # type: ignore[arg-type]


def long_sweep(folder: Path, runs: int = 12) -> Path:
    """A sweep whose runs take a tenth of a second or so each."""
    sets = ", ".join(f'"sm.count={n}"' for n in range(1, runs // 2 + 1))
    path = write(folder, f'kernels = ["scale.ptx"]\nschedulers = ["lrr", "gto"]\nset = [{sets}]\n')
    text = LAUNCH.replace("grid = 28", "grid = 2800").replace("3584", "358400")
    (folder / "launch.toml").write_text(text)
    return path
