"""Which parts a program needs, and that a process loads these only."""

import json
import subprocess
import sys

import numpy as np
import pytest

from ptxsim.base.jit import JIT_DISABLED
from ptxsim.base.program import UOP
from ptxsim.execute import codes
from ptxsim.execute.parts import parts_of

FIRST_OF = {
    "matrix": (codes.MATRIX_LOAD, codes.MULTIPLY, codes.OPERANDS),
    "warpgroup": (codes.WARPGROUP, codes.WARPGROUP_WAIT),
    "tensor": (codes.TENSOR_MULTIPLY, codes.TENSOR_SHIFT),
    "textures": (codes.FETCH, codes.STORE_TEXEL),
    "host": (codes.PRINT, codes.FREE),
    "bulk": (codes.BULK_COPY, codes.BULK_FILL),
}
SCRIPT = """
import json, sys
import numpy as np
import ptxsim
from ptxsim.base import machine_code
from ptxtool.parse import parse

HEAD = ".version 8.0\\n.target sm_80\\n.address_size 64\\n"
def run(name, body, start, **options):
    out = np.zeros(64, np.uint32)
    text = f"{HEAD}.visible .entry k(.param .u64 p) {{\\n.reg .b32 %r<9>; .reg .b64 %rd<4>; .shared .b8 room[512];\\n"
    text += f"ld.param.u64 %rd1, [p];\\nmov.u32 %r1, 7;\\n{body}\\nst.global.u32 [%rd1], %r1;\\nret;\\n}}"
    start(parse(text).kernels["k"], 1, 32, [out], **options)
    print(json.dumps([name, int(out[0]), sorted(machine_code._needed), len(machine_code._kept)]))

MATRIX = "mov.u32 %r2, room;\\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r3}, [%r2];"
run("plain", "", ptxsim.run)
run("again", "", ptxsim.run)
run("matrix", MATRIX, ptxsim.run)
run("timed", MATRIX, ptxsim.launch)
run("after", "", ptxsim.run)
run("checked", "", ptxsim.run, check=("all",))
"""


def uops(*ops: int) -> np.ndarray:
    found = np.zeros(len(ops), UOP)
    found["op"] = ops
    return found


@pytest.mark.parametrize("part", FIRST_OF)
def test_parts_of_micro_operations(part: str) -> None:
    for op in FIRST_OF[part]:
        assert parts_of(uops(codes.LOAD_32, op)) == {part}
    assert parts_of(uops(*(ops[0] for ops in FIRST_OF.values()))) == set(FIRST_OF)


def test_others_need_none() -> None:
    others = 0, codes.LOAD_32, codes.BARRIER, codes.MBARRIER_TEST, codes.SAVE_32, codes.CHECK_STACK
    assert parts_of(uops(*others, codes.CLUSTER_WAIT, codes.TRAP, codes.VOTE)) == set()


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is loaded without compilation")
def test_a_process_loads_what_its_launches_need() -> None:
    """And loads the rest of the code again where it calls what it did not."""
    found = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    runs = {name: rest for name, *rest in map(json.loads, found.stdout.splitlines())}
    assert [run[0] for run in runs.values()] == [7] * 6
    assert runs["plain"][1] == []
    assert runs["again"] == runs["plain"]
    assert runs["matrix"][1] == runs["timed"][1] == runs["after"][1] == ["matrix"]
    assert runs["checked"][1] == ["checks", "matrix"]
    assert runs["matrix"][2] > 1.5 * runs["plain"][2]
    assert runs["after"][2] == runs["timed"][2]
