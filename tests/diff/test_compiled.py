"""Compiled semantics against the reference interpreter: the same memory after every instruction form.

Every form runs on 128 lanes: all pairs of the edge values of its types, and seeded random bits. A NaN equals every
other NaN, since the two need not choose the same one where the manual leaves the choice.
"""

import itertools
import random
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from instruction_forms import ATOMIC, EDGES, GROUPS, MEMORY, WARP

from ptxsim.semantics import functional
from ptxsim.semantics.reference import run_reference
from ptxtool.base.resources import resource_dir
from ptxtool.formats.launch import load_launch
from ptxtool.ir.nodes import Function
from ptxtool.parse import parse

LANES = 128

PTX = """.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q)
{
	.reg .b16 %h<8>;
	.reg .b32 %r<20>;
	.reg .b64 %d<20>;
	.reg .pred %p<8>;
	.shared .align 8 .b8 tile[1024];
	.local .align 8 .b8 own[32];
	ld.param.u64 %d10, [p];
	ld.param.u64 %d11, [q];
	mov.u32 %r10, %tid.x;
	mad.wide.u32 %d12, %r10, 24, %d10;
	mad.wide.u32 %d13, %r10, 8, %d11;
	ld.global.u64 %d1, [%d12];
	ld.global.u64 %d2, [%d12+8];
	ld.global.u64 %d3, [%d12+16];
	cvt.u32.u64 %r1, %d1;
	cvt.u32.u64 %r2, %d2;
	cvt.u32.u64 %r3, %d3;
	cvt.u16.u64 %h1, %d1;
	cvt.u16.u64 %h2, %d2;
	cvt.u16.u64 %h3, %d3;
	setp.lt.s32 %p3, %r3, 0;
	BODIES
	ret;
}
"""
PTX_AGAIN = "mov.u64 %d0, 0; mov.u32 %r0, 0; mov.u32 %r4, 0; mov.u16 %h0, 0;\n"
PTX_AFTER = "st.global.u64 [%d13+OUT], %d0;\n"

PTXPLUS = """.version 1.4+
.target sm_10, map_f64_to_f32
.const .u32 c0[2] = { 0x000003ff, 0x3f800000 };
.entry k (.param .u64 p, .param .u64 q)
{
	.reg .u32 $r<16>;
	.reg .u32 $ofs<4>;
	.reg .pred $p<4>;
	.reg .u32 $r124;
	.reg .u32 $o127;
	cvt.u32.u16 $r10, $r0.lo;
	mul24.lo.u32 $r11, $r10, 0x00000018;
	add.u32 $r11, s[0x0010], $r11;
	shl.u32 $r12, $r10, 0x00000003;
	add.u32 $r12, s[0x0018], $r12;
	BODIES
	l_exit: exit;
}
"""
PTXPLUS_AGAIN = """ld.global.v2.u32 {$r4,$r5}, [$r11];
	ld.global.v2.u32 {$r6,$r7}, [$r11+0x0008];
	ld.global.v2.u32 {$r8,$r9}, [$r11+0x0010];
	mov.u32 $r1, $r4;
	mov.u32 $r2, $r6;
	mov.u32 $r3, $r8;
	mov.pred $p3, $r3;
	shl.b32 $ofs1, $r10, 0x00000003;
	mov.u32 $r0, $r124;
	mov.u32 $r13, $r124;
"""
PTXPLUS_AFTER = "st.global.v2.u32 [$r12+OUT], {$r0,$r13};\n"


def inputs(kind: str) -> np.ndarray:
    """Three values per lane: pairs of edges, then random bits (for floats mostly of moderate size)."""
    generator = random.Random(kind)
    edges = EDGES[kind]
    rows: list[list[int]] = []
    pairs = list(itertools.product(edges, edges))
    generator.shuffle(pairs)
    for a, b in pairs[:72]:
        rows.append([a, b, generator.choice(edges)])
    while len(rows) < LANES:
        rows.append([_random(kind, generator) for _ in range(3)])
    return np.array(rows, np.uint64)


