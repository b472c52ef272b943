"""What instructions write, surely overwrite and read; expectations from the manuals, by hand."""

from pathlib import Path

import pytest
from checkout import TESTS
from kernels import ptx, ptxplus

from ptxtool.ir.defuse import accesses, def_use, def_use_of
from ptxtool.ir.nodes import Function
from ptxtool.isa.table import table
from ptxtool.parse import parse


def sets(kernel: Function, i: int = 0) -> tuple[str, str, str]:
    """Defs, kills and uses of one instruction, as names."""
    step = def_use(kernel)[i]
    registers = kernel.registers
    return tuple(" ".join(registers[k].name for k in found) for found in (step.defs, step.kills, step.uses))  # type: ignore[return-value]


PTXPLUS = [
    ("add.u32 $r1, $r2, $r3;", "$r1", "$r1", "$r2 $r3"),
    ("add.u32 $r1, $r1, 0x1;", "$r1", "$r1", "$r1"),
    # a guard is read and takes the kill away
    ("@$p0.ne add.u32 $r1, $r2, $r3;", "$r1", "", "$r2 $r3 $p0"),
    # halves: written in part, read as a whole register
    ("mov.u16 $r0.hi, %ntid.x;", "$r0", "", ""),
    ("cvt.u32.u16 $r1, $r0.lo;", "$r1", "$r1", "$r0"),
    ("and.b16 $r2.lo, $r2.lo, $r3.hi;", "$r2", "", "$r2 $r3"),
    # the zero register is not read, the bit bucket not written
    ("mov.u32 $r1, $r124;", "$r1", "$r1", ""),
    ("set.le.s32.s32 $p0/$o127, s[0x003c], $r124;", "$p0", "$p0", ""),
    ("set.eq.u32.u32 $p0/$r1, $r2, $r3;", "$p0 $r1", "$p0 $r1", "$r2 $r3"),
    ("sub.u32 $p1|$r4, $r5, $r6;", "$p1 $r4", "$p1 $r4", "$r5 $r6"),
    ("set.eq.u32.u32 $p0/$r1.lo, $r2, $r3;", "$p0 $r1", "$p0", "$r2 $r3"),
    # memory as an operand of arithmetic, and as the destination
    ("add.u32 $r1, s[$ofs1+0x10], $r2;", "$r1", "$r1", "$ofs1 $r2"),
    ("mov.u32 s[$ofs1+0x0010], $r0;", "", "", "$ofs1 $r0"),
    ("mov.u32 $r1, g[$r2];", "$r1", "$r1", "$r2"),
    ("mad.f32 $r1, s[$ofs1+$r3], $r2, $r1;", "$r1", "$r1", "$ofs1 $r3 $r2 $r1"),
    # a post-increment reads and writes its register, wherever it stands
    ("mad.f32 $r1, s[$ofs1+=0x4], $r2, $r1;", "$r1 $ofs1", "$r1 $ofs1", "$ofs1 $r2 $r1"),
    ("mov.u32 s[$ofs2+=0x4], $r0;", "$ofs2", "$ofs2", "$ofs2 $r0"),
    ("@$p0.ne mov.u32 s[$ofs2+=0x4], $r0;", "$ofs2", "", "$ofs2 $r0 $p0"),
    # pairs
    ("add.ff64 {$r4,$r5}, {$r4,$r5}, {$r6,$r7};", "$r4 $r5", "$r4 $r5", "$r4 $r5 $r6 $r7"),
    ("mov.bb64 g[$r1], {$r2,$r3};", "", "", "$r1 $r2 $r3"),
    # values of 64 bits named by their first register alone; of 128 bits take four
    ("cvt.ff64.s32 $r0, $r2;", "$r0 $r1", "$r0 $r1", "$r2"),
    ("cvt.s32.ff64 $r0, $r2;", "$r0", "$r0", "$r2 $r3"),
    ("add.ff64 $r0, $r2, -$r4;", "$r0 $r1", "$r0 $r1", "$r2 $r3 $r4 $r5"),
    ("@$p0.ne add.ff64 $r0, $r2, {$r4,$r5};", "$r0 $r1", "", "$r2 $r3 $r4 $r5 $p0"),
    ("set.gt.u32.f64 $p0/$r1, $r2, $r4;", "$p0 $r1", "$p0 $r1", "$r2 $r3 $r4 $r5"),
    ("st.global.bb64 [$r1], $r4;", "", "", "$r1 $r4 $r5"),
    ("ld.global.bb64 $r4, [$r1];", "$r4 $r5", "$r4 $r5", "$r1"),
    ("mov.bb128 $r4, g[$r1];", "$r4 $r5 $r6 $r7", "$r4 $r5 $r6 $r7", "$r1"),
    ("mov.bb64 s[$ofs1+=0x8], $r2;", "$ofs1", "$ofs1", "$ofs1 $r2 $r3"),
    ("shl.b64 $r0, $r2, $r4;", "$r0 $r1", "$r0 $r1", "$r2 $r3 $r4"),
    ("mov.bb64 $r9, $r124;", "$r9", "$r9", ""),  # nothing is declared after it
    # predicates as data
    ("selp.u32 $r1, $r2, $r3, $p1;", "$r1", "$r1", "$r2 $r3 $p1"),
    ("addp.u32 $r1, $r2, $r3, $p1;", "$r1", "$r1", "$r2 $r3 $p1"),
    ("mov.pred $p0, $p1;", "$p0", "$p0", "$p1"),
    # stores and loads with an address register
    ("st.global.u32 [$r1+4], $r2;", "", "", "$r1 $r2"),
    ("ld.global.v2.u32 {$r1,$r2}, [$r3];", "$r1 $r2", "$r1 $r2", "$r3"),
    # surplus operands are read; control flow reads its guard only
    ("mov.u32 $r1, $ofs1, 0x0;", "$r1", "$r1", "$ofs1"),
    ("@$p1.equ bra l1; l1:", "", "", "$p1"),
    ("callp l1; l1:", "", "", ""),
]


