"""The papers' figure 6: unshared warps before owners make an SM slower (register sharing, section 5.1).

One SM with one scheduler and three CTAs of four warps: 60 registers for each of 128 threads are 7680 of 16128, so that
two CTAs fit, and at 90% a third beside one of them. CTA 0 is unshared, CTAs 1 and 2 are a pair. All do the same: they
write shared registers, which four warps alone can do in every cycle, load, and use what they have loaded. The non-owner
begins when the owner has ended, so that the owner's end decides how long all of it takes; the unshared CTA has time.
A pair is an owner's from the beginning here (`sharing.unowned`), as in the figure.
"""

from typing import Any

import numpy as np
import pytest
from microkernels.measure import first_cycle, parsed

import ptxsim
from ptxtool import api

WORK = "".join(f"\tadd.u32 %s{1 + k % 30}, %r0, {1 + k % 30};\n" for k in range(60))
BODY = f"{WORK}\tld.global.u32 %s2, [%l1];\n\tadd.u32 %s2, %s2, %s1;\n\tst.global.u32 [%l1], %s2;\n\tret;\n"
KERNEL = f""".version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{{
	.reg .b64 %l<2>;
	.reg .b32 %r<2>;
	.reg .pred %p;
	.reg .b32 %s<31>;
	ld.param.u64 %l0, [p];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, %ctaid.x;
	mad.lo.u32 %r0, %r1, 128, %r0;
	mul.wide.u32 %l1, %r0, 4;
	add.u64 %l1, %l1, %l0;
	setp.eq.u32 %p, %r1, 0;
	@%p bra FIRST;
	setp.eq.u32 %p, %r1, 1;
	@%p bra SECOND;
{BODY}FIRST:
{BODY}SECOND:
{BODY}}}
"""
_TEXT = [line for line in KERNEL.split("\n") if line.endswith(";") and ".reg" not in line]
ENDS = [k for k, line in enumerate(_TEXT) if line == "\tret;"]
NON_OWNER, UNSHARED, OWNER = ENDS
UNSHARED_FIRST = """from ptxsim.jit import bit, ctz


def pick(sm, scheduler, candidates):
    best, rank = ctz(candidates), 9
    mask = candidates
    while mask:
        w = ctz(mask)
        mask &= mask - 1
        mine = (1, 0, 2)[sm.warp_class[w]]
        if mine < rank:
            best, rank = w, mine
    return best
"""


@pytest.fixture(scope="module")
def schedulers(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    path = tmp_path_factory.mktemp("own") / "mine.py"
    path.write_text(UNSHARED_FIRST)
    return "owf", f"{path}:pick"


def launch(scheduler: str, cycles: int | None = None) -> Any:
    words = np.arange(3 * 128, dtype=np.uint32)
    settings = ["sm.count=1", "sm.schedulers=1", "sm.registers=16128", "fetch.perfect=true"]
    machine = api.gpu("tesla-c2050", settings=[*settings, 'sharing.unowned="owner"'])
    options = {"registers": 60, "share_registers": 90, "allocate": False, "max_cycles": cycles}
    result = ptxsim.launch(parsed(KERNEL), 3, 128, [words], gpu=machine, scheduler=scheduler, **options)
    if cycles is None:
        assert words.tolist() == [2 * k + 1 for k in range(3 * 128)]
    return result


def end(scheduler: str, ret: int) -> int:
    """The cycle in which the last warp of a CTA leaves, by the number of its `ret`."""
    return first_cycle(
        lambda cycles: launch(scheduler, max(1, cycles)), lambda result: result.issues[ret] == 4
    )


@pytest.mark.slow
def test_figure_6_unshared_warps_first_make_all_of_it_longer(schedulers: tuple[str, str]) -> None:
    results = [launch(scheduler) for scheduler in schedulers]
    assert all((r.resident_ctas, r.shared_pairs, r.unshared_ctas) == (3, 1, 1) for r in results)
    owners_first, unshared_first = schedulers
    first, second = ({ret: end(s, ret) for ret in ENDS} for s in (owners_first, unshared_first))
    assert first[OWNER] < first[UNSHARED] < first[NON_OWNER]
    assert second[UNSHARED] < second[OWNER] < second[NON_OWNER]
    assert second[OWNER] >= first[OWNER] + 240  # the unshared CTA's instructions: four warps of 60
    assert second[NON_OWNER] > first[NON_OWNER]
    assert results[1].cycles > results[0].cycles
