"""NVIDIA's assembler as a second opinion, where there is one: on the PATH, in CUDA_HOME, or nvidia-cuda-nvcc of PyPI.

ptxas names every wrong instruction of a file in one run of a few milliseconds, by line; a syntax error stops it before.
"""

import os
import re
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

from ptxtool.external.ptxas import find_ptxas

VERSION, ARCH = "9.0", "sm_100a"
_MESSAGE = re.compile(r"ptxas .*?, line (\d+); (error|fatal)\s*: (.*)")
_FATAL = re.compile(r"ptxas (error|fatal)\s*: (.*)")


@cache
def ptxas() -> str | None:
    """The path of ptxas, None where there is none."""
    return find_ptxas()


needs_ptxas = pytest.mark.skipif(
    ptxas() is None, reason="needs ptxas: CUDA, or `pip install nvidia-cuda-nvcc`"
)


def ptxas_errors(
    text: str | bytes, arch: str = ARCH, timeout: float = 120, relocatable: bool = False, program: str = ""
) -> dict[int, list[str]]:
    """What ptxas refuses: its messages by line (0 where it names none); empty if it accepts the file.

    If `relocatable`, `.extern` names may be defined elsewhere. `program`: another ptxas than `ptxas()`.
    """
    program = program or ptxas() or ""
    assert program
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.ptx")
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        command = [program, f"-arch={arch}", "-O0", "-w", str(path), "-o", os.devnull]
        command += ["-c"] if relocatable else []
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    found: dict[int, list[str]] = {}
    for line in (done.stdout + done.stderr).decode(errors="replace").splitlines():
        if m := _MESSAGE.match(line):
            found.setdefault(int(m[1]), []).append(m[3])
        elif (m := _FATAL.match(line)) and "aborted due to errors" not in m[2]:
            found.setdefault(0, []).append(m[2])
    if done.returncode and not found:
        found[0] = [f"exit code {done.returncode}"]
    return found
