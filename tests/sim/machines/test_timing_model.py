"""Facts of the timing model that `tests/microkernels` has no figure for, each with its section, worked out by hand.

"TM n" is timing-model section n (GPGPU-Sim 3.2.2, `tesla-c2050`), "TM42 n" timing-model-42 section n.
"""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from microkernels.measure import cost, counted, lines, one_sm, parsed, rate, run, slope
from microkernels.memory import HOP, LANE, LINE, network
from microkernels.scheme import EMPTY, launch

import ptxsim
import ptxsim.launcher
from ptxtool.formats.gpu import Gpu

OLD, NEW = "tesla-c2050", "gpgpusim42-c2050"


def state_of(body: str, **options: Any) -> Any:
    """What a run of a loop around `body` leaves in the records of its SMs."""
    kept: list[Any] = []
    drive = ptxsim.launcher.drive

    def keep(simulation: Any, *rest: Any) -> int:
        kept.append(simulation)
        return drive(simulation, *rest)

    with (
        mock.patch.object(ptxsim.launcher, "drive", keep),
        mock.patch.object(ptxsim.launcher.Simulation, "give_back"),
    ):
        run(body, **options)
    return kept[0].sms


# ---- fetch (TM 1.2)


def second_launch(gpu: str | Gpu, grid: int = 1, block: int = 32, launches: int = 2) -> int:
    """Cycles of an empty kernel behind launches of the same."""
    machine = ptxsim.Machine(gpu)
    return [
        machine.launch(parsed(EMPTY), grid, block, [np.zeros(4, np.uint32)], registers=20).cycles
        for _ in range(launches)
    ][-1]


@pytest.mark.parametrize("gpu", [OLD, NEW])
def test_an_empty_kernel_of_one_warp(gpu: str) -> None:
    # TM42 1.8, measured: 10. Launch at the end of cycle 0, fetch 1, decode 2, issue 3, write-back and retirement 9
    assert second_launch(one_sm(gpu)) == 10


@pytest.mark.parametrize(("block", "cycles"), [(32, 209), (256, 1291)])
def test_2240_empty_ctas(block: int, cycles: int) -> None:
    # TM42 1.8, measured; of 8 warps: a fetch a warp
    assert second_launch(NEW, 2240, block) == cycles


@pytest.mark.parametrize(
    ("gpu", "miss"),
    [
        # TM 1.2 (about 145 to issue): request 7 + 1, ROP 120, tags 1, reply of 5 flits 11 + 1, the cluster's FIFO 1;
        # decode and issue, which a hit has as well, are the next 2
        (OLD, 142),
        (NEW, 139),  # TM42 1.2, measured
    ],
)
def test_an_instruction_miss_that_the_l2_holds(gpu: str, miss: int) -> None:
    # the next launch is on the next SM, whose L1I is empty
    assert second_launch(gpu) - second_launch(one_sm(gpu)) == miss


# ---- issue (TM 1.3)


def test_a_warp_belongs_to_scheduler_w_modulo_their_number() -> None:
    # of warps 0 to 4 those with an odd number leave before the loop
    odd = "mov.u32 %r1, %tid.x;\n\tand.b32 %r1, %r1, 32;\n\tsetp.ne.u32 %p2, %r1, 0;\n\t@%p2 ret;"
    (sm,) = state_of("add.f32 %f1, %f1, %f2;", trips=50, setup=odd, block=160, gpu=one_sm(OLD))
    issued = sm["slots"][:2, 3:].sum(axis=1)
    before, loop, behind = 5, 50 * 4, 1
    assert list(issued) == [3 * (before + loop + behind), 2 * before]


