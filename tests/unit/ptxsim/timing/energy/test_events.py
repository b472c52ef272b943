"""The events of a run, worked out by hand before it is run."""

from typing import Any

import numpy as np
import pytest
from waiting_ctas import LIVE, wait

import ptxsim
import ptxtool
from ptxsim.timing.energy.events import added
from ptxtool.formats.gpu import load_gpu
from ptxtool.formats.settings import with_settings
from ptxtool.results.simulation import SimResult

KERNEL = """.version 7.0
.target sm_50
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .u64 %rd<4>;
	.reg .u32 %r<6>;
	.reg .f32 %f<4>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd2, %r1, 4;
	add.u64 %rd3, %rd1, %rd2;
	ld.global.f32 %f1, [%rd3];
	fma.rn.f32 %f2, %f1, %f1, %f1;
	sin.approx.f32 %f3, %f2;
	st.global.f32 [%rd3], %f3;
	ret;
}
"""


def run(text: str, threads: int, *settings: str, gpu: str = "tesla-c2050", **options: Any) -> SimResult:
    memory = np.zeros(max(threads, 32), np.float32)
    kernel = ptxtool.parse(text).kernels["k"]
    return ptxsim.launch(kernel, 1, threads, [memory], gpu=with_settings(load_gpu(gpu), settings), **options)


def events(result: SimResult, gpu: str = "tesla-c2050") -> dict[str, int]:
    """The events of a run, from its energy."""
    costs = load_gpu(gpu).energy
    parts = {name: uj for name, uj in result.energy.parts_uj.items() if name != "leakage"}
    return {name: round(uj * 1e6 / getattr(costs, name)) for name, uj in parts.items()}


def test_a_warp_of_nine_instructions() -> None:
    """One warp issues each instruction once.

    instruction      ld mov mul add ld fma sin st ret   on LDST SP SFU SP LDST SP SFU LDST SP
    registers read   0  0   1   4   2  3   1   3  0     32 bits each; the fma reads %f1 three times
    written          2  1   2   2   1  1   1   0  0
    L1D              the load's line and the store's; L1C the parameter's line
    L2               4 requests for a line of 128 bytes: code (72 bytes), parameter, load, store
    network          requests of 1, 1, 1 and 5 flits (8 bytes of header; the store has 128 more), replies of 5 flits for
                     a line of 128 bytes twice, 3 for one of 64, 1 for the store: 22 flits of 32 bytes
    DRAM             3 lines that the L2 lacks, 128 bytes each; the stored line stays in the L2
    """
    result = run(KERNEL, 32)
    assert events(result) == {
        "instruction": 9,
        "sp": 4,
        "sfu": 2,
        "ldst": 3,
        "register_read": 14,
        "register_write": 10,
        "shared": 0,
        "l1c": 1,
        "l1t": 0,
        "l1d": 2,
        "l2": 4 * 128,
        "network": 22 * 32,
        "dram": 3 * 128,
    }
    # with the numbers of the GPU file, in pJ
    work = 9 * 1173 + 4 * 147 + 2 * 294 + 3 * 3.2 + 14 * 64 + 10 * 88
    memory = 100 + 2 * 5990 + 512 * 92.6 + 704 * 31.25 + 384 * 244.4
    leaked_uj = (14 * 1.59 + 32.3) * result.cycles / 575
    assert result.energy.total_uj == pytest.approx((work + memory) * 1e-6 + leaked_uj)
    assert result.energy.power_w == pytest.approx(result.energy.total_uj / (result.cycles / 575))
    assert result.stats["energy_uj"] == result.energy.total_uj
    assert result.stats["power_w"] == result.energy.power_w


def test_a_register_that_is_collected_once_is_read_once() -> None:
    found = events(run(KERNEL, 32, "pipeline.collector_duplicates=false"))
    assert found["register_read"] == 14 - 2


def test_shared_memory_costs_its_bank_cycles() -> None:
    """A store of 32 words side by side is one cycle; a load of every second word has two words in each bank: two."""
    text = KERNEL.replace("ld.param.u64 %rd1, [p];", "ld.param.u64 %rd1, [p];\n\t.shared .b32 s[64];")
    text = text.replace(
        "ld.global.f32 %f1, [%rd3];",
        "shl.b32 %r2, %r1, 2;\n\tshl.b32 %r3, %r1, 3;\n\tmov.u32 %r4, s;\n\tadd.u32 %r2, %r2, %r4;\n\t"
        "add.u32 %r3, %r3, %r4;\n\tst.shared.f32 [%r2], %f1;\n\tld.shared.f32 %f1, [%r3];",
    )
    assert events(run(text, 32))["shared"] == 3


def test_dead_lanes_cost_as_much_as_live_ones() -> None:
    whole, part = (events(run(KERNEL, threads)) for threads in (32, 5))
    assert all(whole[name] == part[name] for name in ("instruction", "register_read", "register_write", "sp"))


@pytest.mark.parametrize("gpu", ["tesla-c2050", "gpgpusim42-c2050", "gtx980-finereg"])
def test_bytes_are_those_of_the_machine(gpu: str) -> None:
    result, machine = run(KERNEL, 32, gpu=gpu), load_gpu(gpu)
    found = events(result, gpu)
    flits = result.core["icnt_requests_flits"] + result.core["icnt_replies_flits"]
    assert found["network"] == flits * machine.icnt.flit_bytes
    assert found["l2"] == result.l2["accesses"] * machine.l2.sector_bytes
    assert found["dram"] == (result.dram["reads"] + result.dram["writes"]) * machine.dram.atom_bytes


def test_finereg_moves_registers() -> None:
    """Three CTAs of a warp on one place, each with 20 registers live while it waits for its load. The first vector
    takes as long as CTA 0's load, so CTA 0 stays; CTA 1 and CTA 2 are evicted and come back."""
    result = wait(3)
    switching = result.switching
    assert (switching.registers_evicted, switching.registers_restored) == (2 * LIVE, 2 * LIVE)
    assert (switching.counts["cta_registers_evicted"], result.stats["cta_registers_restored"]) == (40, 40)
    found, alone = events(result), events(wait(1))
    assert (found["pcrf_write"], found["pcrf_read"], found["pcrf_tag"]) == (2 * LIVE, 2 * LIVE, 4 * LIVE)
    assert found["vector"] == switching.vector_hits + switching.vector_misses > 0
    for name in ("register_read", "register_write"):
        assert found[name] == 3 * alone[name] + 2 * LIVE
    assert found["instruction"] == 3 * alone["instruction"]


def test_contexts_are_counted_by_warps() -> None:
    result = wait(3, warps=2, registers=16)  # 2 warps of 16 registers fill the ACRF
    assert result.switching.switches > 0
    assert events(result)["context"] == 2 * result.switching.switches


def test_events_of_several_kinds_are_added_up() -> None:
    assert added({"dram": 3}, {}, {"dram": 4, "l2": 1}) == {"dram": 7, "l2": 1}


def test_skipping_cycles_changes_no_energy() -> None:
    assert run(KERNEL, 32).energy == run(KERNEL, 32, event_skip=False).energy
