"""What passes the L1 by, and fences: timing-model sections 1.3, 3.1 and 3.6, timing-model-42 sections 1.8, 3.1 and 3.8.

A chain in a loop, as in `test_latency42.py`: the cost of one more of its links. With `.cg` a load that finds its line
in the L2 takes what an L1 miss takes, less the cycle in the miss queue and those in which the rest of the line comes.
"""

from typing import Any

import msgspec
import numpy as np
import pytest
from microkernels import measure
from microkernels.memory import HOP as DEPENDENT_LOAD
from microkernels.memory import LANE, LINE

import ptxsim
from ptxtool.base.diag import PtxError
from ptxtool.formats.gpu import load_gpu

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


# %l3 is the buffer, %l1 a place in it, %r1 a lane's number
SETUP = """.local .align 4 .b8 mine[64];
	ld.param.u64 %l3, [p];
	mov.u32 %r1, %tid.x;
	mov.u64 %l1, %l3;"""


def run(gpu: Any, body: str, trips: int = 1, **options: Any) -> ptxsim.SimResult:
    return measure.run(body, trips, SETUP, gpu=gpu, **options)


def cost(gpu: Any, link: str, **options: Any) -> float:
    return measure.slope(link, few=8, many=24, setup=SETUP, gpu=gpu, **options)


HOP = "\tld.global.cg.u64 %l2, [%l1];\n\tadd.u64 %l1, %l2, %l3;\n"
ITSELF = np.zeros(1 << 10, np.uint64)


# 149 and 182 through the L1; a reply of 40 bytes has 2 flits of 32 where a line has 5
@pytest.mark.parametrize(("gpu", "addition", "expected"), [(OLD, 11, 149 - 1 - 3), (NEW, 10, 143)])
def test_a_load_that_passes_the_l1_by(gpu: str, addition: int, expected: int) -> None:
    assert cost(gpu, HOP, words=ITSELF) - addition == expected


@pytest.mark.parametrize(("gpu", "requests"), [(OLD, 1), (NEW, 4)])
def test_segments(gpu: str, requests: int) -> None:
    # a warp reads a line: whole (3.2.2), or by sectors (4.2)
    body = "\tmul.wide.u32 %l4, %r1, 4;\n\tadd.u64 %l5, %l3, %l4;\n\t{}\n"
    none = run(gpu, body.format("")).stats
    past = run(gpu, body.format("ld.global.cg.u32 %r2, [%l5];")).stats
    assert past["icnt_requests_packets"] - none["icnt_requests_packets"] == requests
    assert past["l1d_accesses"] == 0
    assert past["stall_shd_mem"] - none["stall_shd_mem"] == requests - 1
    assert past["global_loads"] == 1


@pytest.mark.parametrize("gpu", [OLD, NEW])
def test_a_store_that_passes_the_l1_by_leaves_its_line_there(gpu: str) -> None:
    load = "\tld.global.u32 %r2, [%l3];\n\tadd.u32 %r3, %r2, 1;\n"
    evicts = run(gpu, load + "\tst.global.u32 [%l3], %r3;\n" + load).stats
    keeps = run(gpu, load + "\tst.global.cg.u32 [%l3], %r3;\n" + load).stats
    assert (evicts["l1d_misses"], evicts["l1d_accesses"]) == (2, 3)
    assert (keeps["l1d_misses"], keeps["l1d_accesses"]) == (1, 2)
    assert keeps["icnt_requests_packets"] == evicts["icnt_requests_packets"] - 1


def bypassing(gpu: str, *words: str) -> Any:
    machine = load_gpu(gpu)
    return msgspec.structs.replace(machine, l1d=msgspec.structs.replace(machine.l1d, bypass=words))


