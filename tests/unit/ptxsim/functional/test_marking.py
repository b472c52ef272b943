"""Which accesses of a program mark memory, and as what."""

import numpy as np
import pytest

from ptxsim.base.program import UOP
from ptxsim.execute import codes
from ptxsim.execute.memory.access_marks import READ, REDUCED, WRITTEN
from ptxsim.functional.marking import marking
from ptxsim.lowering.lower import lower
from ptxtool.formats.gpu import machine_of
from ptxtool.parse import parse

HEAD = """\
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<5>;
    .reg .f32 %f<3>;
    .shared .align 16 .b8 room[512];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, room;
"""
MARKS = {
    "ld.global.u32 %r2, [%rd1];": [READ],
    "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd1];": [READ],
    "st.global.v2.u32 [%rd1], {%r2, %r3};": [WRITTEN],
    "ld.u32 %r2, [%rd1];\nst.u32 [%rd1], %r2;": [READ, WRITTEN],
    "cp.async.ca.shared.global [%r1], [%rd1], 4;": [READ | WRITTEN, READ],
    "atom.shared.add.u32 %r2, [%r1], %r3;": [READ | WRITTEN],
    "atom.add.u32 %r2, [%rd1], %r3;": [READ | WRITTEN],
    "red.global.add.u32 [%rd1], %r3;": [REDUCED],
    "atom.global.add.u32 %r2, [%rd1], %r3;": [REDUCED],
    "red.global.add.v2.f32 [%rd1], {%f1, %f2};": [REDUCED],
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];": [READ | WRITTEN],
}
LEFT = {
    "atom.global.add.u32 %r2, [%rd1], %r3;\nadd.u32 %r3, %r2, 1;": "a result that is read",
    "atom.global.add.u32 %r2, [%rd1], %r3;\nsetp.eq.u32 %p1, %r2, 1;": "a result that is compared",
    "atom.global.cas.b32 %r2, [%rd1], %r3, %r4;": "compare and swap",
    "mov.u32 %r2, %clock;": "the time",
    "cp.async.bulk.commit_group;": "bulk copies",
}


def marked(body: str) -> np.ndarray | None:
    kernel = parse(f"{HEAD}{body}\nret;\n}}\n").kernels["k"]
    program = lower(kernel, machine_of("tesla-c2050"), (32, 1, 1))
    before = program.uops.copy()
    found: np.ndarray | None = marking(program)
    assert (program.uops == before).all()
    return found


@pytest.mark.parametrize("body", MARKS)
def test_marks(body: str) -> None:
    uops = marked(body)
    assert uops is not None
    assert uops.dtype == UOP
    accesses = uops[np.isin(uops["op"], (codes.ACCESS32, codes.ACCESS64))]
    of_parameters, *others = accesses["d"].tolist()
    assert of_parameters == READ
    assert others == MARKS[body]
    deferred = uops[uops["op"] == codes.DEFER]
    assert len(deferred) == MARKS[body].count(REDUCED) * (2 if ".v2." in body else 1)
    assert (uops[deferred["d"]]["op"] == codes.DEFER).all()


@pytest.mark.parametrize("body", LEFT, ids=LEFT.values())
def test_programs_of_one_thread(body: str) -> None:
    assert marked(body) is None
