"""lower-ptxplus: what it makes of instructions and of kernels, and what it refuses.

What lowered kernels compute: `tests/diff/test_lowered.py`.
"""

import re

import pytest
from ptxplus_selection import HEAD, kernel, lower, refusals, virtual

from ptxtool.base.diag import PtxError
from ptxtool.parse import parse
from ptxtool.passes.pipeline import rewrite
from ptxtool.passes.ptxplus.lower_ptxplus import LowerPtxplus
from ptxtool.sema.module import check_module


@pytest.mark.parametrize(
    ("ptx", "ptxplus"),
    [
        ("add.s32 %r1, %r2, -1;", "add.s32 $v0, $v1, 0xffffffff;"),
        ("mul.lo.s32 %r1, %r2, 12;", "mul.lo.s32 $v0, $v1, 0x0000000c;"),
        ("mul.lo.s32 %r1, %r2, 64;", "shl.u32 $v0, $v1, 0x00000006;"),
        ("mul.wide.u16 %r1, %h1, %h2;", "mul.wide.u16 $v0, $v1, $v2;"),
        ("sub.f32 %f1, %f2, %f3;", "sub.f32 $v0, $v1, $v2;"),
        ("sub.f32 %f1, %f2, 0f3F800000;", "sub.f32 $v0, $v1, 0x3f800000;"),
        ("fma.rn.f32 %f1, %f2, %f3, %f1;", "mad.f32 $v0, $v1, $v2, $v0;"),
        ("fma.rz.f32 %f1, %f2, %f3, %f1;", "fma.rz.f32 $v0, $v1, $v2, $v0;"),
        ("ex2.approx.f32 %f1, %f2;", "ex2.f32 $v0, $v1;"),
        ("ex2.approx.ftz.f32 %f1, %f2;", "ex2.approx.ftz.f32 $v0, $v1;"),
        ("sqrt.rn.f32 %f1, %f2;", "sqrt.rn.f32 $v0, $v1;"),
        ("setp.lo.u32 %p1, %r1, %r2;", "set.lt.u32.u32 $p0/$o127, $v0, $v1;"),
        ("setp.geu.f32 %p1, %f1, %f2;", "set.geu.u32.f32 $p0/$o127, $v0, $v1;"),
        ("@%p1 mov.u32 %r1, %r2;", "@$p0.ne mov.u32 $v0, $v1;"),
        ("@!%p1 mov.u32 %r1, %r2;", "@$p0.equ mov.u32 $v0, $v1;"),
        ("selp.b32 %r1, %r2, 1, !%p1;", "selp.u32 $v0, 0x00000001, $v1, $p0;"),
        ("mov.u32 %r1, %ctaid.y;", "mov.u32 $v0, %ctaid.y;"),
        ("ld.global.u16 %h1, [%d1+6];", "ld.global.u16 $v0, [$v1+0x0006];"),
        ("ld.global.f32 %f1, [%d1+-8];", "ld.global.f32 $v0, [$v1+-8];"),
        ("ld.shared.v2.f32 {%f1, %f2}, [%r1];", "mov.bb64 {$v0,$v1}, s[$v2];"),
        ("st.shared.u8 [%r1+3], %h1;", "mov.u8 s[$v1+0x0003], $v0;"),
        ("red.global.add.u32 [%d1], %r1;", "atom.global.add.u32 _, [$v0], $v1;"),
        ("atom.shared.cas.b32 %r1, [%r2], %r3, %r4;", "atom.shared.cas.b32 $v0, [$v1], $v2, $v3;"),
        ("bar.sync 1, 64;", "bar.sync 0x00000001, 0x00000040;"),
        ("membar.gl;", "membar.gl;"),
        ("add.f64 %x1, %x2, %x3;", "add.ff64 {$v0,$v1}, {$v2,$v3}, {$v4,$v5};"),
        ("cvt.rn.f32.f64 %f1, %x1;", "cvt.rn.f32.ff64 $v0, {$v1,$v2};"),
        ("cvt.rzi.s32.f32 %r1, %f1;", "cvt.rzi.s32.f32 $v0, $v1;"),
    ],
)
def test_instructions_with_a_counterpart(ptx: str, ptxplus: str) -> None:
    uses = "st.global.f64 [%d1], %x1;" if "%x1," in ptx and "f32.f64" not in ptx else ""
    assert virtual(ptx + uses)[0] == ptxplus