def test_the_machine_says_what_passes_by() -> None:
    bodies = {
        "cg": "\tld.global.cg.u32 %r2, [%l3];\n",
        "volatile": "\tld.volatile.global.u32 %r2, [%l3];\n",
        "plain": "\tld.global.u32 %r2, [%l3];\n",
        "generic": "\tld.u32 %r2, [%l3];\n",
        "local": "\tld.local.u32 %r2, [mine];\n",
    }

    def cached(*words: str) -> list[str]:
        gpu = bypassing(NEW, *words)
        return [name for name, body in bodies.items() if run(gpu, body).stats["l1d_accesses"]]

    assert cached() == list(bodies)
    assert cached("cg") == ["volatile", "plain", "generic", "local"]
    assert cached("cg", "volatile") == ["plain", "generic", "local"]
    assert cached("global") == ["local"]
    assert cached("local") == ["cg", "volatile", "plain", "generic"]
    assert cached("global", "local") == []


def test_a_machine_of_sectors_lets_pass_by_sectors() -> None:
    machine = load_gpu(NEW)
    wrong = msgspec.structs.replace(
        machine, ldst=msgspec.structs.replace(machine.ldst, uncached_segment_bytes=128)
    )
    with pytest.raises(PtxError) as caught:
        run(wrong, "\tmov.u32 %r2, 1;\n")
    assert "uncached_segment_bytes" in str(caught.value)


# one in two thirds of a cycle (two fetches in three): a fence does not wait for stores
@pytest.mark.parametrize("gpu", [OLD, NEW])
def test_a_fence_does_not_wait_for_stores(gpu: str) -> None:
    assert cost(gpu, "\tst.global.u32 [%l3], %r2;\n\tmembar.gl;\n", block=1) == 3


# an integer division: 145 + 5 + 2 registers, or + 1 cycle of reading
@pytest.mark.parametrize(("gpu", "expected"), [(OLD, 152), (NEW, 151)])
def test_a_fence_waits_for_every_register_that_is_being_written(gpu: str, expected: int) -> None:
    turns = "".join(f"\tdiv.u32 %r{k}, %r2, %r3;\n\tmembar.gl;\n" for k in range(10, 14))
    assert cost(gpu, turns) == 4 * expected


@pytest.mark.parametrize("gpu", [OLD, NEW])
def test_event_skip_changes_nothing(gpu: str) -> None:
    body = """	mul.wide.u32 %l4, %r1, 68;
	add.u64 %l5, %l3, %l4;
	ld.global.cg.u32 %r2, [%l5];
	membar.gl;
	st.global.cg.u32 [%l5], %r7;
	ld.global.u32 %r3, [%l5+32];
	membar.gl;
	st.local.cg.u32 [mine], %r3;
	ld.local.cg.u32 %r4, [mine];
	atom.global.add.u32 %r5, [%l3], %r4;
	membar.cta;
"""
    results = [run(gpu, body, 5, grid=20, block=96, event_skip=skip).stats for skip in (True, False)]
    assert results[0] == results[1]


@pytest.mark.parametrize("access", ["ld.const.u32 %r1, [table];", "ld.param.u32 %r1, [n];"])
def test_a_constant_that_hits(access: str) -> None:
    assert measure.cost(access)() == 3  # TM 3.6, without address register


def test_accesses_of_one_instruction_stall_on_gpgpusim42_too() -> None:
    # TM42 3.2: n accesses are n - 1 cycles of stall_shd_mem
    words = np.zeros(16 * 32, np.uint64)
    words[::16] = LINE * np.arange(32)
    assert (
        measure.counted("stall_shd_mem", DEPENDENT_LOAD, setup=LANE.format(128), words=words, gpu=NEW)() == 31
    )


@pytest.mark.parametrize(("warps", "misses", "stalls"), [(16, 32, False), (24, 32, True)])
def test_33rd_load_of_a_parameter_line_blocks_the_ldst_unit(warps, misses, stalls):
    # two loads a warp of one line that is cold: 32 wait in one miss entry, the next one is retried until the line comes
    stats = measure.run("mov.u32 %r1, %r2;", setup="ld.param.u64 %l1, [p];", block=32 * warps, gpu=NEW).stats
    assert stats["l1c_misses"] == misses
    assert stats["l1c_accesses"] == 2 * warps
    assert (stats["stall_shd_mem"] > 100) == stalls
