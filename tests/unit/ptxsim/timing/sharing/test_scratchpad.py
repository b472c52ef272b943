"""Scratchpad sharing in the pipeline: which access stops where, which warp goes on when, and that nothing else changes.

Timing-model section 5. 30000 bytes per CTA: one fits in 48 KB, and at 90% a partner beside it, with floor(30000 * 0.1)
= 3000 bytes for itself: `low` is private, `high` shared.
"""

from functools import cache
from typing import Any

import numpy as np
import pytest
import resident_ctas
from microkernels.measure import first_cycle, one_sm, parsed

import ptxsim
import ptxsim.launcher
import ptxtool

ONE_SM = one_sm("tesla-c2050")
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %l<6>;
	.reg .b32 %r<10>;
	.reg .pred %p<3>;
	.shared .align 8 .b8 low[3000];
	.shared .align 8 .b8 high[27000];
	ld.param.u64 %l0, [p];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mad.lo.u32 %r1, %r1, %r2, %r0;
	mul.wide.u32 %l1, %r1, 4;
	add.u64 %l1, %l1, %l0;
	shl.b32 %r2, %r0, 3;
	mov.u32 %r3, low;
	add.u32 %r3, %r3, %r2;
	mov.u32 %r4, high;
	add.u32 %r4, %r4, %r2;
	mov.u32 %r5, 0;