def test_the_text_is_what_gpgpu_sim_reads() -> None:
    body = "mov.u32 %r1, %tid.x; setp.lt.s32 %p1, %r1, 3; @%p1 bra L; mov.b32 %r2, 0f3F800000; L: exit;"
    assert check_module(parse(lower(body))) == ()


def test_all_reasons_come_in_one_run() -> None:
    body = (
        "sqrt.rn.f64 %x1, %x2;\nadd.rm.f32 %f1, %f2, %f3;\nrem.s64 %d1, %d2, %d3;\nst.global.f64 [%d1], %x1;"
    )
    assert refusals(HEAD + kernel(body)) == [
        (7, "PTXPlus has no 'sqrt.rn.f64'"),
        (8, "PTXPlus does not round 'add' with '.rm'"),
        (9, "'rem.s64' needs all 64 bits, and PTXPlus computes with 32"),
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("ld.u32 %r1, [%d1];", "a generic address whose state space is not known"),
        ("bar.red.popc.u32 %r1, 0, %p1;", "PTXPlus has nothing for 'bar.red.popc.u32'"),
        ("vote.sync.all.pred %p1, %p2, %r1;", "a vote of some lanes"),
        ("mov.u32 %r1, %smid;", "PTXPlus has no special register '%smid'"),
        ("cvt.pack.sat.u16.s32 %r1, %r2, %r3;", "PTXPlus has nothing for 'cvt.pack.sat.u16.s32'"),
        ("min.NaN.f32 %f1, %f2, %f3;", "PTXPlus has no 'min.NaN.f32'"),
        ("ld.shared::cluster.u32 %r1, [%r2];", "the shared memory of another CTA"),
    ],
)
def test_reasons(body: str, reason: str) -> None:
    ((line, reported),) = refusals(HEAD.replace("75", "90") + kernel(body))
    assert line == 7
    assert reported.startswith(reason)


def test_targets_without_subnormal_numbers_are_refused() -> None:
    text = ".version 1.4\n.target sm_13\n.entry k\n{\nexit;\n}\n"
    assert "take subnormal numbers for zero" in refusals(text)[0][1]


def test_ptxplus_stays_as_it_is() -> None:
    module = parse(lower("exit;"))
    result = rewrite(module, "lower-ptxplus")
    assert result.module is module
    assert str(result) == "lower-ptxplus: nothing to do: it is PTXPlus"


@pytest.mark.parametrize("regs", [0, -1, 125])
def test_the_number_of_registers_is_the_machines(regs: int) -> None:
    with pytest.raises(PtxError, match=f"regs cannot be {regs}"):
        LowerPtxplus(regs).run(parse(HEAD + kernel("")))


def test_values_spill_where_that_is_asked_for() -> None:
    loads = "".join(f"ld.global.u32 %r{k}, [%d1+{4 * k}];" for k in range(1, 8))
    sums = "".join(f"add.s32 %r1, %r1, %r{k};" for k in range(7, 1, -1))
    body = f"ld.param.u64 %d1, [p];{loads}{sums} st.global.u32 [%d1], %r1;"
    with pytest.raises(PtxError, match="'k' does not fit into 5 registers without spilling: it needs 8"):
        lower(body, "{regs=5}")
    text = lower(body, "{regs=5,spill=local}")
    assert ".reg .u32 $r<5>;" in text
    assert re.search(r"\t\.local \.b8 l0\[\d+\];", text)
    assert text.count("st.local.u32 [0x") == text.count("ld.local.u32 $r") > 0


