"""Sections of a pool of registers: who waits for how long, and what marks cost (timing-model section 6.2).

A CTA is one warp. Extended is %r6 alone, so that a section has 32 registers: of 65536, 0% are one section (the least
there is), 0.1% two, 0.2% four. A load takes 40000 cycles in the L2, far longer than anything else.
"""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import parsed
from msgspec.structs import replace

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings

ACQUIRE, RELEASE = '\t.pragma "acquire-extended-registers";\n', '\t.pragma "release-extended-registers";\n'
HEAD = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<7>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r4, %tid.x;
	mul.wide.u32 %rd1, %r4, 4;
	add.s64 %rd0, %rd0, %rd1;
"""
TAIL = "\tst.global.u32 [%rd0], %r5;\n\tret;\n}\n"
LOAD, USE = "\tld.global.cg.u32 %r6, [%rd0];\n", "\tadd.u32 %r5, %r6, 1;\n"
LONG = 40000


def launch(body: str, n_ctas: int, percent: float, threads: int = 32, ctas: int = 32, **options: Any) -> Any:
    slow = (
        "fetch.perfect=true",
        "l1c.perfect=true",
        f"l2.rop_cycles={LONG}",
        f"switching.pool_percent={percent}",
    )
    gpu = with_settings(load_gpu("gtx980-finereg"), slow)
    gpu = replace(gpu, sm=replace(gpu.sm, count=1, ctas=ctas))
    words = np.zeros(threads, np.uint32)
    given = {"gpu": gpu, "scheme": "regmutex"} | options
    return ptxsim.launch(parsed(HEAD + body + TAIL), n_ctas, threads, [words], **given)


@pytest.mark.parametrize(
    ("percent", "sections", "turns", "waits"), [(0, 1, 4, 6), (0.1, 2, 2, 2), (0.2, 4, 1, 0)]
)
def test_warps_take_turns(percent: float, sections: int, turns: int, waits: int) -> None:
    """Four warps that hold a section while they load: the k-th of each section waits for k - 1 loads.

    The last store takes as long as a load.
    """
    result = launch(ACQUIRE + LOAD + USE + RELEASE, 4, percent)
    assert result.cycles // LONG == turns + 1
    pool = result.pool
    assert (pool.base, pool.extended, pool.sections, pool.sections_most, pool.acquired) == (
        6,
        1,
        sections,
        sections,
        4,
    )
    assert pool.wait_cycles // LONG == waits
    assert result.stats["srp_cycles"] == pool.wait_cycles
    stepped = launch(ACQUIRE + LOAD + USE + RELEASE, 4, percent, event_skip=False, max_cycles=None)
    assert stepped.stats == result.stats


def test_a_mark_takes_an_issue_slot() -> None:
    """Two marks for each of eight warps, beside the instructions."""
    result = launch(ACQUIRE + LOAD + USE + RELEASE, 8, 1)
    assert result.slots["issued"] - result.warp_instructions == 16
    ignored = launch(ACQUIRE + LOAD + USE + RELEASE, 8, 1, scheme="none")
    assert ignored.slots["issued"] == ignored.warp_instructions == result.warp_instructions
    assert ignored.pool is None


def test_a_mark_waits_for_no_register() -> None:
    """The section is taken before the loaded value is there, which the instruction after the mark reads."""
    early = LOAD.replace("%r6", "%r5") + ACQUIRE + "\tadd.u32 %r6, %r5, 1;\n" + RELEASE
    assert launch(early, 2, 0).pool.wait_cycles // LONG == 1
    late = (
        LOAD.replace("%r6", "%r5") + "\tadd.u32 %r5, %r5, 1;\n" + ACQUIRE + "\tmov.u32 %r6, %r5;\n" + RELEASE
    )
    assert launch(late, 2, 0).pool.wait_cycles < 100


def test_a_warp_holds_one_section_at_most() -> None:
    """Further marks of the kind take no slot."""
    twice = ACQUIRE + LOAD + ACQUIRE + USE + RELEASE + "\tmov.u32 %r4, 1;\n" + RELEASE
    result = launch(twice, 4, 0.1)
    assert (result.pool.acquired, result.slots["issued"] - result.warp_instructions) == (4, 8)


def test_a_warp_that_exits_gives_its_section_back() -> None:
    """Three loads and a store, one after the other."""
    assert launch(ACQUIRE + LOAD + USE + "\tst.global.u32 [%rd0], %r5;\n\tret;\n", 3, 0).cycles // LONG == 4


def test_base_sets_bound_the_resident_ctas() -> None:
    """41 registers in the base set, 48 allocated, for 64 threads: 65504 / 3072 = 21 CTAs; of 32768 10."""
    body = ACQUIRE + LOAD + USE + RELEASE
    assert launch(body, 40, 0, 64, registers=42).resident_ctas == 21
    assert launch(body, 40, 50, 64, registers=42).resident_ctas == 10
    assert launch(body, 40, 50, 64, registers=42, scheme="none").resident_ctas == 21


def test_a_barrier_while_a_section_is_held() -> None:
    """Two warps of a CTA: the first waits at the barrier for the second, which waits for the section."""
    body = ACQUIRE + "\tmov.u32 %r6, 1;\n\tbar.sync 0;\n" + RELEASE
    with pytest.raises(PtxError) as caught:
        launch(body, 1, 0, 64)
    (found,) = caught.value.diagnostics
    assert found.code == "E407"
    assert "warps wait for each other in a circle" in found.message
    assert "for a section of the pool, held by CTA (0,0,0) warp 0" in found.message
    assert "waits at 'bar.sync 0;' in line 14 for CTA (0,0,0) warp 1" in found.message
    assert launch(body, 1, 0.1, 64).pool.sections_most == 2


# ---- with Virtual Thread: one place for a CTA


@pytest.mark.parametrize(
    ("percent", "sections", "turns", "switches"), [(0, 1, 8, 4), (0.1, 2, 6, 6), (0.2, 4, 5, 4)]
)
def test_a_cta_outside_keeps_its_sections(percent: float, sections: int, turns: int, switches: int) -> None:
    """Four CTAs load, each with a section, and then store; the place is taken until a store is acknowledged.

    4 sections: all load at a time, then four stores. 2: CTA 0 and CTA 1 load, two stores; CTA 2 and CTA 3 load, two
    stores. 1: CTA 0 leaves with it, CTA 1 and CTA 2 because they find none; a load and a store for each of the four.
    """
    options = {"scheme": "virtual-thread-regmutex", "ctas": 1}
    result = launch(ACQUIRE + LOAD + USE + RELEASE, 4, percent, **options)
    assert result.cycles // LONG == turns
    assert (result.pool.sections, result.pool.sections_most, result.pool.acquired) == (sections, sections, 4)
    found = result.switching
    assert (found.resident_most, found.active_most, found.switches) == (4, 1, switches)
    stepped = launch(ACQUIRE + LOAD + USE + RELEASE, 4, percent, event_skip=False, **options)
    assert stepped.to_dict() == result.to_dict()


def test_base_sets_bound_the_ctas_that_wait_too() -> None:
    """41 registers in the base set, 48 allocated, for 64 threads: 65504 / 3072 = 21 CTAs, two in the pipeline."""
    found = launch(
        ACQUIRE + LOAD + USE + RELEASE, 40, 0, 64, registers=42, scheme="virtual-thread-regmutex", ctas=2
    )
    assert found.switching.resident_limit == found.switching.resident_most == 21
    assert found.resident_ctas == 2


def test_ctas_that_wait_for_each_other_outside() -> None:
    """Two sections, which the first warps of both CTAs hold at their barriers; the second ones load, then find none.
    CTA 0 gives way to CTA 1 when it waits for a section alone, and does not come back."""
    body = "\t.reg .pred %p;\n\tsetp.lt.u32 %p, %r4, 32;\n\t@%p bra FIRST;\n" + LOAD.replace("%r6", "%r5")
    body += "\tadd.u32 %r5, %r5, 1;\nFIRST:\n\tmov.u32 %r4, 1;\n" + ACQUIRE
    body += "\tmov.u32 %r6, 1;\n\tbar.sync 0;\n" + RELEASE
    with pytest.raises(PtxError) as caught:
        launch(body, 2, 0.1, 64, ctas=1, scheme="virtual-thread-regmutex")
    (found,) = caught.value.diagnostics
    assert found.code == "E407"
    assert "warps wait for each other in a circle" in found.message
    assert "held by CTA (0,0,0) outside of the pipeline, waiting for a section too" in found.message
    assert ", held by CTA (1,0,0) warp 0" in found.message
    assert launch(body, 2, 0.2, 64, ctas=1, scheme="virtual-thread-regmutex").ctas_done == 2