@pytest.mark.parametrize(("text", "defs", "kills", "uses"), PTXPLUS, ids=[row[0] for row in PTXPLUS])
def test_ptxplus(text: str, defs: str, kills: str, uses: str) -> None:
    kernel = ptxplus(text + " exit;")
    step_defs, step_kills, step_uses = sets(kernel)
    assert set(step_defs.split()) == set(defs.split())
    assert set(step_kills.split()) == set(kills.split())
    assert set(step_uses.split()) == set(uses.split())


PTX = [
    ("mad.wide.u32 %rd1, %r1, %r2, %rd2;", "%rd1", "%rd1", "%r1 %r2 %rd2"),
    ("add.cc.u32 %r1, %r2, %r3;", "%r1", "%r1", "%r2 %r3"),
    ("setp.lt.s32 %p1|%p2, %r1, %r2;", "%p1 %p2", "%p1 %p2", "%r1 %r2"),
    ("setp.lt.and.s32 %p1, %r1, %r2, !%p3;", "%p1", "%p1", "%r1 %r2 %p3"),
    ("@!%p1 mov.u32 %r1, %tid.x;", "%r1", "", "%p1"),
    ("mov.b64 {%r1, %r2}, %rd1;", "%r1 %r2", "%r1 %r2", "%rd1"),
    ("mov.b64 {%r1, _}, %rd1;", "%r1", "%r1", "%rd1"),
    ("mov.b64 %rd1, {%r1, %r2};", "%rd1", "%rd1", "%r1 %r2"),
    ("st.global.v4.f32 [%rd1+16], {%f1, %f2, %f3, %f4};", "", "", "%rd1 %f1 %f2 %f3 %f4"),
    ("ld.global.v2.f32 {%f1, %f2}, [%rd1];", "%f1 %f2", "%f1 %f2", "%rd1"),
    ("ld.param.u64 %rd1, [a];", "%rd1", "%rd1", ""),
    (
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, {%f5, %f6}];",
        "%f1 %f2 %f3 %f4",
        "%f1 %f2 %f3 %f4",
        "%f5 %f6",
    ),
    ("atom.global.add.u32 %r1, [%rd1], %r2;", "%r1", "%r1", "%rd1 %r2"),
    ("red.global.add.u32 [%rd1], %r2;", "", "", "%rd1 %r2"),
    ("shfl.sync.down.b32 %r1|%p1, %r2, %r3, 31, -1;", "%r1 %p1", "%r1 %p1", "%r2 %r3"),
    ("call (%r1), f, (%r2, %r3);", "%r1", "%r1", "%r2 %r3"),
    ("call f, (%r2, %r3);", "", "", "%r2 %r3"),
    ("call %rd1, (%r2), proto;", "", "", "%rd1 %r2"),
    ("call f;", "", "", ""),
    # outside the table: the first operand may be written and may be read
    ("frobnicate.b32 %r1, %r2, [%rd1];", "%r1", "", "%r1 %r2 %rd1"),
    ("frobnicate.b32 [%rd1], %r2;", "", "", "%rd1 %r2"),
]


