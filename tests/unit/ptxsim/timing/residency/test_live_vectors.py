"""Live-register vectors: what a look-up costs, and the direct-mapped cache that they come from."""

from typing import Any

import numpy as np
import pytest
from kernels import sample
from microkernels.switching import waiting_kernel
from waiting_ctas import one_place, wait

import ptxsim
import ptxtool
from ptxsim.base.jit import for_python
from ptxsim.lowering.lower import lower
from ptxsim.timing.residency import live_vectors
from ptxsim.timing.residency.switch_records import NOWHERE, SWITCH
from ptxsim.timing.residency.switching_setup import Switcher
from ptxtool.analysis.occupancy.register_schemes import scheme_named
from ptxtool.analysis.occupancy.switching_plan import switching_plan
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

GPU = load_gpu("gtx980-finereg")
enter_vector = for_python(live_vectors.enter_vector)
location = for_python(live_vectors.location)


def test_looking_up_takes_its_time() -> None:
    slow, fast = (wait(3, f"switching.vector_hit_cycles={n}").cycles for n in (51, 1))
    # what delays CTA 2's beginning is over when it is needed; what delays CTA 1's coming back is not
    assert slow - fast == 50


@pytest.mark.parametrize("entries", [1, 32])
def test_a_small_vector_cache_misses_more(entries: int) -> None:
    launch, kernel = sample("conv1")
    options: dict[str, Any] = {"registers": launch.registers, "switching": "finereg"}
    gpu = with_settings(load_gpu("gtx980-finereg"), ["sm.count=2", f"switching.vector_entries={entries}"])
    found = ptxsim.launch(kernel, (40, 4), launch.block, launch.arguments(), gpu=gpu, **options).switching
    looked_up = found.vector_hits + found.vector_misses
    assert looked_up > 30
    assert found.vector_misses > looked_up / 2 if entries == 1 else found.vector_misses < looked_up / 2


@pytest.mark.parametrize(
    ("instruction", "entry"),
    [
        (7, 7),
        (32, 1),  # bits 5 to 9 are mixed with bits 0 to 4: 0 ^ 1
        (33, 0),  # 1 ^ 1
        (1024 + 5, 4),  # and bits 10 to 14: 5 ^ 1 (bit 10 alone of these; bits 5 to 9 are 0)
    ],
)
def test_the_entry_of_a_vector_is_a_hash_of_its_instruction(instruction: int, entry: int) -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["vector_entries"], switch["vector_tag"] = 32, NOWHERE
    switch["vector_wanted"], switch["vector_left"] = instruction, 64
    enter_vector(switch, 32)
    assert int(switch["vector_wanted"]) == instruction  # a part of it is still on its way
    enter_vector(switch, 32)
    assert np.flatnonzero(switch["vector_tag"] != NOWHERE).tolist() == [entry]
    assert int(switch["vector_tag"][entry]) == int(switch["vector_came"]) == instruction
    assert int(switch["vector_wanted"]) == NOWHERE


@pytest.mark.parametrize(
    ("vector_bytes", "instruction", "place"),
    [
        (12, 0, (0, 32)),
        (12, 1, (0, 32)),  # two vectors of 12 bytes lie in a sector of 32
        (12, 2, (32, 32)),
        (20, 3, (96, 32)),  # 65 registers and more: 20 bytes, one in a sector
        (28, 3, (96, 32)),
        (36, 1, (64, 64)),  # 193 and more: two sectors, two vectors in a line of 128 bytes
        (36, 2, (128, 64)),
        (68, 1, (128, 96)),  # three sectors, one in a line
        (200, 1, (128, 128)),  # a line at most
    ],
)
def test_a_vector_costs_what_it_is_long(vector_bytes: int, instruction: int, place: tuple[int, int]) -> None:
    switch = np.zeros(1, SWITCH)[0]
    switch["vector_bytes"] = vector_bytes
    assert location(switch, instruction) == place


@pytest.mark.parametrize(("registers", "vector_bytes"), [(32, 12), (64, 12), (65, 20), (255, 36)])
def test_the_length_of_a_vector_is_that_of_the_launch(registers: int, vector_bytes: int) -> None:
    plan = switching_plan(GPU, scheme_named("finereg"), 32, registers)
    kernel = ptxtool.parse(waiting_kernel(3)).kernels["k"]
    switcher = Switcher(plan, GPU, lower(kernel, GPU, (32, 1, 1)), 4)
    assert set(switcher.records["vector_bytes"].tolist()) == {vector_bytes}


