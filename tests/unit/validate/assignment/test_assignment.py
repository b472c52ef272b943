"""The proof that a rewriting of registers computes the same: what holds, and what must not.

Bodies are written short: `get %v1` reads the clock, `put %v1` stores it, `if %p1 %v1 L` branches to L where %v1 is 0,
`spill 4 %r1` and `load 4 %r1` use the slot at byte 4. A `~` stands before what was dropped, a `+` before what was
inserted (`spill` and `load` are).
"""

import re

import pytest

from ptxtool.ir.nodes import Function
from ptxtool.parse import parse
from ptxtool.validate.assignment import check_assignment

HEAD = (
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .texref t;\n"
    ".visible .entry k(.param .u64 p, .param .u32 q)\n"
)
BEFORE = (
    ".reg .pred %p<4>; .reg .b16 %s<4>; .reg .b32 %v<10>; .reg .b64 %d<6>; .reg .f32 %f<4>; .reg .v4 .f32 %w;"
)
AFTER = (
    ".reg .pred %p<4>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<16>;"
    ".reg .v4 .f32 %q<3>; .local .align 8 .b8 __ptxtool_spill[16];"
)
SHORT = [
    (r"get (%\w+)", r"mov.u32 \1, %clock"),
    (r"put (%\w+)", r"st.global.u32 [ADDRESS], \1"),
    (r"if (%\w+) (%\w+) (\w+)", r"setp.eq.u32 \1, \2, 0; @\1 bra \3"),
    (r"spill (\d+) (%\w+)", r"+ st.local.b32 [__ptxtool_spill+\1], \2"),
    (r"load (\d+) (%\w+)", r"+ ld.local.b32 \2, [__ptxtool_spill+\1]"),
]


def problems(before: str, after: str) -> list[str]:
    """What the check says of two bodies."""
    old, dropped = kernel(BEFORE, before, "%d1", "~")
    new, inserted = kernel(AFTER, after, "%rd4", "+ ")
    kept = iter(i for i in range(len(old.instructions)) if i not in dropped)
    origins = [-1 if j in inserted else next(kept, 999) for j in range(len(new.instructions))]
    found = check_assignment(old.module, new.module, {"k": origins})
    assert {d.code for d in found} <= {"E303"}
    return [d.message for d in found]


def kernel(registers: str, body: str, address: str, mark: str) -> tuple[Function, set[int]]:
    """The kernel of a body written short, and its instructions with a mark."""
    for short, long in SHORT:
        body = re.sub(short, long, body)
    body = body.replace("ADDRESS", address)
    function = parse(f"{HEAD}{{\n{registers}\n{body.replace(mark, ' ' * len(mark))}\n}}\n").kernels["k"]
    start = function.source.text.index(registers) + len(registers) + 1
    nodes = [(i, node.start - start) for i, node in enumerate(function.instructions)]
    return function, {i for i, at in nodes if body[:at].rstrip().endswith(mark.strip())}


