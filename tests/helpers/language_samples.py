"""Small texts from code outside the corpus, and near them: what ptxas 13.0 takes and what it refuses, by topic.

A body stands in a kernel with the usual registers; a whole text follows a head of its own.
"""

from typing import NamedTuple


class Sample(NamedTuple):
    """A text, the architecture it is for, and whether ptxas takes it."""

    text: str
    arch: str
    is_taken: bool


_HEAD = ".version {version}\n.target {target}\n"
_REGISTERS = ".reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .u32 %u<4>;"
_VARIABLES = ".global .u32 g[64]; .global .u64 temp; .shared .u32 s[4]; .func f() { ret; }"
_MMA = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
    "{%f0,%f1,%f2,%f3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%f0,%f1,%f2,%f3}, SCALE, {0,0}, %r7, {0,0};"
)
_FRACTION = "createpolicy.fractional.L2::evict_last.b64 %rd1, {};"


def _in_kernel(body: str, is_taken: bool, arch: str = "sm_90a") -> Sample:
    head = _HEAD.format(version="9.0", target=arch) + ".address_size 64\n"
    return Sample(
        f"{head}{_VARIABLES}\n.visible .entry k(.param .u64 p)\n{{\n{_REGISTERS}\n{body}\nret;\n}}\n",
        arch,
        is_taken,
    )


def _whole(text: str, is_taken: bool, version: str = "9.0", target: str = "sm_90") -> Sample:
    arch = target if int(target[3:]) >= 75 else "sm_75"
    size = ".address_size 64\n" if version >= "2.3" else ""
    return Sample(f"{_HEAD.format(version=version, target=target)}{size}{text}\n", arch, is_taken)


def _textures(declaration: str, is_taken: bool) -> Sample:
    fetch = "tex.2d.v4.f32.s32 {%f0,%f1,%f2,%f3}, [t, {%r0,%r1,%r2,%r3}];"
    kernel = f".entry k() {{ .reg .f32 %f<4>; .reg .b32 %r<4>; {fetch} ret; }}"
    return _whole(f"{declaration} {kernel}", is_taken, "1.4", "sm_13")


SAMPLES: tuple[Sample, ...] = (
    # a vector of one for a scale
    *(_in_kernel(_MMA.replace("SCALE", scale), True, "sm_120a") for scale in ("%r1", "{%r1}")),
    *(_in_kernel(_MMA.replace("SCALE", scale), False, "sm_120a") for scale in ("1", "{1}", "{_}")),
    # offsets of several parts
    *(
        _in_kernel(f"ld.global.u32 %r1, [{address}];", True)
        for address in ("%rd1+32+4", "%rd1+32-4", "%rd1+1<<2", "%rd1 + 4 + -8", "%rd1+4+WARP_SZ", "g+4+4")
    ),
    *(
        _in_kernel(f"ld.global.u32 %r1, [{address}];", False)
        for address in ("%rd1-32+4", "%rd1+4+%rd2", "4+%rd1")
    ),
    # the address of a variable plus a constant, wherever an integer may stand
    *(
        _in_kernel(text, True)
        for text in (
            "st.u64 [temp], temp + 1;", "st.global.u32 [temp], s+4;", "add.u64 %rd1, %rd2, temp+1+2;",
            "mad.wide.u32 %rd1, %r2, 4, temp+8;", "and.b32 %r1, %r2, s+4;", "setp.eq.u32 %p1, %r1+1, %r2;",
            "mov.u64 %rd1, %rd2+1;", "mov.u64 %rd1, p+4;",
        )
    ),
    *(
        _in_kernel(text, False)
        for text in (
            "st.u64 [temp], temp;", "add.f32 %f1, %f2, temp+1;", "st.global.u32 [temp], s+1.0;",
            "mov.u64 %rd1, f+4;", "mov.u64 %rd1, %tid.x+1;", "mov.u64 %rd1, %p1+1;", "mov.u64 %rd1, temp+1.0;",
            "mov.u32 %r1, %f1+1;", "cp.async.ca.shared.global.L2::cache_hint [s], [%rd1], 4, temp+4;",
        )
    ),
    # textures before opaque types
    _textures(".tex .u32 t;", True),
    _textures(".tex .u64 t;", True),
    _textures(".tex .s32 t;", False),
    # vectors as parameters
    _whole(".func f(.reg .v4 .f32 x) { .reg .f32 a; add.f32 a, x.x, x.w; ret; } .entry k() { ret; }", True),
    _whole(".func (.reg .v4 .u8 x) f() { ret; } .entry k() { ret; }", True),
    _whole(".func f(.param .v4 .f32 x) { ret; } .entry k() { ret; }", False),
    _whole(".func f() { .param .v4 .f32 x; ret; } .entry k() { call f; ret; }", False),
    _whole(".func f(.reg .v4 .f32 x) { ret; } .entry k() { .reg .v4 .u32 y; call f, (y); ret; }", True),
    _whole(".func f(.reg .v4 .f32 x) { ret; } .entry k() { .reg .v2 .f32 y; call f, (y); ret; }", False),
    _whole(".func f(.reg .v4 .f32 x) { ret; } .entry k() { .reg .f32 y; call f, (y); ret; }", False),
    _whole(".func f(.reg .f32 x) { ret; } .entry k() { .reg .v4 .f32 y; call f, (y); ret; }", False),
    # predicates as results: of a function that nothing calls
    _whole(".func (.reg .pred q) f() { setp.eq.u32 q, 1, 1; ret; } .entry k() { ret; }", True),
    _whole(".func f(.reg .u16 q) { ret; } .entry k() { ret; }", True),
    _whole(
        ".func (.reg .pred q) f() { setp.eq.u32 q, 1, 1; ret; } .entry k() { .reg .pred r; call (r), f; ret; }",
        False,
    ),
    # parts of names where whole ones stand
    _whole(".func f() { ret; } .entry k() { .reg .u64 r; t: .calltargets f; call r, t; ret; }", True),
    _whole(".func f() { ret; } .entry k() { .reg .u64 r; t: .calltargets f; call r, t.y; ret; }", False),
    _whole(".func f(.reg .f32 x) { ret; } .entry k() { .reg .v4 .f32 y; call f, (y.x); ret; }", False),
    _whole(".func (.reg .f32 x) f() { ret; } .entry k() { .reg .v4 .f32 y; call (y.x), f; ret; }", False),
    _whole(".entry k() { bra L.x; L: ret; }", False),
    _whole(".entry k() { .reg .u32 a; t: .branchtargets L; brx.idx a, t.y; L: ret; }", False),
    # a function's name as a value: of the instruction's own type
    *(_in_kernel(text, True) for text in ("mov.u64 %rd1, k;", "add.u32 %r1, %r2, k;", "st.u64 [temp], f;")),
    *(
        _in_kernel(text, False)
        for text in (
            "nanosleep.u32 k;", "nanosleep.u32 f;", "bar.sync k;", "shl.b32 %r1, %r2, k;",
            "redux.sync.add.u32 %r1, k, -1;", "selp.u32 %r1, %r2, %r3, k;",
        )
    ),
    # a fraction is above 0 and at most 1
    *(_in_kernel(_FRACTION.format(text), True) for text in ("0.5", "1.0", "0f3f800000", "1e-40", "%f1")),
    *(_in_kernel(_FRACTION.format(text), False) for text in ("0.0", "1.5", "-0.5", "0f00000000", "0f7fc00000")),
)  # fmt: skip