_LOADS = "\n\t".join(f"ld.shared.u32 %r{k}, [%r1];" for k in range(4, 28))
_TWO_LOOPS = f"""
.version 4.0
.target sm_35
.address_size 64
.visible .entry k()
{{
	.reg .pred %p<2>;
	.reg .b32 %r<40>;
	.shared .align 128 .b32 tile[64];
	mov.u32 %r1, %tid.x;
	setp.ge.u32 %p1, %r1, 32;
	and.b32 %r1, %r1, 31;
	mul.lo.u32 %r1, %r1, 4;
	mov.u32 %r2, tile;
	add.u32 %r1, %r1, %r2;
	@%p1 bra SECOND;
FIRST:
	{_LOADS}
	bra FIRST;
SECOND:
	{_LOADS}
	bra SECOND;
}}
"""


@pytest.mark.parametrize(
    ("gpu", "share"),
    [
        # scheduler 0 is always first: warp 0 issues what it can fetch, 2 in 3 cycles, and warp 1 has what is left
        (OLD, 2 / 3),
        (NEW, 1 / 2),  # TM42 1.3: each in turn
    ],
)
def test_who_gets_the_only_port_of_memory(gpu: str, share: float) -> None:
    # warps 0 and 1, of two schedulers, load from shared memory all the time; the port takes one load a cycle
    kernel = parsed(_TWO_LOOPS)
    issues = ptxsim.launch(kernel, 1, 64, [], gpu=one_sm(gpu), max_cycles=5000).issues
    loads = [n for n, i in zip(issues, kernel.instructions, strict=True) if i.opcode.base == "ld"]
    first, second = sum(loads[:24]), sum(loads[24:])
    assert first / (first + second) == pytest.approx(share, abs=0.025)  # the branches cost something


def test_products_of_floats_go_to_the_sfu_where_the_sps_are_full() -> None:
    # a max holds its SP for two cycles: with an add behind each, 2 SPs pass 2 x 2 instructions in 3 cycles; with a
    # product behind each, the SFU passes some of these
    def pairs(second: str) -> float:
        return rate(f"max.f32 %f1, %f17, %f18;\n\t{second} %f3, %f19, %f20;", 48, 4, 12)()

    assert 1.15 < pairs("add.f32") <= 4 / 3
    assert pairs("mul.f32") > 4 / 3


# ---- scoreboard (TM 1.4)


def test_writes_of_one_register_wait_and_a_write_behind_a_read_does_not() -> None:
    # write after write: D = L + 5 + s, as for a read
    assert cost("mov.u32 %r1, %r2;")() == 1 + 5 + 1
    assert cost("mov.u32 %r1, 5;")() == 1 + 5 + 0
    # write after read: two independent instructions in three cycles
    pair = lines("mov.u32 %r{k}, %r{a};\n\tmov.u32 %r{a}, 5;", 6)
    assert slope(pair, few=2, many=6) / 6 == 3


# ---- operand collector (TM 1.5)


@pytest.mark.parametrize(
    ("access", "sources"), [("ld.shared.u32 %r{a}, [%r1];", 1), ("st.shared.u32 [%r1], %r{a};", 2)]
)
def test_two_collector_units_bound_the_rate_of_memory_instructions(access: str, sources: int) -> None:
    # 2 units for s + 1 cycles each: loads 1.0, stores, which read their data too, 0.67 a cycle
    setup = (
        "mov.u32 %r1, %tid.x;\n\tand.b32 %r1, %r1, 31;\n\tmov.u32 %r2, tile;\n\tmad.lo.u32 %r1, %r1, 4, %r2;"
    )
    eight = lines(access, 8)
    found = 24 * 8 / slope(eight, few=2, many=6, setup=setup, block=768)
    assert found == pytest.approx(2 / (sources + 1), rel=0.01)


# ---- dispatch and exit (TM 1.8)

_PLACES = """
.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<9>;
	.reg .b64 %l<4>;
	ld.param.u64 %l1, [p];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ctaid.y;
	mov.u32 %r3, %ctaid.z;
	mad.lo.u32 %r1, %r2, 3, %r1;
	mad.lo.u32 %r1, %r3, 6, %r1;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.u32 %r1, %r1, %r4, %r5;
	mul.wide.u32 %l2, %r1, 8;
	add.s64 %l1, %l1, %l2;
	mov.u32 %r6, %smid;
	mov.u32 %r7, %warpid;
	st.global.v2.u32 [%l1], {%r6, %r7};
	ret;
}
"""


