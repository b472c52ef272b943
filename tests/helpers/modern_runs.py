"""Runs of GPGPU-Sim 4.2 on machines from Kepler on that were recorded, and the same launches here.

A machine is the options that a run was recorded with, written as a configuration file and read as any other, so that
the reader of such files (`ptxtool/formats/gpgpusim`) is a part of what is compared. Cycles are those without the
latency of a launch, which some of the files have. Two files have runs: that beside the checkout, and one of ours with
those of further machines and of several launches at a time.
"""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from reference_kernels import kernels, launch_named

import ptxsim
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse

COUNTERS = ("l1d_accesses", "l1d_misses", "l2_accesses", "l2_misses", "dram_reads", "dram_writes")
"""Counters of the memory system that both simulators have."""
EXACT = ("thread_insn", "warp_insn", "max_ctas_per_core")
"""Counters that do not depend on time."""

_TARGETS = {"QV100": 70, "TITANX": 61, "TITANV": 70, "RTX2060": 75, "RTX3070": 86, "KEPLER": 35}
_OURS = Path(__file__).resolve().parents[2] / "benchmarks" / "gpgpusim42_runs.json"


@cache
def modern_runs(shared: Path) -> tuple[dict[str, Any], ...]:
    """The recorded runs: a row is a launch, a configuration such as QV100q, and counters."""
    text = (shared / "reference" / "modern_runs.json").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = json.loads(text)["runs"]
    rows += [dict(zip(_ours()["columns"], values, strict=True)) for values in _ours()["runs"]]
    return tuple(row | {"cycles": row["cycles_without_launch_latency"]} for row in rows)


@cache
def _ours() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_OURS.read_text(encoding="utf-8"))
    return found


def stream_runs() -> tuple[dict[str, Any], ...]:
    """The recorded runs of several launches at a time, on QV100q."""
    return tuple(_ours()["streams"])


def modern_run(shared: Path, launch: str, config: str) -> dict[str, Any]:
    """The row of a launch on a machine."""
    (row,) = (r for r in modern_runs(shared) if (r["launch"], r["config"]) == (launch, config))
    return row


@cache
def modern_machine(shared: Path, config: str) -> Gpu:
    """The machine of a configuration, read from its options."""
    options = _ours()["configs"].get(config)
    if options is None:
        file = shared / "reference" / "configs" / f"{config}.config"
        options = json.loads(file.read_text(encoding="utf-8"))
    options = options | {"gpgpu_kernel_launch_latency": "0"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{config}.config"
        lines = [f'-{name} "{value}"' for name, value in options.items()]
        file.write_text("\n".join(lines), encoding="utf-8")
        return load_gpu(str(file))


@cache
def _kernels(shared: Path, target: int) -> Module:
    if target == 35:
        return kernels(shared)
    file = shared / "reference" / "modern_ptx" / f"kernels.sm_{target}.ptx"
    return parse(file.read_bytes(), name=file.name)


def simulate_modern(shared: Path, row: dict[str, Any], **options: Any) -> ptxsim.SimResult:
    """Run the launch of a row on its machine, with its registers; its results are compared with plain C++ ones."""
    launch = launch_named(shared, row["launch"])
    arguments, buffers = launch.arguments()
    target = next(t for name, t in _TARGETS.items() if row["config"].startswith(name))
    result = ptxsim.launch(
        _kernels(shared, target).kernels[launch.data["kernel"]],
        launch.data["grid"],
        launch.data["block"],
        arguments,
        dynamic_shared=launch.data["dynamic_shared_bytes"],
        constants=launch.constants(),
        registers=row["registers_per_thread"],
        **({"gpu": modern_machine(shared, row["config"])} | options),
    )
    launch.check(buffers)
    return result


def stream_policy(row: dict[str, Any]) -> str:
    """`dispatch.kernels` of a row of `stream_runs`."""
    return "leftover" if row["concurrent_kernel_sm"] else "one-per-sm"


def simulate_streams(shared: Path, row: dict[str, Any]) -> ptxsim.ConcurrentResult:
    """Run the launches of a row of `stream_runs` at the same time, each on a stream of its own."""
    settings = [f'dispatch.kernels="{stream_policy(row)}"']
    machine = ptxsim.Machine(with_settings(modern_machine(shared, "QV100q"), settings))
    for name in row["launches"]:
        launch = launch_named(shared, name)
        data, (arguments, _) = launch.data, launch.arguments()
        machine.stream().launch(
            _kernels(shared, 70).kernels[data["kernel"]],
            data["grid"],
            data["block"],
            arguments,
            dynamic_shared=data["dynamic_shared_bytes"],
            registers=modern_run(shared, name, "QV100q")["registers_per_thread"],
        )
    result = machine.synchronize()
    assert result is not None
    return result
