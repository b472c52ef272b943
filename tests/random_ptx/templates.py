"""What the statements of random programs do: instructions with holes for registers.

`<b32>` is a register to read, `<b32i>` one or an immediate, `<b32!>` a register to write (`<b32!x>` names it, `<x>` is
it again), `<b32~a>` a register for an address or another value that is not read afterwards. Registers written or
used for addresses in one template are different ones.
"""

ARITHMETIC = """
add.u32 <b32!>, <b32>, <b32i>;
sub.s32 <b32!>, <b32>, <b32i>;
mul.lo.u32 <b32!>, <b32>, <b32i>;
mul.hi.s32 <b32!>, <b32>, <b32>;
mad.lo.s32 <b32!>, <b32>, <b32i>, <b32>;
mad.hi.u32 <b32!>, <b32>, <b32>, <b32i>;
and.b32 <b32!>, <b32>, <b32i>;
or.b32 <b32!>, <b32>, <b32>;
xor.b32 <b32!>, <b32>, <b32i>;
not.b32 <b32!>, <b32>;
neg.s32 <b32!>, <b32>;
abs.s32 <b32!>, <b32>;
shl.b32 <b32!>, <b32>, <b32>;
shr.s32 <b32!>, <b32>, 3;
shf.l.wrap.b32 <b32!>, <b32>, <b32>, <b32i>;
min.s32 <b32!>, <b32>, <b32i>;
max.u32 <b32!>, <b32>, <b32>;
sad.u32 <b32!>, <b32>, <b32>, <b32>;
rem.u32 <b32!>, <b32>, 11;
div.s32 <b32!>, <b32>, 7;
popc.b32 <b32!>, <b32>;
clz.b64 <b32!>, <b64>;
brev.b32 <b32!>, <b32>;
bfe.u32 <b32!>, <b32>, 4, <b32>;
bfi.b32 <b32!>, <b32>, <b32>, 5, 9;
prmt.b32 <b32!>, <b32>, <b32>, <b32i>;
lop3.b32 <b32!>, <b32>, <b32>, <b32>, 0x6a;
selp.b32 <b32!>, <b32>, <b32i>, <pred>;
slct.u32.s32 <b32!>, <b32>, <b32>, <b32>;
set.lt.u32.s32 <b32!>, <b32>, <b32>;
mov.u32 <b32!>, <b32i>;
mov.b32 <b32!>, <f32>;
mov.b32 <b32!>, {<b16>, <b16>};
mov.b32 {<b16!>, <b16!>}, <b32>;
mov.b64 {<b32!>, <b32!>}, <b64>;
mov.b64 {_, <b32!>}, <b64>;
mov.b64 <b64!>, {<b32>, <b32>};
mov.b64 <b64!>, {<b16>, <b16>, <b16>, <b16>};
mov.b64 {<b16!>, <b16!>, <b16!>, <b16!>}, <b64>;
cvt.u32.u64 <b32!>, <b64>;
cvt.u32.u16 <b32!>, <b16>;
cvt.s32.s8 <b32!>, <b32>;
cvt.u16.u32 <b16!>, <b32>;
cvt.u64.u32 <b64!>, <b32>;
cvt.s64.s32 <b64!>, <b32>;
cvt.u64.u16 <b64!>, <b16>;
add.u16 <b16!>, <b16>, <b16i>;
mul.lo.s16 <b16!>, <b16>, <b16>;
mad.lo.u16 <b16!>, <b16>, <b16>, <b16i>;
xor.b16 <b16!>, <b16>, <b16i>;
shr.u16 <b16!>, <b16>, <b32>;
selp.b16 <b16!>, <b16>, <b16>, <pred>;
mov.u16 <b16!>, <b16i>;
mul.wide.u16 <b32!>, <b16>, <b16>;
mad.wide.s16 <b32!>, <b16>, <b16>, <b32>;
mul.wide.u32 <b64!>, <b32>, <b32i>;
mad.wide.s32 <b64!>, <b32>, <b32>, <b64>;
add.s64 <b64!>, <b64>, <b64i>;
sub.u64 <b64!>, <b64>, <b64>;
mul.lo.u64 <b64!>, <b64>, <b64i>;
and.b64 <b64!>, <b64>, <b64i>;
xor.b64 <b64!>, <b64>, <b64>;
shl.b64 <b64!>, <b64>, <b32>;
shr.u64 <b64!>, <b64>, 9;
max.s64 <b64!>, <b64>, <b64>;
selp.b64 <b64!>, <b64>, <b64>, <pred>;
mov.u64 <b64!>, <b64i>;
mov.b64 <b64!>, <f64>;
add.f32 <f32!>, <f32>, <f32i>;
mul.f32 <f32!>, <f32>, <f32>;
fma.rn.f32 <f32!>, <f32>, <f32>, <f32i>;
min.f32 <f32!>, <f32>, <f32>;
neg.f32 <f32!>, <f32>;
selp.f32 <f32!>, <f32>, <f32>, <pred>;
mov.f32 <f32!>, <f32i>;
mov.b32 <f32!>, <b32>;
cvt.rn.f32.u32 <f32!>, <b32>;
cvt.rzi.s32.f32 <b32!>, <f32>;
cvt.f64.f32 <f64!>, <f32>;
cvt.rn.f32.f64 <f32!>, <f64>;
cvt.rn.f64.s64 <f64!>, <b64>;
add.f64 <f64!>, <f64>, <f64>;
fma.rn.f64 <f64!>, <f64>, <f64>, <f64>;
setp.lt.s32 <pred!>, <b32>, <b32i>;
setp.ne.u32 <pred!>|<pred!>, <b32>, <b32>;
setp.gt.or.u32 <pred!>|<pred!>, <b32>, <b32i>, <pred>;
setp.le.and.s32 <pred!>, <b32>, <b32>, !<pred>;
setp.ge.u64 <pred!>, <b64>, <b64>;
setp.lo.u16 <pred!>, <b16>, <b16i>;
setp.leu.f32 <pred!>, <f32>, <f32>;
and.pred <pred!>, <pred>, <pred>;
xor.pred <pred!>, <pred>, <pred>;
not.pred <pred!>, <pred>;
mov.pred <pred!>, <pred>;
"""
"""One instruction each, any of which may be guarded."""