# a name, the old body, the new body
HOLDS = [
    (
        "webs of one register may live apart",
        "get %v1; put %v1; get %v1; put %v1; exit;",
        "get %r1; put %r1; get %r2; put %r2; exit;",
    ),
    (
        "two registers may share a place one after the other",
        "get %v1; put %v1; get %v2; put %v2; exit;",
        "get %r1; put %r1; get %r1; put %r1; exit;",
    ),
    (
        "the two halves of a pair of units may hold words before and after",
        "get %v1; cvt.u64.u32 %d2, %v1; st.global.u64 [%d2], %d2; exit;",
        "get %r6; cvt.u64.u32 %rd3, %r6; st.global.u64 [%rd3], %rd3; exit;",
    ),
    (
        "a copy is dropped",
        "get %v1; ~mov.u32 %v2, %v1; put %v2; put %v1; exit;",
        "get %r1; put %r1; put %r1; exit;",
    ),
    (
        "a copy is dropped in a loop",
        "get %v1; L: add.u32 %v2, %v1, 1; ~mov.u32 %v1, %v2; setp.lt.u32 %p1, %v1, 9; @%p1 bra L;"
        "put %v1; exit;",
        "get %r1; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 9; @%p0 bra L; put %r1; exit;",
    ),
    (
        "a copy of what has no value yet is dropped",
        "get %v1; if %p1 %v1 L; ~mov.u32 %v3, %v2; bra M;"
        "L: get %v3; M: put %v3; exit;",
        "get %r1; if %p1 %r1 L; bra M; L: get %r5; M: put %r5; exit;",
    ),
    (
        "copies are inserted",
        "get %v1; put %v1; put %v1; exit;",
        "get %r1; put %r1; + mov.b32 %r2, %r1; + mov.f32 %f1, %r2; + mov.b32 %r4, %f1; put %r4; exit;",
    ),
    (
        "a copy stays when its source is overwritten",
        "get %v1; get %v2; put %v1; put %v2; exit;",
        "get %r1; + mov.u32 %r2, %r1; get %r1; put %r2; put %r1; exit;",
    ),
    (
        "a dropped copy is where an inserted one has put its source",
        "get %v1; ~mov.u32 %v2, %v1; get %v1; put %v1; put %v2; exit;",
        "get %r1; + mov.u32 %r2, %r1; get %r1; put %r1; put %r2; exit;",
    ),
    (
        "one constant twice, each copied on",
        "mov.u32 %v1, 7; ~mov.u32 %v2, %v1; put %v1; put %v2; exit;",
        "mov.u32 %r1, 7; + mov.u32 %r2, 7; + mov.u32 %r3, %r2; put %r2; put %r3; exit;",
    ),
    (
        "copies swap two registers in a loop",
        "get %v1; get %v2; L: mov.u32 %v3, %v1; mov.u32 %v1, %v2; mov.u32 %v2, %v3;"
        "setp.lt.u32 %p1, %v1, %v2; @%p1 bra L; put %v1; exit;",
        "get %r1; get %r2; L: mov.u32 %r3, %r1; mov.u32 %r1, %r2; mov.u32 %r2, %r3;"
        "setp.lt.u32 %p1, %r1, %r2; @%p1 bra L; put %r1; exit;",
    ),
    (
        "a swap by names alone, undone by copies on the way back",
        "get %v1; get %v2; L: ~mov.u32 %v3, %v1; ~mov.u32 %v1, %v2; ~mov.u32 %v2, %v3;"
        "setp.lt.u32 %p1, %v1, %v2; @%p1 bra L; put %v1; exit;",
        "get %r1; get %r2; L: + mov.u32 %r3, %r1; + mov.u32 %r1, %r2; + mov.u32 %r2, %r3;"
        "setp.lt.u32 %p1, %r1, %r2; @%p1 bra L; put %r1; exit;",
    ),
    (
        "spills and reloads of both widths",
        "get %v1; mov.u64 %d2, %clock64; get %v2; put %v1; st.global.u64 [%d2], %v2; exit;",
        "get %r2; spill 4 %r2; mov.u64 %rd1, %clock64;"
        "+ st.local.b64 [__ptxtool_spill+8], %rd1; get %r2; load 4 %r3;"
        "put %r3; + ld.local.u64 %rd3, [__ptxtool_spill+8]; st.global.u64 [%rd3], %r2; exit;",
    ),
    (
        "a slot is used again",
        "get %v1; put %v1; get %v2; put %v2; exit;",
        "get %r1; spill 0 %r1; load 0 %r2; put %r2;"
        "get %r1; spill 0 %r1; load 0 %r1; put %r1; exit;",
    ),
    (
        "a slot is filled on both arms",
        "get %v1; if %p1 %v1 L; get %v2; bra M; L: mov.u32 %v2, %clock_hi;"
        "M: put %v2; exit;",
        "get %r1; if %p1 %r1 L; get %r2; spill 0 %r2;"
        "bra M; L: mov.u32 %r3, %clock_hi; spill 0 %r3; M: load 0 %r0;"
        "put %r0; exit;",
    ),
    (
        "constants are computed anew",
        "~mov.u32 %v1, %tid.x; ~mov.u32 %v2, 7; L: put %v1; put %v2; bra L;",
        "L: + mov.u32 %r1, %tid.x; put %r1; + mov.u32 %r1, 7; put %r1; bra L;",
    ),
    (
        "so are parameters and what follows from them",
        "~ld.param.u64 %d2, [p]; ~cvta.to.global.u64 %d3, %d2; st.global.u64 [%d3], %d2; exit;",
        "+ ld.param.u64 %rd1, [p]; + cvta.to.global.u64 %rd1, %rd1; + ld.param.u64 %rd2, [p];"
        "st.global.u64 [%rd1], %rd2; exit;",
    ),
    (
        "equal constants are one",
        "mov.u32 %v1, 7; ~mov.u32 %v2, 7; put %v1; put %v2; exit;",
        "mov.u32 %r1, 7; put %r1; put %r1; exit;",
    ),
    (
        "a constant is computed before a loop that it is defined in",
        "L: ~mov.u32 %v1, 7; put %v1; bra L;",
        "+ mov.u32 %r1, 7; L: put %r1; bra L;",
    ),
    (
        "a predicate is a word for a while",
        "setp.eq.u32 %p1, %v1, 0; setp.eq.u32 %p2, %v1, 1; @%p1 bra L; @%p2 bra L; L: exit;",
        "setp.eq.u32 %p1, %r1, 0; + selp.b32 %r3, 1, 0, %p1; spill 0 %r3;"
        "setp.eq.u32 %p1, %r1, 1; load 0 %r4; + setp.ne.b32 %p2, %r4, 0; @%p2 bra L; @%p1 bra L;"
        "L: exit;",
    ),
    (
        "a guarded write to where the old value is",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @%p1 get %v1; put %v1; exit;",
        "get %r1; setp.eq.u32 %p1, %r1, 0; @%p1 get %r1; put %r1; exit;",
    ),
    (
        "a guarded write of what had no value",
        "setp.eq.u32 %p1, %v2, 0; @%p1 get %v1; @%p1 put %v1; exit;",
        "setp.eq.u32 %p1, %r2, 0; @%p1 get %r1; @%p1 put %r1; exit;",
    ),
    (
        "what a guarded write leaves goes to the slot of the old value",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @!%p1 get %v1; put %v1; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1, %r1, 0; @!%p1 get %r2;"
        "+ @!%p1 st.local.b32 [__ptxtool_spill+4], %r2; load 4 %r3; put %r3; exit;",
    ),
    (
        "loads and a store under the guard of an instruction",
        "get %v1; get %v2; setp.eq.u32 %p1, %v1, 0; @%p1 add.u32 %v1, %v1, %v2; put %v1; exit;",
        "get %r1; spill 4 %r1; get %r2; spill 8 %r2; setp.eq.u32 %p1, %r1, 0;"
        "+ @%p1 ld.local.b32 %r3, [__ptxtool_spill+4]; + @%p1 ld.local.b32 %r5, [__ptxtool_spill+8];"
        "@%p1 add.u32 %r3, %r3, %r5; + @%p1 st.local.b32 [__ptxtool_spill+4], %r3; load 4 %r6; put %r6; exit;",
    ),
    (
        "a copy and a constant are dropped after a guarded reload",
        "get %v1; ~mov.u32 %v2, %v1; ~mov.u32 %v3, 7; @%p1 put %v2; exit;",
        "get %r1; spill 4 %r1; + @%p1 ld.local.b32 %r2, [__ptxtool_spill+4]; @%p1 put %r2; exit;",
    ),
    (
        "two results of a guarded instruction, of which one had no value",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @%p1 ld.global.v2.u32 {%v1, %v2}, [%d1]; put %v1; @%p1 put %v2; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1, %r1, 0; @%p1 ld.global.v2.u32 {%r2, %r3}, [%rd4];"
        "+ @%p1 st.local.b32 [__ptxtool_spill+8], %r3; + @%p1 st.local.b32 [__ptxtool_spill+4], %r2;"
        "load 4 %r5; put %r5; load 8 %r6; @%p1 put %r6; exit;",
    ),
    (
        "a value that one path leaves without",
        "setp.eq.u32 %p1, %v9, 0; get %v3; @%p1 bra L; get %v1; L: put %v1; put %v3; exit;",
        "setp.eq.u32 %p1, %r9, 0; get %r3; @%p1 bra L; get %r1; L: put %r1; put %r3; exit;",
    ),
    (
        "a value that a loop gives only late",
        "get %v3; L: if %p1 %v3 M; get %v1; M: @%p1 put %v1; bra L;",
        "get %r3; L: if %p1 %r3 M; get %r1; M: @%p1 put %r1; bra L;",
    ),
    (
        "results in a vector, sinks, a pair of predicates",
        "ld.global.v4.u32 {%v1, _, %v2, %v3}, [%d1]; setp.eq.u32 %p1|%p2, %v1, %v2;"
        "@%p2 st.global.v2.u32 [%d1], {%v3, %v1}; exit;",
        "ld.global.v4.u32 {%r1, _, %r2, %r3}, [%rd4]; setp.eq.u32 %p2|%p1, %r1, %r2;"
        "@%p1 st.global.v2.u32 [%rd4], {%r3, %r1}; exit;",
    ),
    (
        "an address is read before the register is written",
        "ld.global.u64 %d2, [%d1]; st.global.u64 [%d2], %d1;"
        "mov.u64 %d3, %clock64; ld.global.u64 %d4, [%d3]; st.global.u64 [%d4], %d4; exit;",
        "ld.global.u64 %rd3, [%rd4]; st.global.u64 [%rd3], %rd4;"
        "mov.u64 %rd1, %clock64; ld.global.u64 %rd1, [%rd1]; st.global.u64 [%rd1], %rd1; exit;",
    ),
    (
        "carries stay in order",
        "add.cc.u32 %v1, %v2, %v3; ~mov.u32 %v9, %v1; addc.u32 %v4, %v5, %v6; put %v9; put %v4; exit;",
        "add.cc.u32 %r1, %r2, %r3; + mov.u32 %r7, %r1; addc.u32 %r4, %r5, %r6; put %r7; put %r4; exit;",
    ),
    (
        "selectors of video instructions, parts of vector registers",
        "vadd.u32.u32.u32 %v1.b0, %v2.b1, %v3, %v4; st.global.u32 [%d1], %v1;"
        "ld.global.v4.f32 %w, [%d1]; mov.f32 %w.x, %f1; st.global.f32 [%d1], %w.y; exit;",
        "vadd.u32.u32.u32 %r1.b0, %r2.b1, %r3, %r5; st.global.u32 [%rd4], %r1;"
        "ld.global.v4.f32 %q1, [%rd4]; mov.f32 %q1.x, %f1; st.global.f32 [%rd4], %q1.y; exit;",
    ),
    (
        "coordinates of a texture, fragments of matrices",
        "tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [t, {%f0, %f1}]; get %v1;"
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%v1, %v1, %v2, %v2}, {%v1, %v2},"
        "{%f0, %f1, %f2, %f3}; st.global.f32 [%d1], %f3; exit;",
        "tex.2d.v4.f32.f32 {%f4, %f1, %f2, %f3}, [t, {%f0, %f1}]; get %r0;"
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f5}, {%r0, %r0, %r6, %r6}, {%r0, %r6},"
        "{%f4, %f1, %f2, %f3}; st.global.f32 [%rd4], %f5; exit;",
    ),
    (
        "inner blocks hide names",
        "get %v1; { .reg .b32 %v1; get %v1; put %v1; } put %v1; exit;",
        "get %r1; { get %r2; put %r2; } put %r1; exit;",
    ),
    (
        "a table of targets",
        "get %v1; get %v2; T: .branchtargets A, B; brx.idx %v1, T; A: put %v2; B: put %v1; exit;",
        "get %r1; get %r2; T: .branchtargets A, B; brx.idx %r1, T; A: put %r2; B: put %r1; exit;",
    ),
    (
        "code between labels and jumps belongs to its path",
        "get %v1; if %p1 %v1 M; L: M: put %v1; bra L;",
        "get %r1; setp.eq.u32 %p1, %r1, 0; + mov.u32 %r2, %r1; @%p1 bra M; + mov.u32 %r1, %r2; L: + mov.u32 %r2, %r1;"
        "M: put %r2; + mov.u32 %r1, %r2; bra L;",
    ),
    (
        "what nothing reaches is not followed",
        "exit; put %v1; get %v1; put %v1; exit;",
        "exit; put %r1; get %r2; put %r1; exit;",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), [case[1:] for case in HOLDS], ids=[case[0] for case in HOLDS])
