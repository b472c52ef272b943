"""Register sharing in the pipeline: which warp stops where and goes on when.

Timing-model section 5, rows 20 and 21 of 7.3.
"""

from typing import Any
from unittest import mock

import numpy as np
import pytest
from microkernel import kernel, loop

import ptxsim
import ptxsim.launcher
import ptxtool
from ptxsim.base.jit import for_python
from ptxsim.timing.sharing import pairs

# 600 registers per thread, 32 threads: one CTA fits in 32768 registers, and at 99% a partner beside it; registers with
# sequence numbers above floor(600 * 0.01) = 6 are shared: $r6 is the first
PAIR = {"registers": 600, "share_registers": 99}

# tid * 4 + buffer in $r1, private; $r8 (number 9) is shared; the chain after it takes a while
BODY = (
    "\tcvt.u32.u16 $r1, $r0.lo;\n"
    "\tmov.u32 $r2, %ctaid.x;\n"
    "\tshl.u32 $r2, $r2, 0x00000005;\n"
    "\tadd.u32 $r1, $r1, $r2;\n"
    "\tshl.u32 $r1, $r1, 0x00000002;\n"
    "\tadd.u32 $r1, $r1, s[0x0010];\n"
    "\tmov.u32 $r8, $r0;\n" + "\tadd.u32 $r8, $r8, 0x00000001;\n" * 40 + "\tst.global.u32 [$r1], $r8;\n"
)


def run(grid: int, body: str = BODY, block: int = 32, **options):
    words = np.zeros(grid * block, np.uint32)
    result = ptxsim.launch(kernel(body), grid, block, [words, 3], **options)
    return result, words


def test_non_owner_stops_at_the_first_shared_register():
    result, words = run(28, **PAIR)
    assert (result.resident_ctas, result.unshared_ctas, result.shared_pairs) == (2, 0, 1)
    assert result.private_registers == 6
    assert [(p.text, p.register, p.sequence, p.warps) for p in result.stall_points] == [
        ("mov.u32 $r8, $r0;", "$r8", 9, 14)  # one non-owner warp on each of 14 SMs
    ]
    # 40 additions of 10 cycles each, at least, pass before the owner exits
    assert result.stall_points[0].warp_cycles >= 14 * 400
    assert np.array_equal(words, np.tile(np.arange(32) + 40, 28))


def test_a_stall_point_has_the_line_of_the_cuda_source():
    body = BODY.replace("\tmov.u32 $r8, $r0;", "\t.loc 1 7 5\n\tmov.u32 $r8, $r0;")
    (point,) = run(28, body, **PAIR)[0].stall_points
    assert (point.text, str(point.cuda)) == ("mov.u32 $r8, $r0;", "1:7")
    assert run(28, **PAIR)[0].stall_points[0].cuda is None


def test_a_small_grid_has_the_pairs_its_registers_need():
    """400 registers for 32 threads: 2 CTAs fit, 4 in two pairs at 99%. With 3 CTAs an SM, one pair shares."""
    options = {"registers": 400, "share_registers": 99}
    result, words = run(42, **options)
    assert (result.resident_ctas, result.unshared_ctas, result.shared_pairs) == (4, 0, 2)
    assert [(p.register, p.warps) for p in result.stall_points] == [("$r8", 14)]
    assert np.array_equal(words, np.tile(np.arange(32) + 40, 42))
    assert run(28, **options)[0].stall_points == ()  # 2 CTAs an SM: nothing is shared


def _classes(unowned: str) -> list[list[int]]:
    """The classes of the warps of a pair whose CTAs have no owner, then with the second as owner."""
    simulation: list[Any] = []
    gpu = ptxtool.api.gpu("tesla-c2050", settings=[f'sharing.unowned="{unowned}"'])
    drive = ptxsim.launcher.drive
    with (
        mock.patch.object(
            ptxsim.launcher, "drive", lambda s, *rest: (simulation.append(s), drive(s, *rest))[1]
        ),
        mock.patch.object(ptxsim.launcher.Simulation, "recycle"),
    ):
        run(28, **PAIR, gpu=gpu)
    record, sm = simulation[0].run[0], simulation[0].sms[0]
    classify = for_python(pairs.classify)
    found = []
    for owner in (-1, 1):
        sm["owner"][0] = owner
        for slot in (0, 1):
            classify(record, sm, slot)
        found.append([int(c) for c in sm["warp_class"][:2]])
    return found


@pytest.mark.parametrize(("unowned", "kind"), [("owner", 0), ("unshared", 1), ("non-owner", 2)])
def test_the_class_of_a_pair_without_an_owner_is_a_setting(unowned, kind):
    assert _classes(unowned) == [[kind, kind], [2, 0]]