@pytest.mark.parametrize(("text", "defs", "kills", "uses"), PTX, ids=[row[0] for row in PTX])
def test_ptx(text: str, defs: str, kills: str, uses: str) -> None:
    step_defs, step_kills, step_uses = sets(ptx(text + " ret;"))
    assert set(step_defs.split()) == set(defs.split())
    assert set(step_kills.split()) == set(kills.split())
    assert set(step_uses.split()) == set(uses.split())


MATRICES = [
    (
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
        " {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f4, %f5, %f6, %f7};",
        "%f0 %f1 %f2 %f3",
        "%f0 %f1 %f2 %f3",
        "%r0 %r1 %r2 %r3 %r4 %r5 %f4 %f5 %f6 %f7",
    ),
    # the accumulator as both: written and read
    (
        "mma.sp.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"
        " {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2, %r3}, {%f0, %f1, %f2, %f3}, %r4, 0x0;",
        "%f0 %f1 %f2 %f3",
        "%f0 %f1 %f2 %f3",
        "%r0 %r1 %r2 %r3 %f0 %f1 %f2 %f3 %r4",
    ),
    # one operand for both: nothing is killed, and scale-d is read
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p1, 1, 1, 0, 0;",
        "%f0 %f1 %f2 %f3",
        "",
        "%f0 %f1 %f2 %f3 %rd0 %rd1 %p1",
    ),
    (
        "wgmma.mma_async.sync.aligned.m64n8k32.s32.u8.s8"
        " {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, %rd1, !%p1;",
        "%r0 %r1 %r2 %r3",
        "",
        "%r0 %r1 %r2 %r3 %r4 %r5 %r6 %r7 %rd1 %p1",
    ),
    ("wmma.load.c.sync.aligned.row.m8n8k32.s32 {%r0, %r1}, [%rd0], %r2;", "%r0 %r1", "%r0 %r1", "%rd0 %r2"),
    ("wmma.store.d.sync.aligned.row.m8n8k32.s32 [%rd0], {%r0, %r1}, %r2;", "", "", "%rd0 %r0 %r1 %r2"),
    ("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0, %r1}, [%r2+16];", "%r0 %r1", "%r0 %r1", "%r2"),
    ("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r2], {%r0, %r1};", "", "", "%r0 %r1 %r2"),
    ("movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;", "%r0", "%r0", "%r1"),
    # tensor memory is no register: addresses of results are read
    ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%rd0], %r1;", "", "", "%rd0 %r1"),
    ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%r2];", "%r0 %r1", "%r0 %r1", "%r2"),
    ("tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%r2], 4, {%r0};", "", "", "%r0 %r2"),
    (
        "tcgen05.ld.red.sync.aligned.32x32b.x2.min.f32 {%f0, %f1}, %f2, [%r2];",
        "%f0 %f1 %f2",
        "%f0 %f1 %f2",
        "%r2",
    ),
    ("tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd1, %r1, %p0;", "", "", "%r0 %rd0 %rd1 %r1 %p0"),
    (
        "tcgen05.mma.cta_group::1.kind::f16 [%r0], [%r9], %rd1, %r1, {%r2, %r3, %r4, %r5}, !%p0;",
        "",
        "",
        "%r0 %r9 %rd1 %r1 %r2 %r3 %r4 %r5 %p0",
    ),
    (
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.multicast::cluster.b64 [%rd0], %h1;",
        "",
        "",
        "%rd0 %h1",
    ),
]

WARPS = [
    ("bar.red.popc.u32 %r0, %r1, !%p1;", "%r0", "%r0", "%r1 %p1"),
    ("barrier.cta.red.or.aligned.pred %p0, 1, %r1, %p1;", "%p0", "%p0", "%r1 %p1"),
    ("vote.sync.ballot.b32 %r0, !%p1, %r1;", "%r0", "%r0", "%p1 %r1"),
    ("match.all.sync.b64 %r0|%p0, %rd1, %r1;", "%r0 %p0", "%r0 %p0", "%rd1 %r1"),
    ("elect.sync _|%p0, %r1;", "%p0", "%p0", "%r1"),
    ("redux.sync.min.abs.NaN.f32 %f0, %f1, %r1;", "%f0", "%f0", "%f1 %r1"),
    ("fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;", "", "", "%rd0"),
    ("brx.idx %r0, targets; targets: .branchtargets l; l:", "", "", "%r0"),
    ("mov.v2.u32 {%r0, %r1}, {%r2, %r3};", "%r0 %r1", "%r0 %r1", "%r2 %r3"),
    ("mov.b32 {%h0, %h1}, %laneid;", "%h0 %h1", "%h0 %h1", ""),
]