CHAINS = """
add.cc.u32 <b32!>, <b32>, <b32>; addc.cc.u32 <b32!>, <b32>, <b32i>; addc.u32 <b32!>, <b32>, 0;
sub.cc.u32 <b32!>, <b32>, <b32>; subc.u32 <b32!>, <b32>, <b32>;
mad.lo.cc.u32 <b32!>, <b32>, <b32>, <b32>; madc.hi.u32 <b32!>, <b32>, <b32>, <b32>;
add.cc.u64 <b64!>, <b64>, <b64>; addc.u64 <b64!>, <b64>, <b64>;
"""
"""Carries from one instruction to the next."""

MEMORY = """
ld.global.u32 <b32!>, [data+<at4>];
ld.global.v2.u32 {<b32!>, <b32!>}, [data+<at8>];
ld.global.v4.f32 {<f32!>, <f32!>, <f32!>, <f32!>}, [data+<at16>];
ld.global.v4.u16 {<b16!>, <b16!>, <b16!>, <b16!>}, [data+<at8>];
ld.global.v2.b64 {<b64!>, <b64!>}, [data+<at16>];
ld.global.s8 <b32!>, [data+<at4>];
ld.local.b32 <b32!>, [mine+<in4>];
st.local.b32 [mine+<in4>], <b32>;
st.local.v4.b32 [mine+<in16>], {<b32>, <b32>, <b32>, <b32>};
ld.local.v2.b64 {<b64!>, <b64!>}, [mine+<in16>];
st.local.b16 [mine+<in4>], <b16>;
"""
"""One instruction each, which may be guarded."""

