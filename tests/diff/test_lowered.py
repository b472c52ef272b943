"""PTX lowered to PTXPlus computes what the original does: in the hardware's meaning and in GPGPU-Sim's.

Four sets of kernels: those worked by hand (`tests/hand`), whose results come from no program; instructions
generated from the rows of the table on edge values; the reference kernels that nvcc compiled, whose results a C++
program computed; a few of numba.
"""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hand_kernels import HandKernel, files, hand_kernels
from lowered import lowered
from reference.interpreter import run_reference
from reference_kernels import kernels, launches
from walk_kernels import LANES, Item, arguments, build, differences, items

import ptxsim
from ptxsim import functional_run as functional
from ptxsim.lowering.builder import RULES
from ptxtool.base.diag import PtxError
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table
from ptxtool.parse import parse
from ptxtool.sema.module import check_module

SEMANTICS = ("hardware", "gpgpu-sim")
HAND = [path for path in files() if path.suffix == ".ptx"]
WHOLE_WARPS = {"barrier_sync_diverged", "barrier_cta_sync_diverged"}
"""They wait with a part of a warp: the pass says in a remark that PTXPlus's barriers take whole ones."""
FIRST_ELEMENT = {"structure"}
"""GPGPU-Sim copies the first element of a parameter that is an array."""


def is_switched(kernel: Function) -> bool:
    """Whether a kernel has what `--ptxplus-semantics gpgpu-sim` gives another meaning: structures, fetches."""
    return kernel.name in FIRST_ELEMENT or any(i.opcode.base == "tex" for i in kernel.instructions)


@cache
def hands(path: Path) -> tuple[HandKernel, ...]:
    return tuple(hand_kernels(path))


def lowers(kernel: Function) -> bool:
    try:
        lowered(kernel)
    except PtxError:
        return False
    return True


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("path", HAND, ids=lambda path: path.name)
def test_kernels_worked_by_hand(path: Path, semantics: str) -> None:
    wrong: list[str] = []
    for hand in hands(path):
        if hand.kernel.name in WHOLE_WARPS or (semantics == "gpgpu-sim" and is_switched(hand.kernel)):
            continue
        if lowers(hand.kernel):
            wrong += differing(hand, semantics)
    assert not wrong, "\n".join(wrong)


def differing(hand: HandKernel, semantics: str) -> list[str]:
    def run(kernel: Function, *how: Any, **more: Any) -> None:
        functional.run(lowered(kernel), *how, **({"ptxplus_semantics": semantics} | more))

    return hand.differences(run)


def test_what_lowers_of_the_kernels_worked_by_hand() -> None:
    """At least these: so that nothing is refused one day and the tests above have nothing to compare."""
    names = {hand.kernel.name for path in HAND for hand in hands(path) if lowers(hand.kernel)}
    print(f"{len(names)} of the kernels worked by hand lower to PTXPlus")
    assert len(names) >= 200


# ---- instructions made from the rows of the table

FORMS = [
    form
    for forms in table().forms.values()
    for form in forms
    if form.family in ("arithmetic", "logic", "conversion", "memory")
    and form.dialect != "ptxplus"
    and form.sem in RULES
    and form.sem not in ("cvta", "isspacep", "alloca", "stacksave", "stackrestore")
]
WALKED = sorted({form.base.split(".")[0] for form in FORMS})
MEMORY = {"ld", "ldu", "st", "red", "atom"}
"""Their addresses share a register, which has one state space only."""
PER_FORM = 2
BATCH = 20


@pytest.mark.parametrize("name", WALKED)
def test_rows_of_the_table(name: str) -> None:
    made = [item for form in FORMS if form.base.split(".")[0] == name for item in items(form, PER_FORM)]
    batch = [item for item in made if lowers(build([item]))]
    size = 1 if name in MEMORY else BATCH
    wrong = [line for at in range(0, len(batch), size) for line in walked(batch[at : at + size])]
    assert not wrong, "\n".join(wrong)


def walked(batch: Sequence[Item]) -> list[str]:
    """A line for each instruction whose results are not the original's, bit by bit."""
    kernel = build(list(batch))
    expected = arguments(list(batch))
    functional.run(kernel, (1,), (LANES,), expected)
    wrong = []
    for semantics in SEMANTICS:
        found = arguments(list(batch))
        functional.run(lowered(kernel), (1,), (LANES,), found, ptxplus_semantics=semantics)
        for k, item in enumerate(batch):
            lanes = np.flatnonzero(differences(item, expected[1][:, k], found[1][:, k], 0))
            if lanes.size:
                wrong.append(f"{item.text} ({semantics}): {lanes.size} lanes, the first is {lanes[0]}")
    return wrong