ARITHMETIC = [
    ("add.f32.f16 %f1, %h1, %f2;", "%f1", "%f1", "%h1 %f2"),
    ("fma.rn.f32.bf16 %f1, %h1, %h2, %f2;", "%f1", "%f1", "%h1 %h2 %f2"),
    ("min.ftz.abs.f32 %f1, %f2, %f3, %f4;", "%f1", "%f1", "%f2 %f3 %f4"),
    ("madc.hi.cc.u32 %r1, %r2, %r3, %r1;", "%r1", "%r1", "%r1 %r2 %r3"),
    ("lop3.or.b32 %r1|%p1, %r2, %r3, %r4, 0x80, !%p2;", "%r1 %p1", "%r1 %p1", "%r2 %r3 %r4 %p2"),
    ("lop3.and.b32 _|%p1, %r2, %r3, %r4, 0x80, %p2;", "%p1", "%p1", "%r2 %r3 %r4 %p2"),
    ("setp.gt.f16x2 _|%p1, %r1, %r2;", "%p1", "%p1", "%r1 %r2"),
    ("selp.b32 %r1, %r2, %r3, !%p1;", "%r1", "%r1", "%r2 %r3 %p1"),
    ("bfi.b64 %rd1, %rd2, %rd3, %r1, 8;", "%rd1", "%rd1", "%rd2 %rd3 %r1"),
    ("cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;", "%r1", "%r1", "%f1 %f2 %f3 %f4 %r2"),
    ("cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r1;", "%r1", "%r1", "%r1 %r2 %r3"),
    ("isspacep.global %p1, %rd1;", "%p1", "%p1", "%rd1"),
    # a selector says which part of a video source is read; of the result the rest comes from the last operand
    ("vadd.s32.u32.s32.sat %r1.b2, %r2.h1, %r3.b0, %r4;", "%r1", "%r1", "%r2 %r3 %r4"),
    ("vadd2.s32.s32.s32 %r1.h1, %r2.h10, %r3.h32, %r1;", "%r1", "%r1", "%r1 %r2 %r3"),
    ("vabsdiff4.u32.u32.u32.add %r1, %r2.b3210, %r3, %r4;", "%r1", "%r1", "%r2 %r3 %r4"),
    ("vmad.s32.u32.s32.shr7 %r1, -%r2.b0, %r3, -%r4;", "%r1", "%r1", "%r2 %r3 %r4"),
    ("@%p1 vset.u32.u32.lt.add %r1, %r2, %r3, %r4;", "%r1", "", "%r2 %r3 %r4 %p1"),
]


@pytest.mark.parametrize(
    ("text", "defs", "kills", "uses"), ARITHMETIC, ids=[row[0][:60] for row in ARITHMETIC]
)
def test_arithmetic(text: str, defs: str, kills: str, uses: str) -> None:
    test_ptx(text, defs, kills, uses)


@pytest.mark.parametrize(
    ("text", "defs", "kills", "uses"), MATRICES + WARPS, ids=[row[0][:60] for row in MATRICES + WARPS]
)
def test_matrices_and_warps(text: str, defs: str, kills: str, uses: str) -> None:
    test_ptx(text, defs, kills, uses)


def test_a_part_of_a_vector_register_is_written_in_part() -> None:
    kernel = ptx("mov.f32 %v.x, %w.y; mov.b32 %r0, %r1; ret;", ".reg .v4 .f32 %v, %w; .reg .b32 %r<2>;")
    assert sets(kernel) == ("%v", "", "%w")


def test_touched_names_everything_in_operand_order_with_the_guard_last() -> None:
    kernel = ptxplus("@$p1.ne set.le.s32.s32 $p0/$o127, s[$ofs1+0x003c], $r124; exit;")
    touched = [kernel.registers[k].name for k in def_use(kernel)[0].touched]
    assert touched == ["$p0", "$o127", "$ofs1", "$r124", "$p1"]


def test_indices_follow_the_blocks() -> None:
    kernel = ptx("{ .reg .b32 %a; mov.b32 %a, 1; } mov.b32 %a, 2; ret;", ".reg .b32 %a;")
    assert [step.defs for step in def_use(kernel)] == [(1,), (0,), ()]