ADDRESSED = """
and.b32 <b32~i>, <b32>, 63; mov.u64 <b64~a>, data; mad.wide.u32 <a>, <i>, 4, <a>;
    ld.global.u32 <b32!>, [<a>];
and.b32 <b32~i>, <b32>, 31; mul.wide.u32 <b64~o>, <i>, 8; mov.u64 <b64~a>, data;
    add.s64 <o>, <a>, <o>; ld.global.b64 <b64!>, [<o>];
and.b32 <b32~i>, <b32>, 60; cvt.u64.u32 <b64~o>, <i>; mov.u64 <b64~a>, mine; add.u64 <a>, <a>, <o>;
    ld.local.b32 <b32!>, [<a>];
and.b32 <b32~i>, <b32>, 56; cvt.u64.u32 <b64~o>, <i>; mov.u64 <b64~a>, mine; add.u64 <a>, <a>, <o>;
    st.local.b64 [<a>], <b64>;
mov.u64 <b64~a>, mine; cvta.local.u64 <a>, <a>; st.v2.f32 [<a>+<in8>], {<f32>, <f32>};
    ld.u8 <b32!>, [<a>+3];
mov.u64 <b64~a>, bins; and.b32 <b32~i>, <b32>, 15; mad.wide.u32 <a>, <i>, 4, <a>;
    atom.global.add.u32 <b32~o>, [<a>], <b32>;
mov.u64 <b64~a>, bins; red.global.xor.b32 [<a>+64], <b32>; red.global.max.u64 [<a>+72], <b64>;
"""
"""Addresses that depend on data. Atomic operations leave nothing that depends on their order."""

KERNEL_ONLY = """
ld.param.u32 <b32!>, [n0];
ld.param.u32 <b32!>, [n1];
ld.param.u64 <b64!>, [n2];
ld.param.f32 <f32!>, [n3];
ld.param.u16 <b16!>, [n0+2];
mov.u32 <b32!>, %tid.x;
mov.u32 <b32!>, %ntid.x;
mov.u32 <b32!>, %laneid;
st.global.u32 [<out>+<slot4>], <b32>;
st.global.v2.b32 [<out>+<slot8>], {<b32>, <b32>};
st.global.v4.f32 [<out>+<slot16>], {<f32>, <f32>, <f32>, <f32>};
st.global.b64 [<out>+<slot8>], <b64>;
"""

CONVERGENT = """
shfl.sync.bfly.b32 <b32!>|<pred!>, <b32>, 5, 31, -1;
shfl.sync.up.b32 <b32!>, <b32>, 3, 0, 0xffffffff;
vote.sync.ballot.b32 <b32!>, <pred>, -1;
vote.sync.any.pred <pred!>, !<pred>, -1;
mov.u32 <b32~t>, %tid.x; shl.b32 <t>, <t>, 2; mov.u32 <b32~a>, tile; add.u32 <a>, <a>, <t>;
    st.shared.u32 [<a>], <b32>; bar.sync 0; mov.u32 <b32~u>, %tid.x; add.u32 <u>, <u>, 37;
    and.b32 <u>, <u>, 63; mov.u32 <a>, tile; mad.lo.u32 <a>, <u>, 4, <a>;
    ld.shared.u32 <b32!>, [<a>]; bar.sync 0;
mov.u32 <b32~t>, %tid.x; mov.u64 <b64~a>, tile; mad.wide.u32 <a>, <t>, 8, <a>;
    st.shared.v2.b32 [<a>], {<b32>, <b32>}; barrier.sync 0; ld.shared.b64 <b64!>, [tile+<at8>];
    barrier.sync 0;
"""
"""For places where all threads of the CTA are together."""


def lines_of(table: str) -> tuple[str, ...]:
    """The templates of a table; a line that starts with a blank goes on with the one before."""
    return tuple(table.strip().replace("\n ", " ").splitlines())