# ---- what nvcc compiles

REFERENCE = (
    *("backprop_adjust", "btree_range", "hotspot", "lib", "mum", "mriq", "sgemm", "stencil7", "conv_rows"),
    *("conv_cols", "lavamd", "lavamd_f32", "nw_diag", "srad1", "srad2", "bfs_step", "gaussian2"),
    *("layerforward", "nn_layer", "vecadd", "reduce", "transpose", "spmv_csr", "histogram", "scan"),
    *("black_scholes", "pointer_chase", "divergent_switch", "dgemm_small", "stream_copy", "stream_triad"),
    *("fma_chain", "fma_ilp", "shared_conflict_s8"),
)


@pytest.mark.parametrize("semantics", SEMANTICS)
@pytest.mark.parametrize("name", REFERENCE)
def test_reference_kernels(shared: Path, name: str, semantics: str) -> None:
    """All 34 lower, to text that `check` finds nothing in, and leave the memory that a C++ program computed."""
    launch = next(found for found in launches(shared) if str(found) == name)
    kernel = lowered(kernels(shared).kernels[launch.data["kernel"]])
    assert check_module(kernel.module) == ()
    how = launch.data["grid"], launch.data["block"]
    shared_bytes = launch.data["dynamic_shared_bytes"]
    given, buffers = launch.arguments()
    inputs = ptxsim.LaunchOptions(dynamic_shared=shared_bytes, constants=launch.constants())
    ptxsim.run(kernel, *how, given, options=inputs, ptxplus_semantics=semantics)
    launch.check(buffers)
    original, expected = launch.arguments()
    ptxsim.run(kernels(shared).kernels[launch.data["kernel"]], *how, original, options=inputs)
    assert {n: b.tobytes() for n, b in buffers.items()} == {n: b.tobytes() for n, b in expected.items()}


def test_every_reference_kernel_is_among_them(shared: Path) -> None:
    ran = {launch.data["kernel"] for launch in launches(shared) if str(launch) in REFERENCE}
    assert ran == set(kernels(shared).kernels)


QUICK = ("pointer_chase_w1", "fma_ilp_w1")


@pytest.mark.parametrize("name", QUICK)
def test_in_plain_python(shared: Path, name: str) -> None:
    launch = next(found for found in launches(shared) if str(found) == name)
    given, buffers = launch.arguments()
    run_reference(
        lowered(kernels(shared).kernels[launch.data["kernel"]]),
        launch.data["grid"],
        launch.data["block"],
        given,
        launch.data["dynamic_shared_bytes"],
        launch.constants(),
    )
    launch.check(buffers)


# ---- what numba compiles


