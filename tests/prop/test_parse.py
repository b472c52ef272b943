"""Properties of the parser: it never fails otherwise than by `PtxError`, and agrees with whole-file Lark."""

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxtool.base.diag import PtxError
from ptxtool.emit import emit
from ptxtool.ir.nodes import Module
from ptxtool.parse import parse, parse_with_lark

# one of everything, in both dialects
PTX = """\
.version 8.0
.target sm_50, texmode_independent
.address_size 64
.file 1 "a.cu", 12, 34
.const .align 4 .f32 coef[4] = { 1.0, 0f3F800000, -2.5e0, 0F40400000 };
.global .u32 gtab[2][3] = { {1,2,3}, {4,5,6U} };
.global .u64 tabl[2] = { gtab, generic(gtab)+4 }, mask = 0xff00(gtab + 4);
.weak .align 8 .global .attribute(.managed, .unified(0x19,95)) .v2 .f64 w, w1[2] = {{0d3FF0000000000000, -1}, {}};
.global .samplerref smp = { addr_mode_0 = clamp_to_edge };
.extern .shared .align 16 .b8 dyn[];
.extern .func (.param .b32 r) ext (.param .b64 a, .param .align 8 .b8 s[16]) .noreturn .abi_preserve 8;
.alias ext2, ext;
# 12 "a.cu"
.visible .entry k (.param .u64 .ptr .global .align 16 out, .param .u32 n)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred p<8>; .reg .b32 %r<32>, x, y; .reg .u32 $r124;
  .loc 1 10 3, function_name $L__info_string0, inlined_at 1 20 5
  ld.param.u64 %rd0, [out]; ld.param.v2.u32 {%r1, %r2}, [st+8];
  @!p0 mul.wide.u32 %rd5, %r10, 4; @ %p bra L1;
  ld.global.cg.v4.f32 {%f3,%f4,_,%f5}, [%rd6+-16];
  add .s32 %r1, %r2, -3; fma.rn.f32 f1, f1, f2, 0fBF800000; // comment
  mov.u32 x, gtab+8; mov.u32 x, (1 << 4) | 3 * 2; mov.u32 x, 3 ? 1 : 2; mov.u64 x, (.s64) 7; mov.u32 x, WARP_SZ;
  setp.lt.and.f32 p2|p3, f1, f2, !p1; tex.2d.v4.f32.f32 {f1,f2,f3,f4}, [tx, smp, {f5, f6}];
  call (r28), leaf, (%r26, 7); vadd.s32.u32.s32.sat s4, r16.b0, s0.h1, s1; and.b32 x, x, ~15;
  atom.global.add.u32 _,  [$r0], $r1; mov.u32 %r1, %tid .x; ld.shared::cluster.b32 r7, [r5];
  { .reg .u32 t; L1: add.u32 t, t, 1; ts: .branchtargets L1, L2; bra L2; }
  proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
L2: bar.sync 0; .pragma "nounroll"; ret;
}
.section .debug_str { L3: .b8 108,103 .b32 .debug_info+4 .b64 L3-L3 }
@@DWARF x
"""
PTXPLUS = """\
.version 1.4+
.target sm_10, map_f64_to_f32
.const .u32 constant0[2] = { 0x1, \n0x2 };
.constptr cvar, constant0, 8;
.entry k
  .tex .u64 ref1
{
  .reg .u32 $r<16>; .reg .u32 $r124; .reg .pred $p<4>;
  @$p0.ne bra L1; l_exit: @!$p1.eq exit; /* c */
  set.le.s32.s32 $p0/$o127, s[0x0018], $r124; mov.u32 $r5, s[$ofs1+=0x0010]; mov.u32 $r5, c0[$ofs1+$r1];
  add.half.u32 $p0|$r1.lo, $r2, -$r3; add.ff64 {$r0,$r1}, {$r2,$r3}, -{$r4,$r5}; mov.u32 $r1, -0f3F800000;
  tex.1d.v4.f32.s32 {$r0,_,_,_}, ref1, {$r0,_,_,_}; ld.global.u32 $r1, [$r2];
  mad24.lo.u32.u16.u16.u32 $r4, s[0x1], $r4.lo, 0x2;
L1: bar.sync 0x00000000; retp;
}
"""
SAMPLES = (PTX, PTXPLUS)
TOKENS = sorted(set(re.findall(r"[A-Za-z_$%.@0-9][A-Za-z0-9_$.:]*|\s|.", PTX + PTXPLUS)))
HEADS = st.sampled_from(("", ".version 8.0 ", ".version 1.4+ "))


def outcome(parser: Callable[[str | bytes], Module], text: str | bytes) -> Module | str:
    try:
        return parser(text)
    except PtxError as error:
        return "refused" if error.diagnostics and str(error) else "refused without a reason"


@pytest.mark.parametrize("sample", SAMPLES)
def test_sample_parses(sample: str) -> None:
    module = parse(sample)
    assert module == parse_with_lark(sample)
    assert emit(module) == sample


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_bytes_give_a_module_or_diagnostics(data: bytes) -> None:
    found = outcome(parse, data)
    assert found == "refused" or isinstance(found, Module)


@settings(deadline=None, max_examples=300)
@given(HEADS, st.lists(st.sampled_from(TOKENS), max_size=40).map("".join))
def test_token_soup_agrees_with_lark(head: str, text: str) -> None:
    text = head + text
    assert outcome(parse, text) == outcome(parse_with_lark, text)


@settings(deadline=None, max_examples=300)
@given(HEADS, st.lists(st.sampled_from(TOKENS), max_size=12).map("".join))
def test_statement_soup_agrees_with_lark(head: str, text: str) -> None:
    text = f"{head}.entry k() {{ {text} ; }}"
    assert outcome(parse, text) == outcome(parse_with_lark, text)


def mutated(text: str, choose: random.Random) -> str:
    """The text with one to three small changes."""
    for _ in range(choose.randrange(1, 4)):
        at = choose.randrange(len(text) + 1)
        match choose.randrange(4):
            case 0:
                text = text[:at] + text[at + choose.randrange(1, 4) :]
            case 1:
                text = text[:at] + choose.choice(TOKENS) + text[at:]
            case 2:
                text = text[:at] + choose.choice(";,.:{}[]()<>+-*/|&@!~%$\"'= \n\t\\0") + text[at:]
            case _:
                other = choose.randrange(len(text) + 1)
                first, last = min(at, other), min(max(at, other), min(at, other) + 20)
                text = text[:first] + text[last : last + 10] + text[first:]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_mutated_sample_agrees_with_lark(seed: int) -> None:
    choose = random.Random(seed)
    for _ in range(150):
        text = mutated(choose.choice(SAMPLES), choose)
        assert outcome(parse, text) == outcome(parse_with_lark, text), text


def test_mutated_corpus_statements_agree_with_lark(corpus: tuple[Path, ...]) -> None:
    choose = random.Random(7)
    for path in corpus:
        module = parse(path.read_bytes(), path.name)
        text = module.source.text
        statements = [s for f in module.functions.values() for s in f.body or ()]
        for statement in choose.sample(statements, min(12, len(statements))):
            changed = mutated(text[statement.start : statement.end], choose)
            version = ".version 1.4+" if module.is_ptxplus else ".version 8.0"
            whole = f"{version}\n.entry k() {{ .reg .u32 a;\n {changed}\n ret; }}\n"
            assert outcome(parse, whole) == outcome(parse_with_lark, whole), whole