"""
TAIL = "\tst.global.u32 [%l1], %r5;\n\tret;\n}\n"


def kernel(body: str) -> Any:
    return parsed(f"{HEAD}{body}{TAIL}")


def launch(body: str, grid: int = 2, block: int = 32, share: Any = 90, **options: Any) -> Any:
    words = np.zeros(grid * block, np.uint32)
    options = {"gpu": ONE_SM, "registers": 10} | options
    result = ptxsim.launch(kernel(body), grid, block, [words], share_scratchpad=share, **options)
    return result, words


CHAIN = "\tadd.u32 %r5, %r5, 1;\n" * 40
OWNED = "\tst.shared.u32 [%r3], %r0;\n\tst.shared.u32 [%r4], %r0;\n" + CHAIN + "\tld.shared.u32 %r5, [%r4];\n"
STORE, EXIT = 14, 14 + 1 + 40 + 1 + 1  # the access to `high`, and `ret`


def test_the_plan_and_its_results():
    result, words = launch(OWNED, 6, 64)
    assert (result.resident_ctas, result.unshared_ctas, result.shared_pairs) == (2, 0, 1)
    assert (result.share_scratchpad, result.private_scratchpad, result.limiter) == (90.0, 3000, "scratchpad")
    assert (result.share_registers, result.private_registers) == (0.0, 10)
    data = result.to_dict()
    assert (data["share_scratchpad"], data["private_scratchpad"], data["shared_pairs"]) == (90.0, 3000, 1)
    assert "90% of scratchpad shared" in str(result)
    assert np.array_equal(words, np.tile(np.arange(64), 6))


def test_a_non_owner_stops_at_the_first_access_beyond_the_private_bytes():
    """The CTA of the second slot issues the instructions before it, the private access among them, and no more."""
    result, _ = launch(OWNED)
    (point,) = result.stall_points
    assert (point.instruction, point.text) == (STORE, "st.shared.u32 [%r4], %r0;")
    assert (point.offset, point.variable, point.register) == (3000, "high", "")
    assert point.warps == 1
    assert "byte 3000, in high" in str(point)
    early, _ = launch(OWNED, max_cycles=_issued(EXIT, 1) - 1)
    assert early.issues[STORE - 1 : STORE + 1] == (2, 1)


@cache
def _issued(instruction: int, times: int, block: int = 32) -> int:
    """The cycle in which two CTAs of a pair have issued an instruction so many times."""
    return first_cycle(
        lambda cycles: launch(OWNED, block=block, max_cycles=max(1, cycles))[0],
        lambda result: result.issues[instruction] >= times,
    )


@pytest.mark.parametrize("block", [32, 64])
def test_it_goes_on_in_the_cycle_after_the_owners_last_exit(block):
    """Its address is ready and the LDST port free: nothing else holds it. With two warps the later exit counts."""
    warps = block // 32
    assert _issued(STORE, warps + 1, block) - _issued(EXIT, warps, block) == 1


def test_the_wait_is_counted_from_the_refusal_to_the_release():
    (point,) = launch(OWNED)[0].stall_points
    # the store issues in the cycle in which the wait is over
    assert point.warp_cycles == _issued(STORE, 2) - point.first_cycle
    assert launch(OWNED)[0].core["lock_wait_cycles"] == point.warp_cycles


def test_every_cta_but_the_first_waits_once():
    result, words = launch(OWNED, 7)
    assert sum(p.warps for p in result.stall_points) == 6
    assert np.array_equal(words, np.tile(np.arange(32), 7))


@pytest.mark.parametrize(
    ("access", "waits"),
    [
        ("st.shared.u32 [%r3], %r0;", False),  # bytes 0 to 251
        ("st.shared.u32 [low+2748], %r0;", False),  # the last word of `low`
        ("st.shared.u32 [%r3+2748], %r0;", False),  # lane 31: bytes 2996 to 2999
        ("st.shared.u32 [%r3+2752], %r0;", True),  # lane 31: bytes 3000 to 3003
        ("st.shared.u64 [%r3+2752], %l0;", True),  # the same, 8 bytes
        ("st.shared.u64 [%r3+2744], %l0;", False),  # lane 31: bytes 2992 to 2999
        ("st.shared.v2.u32 [%r3+2752], {%r0, %r0};", True),
        ("@%p1 st.shared.u32 [%r4], %r0;", False),  # %p1 is false everywhere
        ("@!%p1 st.shared.u32 [%r4], %r0;", True),
        ("@%p2 st.shared.u32 [%r3+2752], %r0;", False),  # not lane 31
    ],
)
def test_the_bytes_of_active_lanes_decide(access, waits):
    setup = "\tsetp.gt.u32 %p1, %r0, 99;\n\tsetp.lt.u32 %p2, %r0, 31;\n"
    result, _ = launch(f"{setup}\t{access}\n{CHAIN}")
    assert [p.text for p in result.stall_points] == ([access] if waits else [])
    assert (result.core["lock_refused"] > 0) == waits


@pytest.mark.parametrize(
    "access",
    [
        "ld.shared.u32 %r5, [%r4];",
        "ld.shared.u32 %r5, [high];",
        "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r9];",
        "atom.shared.add.u32 %r5, [%r4], 1;",
        "red.shared.add.u32 [%r4], 1;",
        "st.u32 [%l3], %r0;",
        "ld.u32 %r5, [%l3];",
        "atom.add.u32 %r5, [%l3], 1;",
        "cp.async.ca.shared.global [%r9], [%l2], 4;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r9];",
        "mbarrier.init.shared.b64 [%r4], 1;",
    ],
)
def test_whatever_accesses_shared_memory_asks(access):
    setup = "\tcvta.shared.u64 %l3, %l2;\n\tshl.b32 %r9, %r0, 4;\n\tadd.u32 %r9, %r9, 4096;\n"
    setup = "\tcvt.u64.u32 %l2, %r4;\n" + setup + "\tmov.u64 %l2, %l0;\n"
    result, _ = launch(f"{setup}\t{access}\n{CHAIN}")
    assert [(p.text, p.warps) for p in result.stall_points] == [(access, 1)]


def test_a_generic_access_to_other_memory_does_not():
    result, words = launch(f"\tst.u32 [%l1], %r0;\n\tld.u32 %r5, [%l1];\n{CHAIN}")
    assert result.stall_points == ()
    assert np.array_equal(words, np.tile(np.arange(32) + 40, 2))


PTXPLUS = """.version 1.4+
.target sm_10, map_f64_to_f32
.entry k ( .param .u64 p, .param .u32 n )
{{
	.reg .u32 $r<8>;
	.reg .u32 $ofs<3>;
	cvt.u32.u16 $r1, $r0.lo;
	shl.u32 $r1, $r1, 0x00000002;
	mov.u32 $ofs1, $r1;
	add.u32 $r2, $r1, s[0x0010];
	{access}
	add.u32 $r3, $r3, $r3;
	add.u32 $r3, $r3, $r3;
	st.global.u32 [$r2], $r1;
	exit;
}}
"""


@pytest.mark.parametrize(
    ("access", "waits"),
    [
        ("add.u32 $r3, $r1, s[0x0100];", False),
        ("add.u32 $r3, $r1, s[0x1000];", True),
        ("add.u32 $r3, $r1, s[$ofs1+0x0100];", False),
        ("add.u32 $r3, $r1, s[$ofs1+0x1000];", True),
        ("mov.u32 s[$ofs1+0x1000], $r1;", True),
        ("add.u32 $r3, $r1, s[$ofs1+=0x1000];", False),  # the increment is after the access
    ],
)
def test_operands_in_scratchpad(access, waits):
    """PTXPlus: an operand of arithmetic may lie there, the parameters of the launch do (16 bytes and then they)."""
    k = ptxtool.parse(PTXPLUS.format(access=access), name="k.ptxplus").kernels["k"]
    words = np.zeros(32, np.uint32)
    result = ptxsim.launch(
        k, 2, 32, [words, 3], gpu=ONE_SM, share_scratchpad=90, registers=8, dynamic_shared=30000
    )
    assert [p.text for p in result.stall_points] == ([access] if waits else [])
    assert words.tolist() == [4 * n for n in range(32)]


def test_asking_changes_nothing():
    """Addresses that an instruction computes by increments are the same whether it had to ask or not."""
    body = "\tadd.u32 $r3, $r1, s[$ofs1+=0x0004];\n" * 3 + "\tadd.u32 $r1, $r1, $ofs1;"
    k = ptxtool.parse(PTXPLUS.format(access=body), name="k.ptxplus").kernels["k"]
    found = []
    for share in (0, 90, "99.9"):
        words = np.zeros(32, np.uint32)
        ptxsim.launch(
            k, 2, 32, [words, 3], gpu=ONE_SM, share_scratchpad=share, registers=8, dynamic_shared=30000
        )
        found.append(words.tolist())
    assert found[0] == found[1] == found[2]


# warp 0 waits for the lock, warp 1 at the barrier for warp 0: the CTA waits as a whole
BARRIER = (
    "\tsetp.gt.u32 %p1, %r0, 31;\n"
    "\t@%p1 bra MEET;\n\tst.shared.u32 [%r4], %r0;\nMEET:\n\tbar.sync 0;\n"
    "\tand.b32 %r6, %r2, 255;\n\tmov.u32 %r7, high;\n\tadd.u32 %r7, %r7, %r6;\n\tld.shared.u32 %r5, [%r7];\n"
    + "\tmul.lo.u32 %r6, %r6, %r6;\n"
    * 120  # a CTA has the lock for longer than another takes to begin
)


# the last three look at one warp of a scheduler at a time: not at one that waits for the lock
@pytest.mark.parametrize(
    "scheduler", ["lrr", "gto", "owf", "owf_greedy", "two_level:4", "rrr", "two_level:1", "static_limit:1"]
)
def test_a_cta_at_a_barrier_waits_for_its_warp_at_the_lock(scheduler):
    alone, expected = launch(BARRIER, 5, 64, 0, scheduler=scheduler)
    result, words = launch(BARRIER, 5, 64, scheduler=scheduler)
    assert alone.resident_ctas == 1
    waits = sum(p.warps for p in result.stall_points)  # of warp 0 of every CTA but the first
    assert waits <= 4 if scheduler in ("rrr", "two_level:1", "static_limit:1") else waits == 4
    assert np.array_equal(words, np.tile(np.arange(64) % 32, 5))
    assert np.array_equal(words, expected)


def test_a_private_part_that_is_all_a_kernel_touches_is_never_waited_for():
    result, _ = launch(f"\tst.shared.u32 [%r3], %r0;\n{CHAIN}", 5)
    assert result.stall_points == ()
    assert result.shared_pairs == 1
    assert result.cycles < launch(f"\tst.shared.u32 [%r3], %r0;\n{CHAIN}", 5, share=0)[0].cycles


@pytest.mark.parametrize("scheduler", ["lrr", "gto"])
def test_with_nothing_to_share_it_is_the_unshared_run(scheduler):
    """Set-3 of the papers: the CTAs are limited by something else, or one more does not fit at that percentage."""
    few = {"share_registers": 0, "scheduler": scheduler, "registers": 10}
    for options in ({"share": 30}, {"share": 90, "registers": 1000}):  # 1000 registers: they limit
        shared, words = launch(OWNED, 5, **few | options)
        alone, expected = launch(OWNED, 5, **few | options | {"share": 0})
        assert shared.shared_pairs == 0
        assert (shared.cycles, shared.slots, shared.issues) == (alone.cycles, alone.slots, alone.issues)
        assert np.array_equal(words, expected)


def test_every_cycle_counts_the_same():
    skipped, _ = launch(BARRIER, 6, 64)
    stepped, _ = launch(BARRIER, 6, 64, event_skip=False)
    assert skipped == stepped


def test_dynamic_warp_execution_holds_non_owners():
    body = "\tst.shared.u32 [%r4], %r0;\n" + "\tld.global.u32 %r5, [%l1];\n\tadd.u32 %r0, %r0, %r5;\n" * 30
    body = "\tld.global.u32 %r6, [%l1];\n" + body
    result, _ = launch(body, 40, gpu="tesla-c2050", dynamic="period=200")
    assert result.dynamic.stops > 0
    plain, _ = launch(body, 40, gpu="tesla-c2050")
    assert plain.stall_points


def test_a_machine_shares_scratchpad_in_every_launch():
    machine = ptxsim.Machine(ONE_SM, share_scratchpad=90, registers=10)
    words = np.zeros(96, np.uint32)
    results = [machine.launch(kernel(OWNED), 3, 32, [words]) for _ in range(2)]
    assert [r.shared_pairs for r in results] == [1, 1]
    assert all(r.stall_points for r in results)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share_registers": 90}, "registers and scratchpad shared at once"),
        ({"share": 100}, "share_scratchpad = 100"),
        ({"share": 90.5}, "share_scratchpad = 90.5"),
        ({"share": 0, "dynamic": True}, "dynamic warp execution without sharing"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ptxtool.PtxError, match=message) as raised:
        launch(OWNED, **options)
    assert raised.value.diagnostics[0].code == "E502"


# ---- resident CTAs as the papers print them, counted in a running machine

EMPTY = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n"
ROWS = [
    *((("share_registers", "tesla-c2050", *row[:2], 0, row[2])) for row in resident_ctas.REGISTERS.values()),
    *(
        (("share_scratchpad", "tesla-c2050-16k", row[0], 8, row[1], row[2]))
        for row in resident_ctas.SCRATCHPAD.values()
    ),
]


@pytest.mark.parametrize(("option", "gpu", "threads", "registers", "size", "printed"), ROWS)
def test_resident_ctas_of_a_running_machine(monkeypatch, option, gpu, threads, registers, size, printed):
    """An SM gets a CTA in a cycle, and none has ended in the first 20: the instruction cache is still cold."""
    seen: list[int] = []
    drive = ptxsim.launcher.drive

    def look(simulation, *rest):
        reason = drive(simulation, *rest)
        seen.append(int((simulation.sms[0]["cta_id"] >= 0).sum()))
        return reason

    monkeypatch.setattr(ptxsim.launcher, "drive", look)
    for percent in resident_ctas.PERCENT:
        options = {option: percent, "registers": registers, "dynamic_shared": size, "max_cycles": 20}
        result = ptxsim.launch(parsed(EMPTY), 20, threads, [], gpu=one_sm(gpu), **options)
        assert result.resident_ctas == seen[-1]
    assert tuple(seen) == printed