def test_pairs_may_be_as_many_as_there_can_be():
    """24 registers of 256 threads at 90%: 5 CTAs fit, 8 would, the threads allow 6 (backprop of the papers)."""
    options = {"registers": 24, "share_registers": 90, "block": 256}
    few, _ = run(84, **options)
    gpu = ptxtool.api.gpu("tesla-c2050", settings=['sharing.pairs="most"'])
    most, words = run(84, **options, gpu=gpu)
    assert [(r.resident_ctas, r.unshared_ctas, r.shared_pairs) for r in (few, most)] == [(6, 4, 1), (6, 0, 3)]
    # $r8 is number 9, shared: of every pair on every SM 8 warps stop
    assert [sum(p.warps for p in r.stall_points) for r in (few, most)] == [14 * 8, 3 * 14 * 8]
    assert words.any()


def test_sharing_overlaps_only_the_private_part():
    shared, _ = run(28, **PAIR)
    alone, _ = run(28, registers=600)
    doubled, _ = run(28, registers=300)
    assert alone.resident_ctas == 1
    assert doubled.resident_ctas == 3
    assert doubled.cycles < shared.cycles < alone.cycles


def test_a_waiting_warp_goes_on_when_its_partner_exits():
    # the owner holds its lock from the first touch of $r8 to its exit: the wait grows with its loop, cycle by cycle
    body = loop("\tmov.u32 $r1, $r0;\n\tmov.u32 $r8, $r1;", "\tadd.u32 $r8, $r8, 0x00000001;\n" * 3)

    def launch(grid: int, trips: int, **options):
        return ptxsim.launch(kernel(body), grid, 32, [np.zeros(4, np.uint32), trips], **options)

    waited = [launch(28, trips, **PAIR).stall_points[0].warp_cycles / 14 for trips in (20, 60)]
    alone = [launch(14, trips, registers=600).cycles for trips in (20, 60)]
    assert waited[1] - waited[0] == alone[1] - alone[0] > 40 * 30


def test_locks_pass_to_the_next_cta_of_a_slot():
    result, words = run(14 * 7, **PAIR)
    assert np.array_equal(words, np.tile(np.arange(32) + 40, 14 * 7))
    assert sum(p.warps for p in result.stall_points) == 14 * 6  # every CTA but the first of a pair waits once


def test_without_shared_registers_touched_nothing_waits():
    body = BODY.replace("$r8", "$r4")
    shared, _ = run(14 * 5, body, **PAIR)
    assert shared.stall_points == ()
    assert shared.core["lock_refused"] == 0


# Two warps of a CTA: warp 0 touches the shared register before the barrier, warp 1 after it. If each CTA's first
# warp could take its lock, both CTAs would wait at the barrier for a warp that waits for the other CTA's lock.
BARRIER = (
    "\tcvt.u32.u16 $r1, $r0.lo;\n"
    "\tshl.u32 $r2, $r1, 0x00000002;\n"
    "\tadd.u32 $r2, $r2, s[0x0010];\n"
    "\tand.b32 $p0|$o127, $r1, 0x00000020;\n"
    "\t@$p0.ne bra l_second;\n"
    "\tmov.u32 $r8, 0x00000001;\n"
    "\tbar.sync 0x00000000;\n"
    "\tbra l_join;\n"
    "\tl_second: bar.sync 0x00000000;\n"
    "\tmov.u32 $r8, 0x00000002;\n"
    "\tl_join: st.global.u32 [$r2], $r8;\n"
)


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf", "owf_greedy"])
def test_barriers_and_locks_do_not_deadlock(scheduler):
    words = np.zeros(64, np.uint32)
    # $o127 (number 25) and $p0 (20) are shared as well: renumbered by placing them first
    module = _declared_first(BARRIER)
    result = ptxsim.launch(
        module.kernels["k"], 140, 64, [words, 3], scheduler=scheduler, registers=300, share_registers=98
    )
    assert result.status == "done"
    assert result.shared_pairs == 1
    assert result.stall_points
    assert words.tolist() == [1] * 32 + [2] * 32


def _declared_first(body: str):
    import ptxtool

    head = """.version 1.4+
.target sm_10, map_f64_to_f32
.entry k ( .param .u64 p, .param .u32 n )
{
	.reg .u32 $o127;
	.reg .pred $p0;
	.reg .u32 $r<16>;
"""
    return ptxtool.parse(head + body + "\tl_exit: exit;\n}\n", name="barrier.ptxplus")


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf", "owf_greedy"])
def test_memory_is_the_same_with_and_without_sharing(scheduler):
    body = loop(
        "\tcvt.u32.u16 $r1, $r0.lo;\n\tmov.u32 $r2, %ctaid.x;\n\tshl.u32 $r2, $r2, 0x00000005;\n"
        "\tadd.u32 $r1, $r1, $r2;\n\tshl.u32 $r1, $r1, 0x00000002;\n\tadd.u32 $r1, $r1, s[0x0010];",
        "\tld.global.u32 $r9, [$r1];\n\tadd.u32 $r9, $r9, 0x00000003;\n\tst.global.u32 [$r1], $r9;",
    )
    _, alone = run(100, body, registers=600, scheduler=scheduler)
    result, shared = run(100, body, scheduler=scheduler, **PAIR)
    assert result.stall_points
    assert np.array_equal(alone, shared)
    assert set(alone.tolist()) == {9}
