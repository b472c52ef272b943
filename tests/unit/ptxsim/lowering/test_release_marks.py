"""Release marks: `.pragma "release_registers"` and `.pragma "release_scratchpad"` in a running kernel.

600 registers for 32 threads, or 300 for 64: one CTA fits, at 99% and 98% a partner beside it, with 6 registers for
itself: %s0 (number 7) is the first shared one. Scratchpad as in test_scratchpad.py: `low` is private.
"""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import first_cycle, one_sm, parsed

import ptxsim
from ptxsim.base.program import FALLEN_REGISTERS, GIVES_REGISTERS, GIVES_SCRATCHPAD, LEADS_TO_MARK
from ptxtool.base.diag import PtxError

ONE_SM = one_sm("tesla-c2050")
REGISTERS, SCRATCHPAD = '\t.pragma "release_registers";\n', '\t.pragma "release_scratchpad";\n'
HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %l<2>;
	.reg .b32 %r<3>;
	.reg .pred %p;
	.reg .b32 %s<4>;
	.shared .align 8 .b8 low[3000];
	.shared .align 8 .b8 high[27000];
	ld.param.u64 %l0, [p];
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %l1, %r0, 4;
	add.u64 %l0, %l0, %l1;
	mov.u32 %r2, low;
"""
TAIL = "\tst.global.u32 [%l0], %r1;\n\tret;\n}\n"
CHAIN = "\tadd.u32 %r1, %r1, 1;\n" * 20
TOUCH = "\tmov.u32 %s1, %r0;\n\tmov.u32 %r1, %s1;\n"
STORE = "\tst.shared.u32 [high], %r0;\n\tmov.u32 %r1, %r0;\n"
# of 30000 bytes 3000 are private at 90%; of 600 registers 6 at 99%
SHARE = {
    REGISTERS: {
        "registers": 600,
        "share_registers": 99,
        "allocate": False,
    },  # with marks numbers are as declared
    SCRATCHPAD: {"registers": 12, "share_scratchpad": 90},
}
FIRST = 5  # the first instruction after HEAD


def launch(body: str, what: str, grid: int = 2, block: int = 32, **options: Any) -> Any:
    words = np.zeros(block, np.uint32)
    options = SHARE[what] | {"gpu": ONE_SM} | options
    if what == REGISTERS and block == 64:
        options["registers"] = 300
        options["share_registers"] = 98
    result = ptxsim.launch(parsed(HEAD + body + TAIL), grid, block, [words], **options)
    return result, words


def cycle_of(body: str, what: str, instruction: int, times: int, block: int = 32) -> int:
    return first_cycle(
        lambda cycles: launch(body, what, block=block, max_cycles=max(1, cycles))[0],
        lambda result: result.issues[instruction] >= times,
    )


@pytest.mark.parametrize(("what", "touch"), [(REGISTERS, TOUCH), (SCRATCHPAD, STORE)])
def test_a_partner_goes_on_behind_the_mark(what, touch):
    """The mark before the chain frees the lock when the chain's first instruction stands at the head: that is in the
    I-buffer when `mov` before it has issued or a fetch later, and waits for no register. Without it the lock is free
    a chain of 20 additions and a store later, at 11 and more cycles each."""
    marked, words = launch(touch + what + CHAIN, what)
    plain, expected = launch(touch + CHAIN, what)
    assert np.array_equal(words, expected)
    assert np.array_equal(words, np.arange(32) + 20)
    assert (marked.core["locks_released_early"], plain.core["locks_released_early"]) == (2, 0)
    assert marked.warp_instructions == plain.warp_instructions  # a mark takes no issue slot
    released = cycle_of(touch + what + CHAIN, what, FIRST, 2)
    passed = cycle_of(touch + what + CHAIN, what, FIRST + 1, 1)
    assert 1 <= released - passed <= 10
    assert cycle_of(touch + CHAIN, what, FIRST, 2) - released > 20 * 10
    assert marked.cycles < plain.cycles


def test_a_mark_does_not_wait_for_the_operands_of_the_instruction_behind_it():
    """The load takes hundreds of cycles; the mark between it and its use is passed at once."""
    body = TOUCH + "\tld.global.u32 %r2, [%l0];\n" + REGISTERS + "\tadd.u32 %r1, %r1, %r2;\n"
    assert cycle_of(body, REGISTERS, FIRST + 3, 1) - cycle_of(body, REGISTERS, FIRST, 2) > 200


def test_a_mark_behind_a_barrier_waits_for_the_barrier():
    """Warp 1 comes late to the barrier, so the lock of warp 0 is free only then."""
    late = (
        "\tsetp.lt.u32 %p, %r0, 32;\n\t@%p bra MEET;\n"
        + "\tadd.u32 %r2, %r2, 1;\n" * 20
        + "MEET:\n\tbar.sync 0;\n"
    )
    body = TOUCH + late + REGISTERS + CHAIN
    barrier = FIRST + 2 + 2 + 20
    result, words = launch(body, REGISTERS, block=64)
    assert result.core["locks_released_early"] == 4
    assert words.tolist() == [n + 20 for n in range(64)]
    # the second CTA's first touch comes after the last arrival at the first CTA's barrier
    assert cycle_of(body, REGISTERS, FIRST, 3, 64) > cycle_of(body, REGISTERS, barrier, 2, 64)


def test_scratchpad_is_free_when_the_last_warp_has_passed_or_exited():
    """Warp 1 exits without a mark, late; warp 0 passes one at once: the later one frees the lock."""
    body = (
        STORE
        + "\tsetp.lt.u32 %p, %r0, 32;\n\t@%p bra FIRST;\n"
        + CHAIN
        + "\tst.global.u32 [%l0], %r1;\n\tret;\nFIRST:\n"
        + SCRATCHPAD
    )
    exit_ = FIRST + 2 + 2 + 20 + 1
    assert cycle_of(body, SCRATCHPAD, FIRST, 3, 64) == cycle_of(body, SCRATCHPAD, exit_, 1, 64) + 1
    result, _ = launch(body, SCRATCHPAD, block=64)
    assert result.core["locks_released_early"] == 0


LOOP = (
    TOUCH
    + "\tmov.u32 %r2, 0;\nLOOP:\n"
    + REGISTERS
    + "\tadd.u32 %r1, %r1, 1;\n\tadd.u32 %r2, %r2, 1;\n"
    + "\tsetp.lt.u32 %p, %r2, 5;\n\t@%p bra LOOP;\n"
)


def test_marks_in_loops_count_once():
    result, words = launch(LOOP, REGISTERS, 6)
    assert result.core["locks_released_early"] == 6
    assert np.array_equal(words, np.arange(32) + 5)


@pytest.mark.parametrize(("what", "other"), [(REGISTERS, SCRATCHPAD), (SCRATCHPAD, REGISTERS)])
def test_marks_of_the_other_resource_and_without_sharing_mean_nothing(what, other):
    body = (TOUCH if what == REGISTERS else STORE) + other + CHAIN
    marked, _ = launch(body, what, 6)
    plain, _ = launch(body.replace(other, ""), what, 6)
    assert (marked.cycles, marked.slots, marked.core) == (plain.cycles, plain.slots, plain.core)
    unshared = {"registers": 20, "share_registers": 0, "share_scratchpad": 0}
    marked, _ = launch(body, what, 6, **unshared)
    plain, _ = launch(body.replace(other, ""), what, 6, **unshared)
    assert (marked.cycles, marked.core) == (plain.cycles, plain.core)


# a mark on the way that falls through to a label: %p holds for warp 1, which jumps there
FALLS = (
    TOUCH
    + "\tsetp.gt.u32 %p, %r0, 31;\n\t@%p bra THERE;\n\tadd.u32 %r2, %r2, 1;\n"
    + REGISTERS
    + "THERE:\n"
    + CHAIN
)


def test_a_mark_before_a_label_is_for_those_who_fall_through():
    result, words = launch(FALLS, REGISTERS, block=64)
    assert result.core["locks_released_early"] == 2  # warp 0 of both CTAs
    assert words.tolist() == [n + 20 for n in range(64)]
    mark_after_label = FALLS.replace(REGISTERS + "THERE:\n", "THERE:\n" + REGISTERS)
    assert launch(mark_after_label, REGISTERS, block=64)[0].core["locks_released_early"] == 4


def test_a_slot_of_a_cta_forgets_what_the_last_one_passed():
    """Warp 0 of every other CTA jumps over the mark: that of the CTA before it had passed it."""
    body = (
        TOUCH
        + "\tmov.u32 %r2, %ctaid.x;\n\tand.b32 %r2, %r2, 1;\n\tsetp.ne.u32 %p, %r2, 0;\n\t@%p bra THERE;\n"
        + "\tadd.u32 %r1, %r1, 0;\n"
        + REGISTERS
        + "THERE:\n"
        + CHAIN
    )
    assert launch(body, REGISTERS, 9)[0].core["locks_released_early"] == 5


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf", "owf_greedy"])
@pytest.mark.parametrize(("what", "touch"), [(REGISTERS, TOUCH), (SCRATCHPAD, STORE)])
@pytest.mark.parametrize("rule", ["safe", "strict", "symmetric"])
def test_every_scheduler_and_rule_agree(what, touch, scheduler, rule):
    from ptxtool import api

    gpu = api.gpu("tesla-c2050", settings=["sm.count=1", f'sharing.lock_rule="{rule}"'])
    result, words = launch(
        touch + "\tbar.sync 0;\n" + what + CHAIN, what, 9, 64, scheduler=scheduler, gpu=gpu
    )
    assert result.ctas_done == 9
    assert result.core["locks_released_early"] == (18 if what == REGISTERS else 9)
    assert np.array_equal(words, np.arange(64) + 20)


@pytest.mark.parametrize(
    ("body", "what", "message"),
    [
        (
            TOUCH + REGISTERS + CHAIN + "\tmov.u32 %r1, %s1;\n",
            REGISTERS,
            "a shared register that the warp has released, %s1, in 'mov.u32 %r1, %s1;'",
        ),
        (
            REGISTERS + TOUCH,
            REGISTERS,
            "a shared register that the warp has released, %s1, in 'mov.u32 %s1, %r0;'",
        ),
        (
            STORE + SCRATCHPAD + CHAIN + "\tld.shared.u32 %r1, [high+8];\n",
            SCRATCHPAD,
            "byte 8 of variable 'high' (27000 bytes) in shared memory, in 'ld.shared.u32 %r1, [high+8];'",
        ),
    ],
)
def test_use_behind_a_mark_is_an_error(body, what, message):
    with pytest.raises(PtxError) as raised:
        launch(body, what)
    (found,) = raised.value.diagnostics
    assert found.code == "E417"
    assert message in found.message
    assert "kernel 'k', CTA (" in found.message
    assert "stands too early" in found.help


def test_private_parts_may_be_used_behind_a_mark():
    result, _ = launch(STORE + SCRATCHPAD + "\tst.shared.u32 [low], %r1;\n" + CHAIN, SCRATCHPAD, 4)
    assert result.core["locks_released_early"] == 4
    assert launch(TOUCH + REGISTERS + "\tmov.u32 %r2, %r0;\n", REGISTERS, 4)[0].status == "done"


def test_unshared_ctas_heed_no_marks():
    """400 registers: 2 CTAs fit, 3 with a pair at 99%; the one that stands alone may touch what it likes."""
    body = REGISTERS + CHAIN
    options = {"registers": 400, "share_registers": 99}
    result, _ = launch(body, REGISTERS, 3, **options)
    assert (result.unshared_ctas, result.shared_pairs) == (0, 2)
    only, _ = launch(TOUCH, REGISTERS, 2, **options)
    assert only.status == "done"
    assert launch(REGISTERS + TOUCH, REGISTERS, 2, **options)[0].stall_points == ()


def test_lowered_marks():
    from ptxsim.lowering.lower import lower

    kernel = parsed(HEAD + FALLS + SCRATCHPAD + REGISTERS + TAIL)
    marks = lower(kernel, ONE_SM).instructions["marks"].tolist()
    before = FIRST + 4
    assert marks[before : before + 2] == [LEADS_TO_MARK, FALLEN_REGISTERS]
    assert marks[before + 21] == GIVES_REGISTERS | GIVES_SCRATCHPAD
    assert sum(map(bool, marks)) == 3


def test_skipping_cycles_changes_nothing():
    for what, touch in ((REGISTERS, TOUCH), (SCRATCHPAD, STORE)):
        body = touch + "\tld.global.u32 %r2, [%l0];\n" + what + "\tadd.u32 %r1, %r1, %r2;\n" + CHAIN
        assert launch(body, what, 9)[0] == launch(body, what, 9, event_skip=False)[0]