CALLS = """.version 4.0
.target sm_35
.address_size 64
.func (.reg .b32 %o) inner(.reg .b64 %a)
{
	.reg .b32 %x<3>;
	mov.u32 %x1, %tid.x;
	ld.global.cg.u32 %x2, [%a];
	add.u32 %o, %x1, %x2;
	ret;
}
.func (.reg .b32 %o) outer(.reg .b64 %a)
{
	.reg .b32 %y<4>;
	mov.u32 %y1, %tid.x;
	mul.lo.u32 %y2, %y1, 3;
	call (%y3), inner, (%a);
	add.u32 %o, %y3, %y2;
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .b64 %l<4>;
	.reg .b32 %r<8>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	shl.b32 %r3, %r2, 5;
	add.u32 %r4, %r3, %r1;
	ld.param.u64 %l0, [p];
	mul.wide.u32 %l1, %r4, 4;
	add.s64 %l2, %l0, %l1;
	call (%r5), outer, (%l2);
	add.u32 %r6, %r5, %r4;
	st.global.u32 [%l2], %r6;
	ret;
}
"""


def test_what_callers_need_is_live() -> None:
    """A warp waits in `inner` with %x1 and %x2, for `outer` with %y2 and what it gets, %y3, and for `k` with %r4, %r5
    and the two words of %l2.

    CTA 0 resumes while the first of the three vectors comes from DRAM, CTA 1 while the third comes: the second, of the
    same line, is in the L2 by then. CTAs 2, 3 and 4 are evicted, two of them at a time."""
    kernel = ptxtool.parse(CALLS).kernels["k"]
    memory = np.arange(160, dtype=np.uint32)
    options: dict[str, Any] = {"gpu": one_place(), "scheme": "finereg", "registers": 32}
    found = ptxsim.launch(kernel, 5, 32, [memory], **options).switching
    thread = np.arange(160, dtype=np.uint32)
    assert (memory == thread + 4 * (thread % 32) + thread).all()
    assert (found.evictions, found.pcrf_most) == (3, 2 * (2 + 2 + 4))
    assert (found.vector_misses, found.vector_hits) == (3, 0 + 1 + 3 + 3 + 3)


RECURSIVE = """.version 4.0
.target sm_35
.address_size 64
.func (.reg .b32 %o) sum(.reg .b64 %a, .reg .b32 %n)
{
	.reg .b32 %x<4>;
	.reg .pred %p;
	mov.u32 %o, 0;
	setp.eq.u32 %p, %n, 0;
	@%p bra DONE;
	sub.u32 %x1, %n, 1;
	call (%x2), sum, (%a, %x1);
	ld.global.cg.u32 %x3, [%a];
	add.u32 %o, %x2, %x3;
	add.u32 %o, %o, %n;
DONE:
	ret;
}
.visible .entry k(.param .u64 p)
{
	.reg .b64 %l<4>;
	.reg .b32 %r<8>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	shl.b32 %r3, %r2, 5;
	add.u32 %r4, %r3, %r1;
	ld.param.u64 %l0, [p];
	mul.wide.u32 %l1, %r4, 4;
	add.s64 %l2, %l0, %l1;
	call (%r5), sum, (%l2, DEPTH);
	add.u32 %r6, %r5, %r4;
	st.global.u32 [%l2], %r6;
	ret;
}
"""


@pytest.mark.parametrize("depth", [3, 30])
def test_recursive_functions(depth: int) -> None:
    """30 calls in each other are more than the SIMT stack holds: while a part of it is in memory, the CTA is not
    evicted."""
    kernel = ptxtool.parse(RECURSIVE.replace("DEPTH", str(depth))).kernels["k"]
    gpu = with_settings(one_place(), ["l2.rop_cycles=700"])
    options: dict[str, Any] = {"gpu": gpu, "scheme": "finereg", "registers": 32}
    results = []
    for event_skip in (True, False):
        memory = np.arange(160, dtype=np.uint32)
        results.append(ptxsim.launch(kernel, 5, 32, [memory], event_skip=event_skip, **options).to_dict())
        thread = np.arange(160, dtype=np.uint32)
        assert (memory == thread * (depth + 1) + depth * (depth + 1) // 2).all()
    assert results[0] == results[1]
    assert results[0]["switching"]["evictions"] > 0
