"""Kernels that run instruction forms one after the other, and their inputs: for the tests in `diff/`."""

import itertools
import random
import re

import numpy as np
from instruction_forms import EDGES

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