def test_nothing_spills_beside_local_variables() -> None:
    """Both would have the numbers from 0 on, and a file has one `l0`."""
    loads = "".join(f"ld.global.u32 %r{k}, [%d1+{4 * k}];" for k in range(1, 8))
    stores = "".join(f"st.global.u32 [%d1+{4 * k}], %r{8 - k};" for k in range(1, 8))
    crowd = kernel(f"ld.param.u64 %d1, [p];{loads}{stores}")
    local = ".local .b32 mine; .reg .b32 %q; st.local.u32 [mine], 1; ld.local.u32 %q, [mine]; st.global.u32 [%d1], %q;"
    own = kernel(f"ld.param.u64 %d1, [p];{loads}{local}{stores}", name="own")
    module = parse(HEAD + crowd + own)
    with pytest.raises(PtxError) as refused:
        rewrite(module, "lower-ptxplus{regs=6,spill=local}")
    what = str(refused.value)
    assert "'k' does not fit into 6 registers without spilling: it needs 8" in what
    assert "'own' does not fit into 6 registers without spilling: it needs 9" in what
    advice = (
        "give 8 or more; nothing can spill beside the local variables of 'own': lower the other kernels alone"
    )
    assert advice in what
    assert "l0[" in rewrite(module, "lower-ptxplus{regs=6,spill=local,kernel=k}").module.source.text
    rewrite(module, "lower-ptxplus{regs=9,spill=local}")
    with pytest.raises(PtxError, match=r"give 9 or more; nothing can spill .* of 'own'$"):
        rewrite(module, "lower-ptxplus{regs=6,spill=local,kernel=own}")


def test_kernels_that_can_be_lowered_alone_are_named() -> None:
    bad, good = "div.u64 %d1, %d2, %d3;", "mov.u32 %r1, %tid.x;"
    text = (
        HEAD + kernel(bad, name="a") + kernel(good, name="b") + kernel(bad, name="c") + kernel(good, name="d")
    )
    with pytest.raises(PtxError) as refused:
        rewrite(parse(text), "lower-ptxplus")
    first = refused.value.diagnostics[0]
    assert first.message == "lower-ptxplus: 2 of 4 kernels cannot be lowered: a, c"
    assert first.help == "'kernel=NAME' lowers one alone; these can be: b, d"
    assert len(refused.value.diagnostics) == 3
    assert len(refusals(HEAD + kernel(bad, name="a"))) == 1


def test_the_same_module_gives_the_same_text() -> None:
    body = "mov.u32 %r1, %tid.x; add.s32 %r2, %r1, 3; ld.param.u64 %d1, [p]; st.global.u32 [%d1], %r2;"
    assert lower(body) == lower(body)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("bra l0x00000008;", "bra l0x00000000;", "differs from 'bra l0x00000008;' in more than registers"),
        ("add.half.u32", "sub.half.u32", "is another operation than 'add"),
        ("add.half.u32", "add.u32", ""),
        ("mov.u32 $r", "mov.half.u32 $r", ""),
    ],
)
def test_the_final_text_is_proved_up_to_its_encoding(old: str, new: str, problem: str) -> None:
    body = "L: mov.u32 %r3, 1; M: add.u32 %r1, %r1, %r2; add.u32 %r2, %r2, %r1; @%p1 bra L; bra M;"
    before = parse(HEAD + kernel(body))
    claim = LowerPtxplus().run(before).claim
    text = rewrite(before, "lower-ptxplus").module.source.text
    assert old in text
    assert claim(before, parse(text)) == ()
    found = claim(before, parse(text.replace(old, new, 1)))
    assert [d.message for d in found if problem and problem in d.message] == [d.message for d in found]
    assert bool(found) == bool(problem)