@pytest.mark.parametrize("build", ["matmul.sm75", "matmul.sm75.lineinfo"])
def test_a_product_of_numba(shared: Path, build: str) -> None:
    """Its pointers come in structures of arrays, its tiles lie in shared memory."""
    numbers = np.random.default_rng(3)
    a, b = (numbers.normal(size=shape).astype(np.float32) for shape in ((40, 40), (40, 50)))
    found = compiled_by_numba(shared, build, (4, 3), (16, 16), a, b, np.zeros((40, 50), np.float32))
    np.testing.assert_allclose(found[2], a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("build", ["warpsum.sm75", "warpsum.sm90"])
def test_shuffles_of_numba(shared: Path, build: str) -> None:
    x = np.random.default_rng(4).integers(-9, 10, 256).astype(np.int32)
    (_, found) = compiled_by_numba(shared, build, 2, 128, x, np.zeros(8, np.int32))
    assert found.any()


def compiled_by_numba(shared: Path, build: str, grid: Any, block: Any, *arrays: Any) -> list[Any]:
    """The arrays after a run of a lowered kernel, which leaves the same in them as the original."""
    path = shared / "corpus" / "ptx" / "numba" / f"{build}.ptx"
    (kernel,) = parse(path.read_bytes(), path.name).kernels.values()
    results = []
    for one in (kernel, lowered(kernel)):
        copies = [array.copy() for array in arrays]
        flat: list[Any] = []
        for value in copies:  # what numba makes of an array
            flat += [0, 0, value.size, value.itemsize, value, *value.shape, *value.strides]
        ptxsim.run(one, grid, block, flat)
        results.append(copies)
    assert [a.tobytes() for a in results[0]] == [a.tobytes() for a in results[1]]
    return results[1]


CHAIN = """.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .pred %p;
	.reg .b32 %t, %w<4>;
	.reg .b64 %d<12>;
	ld.param.u64 %d0, [out];
	ld.param.u64 %d1, [in];
	mov.u32 %t, %tid.x;
	mad.wide.u32 %d0, %t, 48, %d0;
	mad.wide.u32 %d1, %t, 32, %d1;
	ld.global.v2.u64 {%d2, %d3}, [%d1];
	ld.global.v2.u64 {%d4, %d5}, [%d1+16];
	add.cc.u64 %d6, %d2, %d4;
	addc.cc.u64 %d7, %d3, %d5;
	addc.u32 %w0, 0, 0;
	sub.cc.s64 %d8, %d2, %d4;
	subc.cc.s64 %d9, %d3, %d5;
	subc.u32 %w1, 0, 0;
	mov.b64 {%w2, %w3}, %d2;
	add.cc.u32 %w2, %w2, %w3;
	setp.gt.u32 %p, %t, 15;
	@%p add.cc.u64 %d10, %d2, %d3;
	addc.u64 %d11, %d4, 0;
	st.global.v2.u64 [%d0], {%d6, %d7};
	st.global.v2.u64 [%d0+16], {%d8, %d9};
	st.global.v2.u32 [%d0+32], {%w0, %w1};
	st.global.u64 [%d0+40], %d11;
	ret;
}
"""


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_carries_of_64_bits(semantics: str) -> None:
    """Numbers of 128 bits, a carry from words into a 64-bit sum, and one that only some lanes replace."""
    edges = np.array([0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1], np.uint64)
    given = np.random.default_rng(6).choice(edges, (32, 4))
    out = np.zeros((32, 6), np.uint64)
    ptxsim.run(lowered(parse(CHAIN).kernels["k"]), 1, 32, [out, given], ptxplus_semantics=semantics)
    for thread, (row, found) in enumerate(zip(given.tolist(), out.tolist(), strict=True)):
        a, b = row[0] + (row[1] << 64), row[2] + (row[3] << 64)
        first, second = (row[0], row[1]) if thread > 15 else (row[0] % 2**32, row[0] >> 32)
        carry = (first + second) >> (64 if thread > 15 else 32)
        total, difference = (a + b) % 2**128, (a - b) % 2**128
        assert found == [
            total % 2**64,
            total >> 64,
            difference % 2**64,
            difference >> 64,
            ((a + b) >> 128) + ((2**32 - 1 if a < b else 0) << 32),
            (row[2] + carry) % 2**64,
        ], row


REGISTERS_FOR_PARAMETERS = """.version 8.0
.target sm_75
.address_size 64
.func (.param .b64 sum) f(.param .b32 a, .param .b64 at, .param .b16 h)
{
	.reg .b16 %h;
	.reg .b32 %a, %b;
	.reg .b64 %d;
	ld.param.u32 %a, [a];
	ld.param.u64 %d, [at];
	ld.param.u16 %h, [h];
	ld.global.u32 %b, [%d];
	mad.wide.u16 %a, %h, %h, %a;
	add.u32 %a, %a, %b;
	cvt.u64.u32 %d, %a;
	st.param.u64 [sum], %d;
	ret;
}
.visible .entry k(.param .u64 out, .param .u64 in)
{
	.reg .b16 %h;
	.reg .b32 %t;
	.reg .b64 %d<5>;
	ld.param.u64 %d0, [out];
	ld.param.u64 %d1, [in];
	mov.u32 %t, %tid.x;
	cvt.u16.u32 %h, %t;
	mad.wide.u32 %d2, %t, 4, %d1;
	mad.wide.u32 %d3, %t, 16, %d0;
	call (%d4), f, (%t, %d2, %h);
	st.global.u64 [%d3], %d4;
	call (%d4), f, (7, %d1, 3);
	st.global.u64 [%d3+8], %d4;
	ret;
}
"""


@pytest.mark.parametrize("semantics", SEMANTICS)
def test_registers_for_parameters_in_memory(semantics: str) -> None:
    given = np.arange(32, dtype=np.uint32) * 1000 + 5
    out = np.zeros((32, 2), np.uint64)
    kernel = lowered(parse(REGISTERS_FOR_PARAMETERS).kernels["k"])
    ptxsim.run(kernel, 1, 32, [out, given], ptxplus_semantics=semantics)
    assert out.tolist() == [[t * t + t + 1000 * t + 5, 9 + 7 + 5] for t in range(32)]