TRANSFERS = [
    # the policy and the predicate that skips the copy are read; a parity is no state
    (
        "cp.async.ca.shared.global.L2::cache_hint [%r1], [%rd1], 16, !%p1, %rd2;",
        "",
        "",
        "%r1 %rd1 %p1 %rd2",
    ),
    ("ld.global.L2::cache_hint.v2.f32 {%f1, %f2}, [%rd1], %rd2;", "%f1 %f2", "%f1 %f2", "%rd1 %rd2"),
    ("@%p1 mbarrier.try_wait.parity.b64 %p2, [%r1], %r2, %r3;", "%p2", "", "%r1 %r2 %r3 %p1"),
    ("mbarrier.arrive.b64 _, [%rd1], %r2;", "", "", "%rd1 %r2"),
    ("mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r1], %r2;", "%rd2", "%rd2", "%r1 %r2"),
    (
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%r1], [%rd1, {%r2, %r3}], [%r4], %h1;",
        "",
        "",
        "%r1 %rd1 %r2 %r3 %r4 %h1",
    ),
    (
        "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint"
        " [%r1], [%rd1, {%r2, %r3, %r4, %r5}], [%r6], {%h1, %h2}, %rd2;",
        "",
        "",
        "%r1 %rd1 %r2 %r3 %r4 %r5 %r6 %h1 %h2 %rd2",
    ),
    ("st.async.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r2, %r3}, [%r4];", "", "", "%r1 %r2 %r3 %r4"),
    ("atom.global.cas.b32 _, [%rd1], %r1, %r2;", "", "", "%rd1 %r1 %r2"),
    (
        "atom.global.add.noftz.v2.f16x2 {%r1, %r2}, [%rd1], {%r1, %r3};",
        "%r1 %r2",
        "%r1 %r2",
        "%rd1 %r1 %r3",
    ),
    (
        "multimem.ld_reduce.global.add.v4.f32 {%f1, %f2, %f3, _}, [%rd1];",
        "%f1 %f2 %f3",
        "%f1 %f2 %f3",
        "%rd1",
    ),
    ("mapa.u64 %rd1, %rd2, %r1;", "%rd1", "%rd1", "%rd2 %r1"),
    (
        "tex.grad.2d.v4.f32.f32 {%f1, _, _, _}|%p1, [%rd1, %rd2, {%f2, %f3}], {%f4, %f5}, {%f6, %f7}, %f0;",
        "%f1 %p1",
        "%f1 %p1",
        "%rd1 %rd2 %f2 %f3 %f4 %f5 %f6 %f7 %f0",
    ),
    ("sust.p.2d.v2.b32.clamp [s, {%r1, %r2}], {%r3, %r4};", "", "", "%r1 %r2 %r3 %r4"),
    ("txq.level.width.b32 %r1, [%rd1], %r2;", "%r1", "%r1", "%rd1 %r2"),
]


@pytest.mark.parametrize(("text", "defs", "kills", "uses"), TRANSFERS, ids=[row[0] for row in TRANSFERS])
def test_transfers(text: str, defs: str, kills: str, uses: str) -> None:
    kernel = ptx(text + " ret;")
    assert all(table().match(i.opcode.text, len(i.operands), False) for i in kernel.instructions)
    step_defs, step_kills, step_uses = sets(kernel)
    assert set(step_defs.split()) == set(defs.split())
    assert set(step_kills.split()) == set(kills.split())
    assert set(step_uses.split()) == set(uses.split())


TEXTS = sorted([*TESTS.parent.glob("samples/**/kernel.ptx"), *TESTS.glob("hand/*.ptx")])


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_plain_instructions_by_the_long_way(path: Path) -> None:
    """The short way for nearly all instructions of PTX finds what operand by operand is found."""
    for function in parse(path.read_text(encoding="utf-8"), path.name).functions.values():
        assert def_use(function) == def_use_of(function, accesses(function))


def test_plain_instructions_in_nested_blocks() -> None:
    kernel = ptx(
        ".reg .b32 %a<3>; { .reg .b32 %a1, %b; mov.b32 %a1, %b; @%p add.u32 %a2, %a1, %a1; }"
        " mov.b32 %a1, %late; .reg .b32 %late; mov.b32 %a1, %late; st.global.v2.b32 [%a0], {%a1, %late};"
        " .reg .pred %p;"
    )
    assert def_use(kernel) == def_use_of(kernel, accesses(kernel))
