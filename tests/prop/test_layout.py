"""Properties of the layout, on real files and made-up spacing: same meaning, same comments, a fixed point, one form."""

from pathlib import Path

import pytest
from conftest import corpus_files
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_samples import ACCEPTED, whole

from ptxtool.emit.layout import layout
from ptxtool.emit.pieces import Piece, pieces
from ptxtool.parse import parse
from ptxtool.validate.layout import check_only_layout_changed

KERNEL = """\
.version 6.5+
.target sm_50, texmode_independent
.address_size 64
.file 1 "a.cu", 12, 34
.global .u32 gtab[2][3] = {{1, 2, 3}, {4, 5, 6U}};
.global .u64 tabl[2] = {gtab, generic(gtab)+4};
.global .samplerref smp = {addr_mode_0 = clamp_to_edge};
.extern .shared .align 16 .b8 dyn[];
.extern .func (.param .b32 r) ext (.param .b64 a, .param .align 8 .b8 s[16]);
.visible .entry k (.param .u64 .ptr .global .align 16 out, .param .u32 n)
.maxntid 256, 1, 1
.minnctapersm 2
{
  .reg .pred p<8>; .reg .b32 %r<32>, x, y; .reg .u32 $r124;
  .loc 1 10 3, function_name $L__info_string0, inlined_at 1 20 5
  ld.param.u64 %rd0, [out]; ld.param.v2.u32 {%r1, %r2}, [st+8];
  @!p0 mul.wide.u32 %rd5, %r10, 4; @$p0.ne bra L1;
  ld.global.cg.v4.f32 {%f3, %f4, _, %f5}, [%rd6+-16];
  add.s32 %r1, %r2, -3; fma.rn.f32 f1, f1, f2, 0fBF800000;
  set.le.s32.s32 $p0/$o127, s[0x0018], $r124; mov.u32 $r5, s[$ofs1+=0x0010];
  add.half.u32 $p0|$r1.lo, $r2, -$r3; add.ff64 {$r0, $r1}, {$r2, $r3}, -{$r4, $r5};
  mov.u32 x, (1 << 4) | 3 * 2; mov.u32 x, 5 ? 1 : 2; mov.u64 x, (.s64) 7; mov.u32 x, (7) % 3;
  setp.lt.and.f32 p2|p3, f1, f2, !p1; tex.2d.v4.f32.f32 {f1, f2, f3, f4}, [tx, smp, {f5, f6}];
  call (r28), leaf, (%r26, 7); and.b32 x, x, ~15; ld.shared::cluster.b32 r7, [r5];
  { .reg .u32 t; L1: add.u32 t, t, 1; ts: .branchtargets L1, L2; bra L2; }
  proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);
L2: bar.sync 0; .pragma "nounroll"; ret;
}
"""
PIECES = tuple(pieces(KERNEL, 0, len(KERNEL)))
BLANKS = st.sampled_from([" ", "  ", "\t"])
NOISE = st.sampled_from(
    [
        " ",
        "\t",
        "\n",
        "\r\n",
        "\n\n\n",
        "/* c */",
        " // c\n",
        "\n// own \n",
        "\n /* two\n lines */ ",
        "/**/ // x\n\t",
    ]
)


def may_part(before: Piece, after: Piece) -> bool:
    """Whether anything but blanks may stand between two pieces that are written close: not in a label."""
    return after.text != ":" or before.kind != "name"


@st.composite
def noisy(draw: st.DrawFn, noise: st.SearchStrategy[str]) -> str:
    """The kernel with more between some of its pieces."""
    parts: list[str] = []
    chosen = draw(st.sets(st.integers(1, len(PIECES) - 1), max_size=12))
    for k, piece in enumerate(PIECES):
        end = PIECES[k - 1].start + len(PIECES[k - 1].text) if k else 0
        parts.append(KERNEL[end : piece.start])
        if k in chosen and may_part(PIECES[k - 1], piece):
            slash = PIECES[k - 1].text == "/"  # which would join a comment's beginning
            parts.append(" " * slash + draw(noise))
        parts.append(piece.text)
    return "".join(parts)


def check(text: str) -> str:
    """The layout of a text, with everything that must be true of it."""
    before = parse(text)
    laid_out = layout(before)
    after = parse(laid_out)
    assert check_only_layout_changed(before, after) == ()
    assert layout(after) == laid_out
    return laid_out


@settings(deadline=None, max_examples=200)
@given(noisy(NOISE))
def test_comments_and_line_ends_anywhere(text: str) -> None:
    check(text)


@settings(deadline=None, max_examples=100)
@given(noisy(BLANKS))
def test_blanks_do_not_matter(text: str) -> None:
    assert check(text) == layout(parse(KERNEL))


@pytest.mark.parametrize(("place", "text"), ACCEPTED)
def test_everything_that_ptxas_accepts(place: str, text: str) -> None:
    check(whole(place, text))


@pytest.mark.parametrize("path", corpus_files(), ids=lambda p: p.name)
def test_corpus(path: Path) -> None:
    text = check(path.read_bytes().decode("utf-8", "surrogateescape"))
    assert all(line == line.rstrip() for line in text.split("\n"))
    assert "\n\n\n" not in text