def test_holds(before: str, after: str) -> None:
    assert problems(before, after) == []


def lost(place: str, value: str) -> str:
    return f"'{place}' does not hold '{value}' here on every path"


def differs(new: str, old: str) -> str:
    return f"'{new}' differs from '{old}' in more than registers"


def strange(inserted: str) -> str:
    return f"the inserted '{inserted}' is no copy, spill, reload or constant of the original"


def missing(dropped: str) -> str:
    return f"'{dropped}' is missing, and it is neither a copy of a register nor a constant"


# a name, the old body, the new body, the first complaint
FAILS = [
    (
        "another register is read",
        "get %v1; get %v2; put %v1; exit;",
        "get %r1; get %r2; put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a place is overwritten too early",
        "get %v1; get %v2; put %v1; put %v2; exit;",
        "get %r1; get %r1; put %r1; put %r1; exit;",
        lost("%r1", "%v1"),
    ),
    (
        "a wide value overwrites the second unit",
        "get %v1; mov.u64 %d2, %clock64; put %v1; st.global.u64 [%d2], %d2; exit;",
        "get %r3; mov.u64 %rd1, %clock64; put %r3; st.global.u64 [%rd1], %rd1; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "sixteen bits take a whole unit",
        "get %v1; cvt.u16.u32 %s1, %v1; st.global.u16 [%d1], %s1; st.global.u32 [%d1], %v1; exit;",
        "get %r1; cvt.u16.u32 %rs1, %r1; st.global.u16 [%rd4], %rs1; st.global.u32 [%rd4], %r1; exit;",
        lost("%r1", "%v1"),
    ),
    (
        "two names of one unit are two registers of PTX",
        "get %v1; put %v1; exit;",
        "get %r1; put %f1; exit;",
        lost("%f1", "%v1"),
    ),
    (
        "a copy is dropped though its source changes",
        "get %v1; ~mov.u32 %v2, %v1; get %v1; put %v2; put %v1; exit;",
        "get %r1; get %r1; put %r1; put %r1; exit;",
        lost("%r1", "%v2"),
    ),
    (
        "a copy of a value that has changed since",
        "get %v1; get %v1; put %v1; exit;",
        "get %r1; + mov.u32 %r2, %r1; get %r1; put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a dropped copy is not where its source has got a new value",
        "get %v1; ~mov.u32 %v2, %v1; get %v1; put %v1; put %v2; exit;",
        "get %r1; + mov.u32 %r2, %r1; get %r1; put %r2; put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a copy is dropped on one path only",
        "get %v1; get %v2; if %p1 %v1 L; ~mov.u32 %v2, %v1; L: put %v2; exit;",
        "get %r1; get %r2; if %p1 %r1 L; L: put %r2; exit;",
        lost("%r2", "%v2"),
    ),
    (
        "an instruction is dropped",
        "get %v1; ~add.u32 %v1, %v1, 1; put %v1; exit;",
        "get %r1; put %r1; exit;",
        missing("add.u32 %v1, %v1, 1;"),
    ),
    (
        "a guarded copy is dropped",
        "get %v1; ~@%p1 mov.u32 %v1, %v2; put %v1; exit;",
        "get %r1; put %r1; exit;",
        missing("@%p1 mov.u32 %v1, %v2;"),
    ),
    (
        "a constant is dropped of a register with another definition",
        "~mov.u32 %v1, 7; put %v1; mov.u32 %v1, 8; put %v1; exit;",
        "+ mov.u32 %r1, 7; put %r1; mov.u32 %r1, 8; put %r1; exit;",
        missing("mov.u32 %v1, 7;"),
    ),
    (
        "a clock is dropped",
        "~get %v1; put %v1; exit;",
        "+ get %r1; put %r1; exit;",
        missing("mov.u32 %v1, %clock;"),
    ),
    (
        "a constant is dropped and not computed anew",
        "~mov.u32 %v1, 7; put %v1; exit;",
        "put %r1; exit;",
        lost("%r1", "%v1"),
    ),
    (
        "another constant is not the same",
        "mov.u32 %v1, 7; ~mov.u32 %v2, 8; put %v1; put %v2; exit;",
        "mov.u32 %r1, 7; put %r1; put %r1; exit;",
        lost("%r1", "%v2"),
    ),
    (
        "another constant is computed",
        "~mov.u32 %v1, 7; put %v1; exit;",
        "+ mov.u32 %r1, 8; put %r1; exit;",
        strange("mov.u32 %r1, 8;"),
    ),
    (
        "a constant is computed from another source",
        "~ld.param.u64 %d2, [p]; ~cvta.to.global.u64 %d3, %d2; st.global.u64 [%d3], %d2; exit;",
        "+ ld.param.u64 %rd1, [p]; + cvta.to.global.u64 %rd2, %rd3; st.global.u64 [%rd2], %rd1; exit;",
        lost("%rd2", "%d3"),
    ),
    (
        "an addition is inserted",
        "get %v1; put %v1; exit;",
        "get %r1; + add.u32 %r1, %r1, 0; put %r1; exit;",
        strange("add.u32 %r1, %r1, 0;"),
    ),
    (
        "a store to global memory is inserted",
        "get %v1; put %v1; exit;",
        "get %r1; + put %r1; put %r1; exit;",
        strange("st.global.u32 [%rd4], %r1;"),
    ),
    (
        "a reload is guarded",
        "get %v1; put %v1; exit;",
        "get %r1; spill 4 %r1; + @%p1 ld.local.b32 %r2, [__ptxtool_spill+4]; put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a reload has another guard than the instruction that reads it",
        "get %v1; @%p1 put %v1; exit;",
        "get %r1; spill 4 %r1; + @!%p1 ld.local.b32 %r2, [__ptxtool_spill+4]; @%p1 put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a value that a guarded reload fetched becomes another one",
        "get %v1; get %v2; ~mov.u32 %v1, %v2; @%p1 put %v1; exit;",
        "get %r1; spill 4 %r1; get %r2; + @%p1 ld.local.b32 %r3, [__ptxtool_spill+4]; @%p1 put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded reload is overwritten",
        "get %v1; get %v2; @%p1 put %v1; exit;",
        "get %r1; spill 4 %r1; get %r2; spill 8 %r2; + @%p1 ld.local.b32 %r3, [__ptxtool_spill+4];"
        "+ @%p1 ld.local.b32 %r3, [__ptxtool_spill+8]; @%p1 put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded reload is read on another path, too",
        "get %v1; @%p1 bra L; get %v2; put %v2; L: @%p2 put %v1; exit;",
        "get %r1; spill 4 %r1; + @%p2 ld.local.b32 %r2, [__ptxtool_spill+4]; @%p1 bra L; get %r3; put %r3;"
        "L: @%p2 put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "an inserted copy is guarded",
        "get %v1; put %v1; exit;",
        "get %r1; + @%p1 mov.u32 %r2, %r1; put %r1; exit;",
        "the inserted '@%p1 mov.u32 %r2, %r1;' has a guard",
    ),
    (
        "a copy changes the width",
        "get %v1; cvt.u64.u32 %d2, %v1; st.global.u64 [%d2], %d2; exit;",
        "get %r1; cvt.u64.u32 %rd3, %r1; + mov.b32 %rd2, %rd3; st.global.u64 [%rd3], %rd3; exit;",
        strange("mov.b32 %rd2, %rd3;"),
    ),
    (
        "a reload of another slot",
        "get %v1; put %v1; exit;",
        "get %r1; spill 0 %r1; load 4 %r1; put %r1; exit;",
        lost("%r1", "%v1"),
    ),
    (
        "a slot that another one overlaps",
        "get %v1; mov.u64 %d2, %clock64; put %v1; st.global.u64 [%d2], %d2; exit;",
        "get %r1; spill 4 %r1; mov.u64 %rd1, %clock64;"
        "+ st.local.b64 [__ptxtool_spill], %rd1; load 4 %r6; put %r6;"
        "st.global.u64 [%rd1], %rd1; exit;",
        lost("%r6", "%v1"),
    ),
    (
        "a slot of another width",
        "mov.u64 %d2, %clock64; st.global.u64 [%d2], %d2; exit;",
        "mov.u64 %rd1, %clock64; spill 0 %rd1; + ld.local.b64 %rd1, [__ptxtool_spill];"
        "st.global.u64 [%rd1], %rd1; exit;",
        strange("st.local.b32 [__ptxtool_spill+0], %rd1;"),
    ),
    (
        "a slot outside the variable",
        "get %v1; put %v1; exit;",
        "get %r1; spill 16 %r1; put %r1; exit;",
        strange("st.local.b32 [__ptxtool_spill+16], %r1;"),
    ),
    (
        "a slot that is not aligned",
        "get %v1; put %v1; exit;",
        "get %r1; spill 2 %r1; put %r1; exit;",
        strange("st.local.b32 [__ptxtool_spill+2], %r1;"),
    ),
    (
        "a slot that one path does not fill",
        "get %v1; if %p1 %v1 L; bra M; L: put %v1; M: put %v1; exit;",
        "get %r1; if %p1 %r1 L; spill 0 %r1; bra M;"
        "L: put %r1; M: load 0 %r2; put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a slot that a loop fills again",
        "get %v1; get %v2; L: put %v1; put %v2; bra L;",
        "get %r1; spill 0 %r1; get %r2;"
        "L: load 0 %r1; put %r1; put %r2; spill 0 %r2; bra L;",
        lost("%r1", "%v1"),
    ),
    (
        "a word is no predicate",
        "setp.eq.u32 %p1, %v1, 0; get %v2; @%p1 bra L; st.global.u32 [%d1], %v2; L: exit;",
        "setp.eq.u32 %p1, %r1, 0; get %r2; + selp.b32 %r3, 1, 0, %p1; + setp.ne.b32 %p2, %r2, 0; @%p2 bra L;"
        "st.global.u32 [%rd4], %r2; L: exit;",
        lost("%p2", "%p1"),
    ),
    (
        "a saved predicate is out of date",
        "setp.eq.u32 %p1, %v1, 0; if %p1 %v2 L; L: exit;",
        "setp.eq.u32 %p1, %r1, 0; + selp.b32 %r3, 1, 0, %p1; setp.eq.u32 %p1, %r2, 0; + setp.ne.b32 %p2, %r3, 0;"
        "@%p2 bra L; L: exit;",
        lost("%p2", "%p1"),
    ),
    (
        "a predicate is saved the wrong way round",
        "if %p1 %v1 L; L: exit;",
        "setp.eq.u32 %p1, %r1, 0; + selp.b32 %r3, 0, 1, %p1; @%p1 bra L; L: exit;",
        strange("selp.b32 %r3, 0, 1, %p1;"),
    ),
    (
        "a guarded write to another place",
        "get %v1; @%p1 get %v1; put %v1; exit;",
        "get %r1; @%p1 get %r2; put %r2; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "a guarded write of what another path gave a value",
        "L: @%p1 get %v1; put %v1; get %v2; put %v2; bra L;",
        "L: @%p1 get %r1; put %r1; get %r1; put %r1; bra L;",
        lost("%r1", "%v1"),
    ),
    (
        "a guarded spill to a slot without the old value",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @%p1 get %v1; put %v1; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1, %r1, 0; @%p1 get %r2;"
        "+ @%p1 st.local.b32 [__ptxtool_spill+8], %r2; load 8 %r3; put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded spill whose guard is turned round",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @%p1 get %v1; put %v1; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1, %r1, 0; @%p1 get %r2;"
        "+ @!%p1 st.local.b32 [__ptxtool_spill+4], %r2; load 4 %r3; put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded spill with another guard",
        "get %v1; setp.eq.u32 %p1|%p2, %v1, 0; @%p1 get %v1; put %v1; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1|%p2, %r1, 0; @%p1 get %r2;"
        "+ @%p2 st.local.b32 [__ptxtool_spill+4], %r2; load 4 %r3; put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded spill of another register",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @%p1 get %v1; put %v1; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1, %r1, 0; @%p1 get %r2;"
        "+ @%p1 st.local.b32 [__ptxtool_spill+4], %r5; load 4 %r3; put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded spill too late: another instruction has written the guard",
        "get %v1; setp.eq.u32 %p1, %v1, 0; @%p1 get %v1; setp.eq.u32 %p1, %v2, 0; put %v1; exit;",
        "get %r1; spill 4 %r1; setp.eq.u32 %p1, %r1, 0; @%p1 get %r2; setp.eq.u32 %p1, %r6, 0;"
        "+ @%p1 st.local.b32 [__ptxtool_spill+4], %r2; load 4 %r3; put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded spill whose guard the instruction itself writes",
        "get %v1; get %v2; setp.eq.u32 %p1, %v1, 0; @%p1 shfl.sync.down.b32 %v1|%p2, %v2, 1, 31, -1; put %v1; exit;",
        "get %r1; spill 4 %r1; get %r5; setp.eq.u32 %p1, %r1, 0;"
        "@%p1 shfl.sync.down.b32 %r2|%p1, %r5, 1, 31, -1;"
        "+ @%p1 st.local.b32 [__ptxtool_spill+4], %r2; load 4 %r3; put %r3; exit;",
        lost("%r3", "%v1"),
    ),
    (
        "a guarded spill over another one",
        "get %v1; get %v2; setp.eq.u32 %p1, %v1, 0; @%p1 ld.global.v2.u32 {%v1, %v2}, [%d1]; put %v1; exit;",
        "get %r1; spill 4 %r1; get %r2; spill 8 %r2; setp.eq.u32 %p1, %r1, 0;"
        "@%p1 ld.global.v2.u32 {%r3, %r5}, [%rd4]; + @%p1 st.local.b32 [__ptxtool_spill+4], %r3;"
        "+ @%p1 st.local.b32 [__ptxtool_spill+4], %r5; load 4 %r6; put %r6; exit;",
        lost("%r6", "%v1"),
    ),
    (
        "another guard",
        "setp.eq.u32 %p1|%p2, %v1, 0; @%p1 bra L; L: exit;",
        "setp.eq.u32 %p1|%p2, %r1, 0; @%p2 bra L; L: exit;",
        lost("%p2", "%p1"),
    ),
    (
        "a guard is turned round",
        "if %p1 %v1 L; L: exit;",
        "setp.eq.u32 %p1, %r1, 0; @!%p1 bra L; L: exit;",
        "'@!%p1 bra L;' is another operation than '@%p1 bra L;'",
    ),
    (
        "a register of another width in a vector",
        "ld.global.v2.u32 {%v1, %v2}, [%d1]; exit;",
        "ld.global.v2.u32 {%r1, %rs2}, [%rd4]; exit;",
        differs("ld.global.v2.u32 {%r1, %rs2}, [%rd4];", "ld.global.v2.u32 {%v1, %v2}, [%d1];"),
    ),
    (
        "another opcode",
        "get %v1; put %v1; exit;",
        "mov.s32 %r1, %clock; put %r1; exit;",
        "'mov.s32 %r1, %clock;' is another operation than 'mov.u32 %v1, %clock;'",
    ),
    (
        "another offset",
        "st.global.u32 [%d1+4], %v1; exit;",
        "st.global.u32 [%rd4+8], %r1; exit;",
        differs("st.global.u32 [%rd4+8], %r1;", "st.global.u32 [%d1+4], %v1;"),
    ),
    (
        "a constant in place of a register",
        "st.global.u32 [%d1], %v1; exit;",
        "st.global.u32 [%rd4], 7; exit;",
        differs("st.global.u32 [%rd4], 7;", "st.global.u32 [%d1], %v1;"),
    ),
    (
        "another label",
        "L: get %v1; M: bra L;",
        "L: get %r1; M: bra M;",
        differs("bra M;", "bra L;"),
    ),
    (
        "another special register",
        "get %v1; put %v1; exit;",
        "mov.u32 %r1, %clock_hi; put %r1; exit;",
        differs("mov.u32 %r1, %clock_hi;", "mov.u32 %v1, %clock;"),
    ),
    (
        "a sink in place of a register",
        "ld.global.v2.u32 {%v1, %v2}, [%d1]; exit;",
        "ld.global.v2.u32 {%r1, _}, [%rd4]; exit;",
        differs("ld.global.v2.u32 {%r1, _}, [%rd4];", "ld.global.v2.u32 {%v1, %v2}, [%d1];"),
    ),
    (
        "another width",
        "cvt.u64.u32 %d2, %v1; exit;",
        "cvt.u64.u32 %r2, %r1; exit;",
        differs("cvt.u64.u32 %r2, %r1;", "cvt.u64.u32 %d2, %v1;"),
    ),
    (
        "another part",
        "vadd.u32.u32.u32 %v1, %v2.b1, %v3; st.global.u32 [%d1], %v1; exit;",
        "vadd.u32.u32.u32 %r1, %r2.b2, %r3; st.global.u32 [%rd4], %r1; exit;",
        differs("vadd.u32.u32.u32 %r1, %r2.b2, %r3;", "vadd.u32.u32.u32 %v1, %v2.b1, %v3;"),
    ),
    (
        "a part of a vector register is written elsewhere",
        "ld.global.v4.f32 %w, [%d1]; mov.f32 %w.x, %f1; st.global.f32 [%d1], %w.y; exit;",
        "ld.global.v4.f32 %q1, [%rd4]; mov.f32 %q2.x, %f1; st.global.f32 [%rd4], %q2.y; exit;",
        lost("%q2", "%w"),
    ),
    (
        "results of one instruction in one place",
        "ld.global.v2.u32 {%v1, %v2}, [%d1]; st.global.u32 [%d1], %v2; exit;",
        "ld.global.v2.u32 {%r1, %f1}, [%rd4]; st.global.u32 [%rd4], %f1; exit;",
        "'%r1' and '%f1', results of one instruction, share a register",
    ),
    (
        "coordinates of a texture trade places",
        "get %v1; mov.b32 %f1, %v1; mov.f32 %f2, 0f3f800000; tex.2d.v4.f32.f32 {%f0, _, _, _}, [t, {%f1, %f2}]; exit;",
        "get %r1; mov.b32 %f1, %r1; mov.f32 %f2, 0f3f800000; tex.2d.v4.f32.f32 {%f0, _, _, _}, [t, {%f2, %f1}]; exit;",
        lost("%f2", "%f1"),
    ),
    (
        "a fragment of a matrix is another one",
        "get %v1; get %v2; mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3},"
        "{%v1, %v1, %v2, %v2}, {%v1, %v2}, {%f0, %f1, %f2, %f3}; exit;",
        "get %r1; get %r2; mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f10, %f11, %f12, %f13},"
        "{%r1, %r2, %r2, %r2}, {%r1, %r2}, {%f10, %f11, %f12, %f13}; exit;",
        lost("%r2", "%v1"),
    ),
    (
        "instructions trade places",
        "get %v1; mov.u32 %v2, %clock_hi; put %v1; put %v2; exit;",
        "mov.u32 %r2, %clock_hi; get %r1; put %r1; put %r2; exit;",
        differs("mov.u32 %r2, %clock_hi;", "mov.u32 %v1, %clock;"),
    ),
    (
        "a label moves",
        "get %v1; L: put %v1; bra L;",
        "L: get %r1; put %r1; bra L;",
        "instruction 0 of 'k' stands in another place or twice",
    ),
    (
        "a declaration is new",
        "exit;",
        ".local .b32 mine; exit;",
        "'.local .b32 mine;' is new",
    ),
    (
        "a declaration is lost",
        ".shared .b32 t; exit;",
        "exit;",
        "'exit;' stands where '.shared .b32 t;' stood",
    ),
    (
        "the two names of a loop's value disagree at its end",
        "get %v1; L: put %v1; add.u32 %v1, %v1, 1; bra L;",
        "get %r1; L: put %r1; add.u32 %r2, %r1, 1; bra L;",
        lost("%r1", "%v1"),
    ),
    (
        "the target of a table does not hold it",
        "get %v1; get %v2; T: .branchtargets A, B; brx.idx %v1, T; A: get %v3; put %v3;"
        "B: put %v2; exit;",
        "get %r1; get %r2; T: .branchtargets A, B; brx.idx %r1, T; A: get %r2;"
        "put %r2; B: put %r2; exit;",
        lost("%r2", "%v2"),
    ),
    (
        "a copy between label and jump that only one path runs",
        "get %v1; if %p1 %v1 M; L: M: put %v1; bra L;",
        "get %r1; if %p1 %r1 M; L: + mov.u32 %r2, %r1; M: put %r2; bra L;",
        lost("%r2", "%v1"),
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "reported"), [case[1:] for case in FAILS], ids=[case[0] for case in FAILS]
)
def test_fails(before: str, after: str, reported: str) -> None:
    assert problems(before, after)[:1] == [reported]