def _random(kind: str, generator: random.Random) -> int:
    sign = generator.getrandbits(1)
    if kind == "f32":
        return sign << 31 | generator.randrange(110, 145) << 23 | generator.getrandbits(23)
    if kind == "f64":
        return sign << 63 | generator.randrange(1000, 1060) << 52 | generator.getrandbits(52)
    return generator.getrandbits(16 if kind == "f16" else 64) >> generator.choice([0, 0, 8, 24, 40])


BATCH = 48
BODY_BYTES = 8 * LANES


def batches(bodies: list[str], size: int = BATCH) -> list[list[str]]:
    """Bodies that share a kernel, which saves most of the time; one of their own where they must not meet."""
    return [bodies[k : k + size] for k in range(0, len(bodies), size)]


def build(is_ptxplus: bool, bodies: list[str]) -> Function:
    """A kernel that runs the bodies one after the other; each has its own slice of the result buffer."""
    head, again, after = (
        (PTXPLUS, PTXPLUS_AGAIN, PTXPLUS_AFTER) if is_ptxplus else (PTX, PTX_AGAIN, PTX_AFTER)
    )
    parts = [
        again
        + re.sub(r"\bl([0-9])\b(?!\[)", rf"l\1x{k}", body)
        + "\n"
        + after.replace("OUT", str(k * BODY_BYTES))
        for k, body in enumerate(bodies)
    ]
    return next(iter(parse(head.replace("BODIES", "".join(parts))).kernels.values()))


def compare(is_ptxplus: bool, bodies: list[str], kind: str, nan_bits: int = 0, tolerance: int = 0) -> None:
    """Run bodies both ways; `nan_bits` is the width of floating-point results, `tolerance` in their last places."""
    found = build(is_ptxplus, bodies)
    given = inputs(kind)
    results = []
    for run in (run_reference, functional.run):
        run_it: Callable[..., Any] = run  # type: ignore[assignment]
        source, target = given.copy(), np.zeros((len(bodies), LANES), np.uint64)
        run_it(found, (1,), (LANES,), [source, target], dynamic_shared=2048 if is_ptxplus else 0)
        results.append((source, target))
    (source, reference), (other, compiled) = results
    same = reference == compiled
    if nan_bits:
        width, dtype = {16: ("u2", "f2"), 32: ("u4", "f4"), 64: ("u8", "f8")}[nan_bits]
        a, b = (r.astype(width).view(dtype) for r in (reference, compiled))
        same |= np.isnan(a) & np.isnan(b)
        if tolerance:
            same |= np.abs(a.view(width).astype(np.int64) - b.view(width).astype(np.int64)) <= tolerance
    lines = [
        f"{body}: {np.count_nonzero(~row)} lanes differ; {[hex(int(v)) for v in given[lane]]} -> "
        f"reference {int(reference[k, lane]):#x}, compiled {int(compiled[k, lane]):#x}"
        for k, (body, row) in enumerate(zip(bodies, same, strict=True))
        for lane in np.flatnonzero(~row)[:1].tolist()
    ]
    assert not lines, "\n".join([f"{len(lines)} of {len(bodies)} bodies", *lines])
    assert (source == other).all()


@pytest.mark.parametrize(
    ("name", "part"),
    [(name, part) for name, group in GROUPS.items() for part in range(len(batches(group[1])))],
)
def test_every_form(name: str, part: int) -> None:
    is_ptxplus, bodies, kind, nan_bits, tolerance = GROUPS[name]
    compare(is_ptxplus, batches(bodies)[part], kind, nan_bits, tolerance)


@pytest.mark.parametrize("body", MEMORY + ATOMIC + WARP)
def test_memory_and_warps(body: str) -> None:
    """One at a time: they meet in shared memory."""
    compare(False, [body], "b")


@pytest.mark.parametrize("name", ["sgemm", "hotspot", "reduction", "saxpy"])
def test_whole_samples(name: str) -> None:
    """The compiled run of a whole launch gives what its file expects."""
    launch = load_launch(resource_dir("samples") / name / "launch.toml")
    assert launch.file is not None
    kernel_ = parse(launch.file.read_bytes(), str(launch.file)).kernels[str(launch.kernel)]
    arguments = launch.arguments()
    functional.run(kernel_, launch.grid, launch.block, arguments, dynamic_shared=launch.dynamic_shared)
    assert [str(d) for d in launch.check(arguments)] == []
