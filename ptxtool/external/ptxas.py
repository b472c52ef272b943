"""What a kernel takes according to NVIDIA's assembler: registers, spills, stack. For reports, where there is a ptxas.

It is looked for on the PATH, in CUDA_HOME, and in `nvidia-cuda-nvcc` of PyPI. `ptxas -v` compiles the text for the
target it names or, where it fails and no longer knows that, for the oldest it knows. Functions that are only declared
may be defined elsewhere; then their needs are unknown. A text with `.target ..., debug` is compiled without
optimisation: ptxas allows nothing else. Nothing here is an error: without figures, `PtxasRun.problem` is the reason.
"""

import os
import re
import shutil
import subprocess
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
    return shutil.which("ptxas") or shutil.which("ptxas", path=f"{home}/bin") or _in_wheel()


def _in_wheel() -> str | None:
    import sysconfig

    site = Path(sysconfig.get_paths()["purelib"])
    return next((str(p) for p in sorted(site.glob("nvidia/*/bin/ptxas"))), None)


def ptxas_usage(module: Module, level: int = OPTIMISED, timeout: float = TIMEOUT) -> PtxasRun | None:
    """What ptxas makes of a PTX module; None without ptxas, and for PTXPlus, which it does not read."""
    program = find_ptxas()
    if program is None or module.is_ptxplus:
        return None
    words = [word.strip() for word in (module.directive("target") or "").split(",")]
    level = 0 if "debug" in words else level
    ran = PtxasRun(version(program), module.target.replace("compute_", "sm_"), level)
    with tempfile.TemporaryDirectory(prefix="ptxtool-") as folder:
        path = Path(folder, "kernel.ptx")
        path.write_bytes(module.source.to_bytes())
        try:
            done = _compiled(program, ran, path, timeout)
            if done.returncode and ran.arch not in (known := architectures(program)) and known:
                ran = replace(ran, arch=known[0])
                done = _compiled(program, ran, path, timeout)
        except subprocess.TimeoutExpired:
            return replace(ran, problem=f"it was not done after {timeout:g} seconds")
        except OSError as problem:
            return replace(ran, problem=problem.strerror or "it could not be started")
    output = (done.stdout + done.stderr).decode("utf-8", "replace")
    if done.returncode:
        failed = _FAILED.search(output)
        return replace(ran, problem=failed[1] if failed else f"exit code {done.returncode}")
    return replace(ran, kernels=dict(_used(output)))


def _compiled(program: str, ran: PtxasRun, path: Path, timeout: float) -> subprocess.CompletedProcess[bytes]:
    """What ptxas says of a file, if need be as a part of a program."""
    command = [program, "-v", "-w", f"-arch={ran.arch}", f"-O{ran.level}", str(path), "-o", os.devnull]
    done = _run(command, timeout)
    if done.returncode and _UNRESOLVED in done.stderr:
        done = _run([*command, "-c"], timeout)
    return done


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
def version(program: str) -> str:
    """The version of a ptxas, "" where it does not say."""
    release = _RELEASE.search(_output(program, "--version"))
    return release[1] if release else ""


@cache
def architectures(program: str) -> tuple[str, ...]:
    """The architectures that a ptxas compiles for, plain ones ascending, then the others."""
    help = _output(program, "--help")
    plain = sorted({int(n) for n in _ARCHITECTURE.findall(help)})
    special = sorted(set(re.findall(r"'(sm_\d+[a-z])'", help)))
    return (*(f"sm_{n}" for n in plain), *special)


def _output(program: str, option: str) -> str:
    try:
        return _run([program, option], TIMEOUT).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired):
        return ""
