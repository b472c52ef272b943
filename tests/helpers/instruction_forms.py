"""The instruction forms that the compiled semantics and the reference interpreter are compared on.

A form is a body for the kernels of `test_compiled.py`. PTX: inputs in %r1 %r2 %r3, %d1.., %h1.., predicate %p3 from the
third; the result goes to %d0. PTXPlus: inputs in $r1 $r2 $r3 and, as 64-bit pairs, from $r4 $r6 $r8; $p3 from the
third; $ofs1 is 8 bytes per lane; results go to $r0 and $r13.
"""

EDGES = {
    "b": [0, 1, 2, 31, 32, 33, 63, 64, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF,
          1 << 63, (1 << 64) - 1, 0x7FFFFFFFFFFFFFFF],
    "f32": [0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3F000000, 0x3FC00000, 0x40200000,
            0xC0200000, 0x4F000000, 0xCF000001, 0x5F000000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x4B000001],
    "f64": [0, 1 << 63, 1, 0x000FFFFFFFFFFFFF, 0x0010000000000000, 0x3FF0000000000000, 0xBFF0000000000000,
            0x3FE0000000000000, 0x4004000000000000, 0xC1E0000000200000, 0x41EFFFFFFFF00000, 0x43E0000000000000,
            0x7FEFFFFFFFFFFFFF, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x3FF0000010000000],
    "f16": [0, 0x8000, 1, 0x3C00, 0xBC00, 0x3800, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x0400],
}  # fmt: skip


def ints(*names: str, types: str = "u32 s32", operands: str = "a, b") -> list[str]:
    """Integer forms `name.type %d, ...` with registers of the type's width."""
    return [_form(f"{name}.{type_}", type_, operands) for name in names for type_ in types.split()]


def _form(opcode: str, type_: str, operands: str, to: str = "") -> str:
    width = int("".join(c for c in type_ if c.isdigit()))
    of = {16: "%h", 32: "%r", 64: "%d"}[width]
    to_width = int("".join(c for c in (to or type_) if c.isdigit()))
    target = {8: "%r0", 16: "%h0", 32: "%r0", 64: "%d0"}[to_width]
    text = operands
    for k, letter in enumerate("abc", 1):
        text = text.replace(letter, f"{of}{k}")
    for k, letter in enumerate("xyz", 1):
        text = text.replace(letter, f"%r{k}")
    text = text.replace("W", "%d3")
    after = {"%r0": " cvt.u64.u32 %d0, %r0;", "%h0": " cvt.u64.u16 %d0, %h0;", "%d0": ""}[target]
    return f"{opcode} {target}, {text};{after}"


