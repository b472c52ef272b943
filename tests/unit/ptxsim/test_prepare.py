"""Preparing machine code for a wheel: for the level's processor, and everything that runs load."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ptxsim
from ptxsim import prepare
from ptxsim.base import machine_code
from ptxsim.base.jit import JIT_DISABLED
from ptxtool.parse import parse

OWN = """
import sys
from pathlib import Path
from ptxsim.base import prepared_code
from ptxsim.base.jit import entry, types
from ptxsim import prepare

def triple(x):
    return 3 * x

prepared_code.FOLDER = Path(sys.argv[1])
triple = entry(types.int64(types.int64))(triple)
if sys.argv[2] == "write":
    prepare.write("x86-64-v2", [triple])
else:
    print(triple(14), "numba" in sys.modules)
"""

KERNEL = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 out)
{
	.reg .u32 %r<3>;
	.reg .u64 %d<3>;
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d1, %d1, %d2;
	st.global.u32 [%d1], %r1;
	ret;
}
"""

compiles = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


@compiles
@pytest.mark.skipif(platform.machine() != "x86_64", reason="a level of x86-64")
def test_a_file_of_a_level_serves_another_process(tmp_path: Path) -> None:
    """Without the compiler and without the cache of the process that has written it."""
    script, folder = tmp_path / "own.py", tmp_path / "prepared"
    script.write_text(OWN)

    def python(cache: str, what: str, **variables: str) -> str:
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / cache), **variables}
        command = [sys.executable, str(script), str(folder), what]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    assert "1 functions" in python("a", "write", **prepare.environment("x86-64-v2"))
    head = json.loads((folder / "x86-64-v2.code").read_bytes().partition(b"\n")[0])
    assert head["level"] == "x86-64-v2"
    assert len(head["places"]) == 1
    assert python("b", "call") == "42 False\n"
    assert not list((tmp_path / "b").rglob("*.o"))


@compiles
def test_everything_that_runs_load_is_prepared() -> None:
    kernel = parse(KERNEL).kernels["k"]
    for start in (ptxsim.run, ptxsim.launch):
        start(kernel, 1, 32, [np.zeros(32, np.uint32)])
    prepared = {(f.__module__, f.__name__) for f in prepare.functions()}
    loaded = {(f.__module__, f.__name__) for f, _ in machine_code._addresses.values()}
    ours = {(module, name) for module, name in loaded if module.startswith("ptxsim.") and "_wide" not in name}
    assert ours <= prepared
    assert ("ptxsim.timing.core.cycle", "_simulate_plain") in ours


def test_levels(capsys: pytest.CaptureFixture[str]) -> None:
    assert prepare.main(["x86-64-v9"]) == prepare.main([]) == 2
    assert "{x86-64-v3,x86-64-v2,aarch64}" in capsys.readouterr().err
