"""What a kernel takes according to NVIDIA's assembler: registers, spills, stack. For reports, where there is a ptxas.

It is looked for on the PATH, in CUDA_HOME, and in `nvidia-cuda-nvcc` of PyPI. `ptxas -v` compiles the text for the
target it names or, where this ptxas no longer knows that, for the oldest it knows. Functions that are only declared
may be defined elsewhere; then their needs are unknown. A text with `.target ..., debug` is compiled without
optimisation: ptxas allows nothing else. Nothing here is an error: without figures, `PtxasRun.problem` is the reason.
"""

import os
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from ptxtool.ir.nodes import Module
from ptxtool.results.register_counts import PtxasRun, PtxasUsage

TIMEOUT = 20.0
"""Seconds that a report waits for ptxas."""
OPTIMISED = 3
_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_USED = re.compile(r"Used (\d+) registers")
_STACK = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_FAILED = re.compile(r"^ptxas .*(?:error|fatal)\s*: (.*)$", re.MULTILINE)
_RELEASE = re.compile(r"release ([\d.]+)")
_UNRESOLVED = b"Unresolved extern function"
_ARCHITECTURE = re.compile(r"'sm_(\d+)'")


def find_ptxas() -> str | None:
    """The path of ptxas, None where there is none."""
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    site = Path(sysconfig.get_paths()["purelib"])
    wheel = next((str(p) for p in sorted(site.glob("nvidia/*/bin/ptxas"))), None)
    return shutil.which("ptxas") or shutil.which("ptxas", path=f"{home}/bin") or wheel


def ptxas_usage(module: Module, level: int = OPTIMISED, timeout: float = TIMEOUT) -> PtxasRun | None:
    """What ptxas makes of a PTX module; None without ptxas, and for PTXPlus, which it does not read."""
    program = find_ptxas()
    if program is None or module.is_ptxplus:
        return None
    words = [word.strip() for word in (module.directive("target") or "").split(",")]
    level = 0 if "debug" in words else level
    version, known = versions(program)
    arch = module.target.replace("compute_", "sm_")
    if arch not in known and known:
        arch = known[0]
    ran = PtxasRun(version, arch, level)
    with tempfile.TemporaryDirectory(prefix="ptxtool-") as folder:
        path = Path(folder, "kernel.ptx")
        path.write_bytes(module.source.to_bytes())
        command = [program, "-v", "-w", f"-arch={arch}", f"-O{level}", str(path), "-o", os.devnull]
        try:
            done = _run(command, timeout)
            if done.returncode and _UNRESOLVED in done.stderr:
                done = _run([*command, "-c"], timeout)
        except subprocess.TimeoutExpired:
            return replace(ran, problem=f"it was not done after {timeout:g} seconds")
        except OSError as problem:
            return replace(ran, problem=problem.strerror or "it could not be started")
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode:
        failed = _FAILED.search(output)
        return replace(ran, problem=failed[1] if failed else f"exit code {done.returncode}")
    return replace(ran, kernels=dict(_used(output)))


def _run(command: list[str], timeout: float) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(command, capture_output=True, timeout=timeout, check=False)


def _used(output: str) -> Mapping[str, PtxasUsage]:
    """The kernels in what `ptxas -v` prints."""
    found: dict[str, PtxasUsage] = {}
    pieces = _ENTRY.split(output)
    for name, text in zip(pieces[1::2], pieces[2::2], strict=True):
        used = _USED.search(text)
        # a device function that follows has lines of its own; the kernel's frame is the last before its registers
        frames = _STACK.findall(text[: used.start()]) if used else ()
        if used and frames:
            found[name] = PtxasUsage(int(used[1]), int(frames[-1][0]), int(frames[-1][1]))
    return found


@cache
def versions(program: str) -> tuple[str, tuple[str, ...]]:
    """The version of a ptxas, and the architectures it compiles for, plain ones ascending, then the others."""
    version, help = [_output(program, option) for option in ("--version", "--help")]
    release = _RELEASE.search(version)
    plain = sorted({int(n) for n in _ARCHITECTURE.findall(help)})
    special = sorted(set(re.findall(r"'(sm_\d+[a-z])'", help)))
    return release[1] if release else "", (*(f"sm_{n}" for n in plain), *special)


def _output(program: str, option: str) -> str:
    try:
        return _run([program, option], TIMEOUT).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