# both predicates of a pair as a number
PAIR = "selp.u32 %r4, 1, 2, %p1; selp.u32 %r5, 4, 8, %p2; mov.b64 %d0, {%r4, %r5};"
INTEGER = [
    *ints("add", "sub", "min", "max", "div", "rem", types="u16 s16 u32 s32 u64 s64"),
    *ints("mul.lo", "mul.hi", types="u16 s16 u32 s32 u64 s64"),
    *ints("mad.lo", "mad.hi", "sad", types="u16 s16 u32 s32 u64 s64", operands="a, b, c"),
    *ints("add.sat", "sub.sat", types="s32"),
    *ints("mul24.lo", "mul24.hi"),
    *ints("mad24.lo", "mad24.hi", operands="a, b, c"),
    *ints("mad.hi.sat", "mad24.hi.sat", types="s32", operands="a, b, c"),
    *[_form(f"mul.wide.{t}", t, "a, b", to="b32") for t in ("u16", "s16")],
    *[_form(f"mul.wide.{t}", t, "a, b", to="b64") for t in ("u32", "s32")],
    *[_form(f"mad.wide.{t}", t, "a, b, W", to="b64") for t in ("u32", "s32")],
    *[_form(f"mad.wide.{t}", t, "a, b, z", to="b32") for t in ("u16", "s16")],
    *ints("abs", "neg", types="s16 s32 s64", operands="a"),
    *ints("and", "or", "xor", types="b16 b32 b64"),
    *ints("not", "cnot", types="b16 b32 b64", operands="a"),
    *ints("shl", types="b16 b32 b64", operands="a, y"),
    *ints("shr", types="b16 b32 b64 u16 u32 u64 s16 s32 s64", operands="a, y"),
    *ints("bfe", types="u32 s32 u64 s64", operands="a, y, z"),
    *ints("bfi", types="b32 b64", operands="a, b, y, z"),
    *[_form(f"{n}.{t}", t, "a", to="b32") for n in ("popc", "clz") for t in ("b32", "b64")],
    *[_form(f"bfind{m}.{t}", t, "a", to="b32") for m in ("", ".shiftamt") for t in ("u32", "s32", "u64", "s64")],
    *ints("brev", types="b32 b64", operands="a"),
    *[_form(f"shf.{d}.{m}.b32", "b32", "a, b, c") for d in "lr" for m in ("clamp", "wrap")],
    *[_form(f"prmt.b32{m}", "b32", "a, b, c") for m in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16")],
    *[_form("lop3.b32", "b32", f"a, b, c, {lut}") for lut in (0x96, 0xE8, 0x1B, 0x80)],
    *[_form(f"dp4a.{t}.{s}", "b32", "a, b, c") for t in ("u32", "s32") for s in ("u32", "s32")],
    _form("slct.u32.s32", "u32", "a, b, c"),
    "add.cc.u32 %r4, %r1, %r2; addc.cc.u32 %r5, %r2, %r3; addc.u32 %r6, %r3, %r1; xor.b32 %r5, %r5, %r4;"
    " mov.b64 %d0, {%r5, %r6};",
    "sub.cc.u32 %r4, %r1, %r2; addc.cc.u32 %r5, %r2, %r3; subc.u32 %r6, %r3, %r1; xor.b32 %r5, %r5, %r4;"
    " mov.b64 %d0, {%r5, %r6};",
    "sub.cc.u32 %r4, %r1, %r2; subc.cc.u32 %r5, %r2, %r3; subc.u32 %r6, %r3, %r1; xor.b32 %r5, %r5, %r4;"
    " mov.b64 %d0, {%r5, %r6};",
    "mad.lo.cc.u32 %r4, %r1, %r2, %r3; madc.hi.cc.u32 %r5, %r1, %r2, %r3; addc.u32 %r6, %r3, 0;"
    " xor.b32 %r5, %r5, %r4; mov.b64 %d0, {%r5, %r6};",
    "setp.lt.s32 %p1, %r1, %r2; selp.b64 %d0, %d1, %d2, %p1;",
    *[f"setp.{r}.{t} %p1|%p2, {x}1, {x}2; {PAIR}"
      for r in ("eq", "ne", "lt", "le", "gt", "ge")
      for t, x in (("s32", "%r"), ("u32", "%r"), ("s64", "%d"), ("u16", "%h"), ("s16", "%h"))],
    *[f"setp.{r}.u32 %p1, %r1, %r2; selp.u64 %d0, 1, 2, %p1;" for r in ("lo", "ls", "hi", "hs")],
    *[f"setp.gt.{b}.s32 %p1|%p2, %r1, %r2, %p3; {PAIR}"
      for b in ("and", "or", "xor")],
    *[f"set.le.{t}.s32 %r0, %r1, %r2; cvt.u64.u32 %d0, %r0;" for t in ("u32", "s32", "f32")],
    "setp.lt.s32 %p1, %r1, %r2; and.pred %p2, %p1, %p3; or.pred %p4, %p1, %p3; xor.pred %p5, %p2, %p4;"
    " not.pred %p6, %p5; selp.u32 %r4, 1, 2, %p5; selp.u32 %r5, 4, 8, %p6; mov.b64 %d0, {%r4, %r5};",
]  # fmt: skip


def holds(to: str, of: str) -> bool:
    """Whether an integer type has all values of another; `.sat` is refused there."""
    spare = int(to[1:]) - int(of[1:])
    return spare >= 0 if to[0] == of[0] else to[0] == "s" and spare > 0


CONVERT_INT = [
    f"cvt{sat}.{to}.{of} {_target}, {_source}; {_after}"
    for sat in ("", ".sat")
    for to, _target, _after in (
        ("u8", "%r0", "cvt.u64.u32 %d0, %r0;"),
        ("s8", "%r0", "cvt.u64.u32 %d0, %r0;"),
        ("u16", "%h0", "cvt.u64.u16 %d0, %h0;"),
        ("s32", "%r0", "cvt.u64.u32 %d0, %r0;"),
        ("u64", "%d0", ""),
        ("s64", "%d0", ""),
    )
    for of, _source in (
        ("u8", "%r1"),
        ("s8", "%r1"),
        ("s16", "%h1"),
        ("u32", "%r1"),
        ("s32", "%r1"),
        ("s64", "%d1"),
    )
    if not (sat and holds(to, of))
]

FLOAT32 = [
    *[f"{op}{r}{m}.f32 %r0, %r1, %r2;" for op in ("add", "sub", "mul") for r in ("", ".rn", ".rz", ".rm", ".rp")
      for m in ("", ".ftz", ".sat")],
    *[f"fma{r}{m}.f32 %r0, %r1, %r2, %r3;" for r in (".rn", ".rz", ".rm", ".rp") for m in ("", ".ftz", ".sat")],
    *[f"div{r}.f32 %r0, %r1, %r2;" for r in (".rn", ".rz", ".rm", ".rp", ".full", ".approx")],
    *[f"{op}{r}.f32 %r0, %r1;" for op in ("rcp", "sqrt") for r in (".rn", ".rz", ".rm", ".rp", ".approx")],
    *[f"{op}{m}.f32 %r0, %r1, %r2;" for op in ("min", "max") for m in ("", ".ftz", ".NaN")],
    *[f"{op}{m}.f32 %r0, %r1;" for op in ("abs", "neg") for m in ("", ".ftz")],
    "copysign.f32 %r0, %r1, %r2;",
    "slct.b32.f32 %r0, %r1, %r2, %r3;",
    *[f"cvt{m}.f32.f32 %r0, %r1;" for m in ("", ".rni", ".rzi", ".rmi", ".rpi", ".sat", ".ftz", ".rni.ftz")],
]  # fmt: skip
APPROXIMATE = [
    f"{op}.approx{m}.f32 %r0, %r1;" for op in ("rsqrt", "sin", "cos", "lg2", "ex2") for m in ("", ".ftz")
]
FLOAT_TO_INT = (
    [
        f"cvt{m}.{to}.f32 {target}, %r1; {after}"
        for m in (".rni", ".rzi", ".rmi", ".rpi", ".rzi.ftz")
        for to, target, after in (
            ("s32", "%r0", "cvt.u64.u32 %d0, %r0;"),
            ("u32", "%r0", "cvt.u64.u32 %d0, %r0;"),
            ("s64", "%d0", ""),
            ("u64", "%d0", ""),
            ("u16", "%h0", "cvt.u64.u16 %d0, %h0;"),
            ("s8", "%r0", "cvt.u64.u32 %d0, %r0;"),
        )
    ]
    + [
        f"setp.{r}{m}.f32 %p1|%p2, %r1, %r2; {PAIR}"
        for r in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
        for m in ("", ".ftz")
    ]
    + [
        f"testp.{t}.f32 %p1, %r1; selp.u64 %d0, 1, 2, %p1;"
        for t in ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    ]
)
INT_TO_FLOAT = [
    f"cvt{r}.f32.{of} %r0, {source}; cvt.u64.u32 %d0, %r0;"
    for r in (".rn", ".rz", ".rm", ".rp")
    for of, source in (("s32", "%r1"), ("u32", "%r1"), ("s64", "%d1"), ("u64", "%d1"), ("u8", "%r1"), ("s16", "%h1"))
] + [f"cvt{r}.f64.{of} %d0, {source};" for r in (".rn", ".rz", ".rm", ".rp")
     for of, source in (("s32", "%r1"), ("u32", "%r1"), ("s64", "%d1"), ("u64", "%d1"))]  # fmt: skip
FLOAT64 = [
    *[
        f"{op}{r}.f64 %d0, %d1, %d2;"
        for op in ("add", "sub", "mul", "div")
        for r in (".rn", ".rz", ".rm", ".rp")
    ],
    *[f"fma{r}.f64 %d0, %d1, %d2, %d3;" for r in (".rn", ".rz", ".rm", ".rp")],
    *[f"{op}{r}.f64 %d0, %d1;" for op in ("rcp", "sqrt") for r in (".rn", ".rz", ".rm", ".rp")],
    *[f"{op}.f64 %d0, %d1, %d2;" for op in ("min", "max")],
    *[f"{op}.f64 %d0, %d1;" for op in ("abs", "neg")],
    *[f"cvt{r}.f64.f64 %d0, %d1;" for r in (".rni", ".rzi", ".rmi", ".rpi")],
]
FLOAT64_TO_INT = [
    f"cvt{m}.{to}.f64 {target}, %d1; {after}"
    for m in (".rni", ".rzi", ".rmi", ".rpi")
    for to, target, after in (
        ("s32", "%r0", "cvt.u64.u32 %d0, %r0;"),
        ("u32", "%r0", "cvt.u64.u32 %d0, %r0;"),
        ("s64", "%d0", ""),
        ("u64", "%d0", ""),
    )
] + [
    f"setp.{r}.f64 %p1, %d1, %d2; selp.u64 %d0, 1, 2, %p1;"
    for r in ("eq", "ne", "lt", "le", "equ", "gtu", "num", "nan")
]
NARROW = [f"cvt{r}.f32.f64 %r0, %d1; cvt.u64.u32 %d0, %r0;" for r in (".rn", ".rz", ".rm", ".rp")]
HALF = [
    *[f"{op}.f16 %h0, %h1, %h2; cvt.u64.u16 %d0, %h0;" for op in ("add", "sub", "mul")],
    "fma.rn.f16 %h0, %h1, %h2, %h3; cvt.u64.u16 %d0, %h0;",
]

MEMORY = [
    *[
        f"st.shared.{t} [tile], {x}1; ld.shared.{t} {x}4, [tile]; {after}"
        for t, x, after in (
            ("u8", "%r", "cvt.u64.u32 %d0, %r4;"),
            ("s8", "%r", "cvt.s64.s32 %d0, %r4;"),
            ("s16", "%r", "cvt.s64.s32 %d0, %r4;"),
            ("u64", "%d", "mov.u64 %d0, %d4;"),
        )
    ],
    "st.local.v2.u32 [own+8], {%r1, %r2}; ld.local.v2.u32 {%r4, %r5}, [own+8]; mov.b64 %d0, {%r5, %r4};",
    "mov.u32 %r4, 0; mapa.shared::cluster.u32 %r5, tile, %r4; st.shared.u32 [tile], %r1;"
    " ld.shared::cluster.u32 %r6, [%r5]; getctarank.shared::cluster.u32 %r4, %r5;"
    " add.u32 %r4, %r4, %r6; cvt.u64.u32 %d0, %r4;",
    "mov.u64 %d4, own; cvta.local.u64 %d5, %d4; st.u32 [%d5+4], %r1; ld.u32 %r4, [%d5+4]; cvt.u64.u32 %d0, %r4;",
    *[
        f"mov.u64 %d4, {name}; add.u64 %d4, %d4, 5; cvta{of}.{space}.u64 %d5, %d4; cvta.to.{space}.u64 %d0, %d5;"
        for name, of, space in (("own", "", "local"), ("tile", "", "shared"), ("tile", "", "shared::cta"))
    ],
    *[
        f"mov.u64 %d4, {name}; {there} isspacep.{space} %p1, %d5; selp.u64 %d0, 1, 2, %p1;"
        for name, there in (
            ("own", "cvta.local.u64 %d5, %d4;"),
            ("tile", "cvta.shared.u64 %d5, %d4;"),
            ("own", "mov.u64 %d5, %d12;"),
        )
        for space in ("global", "shared", "shared::cta", "local", "const", "param")
    ],
    "shl.b32 %r4, %r10, 3; mov.u32 %r5, tile; add.u32 %r4, %r4, %r5; st.shared.u64 [%r4], %d1; bar.sync 0;"
    " xor.b32 %r4, %r4, 8; ld.shared.u64 %d0, [%r4];",
    "ld.global.v2.u64 {%d4, %d0}, [%d10+32];",
]
ATOMIC = [
    *[f"atom.shared.{op} %r4, [tile], %r1; bar.sync 0; ld.shared.u32 %r5, [tile]; mov.b64 %d0, {{%r4, %r5}};"
      for op in ("add.u32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32", "exch.b32",
                 "inc.u32", "dec.u32")],
    *[f"atom.shared.{op} %d4, [tile], %d1; bar.sync 0; ld.shared.u64 %d5, [tile]; add.u64 %d0, %d4, %d5;"
      for op in ("add.u64", "min.s64", "max.u64", "exch.b64")],
    "atom.shared.cas.b32 %r4, [tile], 0, %r1; cvt.u64.u32 %d0, %r4;",
    "red.shared.add.u32 [tile], %r1; bar.sync 0; ld.shared.u32 %r4, [tile]; cvt.u64.u32 %d0, %r4;",
    "atom.global.add.u32 %r4, [%d11], 1; bar.sync 0; cvt.u64.u32 %d0, %r4;",
]  # fmt: skip
WARP = [
    *[f"shfl.sync.{m}.b32 %r4|%p1, %r1, {b}, {c}, -1; selp.u32 %r5, 1, 0, %p1; mov.b64 %d0, {{%r4, %r5}};"
      for m, b, c in (("up", "3", "0"), ("down", "5", "31"), ("bfly", "7", "31"), ("idx", "%r10", "0x1807"),
                      ("idx", "40", "31"), ("down", "3", "0x1807"), ("up", "%r10", "0x1800"))],
    *[f"vote.sync.{m}.pred %p1, %p3, -1; selp.u64 %d0, 1, 2, %p1;" for m in ("all", "any", "uni")],
    "vote.sync.ballot.b32 %r4, %p3, -1; cvt.u64.u32 %d0, %r4;",
    "setp.eq.u32 %p1, %r10, 7; @%p3 activemask.b32 %r4; cvt.u64.u32 %d0, %r4;",
    "mov.u32 %r4, %laneid; mov.u32 %r5, %warpid; mov.b64 %d0, {%r4, %r5};",
    "mov.u32 %r4, %lanemask_lt; mov.u32 %r5, %lanemask_ge; mov.b64 %d0, {%r4, %r5};",
    "and.b32 %r4, %r1, 3; match.any.sync.b32 %r5, %r4, -1; cvt.u64.u32 %d0, %r5;",
    "redux.sync.add.s32 %r4, %r1, -1; cvt.u64.u32 %d0, %r4;",
    # two groups of lanes, each with its mask
    *["mov.u32 %r6, %laneid; setp.lt.u32 %p1, %r6, 11; selp.b32 %r5, 0x7ff, 0xfffff800, %p1; "
      f"{instruction} cvt.u64.u32 %d0, %r4;"
      for instruction in (
          "redux.sync.xor.b32 %r4, %r1, %r5;",
          "and.b32 %r4, %r1, 1; match.any.sync.b32 %r4, %r4, %r5;",
          "shr.u32 %r4, %r10, 4; match.all.sync.b32 %r4|%p2, %r4, %r5; selp.b32 %r6, 1, 0, %p2; add.u32 %r4, %r4, %r6;",
          "vote.sync.ballot.b32 %r4, %p3, %r5;",
          "vote.sync.any.pred %p2, %p3, %r5; selp.b32 %r4, 5, 6, %p2;",
      )],
]  # fmt: skip

ON_PTXPLUS = [
    *[f"{op}.{t} $p1|$r0, $r1, $r2; mov.u32 $r13, $p1;" for op in ("add", "sub") for t in ("u32", "s32")],
    *[f"{op}.u16 $p1|$r0.lo, $r1.lo, $r2.hi; mov.u32 $r13, $p1;" for op in ("add", "sub")],
    *[f"{op}.b32 $p1|$r0, $r1, $r2; mov.u32 $r13, $p1;" for op in ("and", "or", "xor", "andn", "orn", "nandn", "norn")],
    *[f"set.{r}.{t}.{t} $p1/$r0, $r1, $r2; mov.u32 $r13, $p1;"
      for r in ("eq", "ne", "lt", "le", "gt", "ge") for t in ("u32", "s32")],
    *[f"set.{r}.u16.u16 $r0, $r1.hi, $r2.lo;" for r in ("lt", "gt")],
    "set.lt.f32.s32 $p1/$o127, $r1, $r2; mov.u32 $r13, $p1;",
    "add.u32 $p1|$r0, $r1, $r2; addp.u32 $p2|$r13, $r2, $r3, $p1;",
    *[f"add.{t} $p1|$r0, {a}; mov.u32 $r13, $p1;" for t in ("u32", "s32") for a in ("$r1, -$r2", "-$r1, $r2")],
    "sub.s32 $p1|$r0, $r1, -$r2; mov.u32 $r13, $p1;",
    "mad.wide.s16 $p1|$r0, $r1.lo, $r2.lo, -$r3; mov.u32 $r13, $p1;",
    "mul.wide.u16 $p1|$r0, $r1.lo, $r2.hi; mov.u32 $r13, $p1;",
    "mul.wide.s16 $r0, $r1.lo, $r2.lo;",
    "mul.half.lo.u16 $r0, $r1.lo, $r2.lo;",
    "mul.lo.u16 $r0.hi, $r1.lo, $r2.lo;",
    "mul.lo.u32 $r0, $r1, $r2;",
    "mul.hi.s32 $r0, $r1, $r2;",
    "mul24.lo.u32 $r0, $r1, $r2; mul24.hi.s32 $r13, $r1, $r2;",
    "mad24.lo.s32 $r0, $r1, $r2, $r3; mad24.lo.u32 $r13, $r1, $r2, $r3;",
    "mad.wide.u16 $p1|$r0, $r1.lo, $r2.lo, $r3; mov.u32 $r13, $p1;",
    "mad.wide.s16 $r0, $r1.hi, $r2.lo, $r3;",
    "mad.lo.u16 $r0, $r1.lo, $r2.lo, $r3;",
    "mad.lo.s32 $r0, $r1, $r2, -$r3;",
    "add.u32 $p1|$o127, $r1, $r2; madp.wide.u16 $r0, $r1.lo, $r2.lo, $r3, $p1;",
    "sad.u32 $r0, $r1, $r2, $r3; sad.s32 $r13, $r1, $r2, $r3;",
    "min.s32 $r0, $r1, $r2; max.u32 $r13, $r1, $r2;",
    "abs.u32 $r0, $r1;",
    "cvt.s32.s32 $p1|$r0, -$r1; mov.u32 $r13, $p1;",
    "cvt.u32.u16 $r0, $r1.hi; cvt.s32.s16 $r13, $r1.hi;",
    "cvt.u32.u8 $r0, $r1; cvt.s32.s8 $r13, $r1;",
    "shl.u32 $p1|$r0, $r1, $r2; mov.u32 $r13, $p1;",
    "shr.s32 $r0, $r1, $r2; shr.u32 $r13, $r1, 0x00000003;",
    "shr.u16 $r0.lo, $r1.hi, 0x000a; shl.u16 $r0.hi, $r1.lo, 0x0003;",
    "not.b32 $r0, $r1; not.u16 $r13.hi, $r1.lo;",
    "mov.u16 $r0.hi, $r1.lo; mov.u16 $r0.lo, $r2.hi;",
    "and.u16 $r0.hi, $r1.hi, c0[0x0000];",
    *[f"mov.pred $p0, $r1; mov.pred $p1, $r2; {op}.pred $p2, $p0, $p1; mov.u32 $r0, $p2;"
      for op in ("and", "or", "xor", "andn", "orn", "nandn", "norn")],
    "mov.pred $p0, $r1; not.pred $p1, $p0; cnot.pred $p2, $p0; mov.u32 $r0, $p1; mov.u32 $r13, $p2;",
    "mov.pred $p0, $r1; selp.u32 $r0, $r2, $r3, $p0; setp.lt.s32 $p1, $r1, $r2; mov.u32 $r13, $p1;",
    "mov.pred $p0, 0x00000000; mov.pred $p1, 0x00000001; mov.u32 $r0, $p0; mov.u32 $r13, $p1;",
    *[f"mov.pred $p0, $r1; @$p0.{c} mov.u32 $r0, 0x00000001; @$p3.{c} mov.u32 $r13, 0x00000001;"
      for c in ("lt", "eq", "le", "gt", "ne", "ge", "ltu", "equ", "leu", "gtu", "neu", "geu", "cf", "sf", "nsf")],
    "@$p3 mov.u32 $r0, 0x00000001; @!$p3 mov.u32 $r13, 0x00000001;",
    "vote.any $p1, $p3; vote.all $p2, !$p3; mov.u32 $r0, $p1; mov.u32 $r13, $p2;",
    "slct.u32.s32 $r0, $r1, $r2, $r3;",
    "mov.u32 s[$ofs1+0x0040], $r1; add.u32 $r0, s[$ofs1+0x0040], $r2;",
    "mov.u16 s[$ofs1+0x0040], $r1.hi; mov.u16 $r0.lo, s[$ofs1+0x0040]; mov.s16 $r13, s[$ofs1+0x0040];",
    "mov.u8 s[$ofs1+0x0040], $r1; mov.u8 $r0, s[$ofs1+0x0040]; mov.s8 $r13, s[$ofs1+0x0040];",
    "mov.bb64 s[$ofs1+0x0040], {$r4,$r5}; add.u32 $ofs1, $ofs1, 0x0040; mov.u32 $r13, s[$ofs1+=0x0004];"
    " mov.u32 $r0, s[$ofs1];",
    "add.u32 $ofs1, $ofs1, 0x40; mov.u32 s[$ofs1+=0x0008], $r1; mov.u32 $r0, $ofs1;",
    "add.u32 $ofs2, $ofs1, 0x00000020; mov.u32 $r0, $ofs2; shl.b32 $ofs3, $r1, 0x00000002; mov.u32 $r13, $ofs3;",
    "st.local.v2.u32 [0x0010], {$r1,$r2}; ld.local.u32 $r0, [0x0014]; mov.u32 $r13, l0[0x0010];",
    "mov.u32 g[$r12], $r1; bar.sync 0x00000000; mov.u32 $r0, g[$r12];",
    "atom.global.add.u32 $r0, [$r11], $r2; atom.global.max.s32 $r13, [$r11], $r3;",
    "ld.global.v2.u32 {$r0,$r13}, [$r11+0x0008];",
    "mov.u32 $r15, s[0x0010]; mov.bb128 {$r4,$r5,$r6,$r7}, g[$r15]; mov.u32 $r0, $r5; mov.u32 $r13, $r7;",
    "callp l1; add.u32 $r0, $r0, 0x00000001; bra l2; l1: mov.u32 $r0, $r1; @$p3 retp; mov.u32 $r13, $r2;"
    " retp; l2: nop;",
    "breakaddr l1; l0: add.u32 $r0, $r0, 0x00000001; set.gt.u32.u32 $p1/$o127, $r0, $r10; @$p1.ne break; bra l0;"
    " l1: nop;",
    "@$p3 bra l1; mov.u32 $r0, $r1; bra l2; l1: mov.u32 $r0, $r2; l2: mov.u32 $r13, %ntid.x;",
    "cvt.u32.u16 $r0, %tid.x; cvt.u32.u16 $r13, %nctaid.y;",
    "sub.b32 $r0, $r1, $r2; sub.b16 $r13.lo, $r1.hi, $r2.lo;",
    *[f"subr.{t} $p1|$r0, $r1, $r2; mov.u32 $r13, $p1;" for t in ("u32", "s32")],
    "subr.u16 $r0.hi, $r1.lo, $r2.hi;",
    "add.u32 $p1|$o127, $r1, $r2; madp.lo.u16 $r0, $r1.lo, $r2.lo, $r3, $p1; madp.lo.u32 $r13, $r1, $r2, $r3, $p1;",
    "add.u32 $p1|$o127, $r1, $r2; madp.wide.u32 {$r0,$r13}, $r1, $r2, {$r2,$r3}, $p1;",
    "add.u32 $p1|$o127, $r1, $r2; madp.wide.s32 {$r0,$r13}, $r1, $r2, -{$r2,$r3}, $p1;",
    "neg.u32 $r0, $r1; neg.u16 $r13.lo, $r1.hi;",
    "or.u32 $r0, $r1, $r2; or.u16 $r13.hi, $r1.lo, $r2.hi;",
    "xor.s32 $r0, $r1, $r2; xor.u16 $r13.lo, $r1.hi, $r2.lo;",
    "atom.global.cas.b32 $r0, [$r11], $r1, $r2; atom.global.cas.b32 $r0, [$r11], $r3, $r1; mov.u32 $r13, g[$r11];",
    "red.global.max.s32 [$r11], $r2; red.global.add.u32 [$r11], $r3; mov.u32 $r0, g[$r11];",
]  # fmt: skip
ON_PTXPLUS_FLOAT = [
    *[f"{op}.f32 $r0, -$r1, $r2;" for op in ("add", "sub", "mul", "min", "max")],
    *[f"{op}.rz.f32 $r0, $r1, $r2;" for op in ("add", "mul")],
    "mad.f32 $r0, $r1, $r2, -$r3;",
    "mad.rz.f32 $r0, $r1, $r2, $r3;",
    "abs.f32 $r0, $r1;",
    "neg.f32 $r0, $r1;",
    "rcp.half.f32 $r0, $r1;",
    "subr.f32 $r0, $r1, $r2;",
    "rsqrt.f32 $r0, $r1;",
    *[f"cvt{m}.f32.f32 $r0, $r1;" for m in ("", ".rn", ".rz", ".rm", ".rp", ".sat")],
    "slct.u32.f32 $r0, $r1, $r2, $r3;",
]
ON_PTXPLUS_FLAGS = [
    *[f"set.{r}.{t}.f32 $p1/$r0, $r1, $r2; mov.u32 $r13, $p1;" for t in ("f32", "u32")
      for r in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")],
    "set.abs.gt.f32.f32 $p1/$o127, $r1, $r2; mov.u32 $r13, $p1;",
    *[f"cvt{m}.{t}.f32 $r0, $r1;" for m in ("", ".rz", ".rm", ".rp", ".rn") for t in ("s32", "u32")],
    "mul.f32 $p1|$o127, $r1, $r2; mov.u32 $r13, $p1;",
]  # fmt: skip
ON_PTXPLUS_DOUBLE = [
    *[f"{op}.ff64 {{$r14,$r15}}, {{$r4,$r5}}, -{{$r6,$r7}}; mov.u32 $r0, $r14; mov.u32 $r13, $r15;"
      for op in ("add", "mul")],
    *[f"{op}.ff64 {{$r14,$r15}}, {{$r4,$r5}}, {{$r6,$r7}}; mov.u32 $r0, $r14; mov.u32 $r13, $r15;"
      for op in ("sub", "sub.rm", "div", "min", "max")],
    "mad.rp.ff64 {$r14,$r15}, {$r4,$r5}, {$r6,$r7}, {$r8,$r9}; mov.u32 $r0, $r14; mov.u32 $r13, $r15;",
    *[f"set.{r}.u32.ff64 $p1/$r0, {{$r4,$r5}}, {{$r6,$r7}}; mov.u32 $r13, $p1;" for r in ("lt", "equ", "nan")],
    "fma.rz.ff64 {$r14,$r15}, {$r4,$r5}, {$r6,$r7}, {$r8,$r9}; mov.u32 $r0, $r14; mov.u32 $r13, $r15;",
]  # fmt: skip


def narrow(bodies: list[str]) -> list[str]:
    return [body if "%d0" in body else f"{body} cvt.u64.u32 %d0, %r0;" for body in bodies]


ON_PTXPLUS_QUIRKS = [  # which GPGPU-Sim executes otherwise than the hardware (docs/ptxplus-semantics.md)
    "mov.u32 $r124, $r1; add.u32 $r0, $r124, $r2; mov.u32 $o127, $r3; mov.u32 $r13, $o127; mov.u32 $r124, 0;",
    *[f"add.{t} $p1|$r0.lo, $r1.lo, $r2.lo; mov.u32 $r13, $p1;" for t in ("s16", "u16")],
    *[f"mul.wide.{t} $p1|$r0.lo, $r1.lo, $r2.lo; mov.u32 $r13, $p1;" for t in ("u16", "s16")],
    *[f"mad.lo.{t} $p1|$r0, $r1.lo, $r2.lo, $r3; mov.u32 $r13, $p1;" for t in ("u16", "s16", "u32", "s32")],
    *[f"{op}.s32 $p1|$r0, $r1; mov.u32 $r13, $p1;" for op in ("mov", "neg", "not")],
    *[
        f"add.{t} $p1|$r0, $r1, -$r2; addp.{t} $p2|$r13, -$r3, $r2, $p1; mov.u32 $r0, $p2;"
        for t in ("u32", "s32")
    ],
    *[
        f"add.u32 $p1|$r0, $r1, $r2; {op}; mov.u32 $r13, $p2;"
        for op in (
            "addp.s32 $p2|$r0, $r1, -$r3, $p1",
            "madp.wide.s16 $p2|$r0, $r1.lo, $r2.lo, -$r3, $p1",
            "madp.lo.u32 $p2|$r0, $r1, $r2, -$r3, $p1",
        )
    ],
    *[
        f"mad24.{m}.{t} $p1|$r0, $r1, $r2, -$r3; mov.u32 $r13, $p1;"
        for m in ("lo", "hi")
        for t in ("u32", "s32")
    ],
    *[f"mul24.{m}.{t} $r0, $r1, $r2;" for m in ("lo", "hi") for t in ("u32", "s32")],
    "abs.u32 $r0, $r1; abs.u16 $r13, $r2.hi;",
    "abs.s32 $p1|$r0, $r1; mov.u32 $r13, $p1;",
    "mov.pred $p0, $r1; selp.u32 $r0, $r2, $r3, !$p0; selp.u32 $r13, $r2, $r3, $p0;",
    "mov.u8 s[$ofs1+0x0040], $r1; mov.s8 $r0, s[$ofs1+0x0040]; cvt.s32.s8 $r13, s[$ofs1+0x0040];",
    "ld.global.s8 $r0, [$r11+0x0002]; mov.s8 $r13, $r1;",
    "mov.s8 $r0.lo, g[$r11]; mov.s16 $r13, g[$r11];",
    "set.gt.abs.u32.s32 $p1/$r0, $r1, $r2; mov.u32 $r13, $p1;",
]
ON_PTXPLUS_QUIRKS_FLOAT = [
    *[f"{op}.abs.f32 $r0, $r1, $r2;" for op in ("add", "mul", "min", "max")],
    *[f"{op}.abs.f32 $r0, $r1;" for op in ("rcp", "neg", "sqrt", "abs")],
    "mad.abs.f32 $r0, $r1, $r2, $r3;",
]
ON_PTXPLUS_QUIRKS_FLAGS = [
    *[f"{op}.f32 $p1|$o127, $r1, $r2; mov.u32 $r13, $p1;" for op in ("add", "min")],
    *[
        f"cvt{m}.{t}.f32 $p1|$r0, $r1; mov.u32 $r13, $p1;"
        for m in ("", ".rz", ".rm", ".rp", ".rn", ".rmi", ".rni", ".abs")
        for t in ("s32", "u32", "s16", "u8")
    ],
    "set.lt.abs.u32.f32 $p1/$r0, $r1, $r2; mov.u32 $r13, $p1;",
]
ON_PTXPLUS_QUIRKS_DOUBLE = [
    "add.ff64 $p1|$o127, {$r4,$r5}, {$r6,$r7}; mov.u32 $r13, $p1;",
    "set.lt.u32.f64 $p1/$r0, $r4, {$r6,$r7}; mov.u32 $r13, $p1;",
    "cvt.rn.f32.f64 $r0, $r4; cvt.rm.s32.f64 $r13, $r4;",
    "mov.u32 $r13, 0x7; mov.u32 $r14, 0x7; cvt.rn.f64.s32 $r13, $r4; mov.u32 $r0, $r14;",
    "mov.u32 $r13, 0x7; mov.u32 $r14, 0x7; min.f64 $r13, $r4, $r6; mov.u32 $r0, $r14;",
]  # fmt: skip


GROUPS: dict[str, tuple[bool, list[str], str, int, int]] = {
    # name: PTXPlus, bodies, kind of inputs, width of floating-point results, tolerance in last places
    "integers": (False, INTEGER + CONVERT_INT, "b", 0, 0),
    "single": (False, narrow(FLOAT32), "f32", 32, 0),
    # the two use different mathematical libraries
    "approximate": (False, narrow(APPROXIMATE), "f32", 32, 1),
    "from-single": (False, FLOAT_TO_INT, "f32", 0, 0),
    "widening": (False, ["cvt.f64.f32 %d0, %r1;"], "f32", 64, 0),
    "to-float": (False, INT_TO_FLOAT, "b", 0, 0),
    "double": (False, FLOAT64, "f64", 64, 0),
    "from-double": (False, FLOAT64_TO_INT, "f64", 0, 0),
    "narrowing": (False, NARROW, "f64", 32, 0),
    "half": (False, HALF, "f16", 16, 0),
    "ptxplus": (True, ON_PTXPLUS, "b", 0, 0),
    "ptxplus-single": (True, ON_PTXPLUS_FLOAT, "f32", 32, 0),
    "ptxplus-flags": (True, ON_PTXPLUS_FLAGS, "f32", 0, 0),
    "ptxplus-double": (True, ON_PTXPLUS_DOUBLE, "f64", 64, 0),
    "ptxplus-quirks": (True, ON_PTXPLUS_QUIRKS, "b", 0, 0),
    "ptxplus-quirks-single": (True, ON_PTXPLUS_QUIRKS_FLOAT, "f32", 32, 0),
    "ptxplus-quirks-flags": (True, ON_PTXPLUS_QUIRKS_FLAGS, "f32", 0, 0),
    "ptxplus-quirks-double": (True, ON_PTXPLUS_QUIRKS_DOUBLE, "f64", 0, 0),
}
