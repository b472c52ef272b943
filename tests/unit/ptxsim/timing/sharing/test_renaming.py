"""Release by name: which warps wait for physical registers, and for how long, worked out by hand (section 6.2).

A CTA is one warp; registers are those of warps, 32 of 32 bits. The kernel maps, after each of its instructions:

    ld.param %rd0       2    %rd0
    mov %r4             3    %rd0 %r4
    mul.wide %rd1       5    %rd0 %r4 %rd1, and 4 after it, as %r4 is read no more
    add.s64 %rd0        4    then 2, %rd0
    ld %r6              3    %rd0 %r6, for the 40000 cycles that a load takes
    add %r5             4    then 3, %rd0 %r5
    st                  0

So it needs 5 at most. With a reserve for the oldest CTA alone, 5 registers are that one's, mapped or not, and the
others have what is left together. With a reserve for all, which is the default, each older CTA has 5.
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

KERNEL = """.version 4.0
.target sm_35
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %rd<2>;
	.reg .b32 %r<7>;
	.reg .pred %p<2>;
	ld.param.u64 %rd0, [p];
	mov.u32 %r4, %tid.x;
	mul.wide.u32 %rd1, %r4, 4;
	add.s64 %rd0, %rd0, %rd1;
	BODY
	ret;
}
"""
LOAD = "ld.global.cg.u32 %r6, [%rd0];\n\tadd.u32 %r5, %r6, 1;\n\tst.global.u32 [%rd0], %r5;"
LONG = 40000


def launch(
    physical: int,
    n_ctas: int = 4,
    threads: int = 32,
    body: str = LOAD,
    named: int = 100,
    reserving: int = 32,
    **options: Any,
) -> ptxsim.SimResult:
    """A run on one SM with so many physical registers of warps; 0: those of the SM."""
    slow = (
        "fetch.perfect=true",
        "l1c.perfect=true",
        f"l2.rop_cycles={LONG}",
        f"switching.physical_registers={32 * physical}",
        f"switching.named_percent={named}",
        f"switching.reserving_ctas={reserving}",
    )
    gpu = with_settings(load_gpu("gtx980-finereg"), slow)
    gpu = replace(gpu, sm=replace(gpu.sm, count=1))
    words = np.zeros(threads, np.uint32)
    given = {"gpu": gpu, "scheme": "release-by-name"} | options
    return ptxsim.launch(parsed(KERNEL.replace("BODY", body)), n_ctas, threads, [words], **given)


@pytest.mark.parametrize(
    ("physical", "reserving", "loads", "waits"),
    [
        (5, 1, 4, 6),  # one CTA at a time: the others wait for 1, 2 and 3 loads
        (8, 1, 4, 6),  # 3 for the others: the second maps 3, and waits to map 2 more
        # 5 for the others: the second maps 3, the third 2, the fourth nothing. When the first has ended, so that the
        # second is the oldest, the third maps 3 and the fourth 2; when the second has, the fourth maps all
        (10, 1, 3, 5),
        (20, 1, 1, 0),
        (0, 1, 1, 0),
        (5, 32, 4, 6),
        (10, 2, 2, 2),  # two at a time: the other two wait for one load each
        (10, 32, 2, 2),
        (15, 32, 2, 1),
        (19, 32, 2, 1),
        (20, 32, 1, 0),
    ],
)
def test_ctas_wait_for_free_registers(physical: int, reserving: int, loads: int, waits: int) -> None:
    """The last store takes as long as a load."""
    result = launch(physical, reserving=reserving)
    assert result.cycles // LONG == loads + 1
    renaming = result.renaming
    assert renaming is not None
    assert renaming.wait_cycles // LONG == waits
    assert (renaming.waits > 0) == (waits > 0)
    assert renaming.most_of_cta == 5 * 32
    assert renaming.registers_most <= 32 * (physical or 2048)
    assert result.stats["renaming_wait_cycles"] == renaming.wait_cycles
    stepped = launch(physical, reserving=reserving, event_skip=False)
    assert stepped.to_dict() == result.to_dict()


def test_the_most_registers_at_a_time() -> None:
    assert [launch(physical, 1).renaming.registers_most for physical in (0, 5)] == [5 * 32, 5 * 32]  # type: ignore[union-attr]
    assert launch(0, 2, 64).renaming.registers_most >= 4 * 3 * 32  # type: ignore[union-attr]


def test_enough_registers_cost_nothing() -> None:
    """As without the scheme, cycle for cycle."""
    found, plain = launch(0, 40, 64).to_dict(), launch(0, 40, 64, scheme="none").to_dict()
    del found["renaming"]
    for name in ("renaming_waits", "renaming_wait_cycles"):
        assert found["stats"].pop(name) == 0
    assert found == plain


def test_names_bound_the_resident_ctas() -> None:
    """64 registers for 256 threads: 4 CTAs of 65536 names, 7 of 180%, each of which needs 8 * 5 * 32 at most."""
    given = {"n_ctas": 40, "threads": 256, "registers": 64}
    assert launch(0, **given).resident_ctas == 4
    assert launch(0, named=180, **given).resident_ctas == 7
    assert launch(1024, named=180, **given).resident_ctas == 7
    with pytest.raises(PtxError, match="E402"):
        launch(39, **given)


@pytest.mark.parametrize(("side", "most"), [("mov.u32 %r6, 1;", 6), ("add.u32 %r6, %r5, 1;", 7)])
def test_a_register_of_lanes_on_the_other_side_of_a_branch_is_kept(side: str, most: int) -> None:
    """At the addition to %r3 the first lanes have %rd0 and four others; %r5 is for the other lanes, which come later.

    The bound has %r6 as well, which lanes that wait at DONE would have.
    """
    body = f"""mov.u32 %r5, 7;
	setp.lt.u32 %p0, %r4, 16;
	@%p0 bra FIRST;
	{side}
	bra DONE;
FIRST:
	mov.u32 %r0, 1;
	mov.u32 %r1, 2;
	mov.u32 %r2, 3;
	add.u32 %r3, %r0, %r1;
	add.u32 %r6, %r2, %r3;
DONE:
	st.global.u32 [%rd0], %r6;"""
    result = launch(0, 1, body=body)
    assert result.renaming is not None
    assert (result.renaming.registers_most, result.renaming.most_of_cta) == (most * 32, (most + 1) * 32)


def test_warps_that_wait_for_registers_are_no_reason_of_a_deadlock() -> None:
    """The barrier of the oldest CTA is, which never completes."""
    body = f"setp.eq.u32 %p0, %r4, 0;\n\tbar.sync 0, 64;\n\t{LOAD}"
    with pytest.raises(PtxError) as caught:
        launch(6, 3, body=body)
    (found,) = caught.value.diagnostics
    assert found.code == "E406"
    assert "CTA (0,0,0) warp 0" in found.message
