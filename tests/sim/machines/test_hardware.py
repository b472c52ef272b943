"""Machines named as hardware at work: latencies and rates that were published, and oddities that they lack.

Latencies are those that the GPU files cite: Jia (V100, T4), Luo (A100, H100, RTX 4090). 32-bit arithmetic takes 4
cycles on all of them, and no less than 6 here: the pipeline's 5 and one of a unit (docs/model/volta.md).
"""

from functools import cache

import numpy as np
import pytest
from microkernels.measure import cost, lines, rate
from microkernels.memory import HOP, POINTER, hop, ring

import ptxsim
from ptxtool.formats.gpu import Gpu, load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.parse import parse

_ADD = 6
"""Of the addition after every load of a chain."""
_FAR = [k * 98304 for k in range(24)]
"""Places in many rows of DRAM, each of which is loaded once."""


@cache
def one_sm(name: str, *settings: str) -> Gpu:
    return with_settings(load_gpu(name), ["sm.count=1", *settings])


@pytest.mark.parametrize(
    ("name", "shared", "l1", "l2", "dram"),
    [
        ("v100", 19, 28, 193, 375),  # Jia 2018: sections 3.1, 3.2, 3.6, 3.7
        ("rtx2060", 19, 32, 188, None),  # Jia 2019, of a T4
        ("a100", 29, 38, 262, 466),  # Luo: 29.0, 37.9, 261.5, 466.3
        ("h100", 29, 41, 263, 479),  # 29.0, 40.7, 263.0, 478.8
        ("b200", 29, 39, 297, None),  # Lam: 19.6 and about 150 ns
        ("rtx4090", 30, 43, 273, 542),  # 30.1, 43.4, 273.0, 541.5
    ],
)
def test_loads_take_what_was_measured(name: str, shared: int, l1: int, l2: int, dram: int | None) -> None:
    gpu = one_sm(name)
    setup = "mov.u32 %r20, tile;\n\tst.shared.u32 [%r20], %r20;"
    assert cost("ld.shared.u32 %r20, [%r20];", setup=setup, gpu=gpu)() == shared
    assert cost(HOP, _ADD, setup=POINTER, words=ring([0]), block=1, gpu=gpu)() == l1
    # past the L1 a load does not wait in its pipe, nor a cycle in its miss queue
    uncached = HOP.replace("ld.global", "ld.global.cg")
    assert cost(uncached, _ADD, setup=POINTER, words=ring([0]), block=1, gpu=gpu)() == l2 - (l1 - 4) - 1
    if dram is not None:  # whose clock has its own phase
        assert hop(_FAR, (4, 16), _ADD, one_sm(name, "l2.copies_fill=false")) == pytest.approx(dram, abs=2)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add.f32 %f20, %f20, %f21;", 6),  # 4 on the hardware
        ("mad.lo.u32 %r20, %r20, %r21, %r22;", 6),  # 5
        ("fma.rn.f64 %d20, %d20, %d21, %d22;", 8),
        ("rcp.approx.f32 %f20, %f20;", 14),
    ],
)
def test_distances_of_a_chain_on_v100(line: str, expected: int) -> None:
    assert cost(line, gpu=one_sm("v100"))() == expected


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [  # results of the CUDA Programming Guide / 32 lanes, of an SM in a cycle
        ("v100", "fma.rn.f32 %f{k}, %f17, %f18, %f19;", 2),
        ("v100", "add.s32 %r{k}, %r17, %r18;", 2),
        ("h100", "fma.rn.f32 %f{k}, %f17, %f18, %f19;", 4),
        ("h100", "fma.rn.f64 %d{k}, %d17, %d18, %d19;", 2),
        ("rtx4090", "fma.rn.f32 %f{k}, %f17, %f18, %f19;", 4),
    ],
)
def test_rates(name: str, line: str, expected: float) -> None:
    found = rate(lines(line, 8), 32, 2, 6, gpu=name, block=1024, grid=1)()
    assert found == pytest.approx(expected, rel=0.01)


PRODUCTS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<16>;
	.reg .b64 %d<4>;
	BODY
	ret;
}
"""
F16 = "mma.sync.aligned.{}.row.col.f32.f16.f16.f32 {{%r0, %r1, %r2, %r3}}, {{{}}}, {{{}}}, {{%r0, %r1, %r2, %r3}};"
LONG = F16.format("m16n8k16", "%r4, %r5, %r6, %r7", "%r8, %r9")
SHORT = F16.format("m16n8k8", "%r4, %r5", "%r8")
INTEGERS = LONG.replace("m16n8k16", "m16n8k32").replace("f32.f16.f16.f32", "s32.s8.s8.s32")


def chain_step(line: str, name: str) -> float:
    """Cycles of an instruction of a chain."""
    few, many = (
        ptxsim.launch(
            parse(PRODUCTS.replace("BODY", "\n\t".join([line] * n)), "products.ptx").kernels["k"],
            1,
            32,
            [np.zeros(4, np.uint32)],
            gpu=one_sm(name),
            registers=16,
        ).cycles
        for n in (20, 60)
    )
    return float(many - few) / 40


@pytest.mark.parametrize(
    ("line", "expected"),
    [(LONG, 25), (SHORT, 18), (INTEGERS, 25)],  # Sun: 24.7, 17.7; s8 as the f16 of as many cycles
)
def test_chains_of_products(line: str, expected: int) -> None:
    assert chain_step(line, "a100") == expected


VECTOR = """.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<8>;
	.reg .b64 %l<4>;
	ld.param.u64 %l1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %l2, %r1, 16;
	add.s64 %l1, %l1, %l2;
	st.global.v4.u32 [%l1], {%r1, %r1, %r1, %r1};
	ld.global.u32 %r2, [%l1];
	ret;
}
"""


def test_vectors_are_stored_whole() -> None:
    """32 lanes fill 16 sectors, and the load after it hits; of GPGPU-Sim's first elements each sector has 8 bytes."""
    kernel = parse(VECTOR, "vector.ptx").kernels["k"]
    whole, first = (
        ptxsim.launch(kernel, 1, 32, [np.zeros(128, np.uint32)], gpu=gpu, registers=8).stats["l1d_misses"]
        for gpu in (one_sm("v100"), one_sm("v100", 'ldst.vectors="first-element"'))
    )
    assert (first - whole, whole) == (16, 16)  # 16 stores miss an empty cache
