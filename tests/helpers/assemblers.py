"""Assemblers of several PTX versions: ptxas of CUDA 13.N takes PTX 9.N.

`PTXTOOL_ASSEMBLERS` names further ptxas programs, separated as in PATH. One of PyPI's wheels is enough for each:
`pip install --target FOLDER --no-deps nvidia-cuda-nvcc==13.5.37`, then FOLDER/nvidia/cu13/bin/ptxas (`chmod +x`).
"""

import os
import re
import subprocess
from functools import cache

from ptxas import ptxas

Version = tuple[int, int]


@cache
def assemblers() -> dict[Version, str]:
    """The newest version that each ptxas takes, and its path; the one that all tests use is among them."""
    programs = [ptxas(), *os.environ.get("PTXTOOL_ASSEMBLERS", "").split(os.pathsep)]
    return {version: program for program in programs if program and (version := _version(program))}


def _version(program: str) -> Version | None:
    """The PTX version of a ptxas of CUDA 13 or later, None for an older one."""
    said = subprocess.run(
        [program, "--version"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    release = re.search(r"release (\d+)\.(\d+)", said)
    if release is None or int(release[1]) < 13:
        return None
    return int(release[1]) - 4, int(release[2])