@pytest.mark.parametrize(("gpu", "first"), [(OLD, 1), (NEW, 0)])
def test_ctas_go_round_the_sms_in_x_then_y_then_z(gpu: str, first: int) -> None:
    places = np.zeros((4 * 2 * 3, 96, 2), np.uint32)
    ptxsim.launch(parsed(_PLACES), (3, 2, 4), 96, [places], gpu=gpu, registers=16)
    sms = [(first + n) % 14 for n in range(24)]
    assert places[:, 0, 0].tolist() == sms
    # the slots of an SM in order, three warps each: the second CTA of an SM has warps 3, 4 and 5
    assert places[:, ::32, 1].tolist() == [[3 * (n // 14) + w for w in range(3)] for n in range(24)]


def test_a_small_grid_spreads_over_the_sms() -> None:
    # 20 CTAs: at most ceil(20 / 14) on an SM, of which 8 could hold all
    places = np.zeros((20, 32, 2), np.uint32)
    ptxsim.launch(parsed(_PLACES), 20, 32, [places], gpu=OLD, registers=16)
    assert sorted(np.bincount(places[:, 0, 0], minlength=14)) == [1] * 8 + [2] * 6


@pytest.mark.parametrize(
    ("gpu", "load", "low", "high"),
    [
        # 4 to the LDST head, 1 miss queue, 2 flits 8 + 1, ROP 120, tags 1, acknowledgement 7 + 1, FIFOs 2
        (OLD, 3, 145, 145),
        (NEW, 4, 175, 185),  # TM42 3.8: about 180
    ],
)
def test_a_slot_is_free_when_its_store_is_acknowledged(gpu: str, load: int, low: int, high: int) -> None:
    text = EMPTY.replace(
        "\tret;",
        "\t.reg .b64 %l1;\n\t.reg .b32 %r1;\n\tld.param.u64 %l1, [p];\n\tst.global.u32 [%l1], %r1;\n\tret;",
    )
    early, late = (launch(text, n, gpu=one_sm(gpu), registers=1000).cycles for n in (40, 60))
    # from the first issue of a CTA: the parameter, the store, its acknowledgement; 3 to the first issue of the next
    assert low <= (late - early) / 20 - load - 3 <= high


# ---- LDST unit


@pytest.mark.parametrize("access", ["ld.const.u32 %r1, [table];", "ld.param.u32 %r1, [n];"])
def test_a_constant_that_hits(access: str) -> None:
    assert cost(access)() == 3  # TM 3.6, without address register


def test_accesses_of_one_instruction_stall_on_gpgpusim42_too() -> None:
    # TM42 3.2: n accesses are n - 1 cycles of stall_shd_mem
    words = np.zeros(16 * 32, np.uint64)
    words[::16] = LINE * np.arange(32)
    assert counted("stall_shd_mem", HOP, setup=LANE.format(128), words=words, gpu=NEW)() == 31


# ---- statistics (TM 4.2)


def test_idle_in_the_wider_sense_is_counted_too() -> None:
    stats = run("add.f32 %f1, %f1, %f2;", trips=20, gpu=one_sm(OLD)).stats
    assert stats["sched_idle_scoreboard"] == stats["sched_w0_idle"] + stats["sched_w0_scoreboard"]
    # one warp: all slots are either these or an issue
    assert stats["sched_idle_scoreboard"] + stats["sched_issued"] == 2 * stats["active_cycles"]


# ---- networks (TM 3.4)


@pytest.mark.parametrize(
    ("flits", "scattered", "in_turn"), [(1, 3.9, 6.0), (2, 2.6, 4.0), (3, 1.95, 3.0), (5, 1.30, 2.0)]
)
def test_packets_a_cycle_of_the_saturated_network(flits: int, scattered: float, in_turn: float) -> None:
    assert network("random", flits) == pytest.approx(scattered, rel=0.03)
    assert network("turn", flits) == pytest.approx(in_turn, rel=0.01)
