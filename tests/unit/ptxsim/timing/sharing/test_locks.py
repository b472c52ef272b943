"""Who may take a free lock: the rule of the papers' figure 5, read in three ways (timing-model section 5.3).

300 registers for each of 64 threads: one CTA fits in 32768, and at 98% a partner beside it. Registers with numbers
above floor(300 * 0.02) = 6 are shared: %s1 is the first.
"""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import first_cycle, parsed

import ptxsim
from ptxtool import api
from ptxtool.base.diag import PtxError

PAIR = {"registers": 300, "share_registers": 98, "allocate": False}  # numbers as declared
HEAD = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %l<2>;
	.reg .b32 %r<2>;
	.reg .pred %p;
	.reg .b32 %s<4>;
	ld.param.u64 %l0, [p];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	shl.b32 %r1, %r1, 5;
	xor.b32 %r1, %r1, %r0;
	and.b32 %r1, %r1, 32;
	setp.ne.u32 %p, %r1, 0;
	@%p bra LATE;
"""
TAIL = """	mul.wide.u32 %l1, %r0, 4;
	add.u64 %l1, %l1, %l0;
	st.global.u32 [%l1], %s1;
	ret;
}
"""
CHAIN = "\tadd.u32 %r0, %r0, 0;\n" * 30
# Figure 5: of CTA 0 warp 0 touches the shared register at once and warp 1 later, of CTA 1 the other way round; then the
# warps of a CTA meet. If each early warp takes its lock, each late one wants what the other CTA's early one has, and
# that one waits at the barrier for a late one.
FIGURE_5 = (
    HEAD + f"\tmov.u32 %s1, 1;\n\tbra MEET;\nLATE:\n{CHAIN}\tmov.u32 %s1, 2;\nMEET:\n\tbar.sync 0;\n" + TAIL
)


def machine(rule: str) -> Any:
    return api.gpu("tesla-c2050", settings=["sm.count=1", f'sharing.lock_rule="{rule}"'])


def launch(source: str, rule: str, grid: int = 2, **options: Any) -> Any:
    words = np.zeros(64, np.uint32)
    result = ptxsim.launch(
        parsed(source), grid, 64, [words], gpu=machine(rule), **{**PAIR, "scheduler": "lrr"} | options
    )
    return result, words


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf", "owf_greedy"])
@pytest.mark.parametrize("rule", ["safe", "strict"])
def test_figure_5_finishes(rule, scheduler):
    result, words = launch(FIGURE_5, rule, 20, scheduler=scheduler)
    assert (result.status, result.ctas_done, result.shared_pairs) == ("done", 20, 1)
    assert result.stall_points
    assert words.tolist() in ([1] * 32 + [2] * 32, [2] * 32 + [1] * 32)  # of whichever CTA was last


@pytest.mark.parametrize("scheduler", ["lrr", "gto", "owf"])
def test_figure_5_deadlocks_where_every_free_lock_may_be_taken(scheduler):
    with pytest.raises(PtxError) as raised:
        launch(FIGURE_5, "symmetric", scheduler=scheduler)
    (found,) = raised.value.diagnostics
    assert found.code == "E407"
    assert "warps wait for each other in a circle: kernel 'k', cycle " in found.message
    reported = found.message.partition(": CTA ")[2].split("; ")
    assert len(reported) == 4
    lines = FIGURE_5.split("\n")
    late = f"waits at 'mov.u32 %s1, 2;' in line {lines.index('	mov.u32 %s1, 2;') + 1} for the lock on %s1"
    early = f"waits at 'bar.sync 0;' in line {lines.index('	bar.sync 0;') + 1} for"
    assert reported == [
        f"(0,0,0) warp 1 (threads (32,0,0) to (63,0,0), SM 0) {late} that CTA (1,0,0) warp 1 has",
        f"CTA (1,0,0) warp 1 (threads (32,0,0) to (63,0,0), SM 0) {early} CTA (1,0,0) warp 0",
        f"CTA (1,0,0) warp 0 (threads (0,0,0) to (31,0,0), SM 0) {late} that CTA (0,0,0) warp 0 has",
        f"CTA (0,0,0) warp 0 (threads (0,0,0) to (31,0,0), SM 0) {early} CTA (0,0,0) warp 1",
    ]
    assert "sharing.lock_rule" in found.help


# Of each CTA warp 0 touches the shared register at once, warp 1 late, and no barrier ties them together.
UNEVEN = (
    HEAD.replace(
        "	mov.u32 %r1, %ctaid.x;\n	shl.b32 %r1, %r1, 5;\n	xor.b32 %r1, %r1, %r0;\n", ""
    ).replace("and.b32 %r1, %r1, 32", "and.b32 %r1, %r0, 32")
    + f"\tmov.u32 %s1, 1;\n{2 * CHAIN}\tbra JOIN;\nLATE:\n{CHAIN}\tmov.u32 %s1, 2;\n{2 * CHAIN}JOIN:\n{TAIL}"
)
_TEXT = [line for line in UNEVEN.split("\n") if line.endswith(";") and ".reg" not in line]
EARLY, LATE, EXIT = (_TEXT.index(f"\t{text};") for text in ("mov.u32 %s1, 1", "mov.u32 %s1, 2", "ret"))


def cycle_of(rule: str, instruction: int, times: int) -> int:
    return first_cycle(
        lambda cycles: launch(UNEVEN, rule, max_cycles=max(1, cycles))[0],
        lambda result: result.issues[instruction] >= times,
    )


def test_a_non_owner_waits_for_its_partner_or_for_all_holders():
    """safe: warp 0 of the second CTA goes on when warp 0 of the first has exited; strict: when warp 1 has, which holds
    its lock by then; its warp 1 goes on at the same time under both."""
    first, second = cycle_of("safe", EXIT, 1), cycle_of("strict", EXIT, 2)
    assert cycle_of("safe", EARLY, 2) == first + 1
    assert cycle_of("strict", EARLY, 2) == cycle_of("strict", LATE, 2) == second + 1
    assert cycle_of("safe", LATE, 2) > first + 1


def test_memory_is_the_same_under_every_rule():
    found = [launch(UNEVEN, rule, 7)[1].tolist() for rule in ("safe", "strict", "symmetric")]
    assert found[0] == found[1] == found[2] == [1] * 32 + [2] * 32


def test_a_rule_that_is_none():
    with pytest.raises(PtxError, match="lock_rule"):
        machine("fair")
