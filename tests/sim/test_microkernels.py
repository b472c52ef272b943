"""The machine's figures, one instruction at a time: timing-model section 7.3, worked out by hand there.

Numbers in the comments are the table's rows.
"""

import numpy as np
import pytest
from microkernel import cost, cycles, kernel, loop

import ptxsim


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("add.f32 $r1, $r1, $r2;", 11),  # D = L + 5 + s = 4 + 5 + 2
        ("add.u32 $r1, $r1, 0x00000001;", 10),  # one source register
        ("mad.f32 $r1, $r1, $r2, $r3;", 13),
        ("mov.u32 $r1, $r1;", 7),
        ("mul.f32 $r1, $r1, $r2;", 11),
        ("mul.lo.u32 $r1, $r1, $r2;", 11),
        ("max.f32 $r1, $r1, $r2;", 20),
        ("rcp.f32 $r1, $r1;", 14),
        ("div.f32 $r1, $r1, $r2;", 46),
        ("div.u32 $r1, $r1, $r2;", 152),
        ("add.ff64 {$r0,$r1}, {$r0,$r1}, {$r2,$r3};", 17),  # four source registers: 8 + 5 + 4
    ],
)
def test_dependent_issue_distance(line, expected):  # row 1
    assert cost(line) == expected


def test_independent_instructions_of_one_warp_issue_two_in_three_cycles():  # row 2
    assert cost("nop;") == pytest.approx(1.5, abs=0.07)


@pytest.mark.parametrize(("words", "expected"), [(1, 8), (2, 9), (4, 11), (32, 39)])
def test_shared_load_costs_seven_cycles_and_its_conflict_degree(words, expected):  # row 7
    # every lane reads its own word, `words` apart; the loaded zero is added to the address register
    setup = (
        "\tcvt.u32.u16 $r1, $r0.lo;\n"
        f"\tmul.lo.u32 $r1, $r1, 0x{4 * words:08x};\n\tadd.u32 $r1, $r1, 0x00000020;\n\tmov.u32 $r2, $r1;\n"
    )
    chain = "mov.u32 $r1, s[$r1];\n\tadd.u32 $r1, $r1, $r2;"
    measured = cost(chain, setup, dynamic_shared=32 * 4 * words + 64) - 11
    assert measured == expected


def test_taken_branch_costs_three_or_four_cycles():  # row 8
    text = "\tmov.u32 $r15, s[0x0018];\n\tl_loop: @$p3.ne bra l_loop;\n"
    # $p3 is 0 at the start: Z = 0 means "not equal", so the branch is taken for ever
    with_limit = ptxsim.launch(kernel(text), 1, 32, [np.zeros(4, np.uint32), 1], max_cycles=2000)
    assert with_limit.status == "max-cycles"
    per_branch = 2000 / with_limit.warp_instructions
    assert 3 <= per_branch <= 4.5


_CHASE = "ld.global.u32 $r1, [$r1];\n\tadd.u32 $r1, $r1, $r2;"


@pytest.mark.parametrize(
    ("stride_bytes", "n_lines", "expected"),
    [
        (0, 1, 4),  # the same line: L1 hit
        (4096, 6, 149),  # six lines in one set of four ways: L2 hit
    ],
)
def test_pointer_chase(stride_bytes, n_lines, expected):  # row 10
    # a ring of pointers, relative to the buffer's start, `stride_bytes` apart
    words = np.zeros(max(1, stride_bytes // 4 * n_lines), np.uint32)
    for k in range(n_lines):
        words[k * stride_bytes // 4] = (k + 1) % n_lines * stride_bytes
    setup = "\tmov.u32 $r2, s[0x0010];\n\tmov.u32 $r1, $r2;\n"

    def slope(n: int) -> int:
        text = loop(setup, "\n".join(["\t" + _CHASE] * n))

        def run(trips: int) -> int:
            return ptxsim.launch(kernel(text), 1, 1, [words, trips]).cycles

        return run(12) - run(6)

    per_hop = (slope(24) - slope(12)) / (6 * 12) - 11
    assert per_hop == pytest.approx(expected, abs=0.5)


def test_uncoalesced_hit_takes_a_cycle_per_line():  # row 11
    setup = (
        "\tcvt.u32.u16 $r1, $r0.lo;\n\tshl.u32 $r1, $r1, 0x00000007;\n"
        "\tadd.u32 $r1, $r1, s[0x0010];\n\tmov.u32 $r2, $r1;\n"
    )
    chain = "ld.global.u32 $r1, [$r1];\n\tadd.u32 $r1, $r1, $r2;"
    assert cost(chain, setup) - 11 == 35


def test_empty_kernel_turns_a_cta_slot_over_in_nine_cycles():  # row 16
    def run(grid: int) -> int:
        return ptxsim.launch(kernel(""), grid, 32, [np.zeros(4, np.uint32), 1], registers=1000).cycles

    # one resident CTA per SM (32 x 1000 of 32768 registers): each further CTA waits for the one before; the first ones
    # wait for code, on some SMs longer than on others
    assert (run(14 * 60) - run(14 * 40)) / 20 == 9


def test_one_scheduler_slot_is_charged_per_cycle():  # row 22
    result = ptxsim.launch(
        kernel(loop("", "\tadd.f32 $r1, $r1, $r2;\n\tbar.sync 0x00000000;")),
        30,
        128,
        [np.zeros(4, np.uint32), 5],
    )
    assert sum(result.slots.values()) == result.n_schedulers * result.active_cycles
    assert result.slots["issued"] == result.warp_instructions
    assert result.thread_instructions <= sum(n * k for n, k in result.issued_by_lanes.items())


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf"])
def test_event_skip_changes_nothing(scheduler):
    text = loop("\tmov.u32 $r2, s[0x0010];", "\tld.global.u32 $r1, [$r2];\n\tadd.u32 $r3, $r1, $r3;")
    results = [
        ptxsim.launch(
            kernel(text), 40, 96, [np.zeros(64, np.uint32), 4], scheduler=scheduler, event_skip=skip
        ).to_dict()
        for skip in (True, False)
    ]
    assert results[0] == results[1]


def test_cycles_do_not_depend_on_earlier_runs():
    text = loop("", "\tadd.f32 $r1, $r1, $r2;")
    assert cycles(text, 9, grid=20, block=256) == cycles(text, 9, grid=20, block=256)
